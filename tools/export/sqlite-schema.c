// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Defines the tables of the SQLite export.  Other programs depend on them: tables and columns may
 * be added, but never renamed or removed.
 *
 * Times (start_ns, end_ns, at_ns, from_ns, to_ns) are nanoseconds since the start of the recording;
 * realtime_ns is its start as a time of day.  The interval [start_ns, end_ns) of a function is
 * clipped to its caller, as in ldb-timeline; duration_ns is the duration in ldb-report, which is
 * not clipped.  Addresses are texts.  Unknown numbers and ids are NULL, unknown texts NULL or ''.
 *
 * A column is a number by default.  After its name, $ means a text, > the id of a row (of the table
 * with the column's name, or with the name after the >), ? a number or a text, and * the key.
 */
#include "export/sqlite-private.h"

const struct sqlite_table sqlite_tables[NR_TABLES] = {
	[TABLE_META] = { "meta", "key$ value$" },
	[TABLE_RECORDING] = { "recording",
		"duration_ns realtime_ns made seen below_threshold lost gaps gap_ns thread_gaps"
		" thread_gap_ns unwatched_threads left_out left_out_below_ns" },
	[TABLE_LOSS] = { "loss", "kind$* count" },
	[TABLE_GAP] = { "gap", "tid start_ns end_ns" },
	[TABLE_MODULE] = { "module", "path$ build_id$ start$ end$ from_ns to_ns" },
	[TABLE_THREAD] = { "thread",
		"id* tid name$ start_ns end_ns exited unwatched creator made seen"
		" below_threshold scans invalid gap_ns cost_ns" },
	/* The definition of a function, and a call in the source. */
	[TABLE_FUNCTION] = { "function", "id* name$ symbol$ module$ path$ file$ line" },
	[TABLE_SITE] = { "site", "id* caller$ module$ path$ file$ line" },
	[TABLE_LOCK] = { "lock", "id* address$ kind$ name$" },
	/* req: the program's own id, which may be used again; a text if it is above 2^63 - 1. */
	[TABLE_REQUEST] = { "request",
		"id* req? class$ start_ns end_ns latency_ns complete lost_handoff trace_id$"
		" parent_span_id$ latency_resolution_ns" },
	/* kind: thread or queue. */
	[TABLE_PART] = { "part",
		"id* request> nth kind$ thread> to_thread>thread queue$ queue_name$ site>"
		" start_ns end_ns duration_ns open" },
	/*
	 * An invocation.  request: the request on which its thread worked, if that was only one;
	 * open: the start or end of the invocation is not known.
	 */
	[TABLE_SPAN] = { "span",
		"id* parent>span thread> function> site> request> depth start_ns end_ns self_ns"
		" duration_ns resolution_ns open" },
	/* Self time of functions for a request, while the thread worked on no other request. */
	[TABLE_REQUEST_TIME] = { "request_time",
		"request> function> self_ns",
		", PRIMARY KEY (request, function)) WITHOUT ROWID",
		" ON CONFLICT DO UPDATE SET self_ns = self_ns + excluded.self_ns" },
	/* op: wait, hold; futex_wait: a sleep on a futex outside of all recorded waits. */
	[TABLE_LOCK_EVENT] = { "lock_event",
		"id* op$ lock> kind$ thread> owner>thread site> span> request> start_ns end_ns"
		" duration_ns resolution_ns failed inferred open" },
	/*
	 * kind: runnable, preempted, blocked (in the system call `syscall`).  by: the task that ran
	 * longest while the thread waited for a CPU, or, if that is not known, the task that
	 * preempted it.
	 */
	[TABLE_OFF_CPU] = { "off_cpu",
		"id* kind$ state$ thread> span> request> start_ns end_ns duration_ns"
		" resolution_ns cpu from_cpu to_cpu by$ by_pid by_ns waker$ waker_pid throttled"
		" syscall$ descriptor$" },
	/*
	 * kind: hard, soft, timer, stolen.  short_ones: number of others since the last row, which
	 * were too short for a row.
	 */
	[TABLE_INTERRUPT] = { "interrupt",
		"id* kind$ name$ number cpu thread> span> request> start_ns end_ns duration_ns"
		" short_ones" },
	/* pc: the program's instruction; from_disk: NULL if it is not known. */
	[TABLE_FAULT] = { "page_fault",
		"id* address$ pc$ in_kernel from_disk thread> span> request> at_ns" },
	[TABLE_SYSCALL] = { "syscall",
		"id* name$ descriptor$ arg0$ result thread> span> request> start_ns end_ns duration_ns"
		" short_ones" },
	/* Events that the program marked: ldb_event(3). */
	[TABLE_EVENT] = { "event", "id* name$ value thread> span> request> at_ns" },
	/*
	 * Notes by ldb_req_note(3), the last value of each key; text: NULL if the value is a
	 * number.
	 */
	[TABLE_NOTE] = { "note", "id* request> key$ text$ number?" },
	/*
	 * op: read, write, flush, other.  tid: the thread that made the request; thread: its row,
	 * NULL if it is a kernel thread.
	 */
	[TABLE_DISK] = { "disk",
		"id* device$ op$ thread> tid start_ns end_ns duration_ns bytes failed" },
	/* A long call of a library's function; span: the function that contains it. */
	[TABLE_LIBRARY_CALL] = { "library_call",
		"id* function> thread> span> site> request> start_ns end_ns self_ns duration_ns open" },
	[TABLE_COMPONENT] = { "component", "id* name$ path$" },
	/* Sums of a thread's calls to a function of another component, for the whole recording. */
	[TABLE_FLOW] = { "flow",
		"id* function$ symbol$ caller>component callee>component wait thread> calls timed total_ns"
		" error_ns shared_ns min_ns max_ns back_ns" },
	[TABLE_MIGRATION] = { "migration", "thread> at_ns from_cpu to_cpu" },
	[TABLE_WAKEUP] = { "wakeup", "thread> at_ns cpu waker$ waker_tid waker_pid" },
	[TABLE_RUN] = { "run", "cpu name$ tid pid start_ns end_ns" },
	/*
	 * The causes of the 100 slowest requests, or of those that were selected, biggest first, as
	 * in ldb-timeline.
	 */
	[TABLE_CAUSE] = { "cause",
		"request> nth kind$ name$ total_ns count resolution_ns file$ line holder>thread"
		" holder_function$ by$ by_ns" },
};

const char *const sqlite_indexes =
	"CREATE INDEX request_by_latency ON request (latency_ns);"
	"CREATE INDEX request_by_class ON request (class, latency_ns);"
	"CREATE INDEX part_by_request ON part (request);"
	"CREATE INDEX span_by_function ON span (function, duration_ns);"
	"CREATE INDEX span_by_request ON span (request, function);"
	"CREATE INDEX span_by_thread ON span (thread, start_ns);"
	"CREATE INDEX span_by_parent ON span (parent);"
	"CREATE INDEX lock_event_by_lock ON lock_event (lock, op, start_ns);"
	"CREATE INDEX lock_event_by_request ON lock_event (request);"
	"CREATE INDEX off_cpu_by_request ON off_cpu (request);"
	"CREATE INDEX off_cpu_by_thread ON off_cpu (thread, start_ns);"
	"CREATE INDEX interrupt_by_request ON interrupt (request);"
	"CREATE INDEX page_fault_by_request ON page_fault (request);"
	"CREATE INDEX event_by_request ON event (request);"
	"CREATE INDEX note_by_request ON note (request);"
	"CREATE INDEX note_by_key ON note (key, text, number);"
	"CREATE INDEX syscall_by_request ON syscall (request);"
	"CREATE INDEX disk_by_thread ON disk (thread, start_ns);"
	"CREATE INDEX disk_by_tid ON disk (tid, start_ns);"
	"CREATE INDEX library_call_by_request ON library_call (request);"
	"CREATE INDEX library_call_by_function ON library_call (function, duration_ns);"
	"CREATE INDEX flow_by_callee ON flow (callee, function);"
	"CREATE INDEX cause_by_request ON cause (request, nth);"
	"ANALYZE;";

const char *const sqlite_views =
	"CREATE VIEW slowest_request AS"
	" SELECT r.id, r.req, r.class, r.start_ns, r.latency_ns, c.kind AS cause, c.name AS cause_name,"
	"  c.total_ns AS cause_ns"
	" FROM request r LEFT JOIN cause c ON c.request = r.id AND c.nth = 1"
	" WHERE r.complete ORDER BY r.latency_ns DESC, r.start_ns;"
	/* The rows of ldb-report. */
	"CREATE VIEW function_stats AS"
	" SELECT f.name AS function, t.caller, CASE WHEN t.file <> '' THEN t.file ELSE f.file END AS file,"
	"  CASE WHEN t.file <> '' THEN t.line ELSE f.line END AS line, sum(NOT s.open) AS count,"
	"  sum(s.open) AS open, coalesce(max(s.duration_ns) FILTER (WHERE NOT s.open), 0) AS max_ns,"
	"  coalesce(sum(s.duration_ns) FILTER (WHERE NOT s.open), 0) AS total_ns,"
	"  sum(s.self_ns) AS self_ns, s.function AS function_id, s.site AS site_id"
	" FROM span s JOIN function f ON f.id = s.function LEFT JOIN site t ON t.id = s.site"
	" GROUP BY s.function, s.site;"
	/* Percentiles by the nearest rank, as in ldb-report. */
	"CREATE VIEW function_percentiles AS"
	" WITH ranked AS (SELECT function, site, duration_ns,"
	"  row_number() OVER (PARTITION BY function, site ORDER BY duration_ns) AS rank,"
	"  count(*) OVER (PARTITION BY function, site) AS nr FROM span WHERE NOT open)"
	" SELECT f.name AS function, t.caller, CASE WHEN t.file <> '' THEN t.file ELSE f.file END AS file,"
	"  CASE WHEN t.file <> '' THEN t.line ELSE f.line END AS line, r.nr AS count,"
	"  max(duration_ns) FILTER (WHERE rank = (nr * 50 + 99) / 100) AS p50_ns,"
	"  max(duration_ns) FILTER (WHERE rank = (nr * 99 + 99) / 100) AS p99_ns,"
	"  max(duration_ns) FILTER (WHERE rank = (nr * 999 + 999) / 1000) AS p999_ns,"
	"  max(duration_ns) AS max_ns"
	" FROM ranked r JOIN function f ON f.id = r.function LEFT JOIN site t ON t.id = r.site"
	" GROUP BY r.function, r.site;"
	"CREATE VIEW request_function AS"
	" SELECT t.request, r.req, r.class, f.name AS function, t.self_ns,"
	"  (SELECT count(*) FROM span s WHERE s.request = t.request AND s.function = t.function)"
	"  AS count"
	" FROM request_time t JOIN request r ON r.id = t.request JOIN function f ON f.id = t.function"
	" ORDER BY t.request, t.self_ns DESC;"
	"CREATE VIEW class_stats AS"
	" SELECT class, sum(complete) AS count, sum(NOT complete) AS incomplete,"
	"  coalesce(max(latency_ns) FILTER (WHERE complete), 0) AS max_ns,"
	"  coalesce(sum(latency_ns) FILTER (WHERE complete), 0) AS total_ns"
	" FROM request GROUP BY class;"
	"CREATE VIEW lock_stats AS"
	" SELECT l.id AS lock, l.address, l.kind, l.name,"
	"  coalesce(sum(e.op <> 'hold'), 0) AS waits,"
	"  coalesce(sum(e.duration_ns) FILTER (WHERE e.op <> 'hold'), 0) AS wait_ns,"
	"  coalesce(max(e.duration_ns) FILTER (WHERE e.op <> 'hold'), 0) AS max_wait_ns,"
	"  coalesce(sum(e.op = 'hold'), 0) AS holds,"
	"  coalesce(sum(e.duration_ns) FILTER (WHERE e.op = 'hold'), 0) AS hold_ns,"
	"  coalesce(max(e.duration_ns) FILTER (WHERE e.op = 'hold'), 0) AS max_hold_ns"
	" FROM lock l JOIN lock_event e ON e.lock = l.id GROUP BY l.id;"
	/* The threads that held a lock when others began to wait for it. */
	"CREATE VIEW lock_blame AS"
	" SELECT l.id AS lock, l.address, l.name, o.id AS owner, o.tid AS owner_tid,"
	"  o.name AS owner_thread, count(*) AS waits, sum(e.duration_ns) AS wait_ns,"
	"  max(e.duration_ns) AS max_ns"
	" FROM lock_event e JOIN lock l ON l.id = e.lock JOIN thread o ON o.id = e.owner"
	" WHERE e.op <> 'hold' GROUP BY e.lock, e.owner;"
	/*
	 * For how much of a sleep in I/O a device processed requests of the sleeping thread, or of
	 * the kernel thread that woke it.  device_ns counts only once the time in which requests
	 * overlap.
	 */
	"CREATE VIEW off_cpu_disk AS"
	" WITH hit AS (SELECT o.id AS off_cpu, d.device, d.bytes, max(d.start_ns, o.start_ns) AS s,"
	"   min(d.end_ns, o.end_ns) AS e"
	"  FROM off_cpu o JOIN disk d ON d.start_ns < o.end_ns AND d.end_ns > o.start_ns"
	"   AND (d.thread = o.thread OR (d.thread IS NULL AND d.tid = o.waker_pid))"
	"  WHERE o.kind = 'blocked' AND o.state = 'disk'),"
	"  run AS (SELECT *, max(e) OVER (PARTITION BY off_cpu, device ORDER BY s, e"
	"   ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until FROM hit)"
	" SELECT off_cpu, device, count(*) AS count, sum(bytes) AS bytes,"
	"  sum(max(0, e - max(s, coalesce(until, s)))) AS device_ns"
	" FROM run GROUP BY off_cpu, device;"
	/*
	 * Each wait for a lock with each hold of the lock by another thread at the same time, and
	 * the function of the hold.
	 */
	"CREATE VIEW wait_hold AS"
	" SELECT w.id AS wait, h.id AS hold, w.lock, w.request, w.thread, h.thread AS holder,"
	"  f.name AS holder_function, min(w.end_ns, h.end_ns) - max(w.start_ns, h.start_ns) AS ns"
	" FROM lock_event w JOIN lock_event h ON h.lock = w.lock AND h.op = 'hold'"
	"  AND h.start_ns < w.end_ns AND h.end_ns > w.start_ns AND h.thread <> w.thread"
	"  LEFT JOIN span s ON s.id = h.span LEFT JOIN function f ON f.id = s.function"
	" WHERE w.op <> 'hold';";
