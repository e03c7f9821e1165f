# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that ldb-record tells a user without privileges why the module refuses and what to do, and
# that this helps.
. "$(dirname "$0")/../../lib/guest.sh"

load disarm_delay_ms=60000
chmod 777 .
as_nobody()	# command
{
	echo "cd $PWD; $1" >as-nobody.sh
	su nobody -s /bin/sh -c "PATH=$PATH sh $PWD/as-nobody.sh"
}

check "not of the group: says of which, and goes on without the module" \
	"as_nobody 'ldb-record -o a.data -- sleepers 10 2 1'" 0 \
	'/dev/ldb is for members of its group: usermod -aG ldb USER'
ok "in one line" test "$(printf '%s\n' "$out" | grep -c 'is for members')" -eq 1
chgrp nogroup /dev/ldb

check "of the group, with little to lock" "as_nobody 'ldb-record -o b.data -- sleepers 10 2 1'" 0 \
	'its buffers take [0-9]+ MiB of locked memory, and [0-9]+ are allowed: ulimit -l [0-9]+, or a smaller --ring-size'
diag "$out"
size=$(printf '%s\n' "$out" | sed -n 's/.*ulimit -l \([0-9]*\).*/\1/p')
check "smaller buffers" "as_nobody 'ldb-record --ring-size 1M -o c.data -- sleepers 10 2 1'" 0 'kernel events: module'
diag "$out"
ok "which leave room for some threads" eval "printf '%s\n' \"\$out\" | grep -q 'at most 64 threads are observed'"
ok "more to lock" ulimit -l "$size"
check "as much as it said" "as_nobody 'ldb-record -o d.data -- sleepers 10 2 1'" 0 'kernel events: module'
ulimit -l unlimited
check "no limit, no fewer threads" "as_nobody 'ldb-record -o e.data -- sleepers 10 2 1'" 0 'kernel events: module$'
check "the module unloads" "rmmod ldb"
finish
