# SPDX-License-Identifier: GPL-2.0-or-later
# What the sections of make bench share: rows of a table, recordings, storms.
# shellcheck shell=sh
#
# In each round every configuration runs once, in an order that rotates from round to
# round, so that a drift of the machine hits all of them; a ratio is formed within a
# round (paired.awk).

row()	# file a b name [bound] [format]
{
	awk -v a="$2" -v b="$3" -v name="$4" -v bound="${5:-}" -v fmt="${6:-}" \
		-f "$TOP/tests/bench/paired.awk" "$1" || failed=1
}

heading()
{
	printf '\n%s\n%-52s %9s  %-22s\n' "$1" "" median "95 % interval"
}

record()	# options... -- command; its messages go to record.log
{
	ldb-record --scanner-cpu "$scanner_cpu" "$@" 2>record.log || {
		echo "bench: ldb-record failed: $(tail -n 1 record.log)" >&2
		exit 1
	}
}

run_config()	# config kind count: prints "KIND CALLS NS"
{
	case $1 in
	base)	./storm-base "$2" "$3" "$cpu" ;;
	base2)	./storm-base "$2" "$3" "$cpu" ;;
	quiet)	./storm-ldb "$2" "$3" "$cpu" ;;
	dormant) LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./storm-ldb "$2" "$3" "$cpu" ;;
	record)	record -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	full)	record --budget 100% -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	hold)	record --mutex=hold -o storm.data -- ./storm-ldb "$2" "$3" "$cpu" ;;
	esac
}

# Runs each configuration once a round and writes "ROUND CONFIG NS-PER-CALL".
storm()	# kind count file rounds config...
{
	kind=$1
	count=$2
	file=$3
	nr=$4
	shift 4
	: >"$file"
	round=1
	while [ "$round" -le "$nr" ]; do
		for config; do
			run_config "$config" "$kind" "$count" |
				awk -v r="$round" -v c="$config" '$2 > 0 { print r, c, $3 / $2 }' >>"$file"
		done
		# Next round starts with the next configuration.
		first=$1
		shift
		set -- "$@" "$first"
		round=$((round + 1))
	done
}

now_ns()
{
	date +%s%N
}
