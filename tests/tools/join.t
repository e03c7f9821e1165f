# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that the tools take several traces and show them as one.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
unset COLUMNS
report-trace figure1 a.data && report-trace figure1 b.data && report-trace flows f.data || exit 1

check "a report of both" "ldb-report --top=50 a.data b.data" 0 ' 402 .*request_handler\(\)'
ldb-report --json a.data >one.json
check "observed calls of both" "ldb-timeline a.data b.data" 0 'observed calls: 40 of 4\.00 k'
check "requests of both" "ldb-report --requests --json a.data b.data | jq '.requests[] | select(.class == \"GET\") | .count'" 0 '^200$'
check "losses of both" "ldb-timeline a.data b.data" 0 '6 records lost'
check "the slowest of both" "ldb-timeline --slowest=2 a.data b.data | grep -c '^req [0-9]*4711 of process (pid 1): 12.8 ms'" 0 '^2$'
check "one of the second trace" "ldb-timeline --req=14711 --nth=1 a.data b.data" 0 '^req 14711 of process .*: 12\.8 ms .*held by snapshot.* of thread snapshotter 2 '
check "causes of both" "ldb-why --slowest=2 a.data b.data" 0 'waiting for lock db_lock'
check "stacks of both" "ldb-export folded a.data b.data | grep -c ." 0 '^[1-9]'
check "libraries of both" "ldb-flows f.data f.data --json | jq '.components | length'" 0 '^[1-9]'
check "an archive of both" "ldb-report --archive both.data a.data b.data && ldb-timeline -i both.data" 0 'observed calls: 40 of'
check "one trace as an argument" "ldb-report --json a.data | cmp - one.json && echo same" 0 '^same$'
check_one_line "-i and an argument" "ldb-report -i a.data b.data" 2 'not both'
check_one_line "a file that is no trace" "ldb-why a.data $TOP/README.md" 1 'not a trace'
check_one_line "a file that is not there" "ldb-why a.data none.data" 1 'none\.data'
check_one_line "the output is one of them" "ldb-report -o b.data a.data b.data" 1 'b\.data is the trace itself'
check "--compare takes its two, as before" "ldb-why --compare a.data b.data" 0 '.'
head -c -100 b.data >cut.data
oracle_cut cut.data
check "damage of one" "ldb-report a.data cut.data 2>&1" 3 'without being closed'

# A client and a server on two machines; the clock of one of them is 3 ms ahead.
report-trace client c.data && report-trace server s.data || exit 1
export TZ=UTC
ID=4bf92f3577b34da60000000000000007
check "a trace id: one timeline of both processes" "ldb-timeline --trace $ID c.data s.data" 0 '^2 requests of this trace, in 1\.00 ms'
check "with what each did" "ldb-timeline --trace $ID c.data s.data" 0 '^req 1007 of server \(pid 10\): 899 us .*self time in lookup'
check "lanes of processes" "ldb-timeline --trace $ID c.data s.data" 0 '^worker 10 of server \(pid 10\) works on the request'
check "and how far the clocks are apart" "ldb-timeline --trace $ID c.data s.data" 0 \
	'^times of server \(pid 10\) on backend are of another clock: off by at most [0-9.]+ us'
ldb-timeline --json --trace $ID c.data s.data >t.json
check_jq "as data: two requests" t.json 'length == 2 and ([.[].req] == [7, 1007])'
check_jq "the process of each segment" t.json '.[1].segments | all(.process == "server" and .pid == 10)'
# The server began 37 us after the client; the clocks are known to 41.5 us.
check_jq "times are right within that" t.json '.[1].start_ns - .[0].start_ns - 37000 | fabs < 41600'
check_jq "a time of day" t.json '.[0].start_time == "2026-11-22T03:00:00.028000000Z"'
check "a request by the number that its process gave it" "ldb-timeline --req server:7 c.data s.data" 0 '^req 1007 of server '
check "also in ldb-why" "ldb-why --req server:7 --json c.data s.data | jq -c '[.requests[].req]'" 0 '^\[1007\]$'
check "and in exports" "ldb-export --req server:7 -o x.json chrome c.data s.data && grep -c 1007 x.json" 0 '^[1-9]'
check_one_line "two processes of this number" "ldb-timeline --req 10:7 c.data s.data" 1 'more than one process 10 in .* it has 10 \(client.*10 \(server'
check_one_line "no such process" "ldb-why --req nobody:7 c.data s.data" 1 'no process nobody in .* it has 10 \(client'
check_one_line "a recording of one" "ldb-timeline --req 10:7 -i c.data" 1 'of one process: --req=7'
check_one_line "no number" "ldb-timeline --req server:x c.data s.data" 2 'takes \[PROCESS:\]N'
check "the first digits of an id" "ldb-timeline --trace 4bf92f35 c.data s.data" 0 '^40 requests of this trace'
check "a traceparent" "ldb-timeline --trace 00-$ID-00f067aa0ba902b7-01 -i c.data" 0 '^req 7:'
check "an id that nobody has" "ldb-timeline --trace 0123456789 -i c.data" 0 'no request was linked to trace 0123456789'
check_one_line "what is no id" "ldb-timeline --trace hello -i c.data" 2 'give a trace id'
check_one_line "--trace and --req" "ldb-timeline --trace $ID --req 7 -i c.data" 2 'do not go with'
check "a time of day: what was open" "ldb-timeline --at 2026-11-22T03:00:00.0285 c.data s.data" 0 '^  req 1007 +899 us, since 45[0-9] us'
check "the slowest of them" "ldb-timeline --at 03:00:00.0285 c.data s.data" 0 '^req 7 of client \(pid 10\): 1\.00 ms'
check "a local time" "TZ=Europe/Berlin ldb-timeline --at 04:00:00.0285 -i c.data" 0 '^open at 2026-11-22 04:00:00\.028500'
check "a time with an offset" "ldb-timeline --at 2026-11-22T05:30:00.0285+02:30 -i c.data" 0 '^open at 2026-11-22 03:00:00\.028500'
check "a time at which nothing was open" "ldb-timeline --at 03:00:00.030 -i c.data" 0 'no request was open at 03:00:00\.030'
check_one_line "a time outside of the recording" "ldb-timeline --at 2026-11-22T04:00:00Z -i c.data" 1 'the recording is from 2026-11-22 03:00:00'
check_one_line "what is no time" "ldb-timeline --at noon -i c.data" 2 'give a time such as'

finish
