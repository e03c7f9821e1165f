# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Measures how much longer a program's code becomes when it is instrumented: the size of its section
# .text, which is the same in each round.  The programs are sqlite and what other sections have
# built.  Each object gets two additional functions, so the ratio of a small program means little:
# below 100 KB there is no bound.
text_bytes()	# program
{
	size -A "$1" | awk '$1 == ".text" { print $2 }'
}

text_row()	# name
{
	echo "$1 $(text_bytes "$1-base") $(text_bytes "$1-ldb")" | awk '{
		bound = $2 >= 100000 ? 1.08 : 0
		printf "%-52s %9.3f  %-22s %6s  %s\n", $1, $3 / $2, sprintf("(%d to %d bytes)", $2, $3), "exact",
			bound ? ($3 / $2 <= bound ? "PASS" : "FAIL") sprintf(" (bound %.2f)", bound) : ""
		exit bound && $3 / $2 > bound }' || failed=1
}

bench_text()
{
	if why=$(sqlite_source); then
		compile sqlite c sqlite/speedtest1.c "base ldb" sqlite/sqlite3.c -Isqlite -ldl -lm
	else
		printf '\ntext: sqlite not measured: %s\n' "$why"
	fi
	printf '\ntext, records / plain\n'
	for program in *-base; do
		program=${program%-base}
		[ ! -x "$program-base" ] || [ ! -x "$program-ldb" ] || text_row "$program"
	done
}
