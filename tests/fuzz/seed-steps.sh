#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes seeds for the targets that take one step after the other.  Most kinds of steps occur, with
# small numbers; see the enums of perf.c, control.c and runtime.c.
#
# seed-steps.sh FOLDER

set -e
mkdir -p "$1/perf" "$1/control" "$1/runtime"

bytes()	# number...
{
	for n; do
		# shellcheck disable=SC2059
		printf "\\$(printf %o "$n")"
	done
}

for mode in 0 1 2; do
	{
		bytes $mode 0 1
		for tp in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
			bytes 0 $tp 0 11 10 11 5 0 11 20 1 65 66 3
			bytes 128 $tp 8 11 10 10 2 0 12 0 0 67 68 3
		done
		bytes 1 2 0 10 11 3 99 1 1 1 10 11 3 99
		for type in 2 3 4 7 9 14 15; do
			bytes 2 $type 0 32 4 10 11 10 11 10 11 4
		done
		bytes 4 50
	} >"$1/perf/mode-$mode"
done

for flags in 10 11 14; do
	event=0
	while [ $event -lt 34 ]; do
		{
			bytes $flags
			bytes 3 1 2 10
			bytes 1 0 0 0 65 1 0 0 7 2 66 1 0 0 8 3
			bytes 1 2 $event 0 70 1 0 0 7 2 71 1 0 0 7 2 72 1 0 0 7 2 73
			bytes 1 1 $event 0 80 2 1 2 3 4 81 2 0 0 7 2 82 2 0 0 7 2 83
			bytes 4 0 0 9 8 1 2 3 0 5 0 1 7 16 0
			bytes 0 5 0 1 0 1 1 5 9 1 2 3 47 98 120 0 6 0 1 5 9 10 7 255 7
		} >"$1/control/event-$flags-$event"
		event=$((event + 1))
	done
done
{
	bytes 2
	bytes 0 1 0 1 65 0 3 0 8 1 0 0 0 0 7 0 0 7 100 0 8 1 0 9 0
} >"$1/control/from-hello"

# Prints steps of a program that runs: modules, threads, calls, records.
work()
{
	bytes 6 2 9 1 10 0 0 1 2 10 0 0 3 4 6 3 11 1 1 10 0 2 10 1 0 5 6 6 1 9 129 13 1 6 2
}

for file in 0 1 2 3 4 5 6 7 8 9 10 11; do
	{ bytes 2 5 6 0 0 5 $file 0 0 0 0 6 1; work; bytes 4 6 1; } >"$1/runtime/file-$file"
done
for shape in 0 2 7 42 129 255; do
	{ bytes 1 0 $shape 0 0 0 0 0; work; bytes 2 6 1; } >"$1/runtime/shape-$shape"
done
for word in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 138 140 142; do
	{ bytes 0 0 0 0 0 0 1 $word 1 0; work; } >"$1/runtime/info-$word"
	{ bytes 0 0 0 0 0 0 8 $word 1 0; work; } >"$1/runtime/attach-$word"
done
for nr in 0 1 2 5 16; do
	{ bytes 2 5 6 0 3 $nr 8 $nr 0 0 0 $nr 0 0 0 6 1; work; bytes 3 1 4 $nr 6 1; } >"$1/runtime/many-$nr"
done
for after in 1 2 3 4 5 6 7 8; do
	{ bytes 0 7 0 $after 0 0 0 0 0 0 0 0; work; } >"$1/runtime/fails-$after"
	{ bytes 0 7 1 $after 3 0 0 1 0 0 0 0; work; } >"$1/runtime/shrinks-$after"
done
{
	bytes 0 0 2 0 0 0 0 0
	work
	bytes 12 2 1 2 0 0 0 0 0
	work
	bytes 8 1 3 200 1 2 8 2 9 9 8 3 0 9 6 1 14 1 6 7 6 7 6 7
} >"$1/runtime/leaves"
{
	bytes 2 5 6 0 0 0 0 0 0 0 0 6 1 5 6 0
	work
	bytes 2 6 1 4 5 6 0 0 255 0 0 0 0 0
	work
	bytes 12 1
} >"$1/runtime/listens"
