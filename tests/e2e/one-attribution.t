# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that the same request has the same time in the same state and stack for ldb-why,
# folded stacks, pprof and speedscope, to the nanosecond: waits for locks, times off the CPU and
# interrupts; and in ldb-timeline (whose causes have no stack) that each state has the same sum.
# Here the files are read; recordings of other tests are checked as well, by
# tools/one-attribution.c (lib/oracle.sh).
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
build_why
cc_ldb -O2 -g "$PROGRAMS/why-locks.c" -o why-locks -pthread || exit 1
cc_ldb -O2 -g "$PROGRAMS/hits.c" -o hits -pthread || exit 1
ok "recorded: locks" ldb-record -q --mutex=hold -o locks.data -- ./why-locks chain plant 1000
ok "recorded: interrupts" ldb-record -q -o hits.data -- ./hits 300 5 60

# Turns lines "STACK NS", with waits in brackets, into "STATE STACK NS", sorted.
by_state()
{
	awk '{
		ns = $NF
		sub(/ [^ ]*$/, "")
		state = "function"
		if (match($0, /;?\[[^][;]*\]$/)) {
			state = substr($0, RSTART)
			$0 = substr($0, 1, RSTART - 1)
			gsub(/^;?\[|\]$|( .*)/, "", state)
			if (state == "lock") state = "lock_wait"
			else if (state == "futex") state = "futex_wait"
			else if (state == "disk") state = "io"
			else if (state !~ /^(runnable|preempted|throttled|stolen|irq)$/) state = "sleep"
		}
		sum[state " " $0] += ns
	} END { for (k in sum) if (sum[k]) print k, sum[k] }' | sort
}

of_why()	# trace req
{
	partition-sums "$1.data" stacks | awk -v req="$2" '$1 == req { k = $2 " " (NF > 3 ? $3 : ""); sum[k] += $NF }
		END { for (k in sum) print k, sum[k] }' | sort
}

of_folded()	# trace req: without the thread
{
	ldb-export -q -i "$1.data" -o folded --req "$2" --causes folded && sed 's/^[^;]*;//' folded | by_state
}

of_speedscope()
{
	ldb-export -q -i "$1.data" -o speedscope --req "$2" --causes speedscope &&
	jq -r '.shared.frames as $f | .profiles[].events | reduce .[] as $e ({ stack: [], ns: {} };
		(if .at and (.stack | length) > 0 then .ns[.stack | join(";")] += $e.at - .at else . end) | .at = $e.at |
		if $e.type == "O" then .stack += [$f[$e.frame].name] else .stack |= .[:-1] end) |
		.ns | to_entries[] | select(.value > 0) | "\(.key) \(.value)"' speedscope | by_state
}

# Reads blocks of -traces: a time and the innermost function, then its callers.
of_pprof()
{
	ldb-export -q -i "$1.data" -o pb.gz --req "$2" --causes pprof &&
	go tool pprof -traces -unit=ns pb.gz 2>/dev/null | awk '
		function put() { if (ns) print stack, ns; ns = 0; stack = "" }
		/^-+\+/ { put(); on = 1; next }
		!on || /^ *[a-z]+:  / { next }
		/^ *[0-9.]+ns/ { put(); ns = $1 + 0; sub(/^ *[0-9.]+ns +/, ""); stack = $0; next }
		/^ +0 / { put(); next }
		NF && ns { sub(/^ +/, ""); stack = $0 ";" stack }
		END { put() }' | by_state
}

# Prints the sums of the timeline's causes by state.
of_timeline()
{
	ldb-timeline -q -i "$1.data" --req "$2" --json | jq -r '.causes[] | select(.kind | IN("unknown", "queue", "head_of_line") | not) |
		select(.queue | not) | "\(.kind) \(.total_ns)"' | awk '{ sum[$1] += $2 } END { for (k in sum) print k, sum[k] }' | sort
}

same_everywhere()	# trace req
{
	of_why "$1" "$2" >want
	[ -s want ] || { echo "# ldb-why has nothing of $2"; return 1; }
	for same_format in folded speedscope pprof; do
		[ "$same_format" != pprof ] || command -v go >/dev/null || continue
		"of_$same_format" "$1" "$2" >got
		cmp -s want got || { diff want got | head -n 20 | sed "s/^/# $same_format: /"; return 1; }
	done
	awk '{ sum[$1] += $NF } END { for (k in sum) print k, sum[k] }' want | sort >states
	of_timeline "$1" "$2" >got
	cmp -s states got || { diff states got | head -n 20 | sed "s/^/# timeline: /"; return 1; }
}

compare()	# trace state...: states that its requests must have
{
	compare_trace=$1
	shift
	ldb-why -q -i "$compare_trace.data" --json >why.json
	: >seen
	compare_nr=0
	for compare_req in $(jq -r '.requests | sort_by(-.latency_ns) | .[:12][].req' why.json); do
		same_everywhere "$compare_trace" "$compare_req" >differs ||
			{ fail "$compare_trace: request $compare_req"; cat differs; return; }
		cut -d' ' -f1 want >>seen
		compare_nr=$((compare_nr + 1))
	done
	ok "$compare_trace: each of $compare_nr requests is the same everywhere" test "$compare_nr" -gt 0
	diag "$(sort seen | uniq -c | awk '{ printf "%s in %s; ", $2, $1 }')"
	for compare_state; do
		ok "$compare_trace: there is $compare_state in them" grep -q "^$compare_state" seen
	done
}
compare locks function lock_wait
# Under other load the scanner may observe no function of the request; then the other causes are
# compared.
compare hits
if trace-cat hits.data meta | grep -q '^meta kernel_irqs=1$'; then
	ok "interrupts are among them" grep -q '^irq' seen
else
	skip "interrupts are among them" "they were not recorded"
fi
# The test must notice a difference.
of_why hits 6 | awk '{ $NF += NR == 1; print }' >got
ok "a nanosecond more is a difference" eval "! of_why hits 6 | cmp -s - got"
finish
