# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Prints "CONFIG NS": what a call costs the program.
ids_run()	# config
{
	case $1 in
	base | base2) out=$(taskset -c "$cpu" ./call-ids-base 20000) ;;
	calls) out=$(record --kernel none -q --request=handle -o ids.data -- taskset -c "$cpu" ./call-ids-ldb 20000) ;;
	ids) out=$(record --kernel none --request='handle(r->id)' -o ids.data -- taskset -c "$cpu" ./call-ids-ldb 20000) ;;
	esac || return
	# If no ids were recorded, the figure would be meaningless.
	[ "$1" != ids ] || grep -q 'ids of calls: 20000, 0 lost' record.log || {
		tail -n 3 record.log >ids.log
		return 1
	}
	echo "$out" | awk -v c="$1" 'NF == 2 { print c, $2; n++ } END { exit n != 1 }'
}

# Measures what a call costs if the kernel reads its id, for --request='handle(r->id)'.
bench_ids()
{
	$cc -O2 -g "$programs/call-ids.c" -o call-ids-base &&
	$cc -O2 -g "$plugin" "$programs/call-ids.c" -o call-ids-ldb || exit 1
	interleave ids.txt "$rounds" ids_run base base2 calls ids
	heading "a call, recorded with --request: ns added"
	note "without ldb: $(mean ids.txt base %.1f) ns"
	added ids.txt base2 base "  the same again"
	added ids.txt calls base "  --request=handle"
	added ids.txt ids calls "  --request='handle(r->id)' more than that"
}
