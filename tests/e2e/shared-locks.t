# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that a lock in memory which processes share is one lock in their trace, also where each has
# it at another address, and that locks of their own are as many as there are processes.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/shared-locks.c" -o shared-locks -pthread || exit 1
ldb-record --mutex=hold --kernel none -o t.data -- ./shared-locks 1000 file go >t.out 2>t.err &
recorder=$!
program=
child=
# The programs begin when each of them is recorded.
ok "both are recorded" wait_for 30 'program=$(pgrep -x -P $recorder shared-locks) && child=$(pgrep -P $program) && ldb-ctl $program status && ldb-ctl $child status'
: >go
ok "to the end" wait $recorder
ldb-report --mutex --json --top=100 -i t.data >t.json
read -r inherited mapped own <t.out

# Prints how many locks the report has at the address, how many threads held them, and how often in
# all.
holders()	# address
{
	jq -r --arg lock "$1" '[.locks[] | select(.lock == $lock)] | "\(length) \([.[].holders[] | select(.holds > 0)] | length) \([.[].holds.count] | add)"' t.json
}

diag "$(jq -c '.locks[] | [.lock, .holds.count, (.holders | map([.tid, .holds]))]' t.json)"
for lock in "$inherited" "$mapped"; do
	ok "one lock, held by both, $lock" eval "holders $lock | awk '{ exit !(\$1 == 1 && \$2 == 2) }'"
done
ok "a lock of its own is held by one" eval "holders $own | awk '{ exit !(\$1 == 1 && \$2 == 1 && \$3 <= 1000) }'"
check_jq "there are four locks: two that are shared, and one of each process" t.json '[.locks[] | select(.holds.count > 100)] | length == 4'
check_jq "the other process's own one is another one" t.json "[.locks[] | select(.lock | endswith(\"${own#0x}\"))] | length == 2"
finish
