# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the corpus of planted causes (make corpus): its table must be sound, and its judge must
# be able to reject.
. "$(dirname "$0")/../lib/engine.sh"

corpus=$TOP/tests/corpus
grep -v -e '^#' -e '^$' "$corpus/cases.txt" >cases

ok "200 planted cases at least" test "$(grep -vc ' clean ' cases)" -ge 200
ok "and 50 clean ones" test "$(grep -c ' clean ' cases)" -ge 50
check "each has nine fields" "awk -F' +[|] +' 'NF != 9 { print NR \": \" \$0; exit 1 }' cases"
check "each has a name of its own" "! cut -d' ' -f1 cases | sort | uniq -d | grep ."
cut -d'|' -f2 cases | sort -u | while read -r program; do
	[ -f "$corpus/$program" ] || [ -f "$TOP/tests/programs/$program" ] || echo "$program"
done >gone
check "each program is there" "! grep . gone"
# For each clean case there must be a planted one with the same program and arguments.
awk -F' +[|] +' '{ run = $4; sub(/(^| )(plant|clean) /, " ", run); key = $2 "|" $3 "|" run "|" $8 "|" $9
	if ($4 ~ /(^| )clean /) clean[key] = $1; else planted[key] = 1 }
	END { for (k in clean) if (!(k in planted)) { print clean[k]; bad = 1 } exit bad }' cases >alone 2>&1
check "a clean case has its planted twin" "! grep . alone"

# Prints a request as in the output of ldb-why --json.
request()	# id cause label ns [thread function]
{
	printf '{"req": %s, "amounts": [{"ns": %s}], "first": {"cause": "%s", "label": "%s", "anomaly": "%s",' \
		"$1" "$4" "$2" "$3" "$([ "$2" = function ] && echo slower || echo gap)"
	printf '"root": "function", "root_label": "%s"}, "chain": [{"kind": "held_by", "thread": "%s", "label": "%s"}]},\n' \
		"${6:-}" "${5:-}" "${6:-}"
}

requests()	# first last cause...
{
	requests_at=$1
	requests_to=$2
	shift 2
	while [ "$requests_at" -le "$requests_to" ]; do
		request "$requests_at" "$@"
		requests_at=$((requests_at + 1))
	done
}

# Requests 1 to 10 are affected; 90 was off the CPU for 8 ms, and the hypervisor stole the CPU
# from 92.
verdict()	# planted holder kernel away <requests
{
	{
		echo '{"requests": ['
		sed '$ s/,$//'
		echo ']}'
	} >why.json
	jq -c --argjson hits '[1,2,3,4,5,6,7,8,9,10]' --argjson off '{"90": 8000}' --argjson stolen '{"92": 8000}' --argjson case \
		"{\"name\": \"x\", \"kind\": \"x\", \"cause\": \"cause=lock_wait label=a_lock\", \"holder\": \"$2\",
		  \"is_planted\": $1, \"plant_ns\": 10000000, \"has_kernel\": $3, \"away\": $4, \"most_away\": 30}" \
		-f "$corpus/judge.jq" why.json >result
	cat result
}

check "the right lock and holder" \
	"requests 1 10 lock_wait a_lock 9000000 keeper rebuild | verdict true 'thread=keeper function=rebuild' true 0" 0 \
	'"nr":10,"nr_cause":10,"nr_holder":10.*"verdict":"right"'
check "a part of a word is not the word" \
	"requests 1 10 lock_wait a_lock2 9000000 keeper rebuild | verdict true - true 0" 0 '"nr_cause":0.*"verdict":"cause"'
check "another lock is wrong" \
	"requests 1 10 lock_wait b_lock 9000000 keeper rebuild | verdict true - true 0" 0 '"verdict":"cause"'
check "another function of the holder is wrong" \
	"requests 1 10 lock_wait a_lock 9000000 keeper flush | verdict true 'thread=keeper function=rebuild' true 0" 0 \
	'"nr_cause":10,"nr_holder":0.*"verdict":"holder"'
check "what most of the hit requests have is the case's, each counts" \
	"{ requests 1 6 lock_wait a_lock 9000000; requests 7 10 function f 9000000; } | verdict true - true 0" 0 \
	'"nr":10,"nr_cause":6.*"verdict":"right"'
check "requests that were not hit do not count for it" \
	"{ requests 1 6 lock_wait a_lock 9000000; requests 20 40 preempted cc 9000000; } | verdict true - true 0" 0 \
	'"nr":6,"nr_cause":6.*"nr_false":0,"nr_machine":21.*"verdict":"right"'
check "a lock that nobody waited for is a false alarm" \
	"requests 90 90 lock_wait a_lock 9000000 | verdict false - true 0" 0 '"nr_false":1.*"verdict":"false alarm"'
check "any lock" "requests 91 91 lock_wait z_lock 9000000 | verdict false - false 0" 0 '"verdict":"false alarm"'
check "not for some microseconds" "requests 91 91 lock_wait z_lock 90000 | verdict false - false 0" 0 '"verdict":"right"'
check "a function is none if the thread had no CPU and nobody could know" \
	"requests 90 90 function f 9000000 | verdict false - false 0" 0 '"nr_false":0,"nr_machine":1.*"verdict":"right"'
check "but is one if there are kernel events" \
	"requests 90 90 function f 9000000 | verdict false - true 0" 0 '"nr_false":1.*"verdict":"false alarm"'
check "nor if the hypervisor took the CPU" \
	"requests 92 92 function f 9000000 | verdict false - true 0" 0 '"nr_false":0,"nr_machine":1.*"verdict":"right"'
check "nor if it is no more than the resolution" \
	"requests 91 91 function a_lock 9000000 | sed 's/\"amounts\"/\"resolution_ns\": 9000000, &/' | verdict false - true 0" 0 '"verdict":"right"'
check "where no scanner was, nothing is judged, right or wrong" \
	"requests 1 10 lock_wait a_lock 9000000 | verdict true - true 31" 0 '"verdict":"not judged"'
check "nor on a few requests" \
	"requests 1 4 lock_wait a_lock 9000000 | verdict true - true 0" 0 '"verdict":"not judged"'

# 95 of 100 cases are right.  Wilson's interval is 88.8 to 97.8.
row='{"name": "x", "kind": "k", "planted": true, "has_holder": false, "nr": 10, "nr_cause": 10, "nr_holder": 0,
	"nr_others": 0, "nr_false": 0, "nr_machine": 0, "nr_disturbed": 0}'
jq -nc "$row as \$r | range(95) | \$r + {verdict: \"right\", cause: true}" >rows
jq -nc "$row as \$r | range(5) | \$r + {verdict: \"cause\", cause: false, nr_cause: 0}" >>rows
jq -nc "$row + {verdict: \"not judged\", why: \"the scanner was away for 40 % of the time\"}" >>rows
check "the table has the rates" "jq -rs -f $corpus/table.jq rows" 0 \
	'^right cause: +95/100 = 95 % \(88.8 to 97.8\) of the cases; of their requests 950/1000'
check "and what was not judged" "jq -rs -f $corpus/table.jq rows" 0 \
	'^not judged: +1 of 101 cases: 1 the scanner was away for much of the time'

finish
