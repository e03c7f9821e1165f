// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of the SQLite export.  Names and columns are a promise to other
 * programs: add, never rename or remove.
 *
 * Times are nanoseconds since the start of the recording.  [start_ns, end_ns) is
 * where ldb-timeline draws it, inside the caller; duration_ns is what ldb-report
 * counts, never shortened to fit.  Addresses are texts.  What is not known is NULL.
 */
#include "export/sqlite-db.h"

const char *const sqlite_tables =
	"CREATE TABLE meta (key TEXT, value TEXT);"
	"CREATE TABLE recording (duration_ns INTEGER, realtime_ns INTEGER, made INTEGER,"
	" seen INTEGER, below_threshold INTEGER, lost INTEGER,"
	" gaps INTEGER, gap_ns INTEGER, thread_gaps INTEGER, thread_gap_ns INTEGER,"
	" unwatched_threads INTEGER, left_out INTEGER, left_out_below_ns INTEGER);"
	"CREATE TABLE loss (kind TEXT PRIMARY KEY, count INTEGER);"
	"CREATE TABLE gap (tid INTEGER, start_ns INTEGER, end_ns INTEGER);"
	"CREATE TABLE module (path TEXT, build_id TEXT, start TEXT, end TEXT, from_ns INTEGER,"
	" to_ns INTEGER);"
	"CREATE TABLE thread (id INTEGER PRIMARY KEY, tid INTEGER, name TEXT, start_ns INTEGER,"
	" end_ns INTEGER, exited INTEGER, unwatched INTEGER, creator INTEGER, made INTEGER,"
	" seen INTEGER, below_threshold INTEGER, scans INTEGER, invalid INTEGER, gap_ns INTEGER,"
	" cost_ns INTEGER);"
	/* The definition of a function; a call in the source. */
	"CREATE TABLE function (id INTEGER PRIMARY KEY, name TEXT, symbol TEXT, module TEXT,"
	" path TEXT, file TEXT, line INTEGER);"
	"CREATE TABLE site (id INTEGER PRIMARY KEY, caller TEXT, module TEXT, path TEXT, file TEXT,"
	" line INTEGER);"
	"CREATE TABLE lock (id INTEGER PRIMARY KEY, address TEXT, kind TEXT, name TEXT);"
	/* req: the program's own id, which may repeat; a text if it is over 2^63 - 1. */
	"CREATE TABLE request (id INTEGER PRIMARY KEY, req, class TEXT, start_ns INTEGER,"
	" end_ns INTEGER, latency_ns INTEGER, complete INTEGER, lost_handoff INTEGER,"
	" trace_id TEXT, parent_span_id TEXT);"
	/* kind: thread, queue. */
	"CREATE TABLE part (id INTEGER PRIMARY KEY, request INTEGER REFERENCES request, nth INTEGER,"
	" kind TEXT, thread INTEGER REFERENCES thread, to_thread INTEGER REFERENCES thread,"
	" queue TEXT, queue_name TEXT, site INTEGER REFERENCES site, start_ns INTEGER,"
	" end_ns INTEGER, duration_ns INTEGER, open INTEGER);"
	/* An invocation.  request: its thread worked on it alone; open: an end is not known. */
	"CREATE TABLE span (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES span,"
	" thread INTEGER REFERENCES thread, function INTEGER REFERENCES function,"
	" site INTEGER REFERENCES site, request INTEGER REFERENCES request, depth INTEGER,"
	" start_ns INTEGER, end_ns INTEGER, self_ns INTEGER, duration_ns INTEGER,"
	" resolution_ns INTEGER, open INTEGER);"
	/*
	 * How much of the request's time on threads was in the function itself, while they
	 * worked on no other.
	 */
	"CREATE TABLE request_time (request INTEGER REFERENCES request,"
	" function INTEGER REFERENCES function, self_ns INTEGER,"
	" PRIMARY KEY (request, function)) WITHOUT ROWID;"
	/* op: wait, hold; futex_wait: a sleep that no recorded wait explains. */
	"CREATE TABLE lock_event (id INTEGER PRIMARY KEY, op TEXT, lock INTEGER REFERENCES lock,"
	" kind TEXT, thread INTEGER REFERENCES thread, owner INTEGER REFERENCES thread,"
	" site INTEGER REFERENCES site, span INTEGER REFERENCES span,"
	" request INTEGER REFERENCES request, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER,"
	" resolution_ns INTEGER, failed INTEGER, inferred INTEGER, open INTEGER);"
	/* kind: runnable, preempted, blocked.  by: the task that ran longest meanwhile. */
	"CREATE TABLE off_cpu (id INTEGER PRIMARY KEY, kind TEXT, state TEXT,"
	" thread INTEGER REFERENCES thread, span INTEGER REFERENCES span,"
	" request INTEGER REFERENCES request, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER,"
	" resolution_ns INTEGER, cpu INTEGER, from_cpu INTEGER, to_cpu INTEGER, by TEXT,"
	" by_pid INTEGER, by_ns INTEGER, waker TEXT, waker_pid INTEGER, throttled INTEGER);"
	/* kind: hard, soft, timer.  short_ones: others since the last, too short for a row. */
	"CREATE TABLE interrupt (id INTEGER PRIMARY KEY, kind TEXT, name TEXT, number INTEGER, cpu INTEGER,"
	" thread INTEGER REFERENCES thread, span INTEGER REFERENCES span,"
	" request INTEGER REFERENCES request, start_ns INTEGER, end_ns INTEGER, duration_ns INTEGER,"
	" short_ones INTEGER);"
	/* pc: where its own code was; from_disk: NULL if it is not known. */
	"CREATE TABLE page_fault (id INTEGER PRIMARY KEY, address TEXT, pc TEXT, in_kernel INTEGER,"
	" from_disk INTEGER, thread INTEGER REFERENCES thread, span INTEGER REFERENCES span,"
	" request INTEGER REFERENCES request, at_ns INTEGER);"
	"CREATE TABLE migration (thread INTEGER REFERENCES thread, at_ns INTEGER, from_cpu INTEGER,"
	" to_cpu INTEGER);"
	"CREATE TABLE wakeup (thread INTEGER REFERENCES thread, at_ns INTEGER, cpu INTEGER,"
	" waker TEXT, waker_tid INTEGER, waker_pid INTEGER);"
	"CREATE TABLE run (cpu INTEGER, name TEXT, tid INTEGER, pid INTEGER, start_ns INTEGER,"
	" end_ns INTEGER);"
	/* Where the time of the slowest requests went, biggest first: as ldb-timeline says. */
	"CREATE TABLE cause (request INTEGER REFERENCES request, nth INTEGER, kind TEXT, name TEXT,"
	" total_ns INTEGER, count INTEGER, resolution_ns INTEGER, file TEXT, line INTEGER,"
	" holder INTEGER REFERENCES thread, holder_function TEXT, by TEXT, by_ns INTEGER);";

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
	/* Percentiles are of the nearest rank, as in ldb-report. */
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
	/* The threads that held the lock when others began to wait for it. */
	"CREATE VIEW lock_blame AS"
	" SELECT l.id AS lock, l.address, l.name, o.id AS owner, o.tid AS owner_tid,"
	"  o.name AS owner_thread, count(*) AS waits, sum(e.duration_ns) AS wait_ns,"
	"  max(e.duration_ns) AS max_ns"
	" FROM lock_event e JOIN lock l ON l.id = e.lock JOIN thread o ON o.id = e.owner"
	" WHERE e.op <> 'hold' GROUP BY e.lock, e.owner;"
	/* Each wait with each hold by another thread meanwhile, and in which function that was. */
	"CREATE VIEW wait_hold AS"
	" SELECT w.id AS wait, h.id AS hold, w.lock, w.request, w.thread, h.thread AS holder,"
	"  f.name AS holder_function, min(w.end_ns, h.end_ns) - max(w.start_ns, h.start_ns) AS ns"
	" FROM lock_event w JOIN lock_event h ON h.lock = w.lock AND h.op = 'hold'"
	"  AND h.start_ns < w.end_ns AND h.end_ns > w.start_ns AND h.thread <> w.thread"
	"  LEFT JOIN span s ON s.id = h.span LEFT JOIN function f ON f.id = s.function"
	" WHERE w.op <> 'hold';";
