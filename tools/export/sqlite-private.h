/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that only the files of the SQLite export use, grouped by file. */
#ifndef EXPORT_SQLITE_PRIVATE_H
#define EXPORT_SQLITE_PRIVATE_H

#include "analysis/attribution/attribution.h"
#include "analysis/tracks/tracks.h"
#include "export/export.h"
#include "facts/links.h"
#include "export/sqlite-db.h"
#include "export/table.h"
#include "facts/instances.h"
#include "facts/ticks.h"

enum sqlite_table_nr {
	TABLE_META, TABLE_RECORDING, TABLE_LOSS, TABLE_GAP, TABLE_MODULE, TABLE_THREAD,
	TABLE_FUNCTION, TABLE_SITE, TABLE_LOCK, TABLE_REQUEST, TABLE_PART, TABLE_SPAN,
	TABLE_REQUEST_TIME, TABLE_LOCK_EVENT, TABLE_OFF_CPU, TABLE_INTERRUPT, TABLE_FAULT, TABLE_SYSCALL, TABLE_EVENT, TABLE_NOTE,
	TABLE_DISK, TABLE_LIBRARY_CALL, TABLE_COMPONENT, TABLE_FLOW,
	TABLE_MIGRATION, TABLE_WAKEUP, TABLE_RUN, TABLE_CAUSE, NR_TABLES
};

/* Self time of one function for the current request, on the current thread. */
struct sqlite_time {
	uint64_t function;
	int64_t ns;
};

struct sqlite_export {
	struct model *m;
	const struct export_options *o;
	struct sqlite_db db;
	sqlite3_stmt *inserts[NR_TABLES], *find_request;
	/*
	 * A definition's key has five numbers, and that of a call site seven, so each needs several
	 * tables.
	 */
	struct table function_names, functions, site_names, site_functions, sites;
	struct table locks, strangers;
	struct links *links;
	uint64_t nr_requests, nr_spans;
	/* result of the last search for a request */
	uint64_t last_req, last_id;
	int64_t last_start_ns, last_end_ns;
	/* the thread whose segments are processed */
	struct attribution attribution;
	struct ticks_last last;
	struct segment *spans;		/* open functions and library calls, by depth */
	size_t room_spans;
	int64_t thread;
	uint64_t at_work;	/* the request that the thread works on; 0: none, or several */
	struct sqlite_time *times;
	size_t nr_times, room_times;
};

/* sqlite-schema.c */
extern const struct sqlite_table sqlite_tables[NR_TABLES];

/*
 * Inserts a row.  The arguments are V() for each value, in the order of the table's columns; values
 * left out at the end are NULL.
 */
#define sqlite_put(e, table, ...)						\
	sqlite_db_put(&(e)->db, (e)->inserts[table], (const struct value[]){ __VA_ARGS__ }, \
		      sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value))
#define V(x)									\
	_Generic((x), bool: value_bool, int64_t: value_i64, uint64_t: value_u64, \
		 uint32_t: value_u64, char *: value_text, const char *: value_text)(x)
#define ID(x)		value_nonzero(x)
#define NEW_ID		value_null()

/* sqlite-names.c: return ids of rows, which are inserted at their first use; 0 is NULL */
int64_t sqlite_thread(struct sqlite_export *e, uint32_t tid, int64_t tick);
int64_t sqlite_thread_of(struct sqlite_export *e, const struct thread *t);
int64_t sqlite_function(struct sqlite_export *e, const struct symbol *f);
int64_t sqlite_site(struct sqlite_export *e, const struct symbol *s);
int64_t sqlite_lock(struct sqlite_export *e, const struct segment *s);
/*
 * Returns the row of a request instance with this id that overlaps the time; 0: none.  Only rows
 * that were written before are found.
 */
uint64_t sqlite_request(struct sqlite_export *e, uint64_t req, int64_t start_ns, int64_t end_ns);

/* sqlite-recording.c; returns 0 or -errno, like the functions below */
int sqlite_put_recording(struct sqlite_export *e);
int sqlite_put_summary(struct sqlite_export *e, const struct tracks_result *result);

/* sqlite-requests.c */
int sqlite_put_requests(struct sqlite_export *e);
int sqlite_put_causes(struct sqlite_export *e);

/* sqlite-flows.c: sums of calls between components */
int sqlite_put_flows(struct sqlite_export *e);

/* sqlite-tracks.c */
/*
 * Writes the I/O requests of block devices; if requests of the program were selected, only I/O
 * requests that overlap one of them.
 */
int sqlite_put_disks(struct sqlite_export *e);
int sqlite_put_tracks(struct sqlite_export *e, struct tracks_result *result);

#endif
