# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the scanner's statistics: the budget it used, which threads it polled, and where.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/sleepers.c" -o sleepers -pthread || exit 1

cpu_one=$(taskset -cp $$ | sed 's/.*[: ]\([0-9]*\).*/\1/; s/[-,].*//')

summary()	# options... -- command
{
	ldb-record -q "$@" && ldb-report -i ldb.data --summary --json >s.json
}

# The cost that each thread is charged is compared with the time for which it existed.  A saved
# budget and one poll take less than 10 us together.
kept()	# percent
{
	jq -e "[.threads[] | .cost_ns - 10000 - $1 / 100 * (.end_ns - ([.start_ns, 0] | max))] | max <= 0" s.json >/dev/null
}

check "recorded with a budget of 2 %" "summary --budget 2% -- ./sleepers 20 2 0.5" 0
ok "it was kept, for each thread" kept 2
ok "the scanners' parts add up" eval "jq -e '([.threads[].cost_ns] | add) as \$t
	| ([.scanners[].cost_ns] | add) as \$s | \$t <= \$s * 1.01 and \$s > 0' s.json >/dev/null"
check "the report says so" "ldb-report" 0 'Budget: 2% of a thread.s time; polling cost about .* at most [0-9.]+ %'

# The running threads have odd page numbers, and all of these belong to one scanner at first.  On a
# busy host a scanner may hardly have run; then the program is recorded again.
for try in 1 2 3 4 5; do
	check "two scanners" "summary --scanners 2 -- ./sleepers 20 3 1" 0
	[ "$(jq '[.scanners[].handed] | add' s.json)" = 0 ] || break
done
diag "$(jq -c '.scanners[] | {polls, changes, handed}' s.json)"
# Whether both are busy at the same time depends on the host.
handed="threads were handed from one to the other"
if jq -e '[.scanners[].handed] | add > 0' s.json >/dev/null; then
	ok "$handed" true
else
	skip "$handed" "they were not busy at the same time"
fi
ok "both observed changes" eval "jq -e '[.scanners[].changes] | min > 0' s.json >/dev/null"
ok "no invocation is there twice" eval "jq -e '.observed_calls <= .calls' s.json >/dev/null"

# With one CPU for the program and the scanner, the scanner sleeps for more than half of the time,
# and says that it had no core to itself.
check "one CPU" "taskset -c '$cpu_one' ldb-record -q -- ./sleepers 20 2 1 && ldb-report --summary --json >s.json" 0
diag "$(jq -c '.scanners[0] | {busy_ns, paused_ns, observation_gap_ns, polls}' s.json)"
ok "the scanner slept" eval "jq -e '.scanners[0].paused_ns > .recording.duration_ns / 2' s.json >/dev/null"
check "the report says that it had no core" "ldb-report" 0 'had no core to itself'

# A thousand sleeping threads must not delay the scanning of the two that run.  (The scanner is
# pinned, so that it does not yield.  Its first round reads all threads, so there must be further
# rounds.)
check "a thousand threads" "summary --scanner-cpu $scanner_cpu -- ./sleepers 1000 2 1" 0
diag "$(jq -c '.scanners[0] | {rounds, polls, pages, changes}' s.json)"
ok "a round touches the pages of few" eval "jq -e '.scanners[0] | .pages < 100 * .rounds' s.json >/dev/null"

finish
