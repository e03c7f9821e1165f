# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the tests of planted causes (why-*.t), after engine.sh or guest.sh: it
# records the programs why-*.c and compares what ldb-why reports about them with what they did.
#
#	build_why [PROGRAM]	programs/PROGRAM.c and what the checks need
#	record_cause NAME PROGRAM CAUSE [REQUESTS [FILE]]
#				twice: NAME-plant.data and NAME-clean.data; NAME-*.facts has
#				the ids of the requests that were affected, NAME-*.why what ldb-why
#				says
#	judge NAME KEY=WORD...	two results.  Planted: of the affected requests that ldb-why was
#				to explain, 95 % at least have that for a first cause.  Clean:
#				ldb-why says nothing of the kind.
#	judge_not TEXT NAME KEY=WORD...	the planted run does not pass with these, so
#				the judgement can fail
#	check_seen NAME TEXT FILE FILTER	a filter that must hold, if the scanner ran
#	judge_coverage [KIND]	how much ldb-why explains of all that was recorded, or of the
#				plant or clean runs
#	judge_sums		the shares of each request add up to its latency
#	judge_times NAME...	the other tools report the same time in each function, for programs
#				that do not wait
#	judge_waits NAME...	the other tools report the same waits for each lock
#
# A KEY is one of a request's "first": cause, anomaly, label, category, root, root_label.  The WORD,
# an extended regular expression, is one of the words of its value.  There are two other words:
# of_hits=NUMBER sets how many affected requests are needed, instead of 10.  at_most=PERCENT is for
# causes that every request meets: ldb-why may, by chance, name it for this many requests of the
# clean run.
#
# With why_truth=1, for programs whose requests are each worked on by one thread, the program says
# by its own clocks which of them another task delayed.  These are not judged: what is planted is
# not why they were slow.
#
# record_options has further options of ldb-record; record_under is a command that starts
# ldb-record; record_kinds=plant leaves the clean one out; why_options has options of ldb-why.

: "${record_options:=--kernel none}"
[ "$program_cpu" = "$scanner_cpu" ] || record_apart="--scanner-cpu $scanner_cpu"
# Planted causes take some milliseconds.
why_long_ns=1000000
# If the scanner did not run for this percentage of the time, nothing is judged as wrong.
: "${why_tries:=1 2}" "${why_away:=30}"

build_why()	# [program]
{
	PATH=$BUILD/tests/tools/helpers:$PATH
	if ! ${MAKE:-make} -s --no-print-directory -C "$TOP/tests/tools" "$BUILD/tests/tools/helpers/partition-sums" ||
	   { [ $# -gt 0 ] && ! cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/$1.c" -o "$1" -pthread; }; then
		echo "Bail out! the programs do not build"
		exit 1
	fi
}

# If other load left the scanner without a CPU, it observed little.  Then the program is recorded
# once more, and a result that fails for this reason is not judged.
record_one()	# file facts command...
{
	record_file=$1
	record_facts=$2
	shift 2
	record_start=$(date +%s)
	for record_try in $why_tries; do
		# shellcheck disable=SC2086	# words
		WHY_CPU=$program_cpu ${why_truth:+env WHY_TRUTH=1} ${record_under:-} ldb-record -q $record_options ${record_apart:-} -o "$record_file" -- "$@" \
			>"$record_facts" 2>record.err || { cat record.err; return 1; }
		record_away=$(ldb-report -i "$record_file" --summary --json 2>/dev/null |
			jq '100 * .observation_gap_ns / .recording.duration_ns | floor')
		# A run is not repeated if it took long, because the next run would take long, too.
		[ $(($(date +%s) - record_start)) -lt 4 ] || break
		[ "${record_away:-100}" -gt 20 ] || break
	done
	echo "${record_away:-100}" >"${record_file%.data}.away"
	diag "$record_file: try $record_try, scanner away $record_away % of the time, $(grep -c '^hit ' "$record_facts") hit"
}

before_recording()	# plant|clean: for tests to replace
{
	:
}

record_cause()	# name program cause [requests [file]]
{
	cause_name=$1
	cause_program=$2
	cause_mode=$3
	shift 3
	for cause_kind in ${record_kinds:-plant clean}; do
		cause_file=$cause_name-$cause_kind
		before_recording "$cause_kind"
		check "$cause_file: recorded" "record_one $cause_file.data $cause_file.facts \
			$cause_program $cause_mode $cause_kind $*" 0
		[ -z "$out" ] || printf '%s\n' "$out" | grep '^# '
		ok "$cause_file: explained" eval "ldb-why -i $cause_file.data ${why_options:-} --json >$cause_file.why"
	done
}

# Prints the filter that a request's "first", or a cause, must pass.
why_filter()	# key=word...
{
	printf true
	for why_pair; do
		printf ' and (.%s // "" | test("(^|[^A-Za-z0-9_])(%s)([^A-Za-z0-9_]|$)"))' \
			"${why_pair%%=*}" "${why_pair#*=}"
	done
}

why_firsts()	# requests as JSON: counts their first causes
{
	jq -r 'group_by(.first) | sort_by(-length) | .[:6][] | "\(length) x \(.[0].first | tojson)"' | cut -c1-220
}

# Prints the numbers of the requests that another task or the hypervisor delayed by half a
# millisecond or more, as JSON.
disturbed()	# name
{
	sed -n 's/^off \([0-9]*\) \([0-9]*\) [1-9].*/\1 \2/p; s/^stolen \([0-9]*\) \([0-9]*\) .*/\1 \2/p' "$1.facts" |
		awk '$2 >= 500 { print $1 }' | jq -s .
}

judge_planted()	# name key=word...
{
	planted_name=$1
	shift
	sed -n 's/^hit //p' "$planted_name.facts" | jq -s . >hits.json
	jq --slurpfile hits hits.json --argjson disturbed "$(disturbed "$planted_name")" \
		'[.requests[] | select(.req as $r | ($hits[0] | index($r)) and ($disturbed | index($r) | not))]' \
		"$planted_name.why" >"$planted_name.judged"
	planted_right=$(jq "map(select(.first | $(why_filter "$@"))) | length" "$planted_name.judged")
	planted_of=$(jq length "$planted_name.judged")
	diag "$planted_name: $* is the first cause of $planted_right of $planted_of hit requests in the tail;" \
		"hit $(jq length hits.json), in the tail $(jq '.requests | length' "$planted_name.why")"
	why_firsts <"$planted_name.judged" | sed 's/^/#   /'
	[ "${planted_of:-0}" -ge "${planted_hits:-10}" ] &&
		[ $((planted_right * 100)) -ge $((planted_of * 95)) ]
}

judge_clean()	# name percent key=word...
{
	clean_name=$1
	clean_most=$2
	shift 2
	clean_root=true
	clean_keys=
	for clean_pair; do
		case $clean_pair in
		root=*) clean_root="$clean_root and any(.chain[]?; .kind == \"${clean_pair#*=}\")" ;;
		root_label=*) clean_root="$clean_root and any(.chain[]?; .label | test(\"${clean_pair#*=}\"))" ;;
		*) clean_keys="$clean_keys $clean_pair" ;;
		esac
	done
	clean_of=$(jq '.requests | length' "$clean_name.why")
	disturbed "$clean_name" >disturbed.json
	clean_disturbed=$(jq --slurpfile disturbed disturbed.json \
		'[.requests[].req | select(. as $r | $disturbed[0] | index($r))] | length' "$clean_name.why")
	# If all requests are disturbed, all of them are judged.
	[ "$clean_disturbed" -lt "$clean_of" ] || { echo '[]' >disturbed.json; clean_disturbed=0; }
	jq --slurpfile disturbed disturbed.json ".requests | map(select((.first | $(why_filter "$@")) and
		([.amounts[].ns] | max // 0) >= $why_long_ns and (.req as \$r | \$disturbed[0] | index(\$r) | not)))" \
		"$clean_name.why" >judged.json
	# shellcheck disable=SC2086	# words
	jq ".causes | map(select(($(why_filter $clean_keys)) and $clean_root and .median_ns >= $why_long_ns))" \
		"$clean_name.why" >causes.json
	clean_wrong=$(jq length judged.json)
	clean_in=$(jq 'map(.requests) | max // 0' causes.json)
	# A cause states only the number of its requests, not which ones.
	diag "$clean_name: $* is the first cause of $clean_wrong, a cause of $clean_in of $clean_of requests in the tail;" \
		"others delayed $clean_disturbed"
	jq '.requests' "$clean_name.why" | why_firsts | sed 's/^/#   /'
	[ "${clean_of:-0}" -gt 0 ] && [ $((clean_wrong * 100)) -le $((clean_of * clean_most)) ] &&
		[ $(((clean_in - clean_disturbed) * 100)) -le $((clean_of * clean_most)) ]
}

ok_seen()	# name text cmd...: a result that counts only if the scanner ran
{
	seen_name=$1
	seen_text=$2
	shift 2
	# The output comes after the verdict: run.sh shows what follows a failure.
	if "$@" >seen.out; then
		pass "$seen_text"
	elif [ "$(cat "$seen_name.away")" -gt "$why_away" ]; then
		skip "$seen_text" "the scanner had no CPU for $(cat "$seen_name.away") % of the time"
	else
		fail "$seen_text"
	fi
	cat seen.out
}

# Evaluates a filter on a recording, if the scanner ran.
check_seen()	# name text file filter
{
	ok_seen "$1" "$2" eval "test \"\$(jq '$4' $3)\" = true"
}

judge()	# name key=word... [at_most=percent]
{
	judge_name=$1
	judge_most=0
	planted_hits=10
	judge_keys=
	shift
	for judge_pair; do
		case $judge_pair in
		at_most=*) judge_most=${judge_pair#*=} ;;
		of_hits=*) planted_hits=${judge_pair#*=} ;;
		*) judge_keys="$judge_keys $judge_pair" ;;
		esac
	done
	# shellcheck disable=SC2086	# words
	ok_seen "$judge_name-plant" "$judge_name: planted, and named:$judge_keys" judge_planted "$judge_name-plant" $judge_keys
	# shellcheck disable=SC2086
	ok_seen "$judge_name-clean" "$judge_name: clean, and not named" judge_clean "$judge_name-clean" "$judge_most" $judge_keys
}

judge_not()	# text name key=word...
{
	not_text=$1
	shift
	ok "$not_text: judged as wrong" eval "! judge_planted $*"
}

# Only requests that the scanner observed count: observation gaps are among the unknown time.
judge_coverage()	# [kind]
{
	coverage_of=
	for coverage_file in ./*"${1:-}".why; do
		[ "$(cat "${coverage_file%.why}.away")" -gt "$why_away" ] || coverage_of="$coverage_of $coverage_file"
		diag "$coverage_file: $(cat "${coverage_file%.why}.away") % away, $(jq -c '.coverage | map_values(. * 10000 | round / 10000)' "$coverage_file")"
	done
	if [ -z "$coverage_of" ]; then
		skip "how much is explained" "the scanner had no CPU for more than $why_away % of the time in all of them"
		return
	fi
	# shellcheck disable=SC2086	# words
	jq -s '[.[].requests[] | select(.deviation_ns > .resolution_ns)] | {n: length,
		not_watched: map(select(.unobserved_ns * 20 > .latency_ns)) | length,
		coverage: ([.[] | select(.unobserved_ns * 20 <= .latency_ns) | .coverage] | sort),
		unknown_ns: ([.[].unknown_ns] | add), ns: ([.[].latency_ns] | add)}
		| .n -= .not_watched | . + {unknown: (.unknown_ns / .ns), min: .coverage[0],
			p10: .coverage[.n * 0.1 | floor], median: .coverage[.n / 2 | floor], max: .coverage[-1]}' \
		$coverage_of >all-coverage.json
	# coverage.sh reads this list, which is sorted by percent, in descending order.
	diag "coverage $(jq -c '{n, not_watched, min, unknown_ns, ns, percent: (.coverage | map([. * 100, 100] | min | floor)
		| group_by(.) | map({key: (.[0] | tostring), value: length}) | from_entries)}' all-coverage.json)"
	jq 'del(.coverage)' all-coverage.json >coverage.json
	diag "all${1:+ of $1}: $(jq -c 'map_values(. * 10000 | round / 10000)' coverage.json)"
	check_coverage
}

check_coverage()	# reads coverage.json
{
	check_jq "of each request 80 % at least are explained" coverage.json '.min >= 0.8'
	check_jq "of most requests 96 %" coverage.json '.median >= 0.96'
	check_jq "5 % at most of their time are unknown" coverage.json '.unknown <= 0.05'
}

judge_sums()
{
	for sums_file in *.data; do
		check "$sums_file: every nanosecond of every request is in one share" "partition-sums $sums_file" 0 '^[0-9]+ requests'
		diag "$out"
	done
}

# Compares with the sqlite export: the self time of each function, and each lock's waits.
same_times()	# name
{
	[ -f "$1.db" ] || ldb-export -q -i "$1.data" -o "$1.db" sqlite || return 1
	sqlite3 -bail -separator ' ' "$1.db" "SELECT r.req, f.name, t.self_ns FROM request_time t
		JOIN request r ON r.id = t.request JOIN function f ON f.id = t.function WHERE r.complete" >"$1.times"
	partition-sums "$1.data" times >"$1.parts" || return 1
	same_sums "$1.times" "$1.parts" 1
}

same_waits()	# name
{
	[ -f "$1.db" ] || ldb-export -q -i "$1.data" -o "$1.db" sqlite || return 1
	sqlite3 -bail -separator ' ' "$1.db" "SELECT r.req, l.address, e.duration_ns FROM lock_event e
		JOIN request r ON r.id = e.request JOIN lock l ON l.id = e.lock
		WHERE e.op = 'wait' AND r.complete" >"$1.times"
	partition-sums "$1.data" waits >"$1.parts" || return 1
	same_sums "$1.times" "$1.parts" 1
}

# Compares lines "REQ NAME NS" in two files.  They may differ by some nanoseconds, because each end
# is rounded.
same_sums()	# want got most
{
	awk -v most="$3" '
	NR == FNR { want[$1 " " $2] += $3; nr[$1 " " $2]++; next }
	{ got[$1 " " $2] += $3 }
	END {
		for (k in want) {
			off = got[k] - want[k]
			if (off > most * nr[k] || off < -most * nr[k]) wrong[k] = 1
			n++
		}
		for (k in got) if (!(k in want) && got[k] > most) wrong[k] = 1
		for (k in wrong) if (nr_wrong++ < 8) print k ": " want[k] + 0 " ns, but " got[k] + 0
		print n + 0 " sums compared, " nr_wrong + 0 " differ"
		exit nr_wrong > 0 || n == 0
	}' "$1" "$2" >same.out
	same_status=$?
	diag "$(cat same.out)"
	return $same_status
}

judge_times()	# name...
{
	for times_name; do
		ok "$times_name: the export has the same time for each function" same_times "$times_name"
	done
}

judge_waits()	# name...
{
	for waits_name; do
		ok "$waits_name: the export has the same waits" same_waits "$waits_name"
	done
}
