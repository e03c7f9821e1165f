# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait for a lock: ldb-why must name the lock and what its holder was
# executing.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
why_truth=1
need_build
build_why why-locks

record_cause io ./why-locks io
judge io cause=lock_wait anomaly=gap label=db_lock root=function root_label=flush
record_cause chain ./why-locks chain
judge chain cause=lock_wait anomaly=gap label=db_lock root=function root_label=compact

# Checks the chain itself, edge by edge.  If the scanner was off its CPU, it observed less of the
# holders.
jq '[.requests[] | select(.first.root_label == "compact")]' chain-plant.why >chains.json
most='def most(f): (map(select(f)) | length) >= 0.9 * length and length > 0;'
check_seen chain-plant "chain: it leads over both locks" chains.json \
	"$most most([.chain[] | select(.kind == \"lock_wait\") | .label] == [\"db_lock\", \"log_lock\"])"
check_seen chain-plant "chain: both holders are named" chains.json \
	"$most most([.chain[].thread] | index(\"committer\") and index(\"compactor\"))"
check_seen chain-plant "chain: and how each is known" chains.json \
	'length > 0 and all(.[].chain[]; .source != "" and .confidence > 0 and .confidence <= 1)'
check_seen chain-plant "chain: the sentence has it" chains.json "$most most(.sentence | test(\"log_lock.*compact\"))"

# In the sums, the lost time belongs to the thread at the end of both locks' chains, and not to the
# thread in between.
for name in io chain; do
	ldb-why -q -i $name-plant.data --blame --json >$name.blame
	check "$name: blame: the sums are all of the time" "jq -e '([.sums[].total_ns] | add) == .blame[0].all_ns and .blame[0].all_ns > 0' $name.blame" 0
done
check_seen chain-plant "chain: blame: most was lost to the last holder" chain.blame \
	'(.sums[0] | .label == "compact" and .thread == "compactor" and .file != "") and .sums[0].total_ns > 0.7 * .blame[0].all_ns'
check_seen chain-plant "chain: blame: and not to the one between" chain.blame \
	'([.sums[] | select(.thread == "committer") | .total_ns] | add // 0) < 0.2 * .blame[0].all_ns'
check_seen io-plant "io: blame: the holder" io.blame '.sums[0].label == "flush" and .sums[0].total_ns > 0.7 * .blame[0].all_ns'
check "no wait of the lock itself is blamed" "jq -e '.sums | all(.label != \"db_lock\" and .label != \"log_lock\")' chain.blame" 0

# The test must be able to fail.
judge_not "another lock is not named" io-plant cause=lock_wait label=log_lock
judge_not "another function neither" io-plant cause=lock_wait label=db_lock root_label=compact
ok "what is there is not judged as gone" eval '! judge_clean io-plant 0 cause=lock_wait label=db_lock'

judge_sums
judge_waits io-plant chain-plant
judge_coverage
finish
