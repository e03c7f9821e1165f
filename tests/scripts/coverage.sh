#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints how much ldb-why explained of the slow requests of all traces that the tests judged
# (judge_coverage in why.sh), as one distribution from their logs.
#
#	tests/scripts/coverage.sh LOG...
: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
. "$TOP/tests/lib/engine.sh"
. "$TOP/tests/lib/why.sh"

grep -h '^# coverage {' "$@" | sed 's/^# coverage //' >coverage.all
if ! [ -s coverage.all ]; then
	echo "1..0 # SKIP no test judged it"
	exit 77
fi
jq -s '. as $all | (map(.percent | to_entries[] | {of: (.key | tonumber), nr: .value}) | group_by(.of)
		| map({of: .[0].of, nr: (map(.nr) | add)})) as $by
	| [$by[] | .of as $of | range(.nr) | $of] as $each
	| {tests: length, n: ($each | length), not_watched: (map(.not_watched) | add), min: (map(.min) | min),
	   unknown: ((map(.unknown_ns) | add) / (map(.ns) | add)),
	   below_100: ($by | map(select(.of < 100)))}
	| .p1 = $each[.n * 0.01 | floor] | .p10 = $each[.n * 0.1 | floor] | .median = $each[.n * 0.5 | floor] / 100' \
	coverage.all >coverage.json
diag "$(jq -r '"\(.n) slow requests of \(.tests) tests; explained of the time by " +
	"which they took longer: at least \(.min * 1000 | floor / 10) %, 1st percentile \(.p1) %, 10th \(.p10) %, median \(.median * 100) % or more; " +
	"unknown \(.unknown * 1000 | round / 10) % of their time; \(.not_watched) others were not observed"' coverage.json)"
diag "less than all: $(jq -r '.below_100 | map("\(.nr) x \(.of) %") | join(", ")' coverage.json)"
check_jq "there are many" coverage.json '.n >= 100'
check_coverage
finish
