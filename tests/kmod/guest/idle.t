# SPDX-License-Identifier: GPL-2.0-or-later
# Of a thousand threads, two run: the scanner asks the CPUs which threads run, and
# does not read the pages of those that sleep.
# Slow: runtime/scan-switch tests the choice of threads.
. "$(dirname "$0")/../../lib/guest.sh"

running=2
load
# The scanner is pinned, so that it does not yield.  Its first round reads each page, so there must
# be many more rounds.
check "recorded" "ldb-record --kernel module --scanner-cpu 1 -o t.data -- sleepers 1000 $running 4" 0 'wake-ups'
diag "$out"
wakeups=$(printf '%s\n' "$out" | sed -n 's/^\([0-9]*\) wake-ups$/\1/p')
cpus=$(nproc)
ok "summary" eval "ldb-report -i t.data --summary --json >s.json"
diag "$(jq -c '.scanners[0] | {rounds, polls, changes, pages, paused_ns, busy_ns}' s.json)"
diag "pages per round: $(jq '.scanners[0] | .pages / .rounds' s.json), of $cpus CPUs and $running running threads"
check_jq "all threads are observed" s.json '(.threads | length) == 1001 and .unobserved_threads == 0'
check_jq "pages per round: at most CPUs + running threads" s.json \
	".scanners[0] | .rounds > 0 and .pages > 0 and .pages <= .rounds * ($cpus + $running)"

# Each wake-up is a function of a millisecond, in a thread that was idle for long.  How many are
# observed depends on whether the scanner runs at these times, so the number is printed, but not
# tested.
ok "functions" eval "ldb-report -i t.data --json >f.json"
seen=$(jq '[.. | objects | select((.function? // "") | startswith("woken")) | .count] | add // 0' f.json)
diag "$seen of $wakeups wake-ups observed"
check "the module unloads" "rmmod ldb"
finish
