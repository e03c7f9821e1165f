# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Prints "call-CONFIG NS" and "whole-CONFIG NS".
forks_run()	# config
{
	case $1 in
	base*) out=$(taskset -c "$cpu" ./fork-time-base $forks_load) ;;
	alone) out=$(record --no-children -q -o forks.data -- taskset -c "$cpu" ./fork-time-ldb $forks_load) ;;
	plain) out=$(record --kernel none -q -o forks.data -- taskset -c "$cpu" ./fork-time-ldb $forks_load) ;;
	all) out=$(record -q -o forks.data -- taskset -c "$cpu" ./fork-time-ldb $forks_load) ;;
	esac || return
	echo "$out" | awk -v c="$1" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n != 2 }'
}

# Measures what fork() costs while the process and its children are recorded.  The parent and the
# children are on one CPU; recorders may use any CPU.
bench_forks()
{
	$cc -O2 -g "$programs/fork-time.c" -o fork-time-base &&
	$cc -O2 -g "$plugin" "$programs/fork-time.c" -o fork-time-ldb || exit 1
	heading "fork() while recorded / without ldb"
	for forks_load in "100 0" "12 30"; do
		interleave forks.txt "$rounds" forks_run base base2 alone plain all
		note "children of ${forks_load#* } ms: fork() $(mean forks.txt call-base %.0f) ns, fork to wait $(mean forks.txt whole-base %.0f) ns"
		for what in call whole; do
			name=$([ $what = call ] && echo "fork()" || echo "from fork() to the end of wait()")
			row forks.txt $what-base2 $what-base "  $name, the same again"
			row forks.txt $what-alone $what-base "  $name, --no-children"
			row forks.txt $what-plain $what-base "  $name, with children, --kernel none"
			row forks.txt $what-all $what-base "  $name, with children"
		done
	done
}
