// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the second thread, which reads snapshots, shows them, and reads the keyboard.
 *
 * The thread has a lower priority (nice), because it competes with the program for the CPUs.  If it
 * needs longer than the interval, the next snapshot replaces the pending one; without a screen, it
 * covers the time of both.
 */
#include <errno.h>
#include <poll.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/outfile.h"
#include "top/top.h"

#define NICE		10
#define PAGE		10	/* functions that a page key scrolls */

struct ui {
	const struct top_options *o;
	pthread_t thread;
	/* protects the two members after it: the only ones that both threads use and change */
	pthread_mutex_t lock;
	struct snapshot *pending;
	bool is_over;			/* there will be no more snapshots */
	int wake_fd, stop_fd, key_fd, signal_fd;
	bool has_failed, has_stopped;
	uint64_t nr_shown;
	struct symtab *symtab;
	struct view view;
	struct draw_state draw;
};

static void wake(int fd)
{
	uint64_t one = 1;

	/* This does not fail, because the counter of an eventfd does not become full. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

static void stop(struct ui *ui)
{
	if (!ui->has_stopped)
		wake(ui->stop_fd);
	ui->has_stopped = true;
}

/* Shows as many lines as fit on the screen; the second one explains the keys. */
static void show_screen(struct ui *ui)
{
	unsigned columns, lines;
	struct render r;
	char *text = NULL;
	size_t size = 0;

	screen_size(&columns, &lines);
	render_init(&r, stdout);
	r.width = columns < 60 ? 60 : columns;
	r.has_width = true;
	r.out = open_memstream(&text, &size);
	if (!r.out)
		return;
	ui->draw.lines = lines;
	draw_text(&r, ui->o, &ui->view, &ui->draw);
	if (!fclose(r.out))
		screen_show(text, lines);
	free(text);
}

static void show_batch(struct ui *ui)
{
	struct render r;

	render_init(&r, ui->o->out);
	if (ui->o->is_json)
		draw_json(&r, ui->o, &ui->view);
	else
		draw_text(&r, ui->o, &ui->view, &ui->draw);
	if (!fflush(ui->o->out) && !ferror(ui->o->out))
		return;
	/* EPIPE is not an error: the reader has closed the pipe. */
	if (errno != EPIPE) {
		cli_error("cannot write the output: %s", strerror(errno));
		ui->has_failed = true;
	}
	stop(ui);
}

static void show(struct ui *ui)
{
	if (ui->o->is_screen)
		show_screen(ui);
	else if (!ui->has_stopped)
		show_batch(ui);
}

static void show_snapshot(struct ui *ui, struct snapshot *s)
{
	bool is_last = snapshot_info(s)->status.end;
	int rc;

	view_free(&ui->view);
	rc = view_build(&ui->view, s, ui->symtab, ui->o);
	if (rc) {
		cli_error("cannot read what was recorded: %s", strerror(-rc));
		ui->has_failed = true;
		stop(ui);
		return;
	}
	view_sort(&ui->view, ui->draw.sort);
	show(ui);
	ui->nr_shown++;
	/* At the end of the recording, the display ends with the last snapshot. */
	if (is_last)
		ui->has_stopped = true;
	else if (ui->o->times && ui->nr_shown >= ui->o->times)
		stop(ui);
}

static struct snapshot *next(struct ui *ui, bool *is_over)
{
	struct snapshot *s = NULL;

	pthread_mutex_lock(&ui->lock);
	*is_over = ui->is_over;
	/* While the display is paused, the next snapshot remains pending. */
	if (!ui->draw.is_paused || ui->is_over) {
		s = ui->pending;
		ui->pending = NULL;
	}
	pthread_mutex_unlock(&ui->lock);
	return s;
}

static void scroll(struct draw_state *d, const struct view *v, long by)
{
	long skip = (long)d->skip + by;
	long most = v->nr_rows ? (long)v->nr_rows - 1 : 0;

	d->skip = skip < 0 ? 0 : skip > most ? most : skip;
}

static void sort(struct ui *ui, size_t by)
{
	size_t nr = 0;

	/* Only the keys of numeric columns are used; these come before "open". */
	while (functions_sort_key(nr) && strcmp(functions_sort_key(nr), "open"))
		nr++;
	ui->draw.sort = (ui->draw.sort + nr + by) % nr;
	ui->draw.skip = 0;
	view_sort(&ui->view, ui->draw.sort);
}

/* Writes a dump.  Returns false if it could not be written. */
static bool dump(struct ui *ui)
{
	char path[PATH_MAX];
	int64_t rc;

	if (!ui->view.snapshot)
		return true;
	rc = dump_write(ui->view.snapshot, ui->o->dump, path, sizeof(path));
	if (rc < 0)
		snprintf(ui->draw.note, sizeof(ui->draw.note), "cannot write %.300s.*: %s", ui->o->dump, outfile_why(rc));
	else
		snprintf(ui->draw.note, sizeof(ui->draw.note), "%.400s is written", path);
	return rc >= 0;
}

/* Writes the dump at the end, and reports the result on stderr. */
static void dump_last(struct ui *ui)
{
	if (!dump(ui)) {
		cli_error("%s", ui->draw.note);
		ui->has_failed = true;
	} else if (*ui->draw.note) {
		cli_note("ldb-top: %s", ui->draw.note);
	}
}

static void on_key(struct ui *ui, enum screen_key key)
{
	static const int rows[] = {
		[KEY_UP] = -1, [KEY_DOWN] = 1, [KEY_PAGE_UP] = -PAGE, [KEY_PAGE_DOWN] = PAGE,
	};

	switch (key) {
	case KEY_QUIT:
		stop(ui);
		break;
	case KEY_SORT:
		sort(ui, 1);
		break;
	case KEY_SORT_BACK:
		sort(ui, -1);
		break;
	case KEY_PAUSE:
		ui->draw.is_paused = !ui->draw.is_paused;
		break;
	case KEY_DUMP:
		dump(ui);
		break;
	case KEY_HELP:
		ui->draw.is_help = !ui->draw.is_help;
		break;
	case KEY_UP:
	case KEY_DOWN:
	case KEY_PAGE_UP:
	case KEY_PAGE_DOWN:
		scroll(&ui->draw, &ui->view, rows[key]);
		break;
	case KEY_HOME:
		ui->draw.skip = 0;
		break;
	default:
		return;
	}
	show(ui);
}

/* Handles Ctrl-Z, the continuation after it, and a new size of the terminal. */
static void on_terminal_signal(struct ui *ui)
{
	struct signalfd_siginfo info;

	while (read(ui->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP) {
			screen_leave();
			kill(getpid(), SIGSTOP);
		}
		screen_enter();
	}
	show(ui);
}

static void listen_to_keys(struct ui *ui)
{
	enum screen_key key;
	bool is_gone = false;

	while ((key = screen_key(&is_gone)) != KEY_NONE)
		on_key(ui, key);
	if (is_gone) {
		ui->key_fd = -1;
		stop(ui);
	}
}

static void *run(void *arg)
{
	struct ui *ui = arg;
	bool is_over = false;

	setpriority(PRIO_PROCESS, syscall(SYS_gettid), NICE);
	while (!is_over) {
		struct pollfd p[3] = {
			{ .fd = ui->wake_fd, .events = POLLIN },
			{ .fd = ui->key_fd, .events = POLLIN },
			{ .fd = ui->signal_fd, .events = POLLIN },
		};
		struct snapshot *s;
		uint64_t nr;

		poll(p, 3, -1);
		if (p[2].revents)
			on_terminal_signal(ui);
		if (p[1].revents)
			listen_to_keys(ui);
		if (p[0].revents && read(ui->wake_fd, &nr, sizeof(nr)) < 0)
			continue;
		s = next(ui, &is_over);
		if (s && !ui->has_stopped)
			show_snapshot(ui, s);
		else
			snapshot_free(s);
	}
	return NULL;
}

/*
 * Blocks these signals in this thread and in those that it creates; the second thread reads them
 * from a descriptor.
 */
static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	sigaddset(&set, SIGCONT);
	sigaddset(&set, SIGWINCH);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool open_ui(struct ui *ui)
{
	ui->symtab = symtab_open(&ui->o->symbols);
	ui->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!ui->symtab || ui->wake_fd < 0) {
		cli_error("out of memory");
		return false;
	}
	if (!ui->o->is_screen)
		return true;
	ui->signal_fd = open_signals();
	ui->key_fd = screen_open();
	if (ui->key_fd < 0)
		return false;
	show(ui);
	return true;
}

static void free_ui(struct ui *ui)
{
	view_free(&ui->view);
	snapshot_free(ui->pending);
	symtab_close(ui->symtab);
	if (ui->wake_fd >= 0)
		close(ui->wake_fd);
	free(ui);
}

struct ui *ui_start(const struct top_options *o, int stop_fd)
{
	struct ui *ui = calloc(1, sizeof(*ui));
	int rc = 0;

	if (!ui) {
		cli_error("out of memory");
		return NULL;
	}
	ui->o = o;
	ui->stop_fd = stop_fd;
	ui->key_fd = ui->signal_fd = -1;
	ui->draw.sort = o->sort;
	pthread_mutex_init(&ui->lock, NULL);
	if (!open_ui(ui) || (rc = pthread_create(&ui->thread, NULL, run, ui))) {
		if (rc)
			cli_error("cannot create a thread: %s", strerror(rc));
		screen_close();
		free_ui(ui);
		return NULL;
	}
	return ui;
}

void ui_give(struct ui *ui, struct snapshot *s)
{
	struct snapshot *old;

	pthread_mutex_lock(&ui->lock);
	old = ui->pending;
	ui->pending = s;
	pthread_mutex_unlock(&ui->lock);
	snapshot_free(old);
	wake(ui->wake_fd);
}

struct snapshot *ui_take_back(struct ui *ui)
{
	struct snapshot *s;

	pthread_mutex_lock(&ui->lock);
	s = ui->pending;
	ui->pending = NULL;
	pthread_mutex_unlock(&ui->lock);
	return s;
}

/* Prints hints about missing names. */
static void say_hints(const struct ui *ui)
{
	char text[1024];

	for (int i = 0; i < SYMTAB_NR_PROBLEMS; i++)
		if (*symtab_problem_text(ui->symtab, i, text, sizeof(text)))
			cli_warn("%s", text);
}

bool ui_finish(struct ui *ui)
{
	bool is_good;

	pthread_mutex_lock(&ui->lock);
	ui->is_over = true;
	pthread_mutex_unlock(&ui->lock);
	wake(ui->wake_fd);
	pthread_join(ui->thread, NULL);
	if (ui->o->is_screen)
		screen_close();
	if (ui->o->dumps_last)
		dump_last(ui);
	if (!ui->o->is_json)
		say_hints(ui);
	is_good = !ui->has_failed;
	free_ui(ui);
	return is_good;
}
