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
check "the slowest of both" "ldb-timeline --slowest=2 a.data b.data | grep -c '^req [0-9]*4711: 12.8 ms'" 0 '^2$'
check "one of the second trace" "ldb-timeline --req=14711 --nth=1 a.data b.data" 0 '^req 14711: 12\.8 ms .*held by snapshot'
check "causes of both" "ldb-why --slowest=2 a.data b.data" 0 'waiting for lock db_lock'
check "stacks of both" "ldb-export folded a.data b.data | grep -c ." 0 '^[1-9]'
check "libraries of both" "ldb-flows f.data f.data --json | jq '.components | length'" 0 '^[1-9]'
check "an archive of both" "ldb-report --archive both.data a.data b.data && ldb-timeline -i both.data" 0 'observed calls: 40 of'
check "one trace as an argument" "ldb-report --json a.data | cmp - one.json && echo same" 0 '^same$'
check_one_line "-i and an argument" "ldb-report -i a.data b.data" 2 'not both'
check_one_line "a file that is no trace" "ldb-why a.data $TOP/README.md" 1 'no trace'
check_one_line "a file that is not there" "ldb-why a.data none.data" 1 'none\.data'
check_one_line "the output is one of them" "ldb-report -o b.data a.data b.data" 1 'b\.data is the trace itself'
check "--compare takes its two, as before" "ldb-why --compare a.data b.data" 0 '.'
head -c -100 b.data >cut.data
oracle_cut cut.data
check "damage of one" "ldb-report a.data cut.data 2>&1" 3 'without being closed'

finish
