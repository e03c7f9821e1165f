# SPDX-License-Identifier: GPL-2.0-or-later
# The sections of make bench share this file: rows of a table, recordings, storms.
# shellcheck shell=sh
#
# In each round every configuration runs once, in an order that rotates from round to
# round, so that a drift of the machine affects all of them; a ratio is formed within a
# round (paired.awk).

# "$a.why" says why a configuration has no values: note_failure(), peers.
paired()	# file a name paired.awk's-options...
{
	paired_file=$1
	paired_a=$2
	paired_name=$3
	shift 3
	awk -v a="$paired_a" -v name="$paired_name" -v why="$(cat "$paired_a.why" 2>/dev/null)" "$@" \
		-f "$TOP/tests/bench/paired.awk" "$paired_file" || failed=1
}

row()	# file a b name [bound] [format]: the ratio a / b
{
	paired "$1" "$2" "$4" -v b="$3" -v bound="${5:-}" -v fmt="${6:-}"
}

added()	# file a b name [bound]: the difference a - b
{
	paired "$1" "$2" "$4" -v b="$3" -v diff=1 -v bound="${5:-}" -v fmt=%.2f
}

heading()
{
	printf '\n%s\n%-52s %9s  %-22s\n' "$1" "" median "95 % interval"
}

note()	# text: a line of the table that is not measured in rounds
{
	printf '  %s\n' "$1"
}

mean()	# file config format
{
	awk -v c="$2" -v f="$3" '$2 == c { s += $3; n++ } END { printf f, n ? s / n : 0 }' "$1"
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
	*)	peer_run "$1" storm "$2" "$(($3 / $(peer_share "$1")))" "$cpu" ;;
	esac
}

# A configuration that fails is not tried again in this section.
note_failure()	# config status
{
	case $2 in
	124) echo "did not finish: ended after $peer_timeout s" ;;
	*) echo "failed (exit status $2): $(tail -n 1 "$1.log" 2>/dev/null | cut -c 1-120)" ;;
	esac >"$1.why"
	echo "bench: $1: $(cat "$1.why")" >&2
}

# Runs each configuration once a round.  RUNNER CONFIG prints lines "NAME VALUE";
# FILE gets "ROUND NAME VALUE".
interleave()	# file rounds runner config...
{
	file=$1
	nr=$2
	runner=$3
	shift 3
	: >"$file"
	round=1
	while [ "$round" -le "$nr" ]; do
		for config; do
			[ ! -s "$config.why" ] || continue
			lines=$("$runner" "$config")
			status=$?
			if [ "$status" -eq 0 ]; then
				echo "$lines" | sed "s/^/$round /" >>"$file"
			else
				note_failure "$config" "$status"
			fi
		done
		# The next round starts with the next configuration.
		first=$1
		shift
		set -- "$@" "$first"
		round=$((round + 1))
	done
}

storm_run()	# config
{
	out=$(run_config "$1" "$kind" "$count") || return
	echo "$out" | awk -v c="$1" '$2 > 0 && $3 > 0 { print c, $3 / $2; n++ } END { exit n != 1 }'
}

# Writes "ROUND CONFIG NS-PER-CALL".
storm()	# kind count file rounds config...
{
	kind=$1
	count=$2
	storm_file=$3
	storm_rounds=$4
	shift 4
	interleave "$storm_file" "$storm_rounds" storm_run "$@"
}

now_ns()
{
	date +%s%N
}
