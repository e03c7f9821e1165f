# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests with functions that are slower or are called more often than in other requests, or
# that others do not call.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
why_truth=1
need_build
build_why why-functions

record_cause slow ./why-functions slow
judge slow cause=function anomaly=slower label=match at_most=20
record_cause rare ./why-functions rare 15000
judge rare cause=function anomaly=unexpected_function label=rebuild
record_cause more ./why-functions more
judge more cause=function anomaly=more_calls label=probe at_most=10
# Calls that the scanner does not observe are not counted, so only the request with the most
# observed calls is tested.
check_seen more-plant "more: how many more" more-plant.judged '[.[].amounts[0].more] | max | . >= 250 and . <= 510'

record_cause tail ./why-functions tail
judge tail cause=function anomaly=slower label=settle at_most=20

judge_not "no other function" slow-plant cause=function label=lookup
judge_sums
judge_times slow-plant rare-plant more-plant tail-plant
judge_coverage
finish
