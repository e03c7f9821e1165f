# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the sentence about Figure 1 of the LDB paper: the lock, who held it, and that the holder
# does I/O.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
cxx_ldb -O2 -g -DFIGURE1_CALLS "$PROGRAMS/figure1.cc" -o buffered -pthread || exit 1

# Takes only the slowest requests; others are delayed by other load on the machine.
slowest()	# file [number]
{
	ldb-why -i "$1" --slowest "${2:-10}" --json >why.json 2>why.err || diag "$(cat why.err)"
	jq '[.requests[] | select(.first.cause == "lock_wait")]' why.json >waits.json
	diag "$(jq -r '.[0].sentence' waits.json)"
}

held='any(.[]; any(.chain[]; .kind == "held_by" and .label == "snapshot" and (.file | test("^figure1.cc:"))))'
flushes='any(.[]; any(.chain[]; .kind == "calls" and .label == "std::ostream::flush" and .source == "code"))'

for kernel in none auto; do
	if [ "$kernel" = none ]; then
		check "recorded without kernel events" "ldb-record -q --kernel=none -o t.data -- ./figure1 -s 2" 0
	else
		check "recorded with those that are available" "record_apart t.data ./figure1 -s 2" 0
	fi
	slowest t.data
	check_jq "some of the slowest waited for the lock" waits.json 'length > 0 and all(.[]; .first.label == "lock")'
	check_jq "that snapshot() held" waits.json "$held"
	check_jq "whose code calls the function that writes to the file" waits.json "$flushes"
	jq -r '.[].sentence' waits.json >sentences
	ok "in one sentence" grep -Eq 'waiting for [a-z]+ lock, held by snapshot\(\) of thread background .* which calls std::ostream::flush\(\) \(I/O\)' sentences
	[ "$kernel" = auto ] ||
		check_jq "without kernel events, the holder is the root" waits.json \
			'all(.[]; .first.root == "function") and any(.[]; .first.root_label == "snapshot")'
done

# If lines are not flushed, snapshot() calls no function that is known to write.
ok "the variant that does not flush, recorded" eval "record_apart b.data ./buffered -s 2 >/dev/null 2>&1"
slowest b.data 300
check_jq "is blocked by snapshot() or what it calls" waits.json "$held"
check_jq "and flushing is not named" waits.json "$flushes | not"

finish
