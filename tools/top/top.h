/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the parts of ldb-top: a recording is shown while it runs.
 *
 * The recorder's loop passes blocks of rows to the history, which drops old ones.  Every interval a
 * second thread gets a snapshot of the history, makes a trace in memory of it, and reads that as
 * any tool reads a trace.  That thread controls the terminal.  The recorder never waits for it.
 *
 * Prototypes are grouped by defining file.
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "facts/model.h"
#include "record/record.h"
#include "render/render.h"

struct top_options {
	uint64_t interval_ns, window_ns;
	uint64_t times;			/* 0: no limit */
	uint64_t nr_rows;		/* of each table, if not limited by the screen */
	size_t sort;			/* into functions_sort_keys */
	int by;				/* enum stats_by */
	bool is_json, is_screen;
	FILE *out;			/* where tables and JSON go */
	const char *dump;		/* prefix of the names of dumps */
	bool dumps_last;		/* write a dump of the last snapshot at the end */
	struct symtab_options symbols;
};

/* history.c: the blocks of the last seconds. */

struct history;
struct snapshot;

/*
 * Returns NULL if there is no memory.  window_ns is the time that is shown; max_bytes limits the
 * blocks, whatever the window.
 */
struct history *history_alloc(uint64_t window_ns, uint64_t max_bytes);
void history_free(struct history *h);

/* These are callbacks of struct record_live. */
int history_block(struct history *h, const void *data, size_t size);
void history_anew(struct history *h);
void history_period(struct history *h, const struct record_status *status);

/*
 * Makes a snapshot of the last window_ns, and of everything in the snapshot before, if that is not
 * NULL.  Returns NULL if there is no memory.  Another thread may read and free it.
 */
struct snapshot *history_snapshot(const struct history *h, const struct snapshot *before);
void snapshot_free(struct snapshot *s);

struct snapshot_info {
	struct record_status status;	/* at its end */
	int64_t window_ns;		/* of time it covers */
	int64_t from, to;		/* ticks */
	uint64_t made, seen, nr_events, nr_lost;	/* in the window */
	bool is_cut;			/* max_bytes was not enough for the window */
};
const struct snapshot_info *snapshot_info(const struct snapshot *s);

/*
 * Returns the descriptor of a trace in memory, or -errno.  It contains the window, or, if is_wide,
 * also the retained events before it, so that a request can be longer than the window.
 */
int snapshot_file(const struct snapshot *s, bool is_wide);

/* Does the same with what happened in some ranges of time (ticks) alone. */
struct snapshot_range {
	int64_t from, to;
};
int snapshot_file_of(const struct snapshot *s, const struct snapshot_range *ranges, size_t nr);

/* view.c: the contents of a snapshot. */

/* A thread that was in a function at the end of the window. */
struct view_running {
	uint32_t tid;
	const struct thread *thread;
	const struct symbol *func, *site;	/* site: NULL: not known */
	int64_t ns;		/* until the end of the window */
	bool is_at_least;	/* the call began before the recording */
};

struct view {
	struct snapshot *snapshot;
	struct reader *window, *wide;
	struct model *model;		/* of wide */
	struct model window_model;	/* the same, but reads window */
	struct stats stats;
	const struct stats_entry **rows; /* functions with calls that have ended, sorted */
	size_t nr_rows;
	struct view_running *running;	/* longest first */
	size_t nr_running, room_running;
	struct locks locks;
	struct requests requests;
	struct timeline *timelines;	/* of the request instances */
};

/*
 * Takes ownership of the snapshot.  Returns 0 or -errno: after an error v is as after view_free().
 */
int view_build(struct view *v, struct snapshot *s, struct symtab *symtab,
	       const struct top_options *o);
void view_sort(struct view *v, size_t sort);
void view_free(struct view *v);

/* dump.c: writes a snapshot into a trace. */

/*
 * Writes NAME.1, or the next number, and stores that in path.  Returns its size, or -errno or
 * OUTFILE_OTHERS.
 */
int64_t dump_write(const struct snapshot *s, const char *name, char *path, size_t path_size);

/* draw.c: text and JSON. */

struct draw_state {
	size_t sort, skip;	/* functions that are scrolled off the top */
	size_t lines;		/* of the screen; 0: no limit */
	bool is_paused, is_help;
	char note[512];		/* result of a dump; "" */
};

/* Draws into r->out.  If v->model is NULL nothing was observed yet. */
void draw_text(const struct render *r, const struct top_options *o, const struct view *v,
	       const struct draw_state *d);
void draw_json(const struct render *r, const struct top_options *o, const struct view *v);

/* screen.c: the terminal. */

enum screen_key {
	KEY_NONE, KEY_QUIT, KEY_SORT, KEY_SORT_BACK, KEY_PAUSE, KEY_DUMP, KEY_HELP, KEY_UP, KEY_DOWN,
	KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
};

/* May the whole screen be used? */
bool screen_is_possible(void);
/* Returns the descriptor to poll for keys, or -1 after one line. */
int screen_open(void);
/* Returns the next key; sets *is_gone if the terminal was closed. */
enum screen_key screen_key(bool *is_gone);
void screen_size(unsigned *columns, unsigned *lines);
/* Shows lines of text, from the top. */
void screen_show(const char *text, unsigned lines);
/* Restore the terminal, or use the screen again. */
void screen_leave(void);
void screen_enter(void);
/* Restores the terminal finally, and prints the stored messages. */
void screen_close(void);

/* ui.c: the second thread. */

struct ui;

/* stop_fd is written when the user wants to stop.  Returns NULL after one line. */
struct ui *ui_start(const struct top_options *o, int stop_fd);
/* Returns the last snapshot passed to the thread, if it was not shown yet; else NULL. */
struct snapshot *ui_take_back(struct ui *ui);
void ui_give(struct ui *ui, struct snapshot *s);
/* Ends the thread after the last snapshot.  Returns true if everything could be shown. */
bool ui_finish(struct ui *ui);

#endif
