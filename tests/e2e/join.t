# SPDX-License-Identifier: GPL-2.0-or-later
# Tests reports on two recordings that were made at the same time: sums, clock, processes.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
ldb-record -q -o a.data -- ./figure1 >a.out 2>&1 &
ldb-record -q -o b.data -- ./figure1 >b.out 2>&1
b=$?
wait $!
a=$?
ok "both are recorded" test "$a.$b" = 0.0

count()	# trace...: prints the number of requests that ended
{
	ldb-report --requests --json "$@" | jq '[.requests[].count] | add'
}
ok "requests of both" test "$(count a.data b.data)" = "$(($(count a.data) + $(count b.data)))"
calls()
{
	ldb-report --json --top=100000 "$@" | jq '[.functions[].count] | add'
}
ok "observed calls of both" test "$(calls a.data b.data)" = "$(($(calls a.data) + $(calls b.data)))"
start()	# trace...: prints when the recording began, in ns since 1970
{
	ldb-report --summary --json "$@" | jq .recording.realtime_ns
}
first=$(printf '%s\n' "$(start a.data)" "$(start b.data)" | sort -n | head -1)
both=$(start a.data b.data)
diag "$first, joined $both"
ok "one clock: it begins at the same time of day, to the millisecond" \
	test "${first%??????}" -ge "$((${both%??????} - 1))" -a "${first%??????}" -le "$((${both%??????} + 1))"
ldb-timeline --json a.data b.data >slow.json
slowest()	# trace
{
	ldb-timeline --json -i "$1" | jq '.[0].latency_ns'
}
slowest=$(printf '%s\n' "$(slowest a.data)" "$(slowest b.data)" | sort -n | tail -1)
check_jq "the slowest is the slowest of both" slow.json ".[0].latency_ns - $slowest | fabs < 1000"
check_jq "its threads have a process" slow.json '.[0].segments | length > 0 and all(.process == "figure1" and .pid > 0)'
check "causes" "ldb-why a.data b.data" 0 '^req [0-9]+ '
check "no other clock" "ldb-timeline a.data b.data | grep -c 'another clock'" 1 '^0$'

finish
