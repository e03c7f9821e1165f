/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the parts of ldb-top, which shows a recording while it runs.
 *
 * The recorder's loop passes blocks of rows to the history, which drops old ones.  At each interval
 * a second thread gets a snapshot of the history, makes a trace in memory from it, and analyses
 * that like any other trace.  The second thread also controls the terminal.  The recorder never
 * waits for it.
 *
 * Prototypes are grouped by defining file.
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "facts/model.h"
#include "record/output/live.h"
#include "render/render.h"

struct top_options {
	uint64_t interval_ns, window_ns;
	uint64_t times;			/* number of intervals to show; 0: no limit */
	uint64_t nr_rows;		/* rows of each table, unless the screen limits them */
	size_t sort;			/* number of a functions_sort_key() */
	int by;				/* enum stats_by */
	bool is_json, is_screen;
	FILE *out;			/* destination of tables and JSON */
	const char *dump;		/* prefix for the names of dumps */
	bool dumps_last;		/* write a dump of the last snapshot at the end */
	struct symtab_options symbols;
};

/* history.c: the blocks of the last seconds. */

struct history;
struct snapshot;

/*
 * window_ns is the time that is shown.  If the blocks take more than max_bytes, events of the
 * oldest periods are dropped.  Returns NULL if there is no memory.
 */
struct history *history_alloc(uint64_t window_ns, uint64_t max_bytes);
void history_free(struct history *h);

/* Callbacks of struct record_live. */
int history_block(struct history *h, const void *data, size_t size);
void history_anew(struct history *h);
void history_period(struct history *h, const struct record_status *status);

/*
 * Makes a snapshot of the last window_ns, and, if `before` is not NULL, also of everything that is
 * in that snapshot.  Another thread may read and free the result.  Returns NULL if there is no
 * memory, or no period has ended yet.
 */
struct snapshot *history_snapshot(const struct history *h, const struct snapshot *before);
void snapshot_free(struct snapshot *s);

struct snapshot_info {
	struct record_status status;	/* state of the recording at the end of the window */
	int64_t window_ns;		/* duration of the window */
	int64_t from, to;		/* ticks */
	uint64_t made, seen, nr_events, nr_lost;	/* counts for the window */
	/* the blocks exceeded max_bytes, so the window is shorter */
	bool is_cut;
};
const struct snapshot_info *snapshot_info(const struct snapshot *s);

/*
 * Returns the descriptor of a trace in memory, or -errno.  The trace contains the window.  If
 * is_wide, it also contains the retained events before the window, so that it has the beginnings of
 * long requests.
 */
int snapshot_file(const struct snapshot *s, bool is_wide);

/* As snapshot_file(), but of the events, only blocks that overlap one of the ranges (ticks). */
struct snapshot_range {
	int64_t from, to;
};
int snapshot_file_of(const struct snapshot *s, const struct snapshot_range *ranges, size_t nr);

/* view.c: the contents of a snapshot. */

/* A thread that was in a function at the end of the window. */
struct view_running {
	uint32_t tid;
	const struct thread *thread;
	const struct symbol *func, *site;	/* site: NULL if not known */
	int64_t ns;		/* duration up to the end of the window */
	bool is_at_least;	/* ns is a lower bound: the call began before the recording */
};

struct view {
	struct snapshot *snapshot;
	struct reader *window, *wide;
	struct model *model;		/* the model of the wide trace */
	struct model window_model;	/* the model of the window's trace */
	struct stats stats;
	const struct stats_entry **rows; /* functions with completed calls, sorted */
	size_t nr_rows;
	struct view_running *running;	/* longest first */
	size_t nr_running, room_running;
	struct locks locks;
	struct requests requests;
	struct timeline *timelines;	/* timelines of the request instances */
};

/*
 * Takes ownership of the snapshot.  Returns 0; or -errno, in which case v is as after view_free().
 */
int view_build(struct view *v, struct snapshot *s, struct symtab *symtab,
	       const struct top_options *o);
void view_sort(struct view *v, size_t sort);
void view_free(struct view *v);

/* dump.c: writes a snapshot into a trace. */

/*
 * Writes the dump NAME.1, or NAME.N with the next free number, and stores its name in path.
 * Returns its size, -errno or OUTFILE_OTHERS.
 */
int64_t dump_write(const struct snapshot *s, const char *name, char *path, size_t path_size);

/* draw.c: text and JSON. */

struct draw_state {
	size_t sort, skip;	/* skip: number of functions that are scrolled off the top */
	size_t lines;		/* lines of the screen; 0: no limit */
	bool is_paused, is_help;
	char note[512];		/* result of a dump, or "" */
};

/* Draws into r->out.  If v->model is NULL, nothing was observed yet. */
void draw_text(const struct render *r, const struct top_options *o, const struct view *v,
	       const struct draw_state *d);
void draw_json(const struct render *r, const struct top_options *o, const struct view *v);

/* screen.c: the terminal. */

enum screen_key {
	KEY_NONE, KEY_QUIT, KEY_SORT, KEY_SORT_BACK, KEY_PAUSE, KEY_DUMP, KEY_HELP, KEY_UP, KEY_DOWN,
	KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME,
};

/* Returns true if the whole screen can be used. */
bool screen_is_possible(void);
/* Returns the descriptor to poll for keys, or -1 after printing why not. */
int screen_open(void);
/* Returns the next key; *is_gone: the terminal was closed. */
enum screen_key screen_key(bool *is_gone);
void screen_size(unsigned *columns, unsigned *lines);
/* Shows lines of text, from the top. */
void screen_show(const char *text, unsigned lines);
/* Restores the terminal; screen_enter() uses the screen again. */
void screen_leave(void);
void screen_enter(void);
/* Restores the terminal for good, and prints the stored messages. */
void screen_close(void);

/* ui.c: the second thread. */

struct ui;

/*
 * The thread writes to stop_fd when the recording is to end: the user wants to stop, everything was
 * shown, or showing has failed.  Returns NULL after printing an error.
 */
struct ui *ui_start(const struct top_options *o, int stop_fd);
/* Returns the last snapshot that was passed to the thread, if it was not shown yet; else NULL. */
struct snapshot *ui_take_back(struct ui *ui);
void ui_give(struct ui *ui, struct snapshot *s);
/* Ends the thread after the last snapshot.  Returns true if all could be read and written. */
bool ui_finish(struct ui *ui);

#endif
