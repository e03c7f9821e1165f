# SPDX-License-Identifier: GPL-2.0-or-later
# Compares a program that stamps its own invocations with its trace, one by one.
# Timed: the scanner must observe what the program says it did.
. "$(dirname "$0")/../lib/engine.sh"
need_build

$CC -std=gnu11 -O2 -D_GNU_SOURCE -I"$TOP/tools" -I"$TOP/libldb/include" -I"$TOP/kmod/uapi" \
	"$TOP/tests/e2e/truth-check.c" "$BUILD/lib/libldbtools.a" \
	-lzstd -ldw -lelf -lstdc++ -lm -lpthread -o truth-check || exit 1

# Each result of the checker becomes a result of this test.
held()	# name args...: compares the last recording with the program's log
{
	held_name=$1
	shift
	./truth-check t.data truth.log "$@" >checked 2>&1
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "$held_name: ${line#* - }" ;;
		"not ok "*) fail "$held_name: ${line#* - }" ;;
		"1.."*) held_plan=1 ;;
		*) diag "$line" ;;
		esac
	done <checked
	ok "$held_name: the checker came to its end" test -n "${held_plan:-}"
	held_plan=
}

# The program's stamps must be in the clock of the trace.
cxx_ldb -O2 -g -Wno-infinite-recursion "$PROGRAMS/truth.cc" -o truth -pthread || exit 1
ldb-record -q -o t.data -- ./truth 0.01 truth.log >/dev/null
if ldb-report -i t.data --summary --json | grep -q '"monotonic"'; then
	diag "the clock here is CLOCK_MONOTONIC"
	LDB_TRUTH_MONOTONIC=1
	export LDB_TRUTH_MONOTONIC
fi

# Records up to four times, until the scanner ran for most of the time: under other load a trace
# consists of observation gaps, and the test would prove nothing.  The condition depends only on
# these gaps.  A pinned scanner does not yield to other load.
record_watched()	# options...
{
	for try in 1 2 3 4; do
		ldb-record -q --scanner-cpu "$scanner_cpu" "$@" -o t.data -- ./truth 1.5 truth.log || return
		ldb-report -i t.data --summary --json >s.json
		[ "$(jq '.observation_gap_ns * 2 < .recording.duration_ns' s.json)" = true ] && return
		diag "the scanner was off its CPU for $(jq '.observation_gap_ns * 100 / .recording.duration_ns | floor' s.json) % of the time: again"
	done
	return 0
}

for opt in -O2 -O0; do
	cxx_ldb $opt -g -Wno-infinite-recursion "$PROGRAMS/truth.cc" -o truth -pthread || exit 1
	check "truth $opt recorded at --budget 100%" \
		"record_watched --budget 100%" 0
	[ "$opt" = -O2 ] && held "$opt --budget 100%" coverage || held "$opt --budget 100%"
	check "truth $opt recorded at the default budget" \
		"ldb-record -q --scanner-cpu $scanner_cpu -o t.data -- ./truth 1 truth.log" 0
	held "$opt default budget"
done

LDB_TRUTH_MONOTONIC=1
export LDB_TRUTH_MONOTONIC
record_watched --clock monotonic --budget 100% >/dev/null
held "--clock monotonic" coverage

# How late a store becomes visible depends on the machine, so it is printed, but not tested.
LDB_TRUTH_UNFENCED=1 ldb-record -q --clock monotonic --budget 100% -o t.data -- ./truth 0.5 truth.log >/dev/null
./truth-check t.data truth.log | grep 'outside their bounds' | sed 's/^# /# without fences, /'

finish
