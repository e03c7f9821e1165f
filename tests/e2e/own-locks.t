# SPDX-License-Identifier: GPL-2.0-or-later
# Tests locks that the program implements and reports itself (ldb_lock_wait(3)): who waited, who
# held them and what the holder was executing must be shown as for a mutex.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
need_build
build_why why-locks
cxx_ldb -O2 -g -Wall -Wextra "$PROGRAMS/own-lock.cc" -o own-lock -pthread || exit 1

# Without the runtime the program needs no library, and the calls do nothing.
header=-I$TOP/libldb/include
ok "C, alone: no warning" eval "$CC -std=c99 -O2 -Wall -Wextra -Werror $header '$PROGRAMS/api-locks.c' -o c-alone"
ok "C++, alone: no warning" eval \
	"$CXX -std=c++11 -O2 -Wall -Wextra -Werror $header '$PROGRAMS/own-lock.cc' -o cxx-alone -pthread"
for alone in c-alone cxx-alone; do
	check "$alone: runs as before" "./$alone 1 nonsense" 0 'done$'
	check_not "$alone: needs nothing of ldb" "ldd ./$alone; nm -D --undefined-only ./$alone" 0 ldb
done
check "an older runtime leaves them alone" "$CC -O2 -fPIC -shared '$PROGRAMS/api-runtime-1.c' -o runtime-1.so &&
	LD_PRELOAD=./runtime-1.so ./cxx-alone 1 nonsense" 0 '^own-lock: done$'
check "with the runtime, nobody records" "LD_PRELOAD=$RUNTIME ./own-lock 1 nonsense" 0 '^own-lock: done$'

# One thread waits once for the other.
check "recorded" "record_apart t.data ./own-lock 20" 0 '^own-lock: done$'
ok "ldb-report --mutex" eval "ldb-report -i t.data --mutex --json >mutex.json"
is_slot='.name == "slot_lock" and .kind == "own_lock"'
check_jq "the lock has a name, a kind and one wait" mutex.json "[.locks[] | select($is_slot and .waits.count == 1)] | length == 1"
check_jq "which took long" mutex.json "any(.locks[]; $is_slot and .waits.max_ns > 10000000 and .waits.max_ns < 1000000000)"
check_jq "where it waited" mutex.json \
	"any(.locks[] | select($is_slot) | .sites[]; .op == \"wait\" and (.caller | test(\"lock|fetch\")) and (.file | test(\"own-lock.cc\$\")))"
check_jq "who held it" mutex.json "any(.locks[] | select($is_slot) | .holders[]; .thread == \"keeper\" and .holds == 1)"
ok "ldb-timeline" eval "ldb-timeline -i t.data --req 1 --json >timeline.json"
is_wait='.kind == "lock_wait" and .name == "slot_lock" and .lock_kind == "own_lock"'
check_jq "the request waits for it" timeline.json \
	".latency_ns as \$l | any(.segments[]; $is_wait and .end_ns - .start_ns > \$l / 2)"
check_jq "it was held by the other thread" timeline.json \
	'any(.segments[]; .kind == "lock_hold" and .thread == "keeper" and .name == "slot_lock" and .blocks_req == 1)'
check_jq "which was in keep()" timeline.json \
	'any(.segments[]; .kind == "function" and .thread == "keeper" and .blocks_req == 1 and (.name | test("^keep")))'
check "in the terminal, too" "ldb-timeline -i t.data --req 1" 0 'waits for own_lock 0x[0-9a-f]+ \(slot_lock\)'
for format in chrome perfetto sqlite; do
	ok "exported: $format" ldb-export -q -i t.data -o "t.$format" "$format"
done
ok "sqlite has it" test "$(sqlite3 t.sqlite "SELECT count(*) FROM lock WHERE kind = 'own_lock' AND name = 'slot_lock'")" = 1
ok "the timeline's page" eval "ldb-timeline -i t.data -o t.html && test -s t.html"
ok "the report's page" eval "ldb-report -i t.data -o r.html && test -s r.html"

# Levels and thresholds are those of mutexes.
record_with()	# file option
{
	ldb-record -q "$2" -o "$1" -- ./own-lock 5
}
check "--mutex=off" "record_with off.data --mutex=off" 0 '^own-lock: done$'
check_not "nothing is recorded" "ldb-report -i off.data --mutex --json" 0 slot_lock
check "--mutex=hold" "record_with hold.data --mutex=hold" 0 '^own-lock: done$'
ok "holds are stamped" eval "ldb-report -i hold.data --mutex --json >hold.json"
check_jq "to the nanosecond" hold.json \
	"any(.locks[]; $is_slot and .holds.count >= 1 and .holds.max_ns > 4000000 and .holds.resolution_max_ns == 0)"
check "--lock-threshold" "record_with long.data --lock-threshold=10s" 0 '^own-lock: done$'
ok "short ones are left out" eval "ldb-report -i long.data --mutex --json >long.json"
check_jq "of waits and holds that were stamped" long.json "all(.locks[]; .kind != \"own_lock\" or .waits.count == 0)"

# Wrong calls do not harm the program, and the recording is sane.
check "calls in a senseless order" "record_apart nonsense.data ./own-lock 5 nonsense" 0 '^own-lock: done$'
check "and reported" "ldb-report -i nonsense.data --mutex" 0 'slot_lock'
oracle_not nonsense.data "the program says that several threads have one lock at a time"

# ldb-why must name these locks as causes of slow requests.
record_cause own ./why-locks own
judge own cause=lock_wait anomaly=gap label=slot_lock root=function root_label=compact
ok "ldb-report: the lock of it" eval "ldb-report -i own-plant.data --mutex --json >plant.json"
check_jq "most waits name the holder" plant.json "any(.locks[] | select($is_slot) | .holders[];
	.thread == \"compactor\" and .waits >= 10 and .holds >= 10)"
judge_not "another lock is not named" own-plant cause=lock_wait label=db_lock
judge_sums
judge_waits own-plant
finish
