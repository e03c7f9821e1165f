# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to sqlite3's shell, as packaged, while it works: its output and exit status are the same
# as without ldb.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build
command -v sqlite3 >/dev/null || skip_all "no sqlite3"

oracle_off "the program has no records, and may end at any time"
awk 'BEGIN {
	print "create table t(a integer primary key, b text);"
	for (i = 1; i <= 1500; i++)
		print "insert into t values(" i ", hex(randomblob(20)||" i "));"
	print "select count(*), sum(a) from t;"
	print "with recursive c(x) as (select 1 union all select x+1 from c where x<300000) select sum(x*x%7) from c;"
}' >sql

# Each insertion is synchronized: on a disk that is busy a hundred rounds would take half an hour.
db=.
[ ! -w /dev/shm ] || db=$(mktemp -d /dev/shm/ldb-test.XXXXXX) || exit 1
[ "$db" = . ] || at_end "rm -rf '$db'"

run_program()
{
	rm -f "$db"/my.db*
	exec sqlite3 "$db/my.db" <sql
}

inject_same_output sqlite3 0.0 9
finish
