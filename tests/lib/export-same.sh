# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by scripts that compare an export with ldb-report and ldb-timeline, to
# the nanosecond: each function compares rows of both.
#
#	same NAME A B			one result: the files are equal and not empty
#	sqlite_as_report DB ARGS...	three results for functions; ARGS: -i FILE, --from, ...
#	sqlite_as_locks, sqlite_as_requests, sqlite_as_sched	the same for --mutex, ...
#	sqlite_as_timeline DB REQ ARGS...	the causes of the request's slowest instance

same()
{
	if [ -s "$2" ] && cmp -s "$2" "$3"; then
		pass "$1"
	else
		fail "$1"
		diag "$(wc -l "$2" "$3" | head -n 2)"
		diag "$(diff "$2" "$3" | head -n 10)"
	fi
}

# Prints rows of a query, columns separated by tabs, in the order of sort.
rows()	# db sql
{
	sqlite3 -bail -separator "$(printf '\t')" "$1" "$2" | sort
}

sqlite_as_report()
{
	same_db=$1
	shift
	ldb-report "$@" -q --json | jq -r '.functions[] | [.function, .caller, .file, .line, .count, .open, .max_ns,
		.total_ns, .func_file, .func_line, .symbol, .module] | @tsv' | sort >same.report
	rows "$same_db" "SELECT v.function, v.caller, v.file, v.line, v.count, v.open, v.max_ns, v.total_ns,
		f.file, f.line, f.symbol, f.module
		FROM function_stats v JOIN function f ON f.id = v.function_id" >same.sqlite
	same "$*: functions" same.report same.sqlite
	ldb-report "$@" -q --json | jq -r '.functions[] | select(.count > 0) | [.function, .caller, .file, .line,
		.p50_ns, .p99_ns, .p999_ns] | @tsv' | sort >same.report
	rows "$same_db" "SELECT function, caller, file, line, p50_ns, p99_ns, p999_ns
		FROM function_percentiles" >same.sqlite
	same "$*: their percentiles" same.report same.sqlite
	ldb-report "$@" -q --json | jq -r '[.functions[] | select(.count > 0) | .resolution_max_ns] | max' >same.report
	rows "$same_db" "SELECT max(resolution_ns) FROM span WHERE NOT open" >same.sqlite
	same "$*: the worst resolution" same.report same.sqlite
}

sqlite_as_locks()
{
	same_db=$1
	shift
	ldb-report "$@" -q --mutex --json | jq -r '.locks[] | [.lock, .name, .kind, .waits.count, .waits.total_ns,
		.waits.max_ns, .holds.count, .holds.total_ns, .holds.max_ns] | @tsv' | sort >same.report
	rows "$same_db" "SELECT address, name, kind, waits, wait_ns, max_wait_ns, holds, hold_ns, max_hold_ns
		FROM lock_stats" >same.sqlite
	same "$*: locks" same.report same.sqlite
	ldb-report "$@" -q --mutex --json | jq -r '.locks[] | .lock as $l | .holders[] | select(.waits > 0) |
		[$l, .tid, .thread, .waits, .wait_ns] | @tsv' | sort >same.report
	rows "$same_db" "SELECT address, owner_tid, owner_thread, waits, wait_ns FROM lock_blame" >same.sqlite
	same "$*: who had them when others came" same.report same.sqlite
}

sqlite_as_requests()
{
	same_db=$1
	shift
	ldb-report "$@" -q --requests --json | jq -r '.requests[] | select(.class != null) | [.class, .count,
		.incomplete, .max_ns, .total_ns] | @tsv' | sort >same.report
	rows "$same_db" "SELECT class, count, incomplete, max_ns, total_ns FROM class_stats" >same.sqlite
	same "$*: requests" same.report same.sqlite
	# If several requests are equally slow, it is not defined which of them come last in the
	# list.
	ldb-report "$@" -q --requests --json | jq -r '.requests[0].slowest | (map(.latency_ns) | min) as $last | .[] |
		[.latency_ns, if .latency_ns > $last then .req, .class, .start_ns else empty end] |
		@tsv' >same.report
	sqlite3 -separator "$(printf '\t')" "$same_db" "SELECT latency_ns, req, class, start_ns
		FROM slowest_request LIMIT $(wc -l <same.report)" |
		awk -F'\t' -v last="$(tail -n 1 same.report)" '{ print $1 == last ? $1 : $0 }' >same.sqlite
	same "$*: the slowest, in order" same.report same.sqlite
}

sqlite_as_sched()
{
	same_db=$1
	shift
	# The report calls the times for which threads wait for a CPU delays.
	ldb-report "$@" -q --sched --json | jq -r '.threads[] | select(.runnable_ns + .preempted_ns > 0) |
		[.tid, .runnable_ns + .preempted_ns] | @tsv' | sort >same.report
	rows "$same_db" "SELECT t.tid, sum(o.duration_ns) FROM off_cpu o JOIN thread t ON t.id = o.thread
		WHERE o.kind IN ('runnable', 'preempted') GROUP BY t.id" >same.sqlite
	same "$*: waits for a CPU" same.report same.sqlite
}

sqlite_as_timeline()
{
	same_db=$1
	same_req=$2
	shift 2
	ldb-timeline "$@" -q --req "$same_req" --json | jq -r '.start_ns as $s | .causes | to_entries[] |
		[$s, .key + 1, .value.kind, .value.total_ns, .value.count, .value.name // "",
		.value.holder_function // ""] | @tsv' | sort >same.report
	rows "$same_db" "SELECT r.start_ns, c.nth, c.kind, c.total_ns, c.count, coalesce(c.name, ''),
		coalesce(c.holder_function, '') FROM cause c JOIN request r ON r.id = c.request
		WHERE r.id = (SELECT id FROM slowest_request WHERE req = $same_req LIMIT 1)" >same.sqlite
	same "$*: the causes of request $same_req" same.report same.sqlite
}
