/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ldb-top: a recording that is shown while it goes on.
 *
 * The recorder's loop hands blocks of rows to the history, which forgets old ones.
 * Every interval a second thread gets a snapshot of it, makes a trace in memory of
 * that, and reads it as any tool reads a trace.  It owns the terminal.  The recorder
 * never waits for that thread.
 *
 * Prototypes grouped by defining file.
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "facts/model.h"
#include "record/record.h"
#include "render/render.h"

struct top_options {
	uint64_t interval_ns, window_ns;
	uint64_t times;			/* 0: no limit */
	uint64_t nr_rows;		/* of each table, where the screen sets no limit */
	size_t sort;			/* into functions_sort_keys */
	int by;				/* enum stats_by */
	bool is_json, is_screen;
	FILE *out;			/* where tables and JSON go */
	struct symtab_options symbols;
};

/* history.c: the blocks of the last seconds. */

struct history;
struct snapshot;

/* NULL: out of memory.  window_ns: what is shown; max_bytes: of blocks, whatever the window. */
struct history *history_alloc(uint64_t window_ns, uint64_t max_bytes);
void history_free(struct history *h);

/* Callbacks of struct record_live. */
int history_block(struct history *h, const void *data, size_t size);
void history_anew(struct history *h);
void history_period(struct history *h, const struct record_status *status);

/*
 * A snapshot of the last window_ns, and, if before is given, also of all that it
 * had.  NULL: out of memory.  May be read and freed by another thread.
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
 * The trace in memory, a descriptor: of the window, or is_wide: with what is retained of
 * before, so that a request can be longer than the window.  -errno.
 */
int snapshot_file(const struct snapshot *s, bool is_wide);

/* view.c: what a snapshot says. */

/* A thread that is in one function for longer than a period. */
struct view_running {
	uint32_t tid;
	const struct thread *thread;
	const struct symbol *func, *site;	/* site: NULL: not known */
	int64_t ns;		/* so far */
	bool is_at_least;	/* it ran before the recording began */
};

struct view {
	struct snapshot *snapshot;
	struct reader *window, *wide;
	struct model *model;		/* of wide */
	struct model window_model;	/* the same, but reads window */
	struct stats stats;
	const struct stats_entry **rows; /* of stats that have ended, sorted */
	size_t nr_rows;
	struct view_running *running;	/* longest first */
	size_t nr_running, room_running;
	struct locks locks;
	struct requests requests;
	struct timeline *timelines;	/* of the request instances */
};

/* Takes over the snapshot.  0 or -errno: then v is as after view_free(). */
int view_build(struct view *v, struct snapshot *s, struct symtab *symtab,
	       const struct top_options *o);
void view_sort(struct view *v, size_t sort);
void view_free(struct view *v);

/* draw.c: text and JSON. */

struct draw_state {
	size_t sort, skip;	/* functions not shown at the top */
	size_t lines;		/* of the screen; 0: no limit */
	bool is_paused, is_help;
};

/* Draws into r->out.  v->model NULL: nothing was observed yet. */
void draw_text(const struct render *r, const struct top_options *o, const struct view *v,
	       const struct draw_state *d);
void draw_json(const struct render *r, const struct top_options *o, const struct view *v);

/* screen.c: the terminal. */

enum screen_key {
	KEY_NONE, KEY_QUIT, KEY_SORT, KEY_SORT_BACK, KEY_PAUSE, KEY_HELP, KEY_UP, KEY_DOWN,
	KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
};

/* May the whole screen be used? */
bool screen_is_possible(void);
/* Returns the descriptor to poll for keys, or -1 after one line. */
int screen_open(void);
/* The next key; *is_gone: there is no terminal any more. */
enum screen_key screen_key(bool *is_gone);
void screen_size(unsigned *columns, unsigned *lines);
/* Shows lines of text, from the top. */
void screen_show(const char *text, unsigned lines);
/* Gives the terminal back, or takes it again. */
void screen_leave(void);
void screen_enter(void);
/* Gives it back for good, and prints the messages of meanwhile. */
void screen_close(void);

/* ui.c: the second thread. */

struct ui;

/* stop_fd: written to when the user wants to stop.  NULL after one line. */
struct ui *ui_start(const struct top_options *o, int stop_fd);
/* Returns the last snapshot that was given, if it was not shown yet; else NULL. */
struct snapshot *ui_take_back(struct ui *ui);
void ui_give(struct ui *ui, struct snapshot *s);
/* Call it when no more snapshots come.  True: all that was to be shown could be. */
bool ui_finish(struct ui *ui);

#endif
