// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends a recording of several processes; see children.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/disk.h"
#include "cli/error.h"
#include "cli/progress.h"
#include "record/run/recording.h"
#include "trace/join.h"
#include "trace/reader.h"
#include "trace/writer.h"

#define TEXT_ROOM	1024
#define LEFT_ROOM	32	/* bytes for " and N more" */

static size_t count_recorded(const struct children *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		nr += c->list[i].is_recorded;
	return nr;
}

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
	size_t n = strlen(text);
	va_list list;

	n += n ? snprintf(text + n, TEXT_ROOM - n, "; ") : 0;
	va_start(list, format);
	if (n < TEXT_ROOM)
		vsnprintf(text + n, TEXT_ROOM - n, format, list);
	va_end(list);
}

static void add_plain(const struct children *c, char *text)
{
	char names[TEXT_ROOM / 2] = "";

	for (unsigned i = 0; i < c->nr_plain; i++) {
		size_t n = strlen(names);

		snprintf(names + n, sizeof(names) - n, "%s%" PRIu64 " %s", n ? ", " : "", c->plain[i].nr, c->plain[i].name);
	}
	if (c->nr_plain_other)
		add(text, "not instrumented: %s, %" PRIu64 " others", names, c->nr_plain_other);
	else if (c->nr_plain)
		add(text, "not instrumented: %s", names);
}

/* Describes which processes were not recorded; "": none. */
static void describe_missing(const struct children *c, char *text)
{
	*text = '\0';
	add_plain(c, text);
	if (c->nr_short)
		add(text, "ended at once: %" PRIu64, c->nr_short);
	if (c->nr_refused)
		add(text, "too many at a time: %" PRIu64, c->nr_refused);
	if (c->nr_failed)
		add(text, "could not be recorded: %" PRIu64, c->nr_failed);
}

static void write_metas(const struct recording *r, size_t nr, const char *missing)
{
	char err[256], number[32];
	struct writer *w = writer_reopen(r->o->output, err, sizeof(err));

	if (!w)
		return;
	snprintf(number, sizeof(number), "%zu", nr);
	writer_add_meta(w, "children", number);
	if (*missing)
		writer_add_meta(w, "children_missing", missing);
	writer_close(w);
}

/*
 * Returns true if the user has asked to stop.  Signals are blocked at this time, so that such a
 * signal ends the joining properly, and does not kill the recorder in the middle.
 */
static bool is_interrupted(void)
{
	sigset_t pending;

	return !sigpending(&pending) && (sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
					 sigismember(&pending, SIGQUIT));
}

static bool show_progress(void *arg, uint64_t done, uint64_t all)
{
	if (all)
		progress_line("joining traces: %.0f %%", 100.0 * done / all);
	return !is_interrupted();
}

/*
 * Returns true if the disk has room for the joined trace, which is a second copy of all data until
 * the separate traces are removed.
 */
static bool has_room(const struct recording *r)
{
	const struct children *c = &r->children;
	uint64_t bytes = 0;
	struct stat st;

	if (!stat(r->o->output, &st))
		bytes += st.st_size;
	for (size_t i = 0; i < c->nr; i++)
		if (c->list[i].is_recorded && !stat(c->list[i].file, &st))
			bytes += st.st_size;
	if (disk_has_room(r->o->output, bytes))
		return true;
	cli_warn("the traces are not joined: the disk has no room for another copy");
	return false;
}

/*
 * Joins the traces.  The children's traces are removed only after the joined trace is complete and
 * was renamed.
 */
static bool join(struct recording *r, size_t nr)
{
	struct join_options o = { .progress = show_progress };
	struct children *c = &r->children;
	const char **paths = calloc(nr + 1, sizeof(*paths));
	char err[512] = "out of memory";
	size_t n = 0;
	int rc = -1;

	if (paths) {
		paths[n++] = r->o->output;
		for (size_t i = 0; i < c->nr; i++)
			if (c->list[i].is_recorded)
				paths[n++] = c->list[i].file;
		rc = trace_join_file(paths, n, r->o->output, &o, err, sizeof(err));
		progress_clear();
	}
	if (rc == -EINTR)
		cli_warn("interrupted: the traces are not joined");
	else if (rc)
		cli_warn("the traces are not joined: %s", err);
	for (size_t i = 0; !rc && i < c->nr; i++)
		if (c->list[i].is_recorded)
			unlink(c->list[i].file);
	free(paths);
	return !rc;
}

static void name_all(struct recording *r, bool is_joined)
{
	struct children *c = &r->children;

	if (!r->o->store_names)
		return;
	if (c->must_name || is_joined)
		r->o->store_names(r->o->output, r->o->output, r->pid);
	for (size_t i = 0; i < c->nr && !is_joined; i++)
		if (c->list[i].is_recorded)
			r->o->store_names(c->list[i].file, c->list[i].file, c->list[i].pid);
	progress_clear();
}

/*
 * Prints how many requests all processes together had: often a server's first process has no
 * sockets.
 */
static void print_sockets(const struct recording *r)
{
	char err[512];
	struct reader *joined = r->o->socket_requests ? reader_open(r->o->output, err, sizeof(err)) : NULL;
	const char *nr = joined ? reader_meta(joined, "socket_requests") : NULL;

	if (nr)
		cli_note("  requests from connections: %s in all", nr);
	reader_close(joined);
}

/*
 * Prints for how many processes no kernel events were recorded: what ended their waits is not
 * known.
 */
static void print_without_kernel(const struct recording *r)
{
	const struct children *c = &r->children;
	size_t nr = 0;

	for (size_t i = 0; i < c->nr; i++)
		nr += c->list[i].is_recorded && c->list[i].without_kernel;
	if (nr && r->o->kernel == KERNEL_AUTO)
		cli_note("  %zu of them without kernel events, which at most %d at a time have unless --kernel names their source",
			 nr, CHILDREN_KERNEL_MAX);
}

static void list_files(const struct children *c, size_t nr, bool is_joined)
{
	char text[TEXT_ROOM] = "";
	size_t n = 0, nr_left = 0;

	for (size_t i = 0; i < c->nr && !is_joined; i++) {
		if (!c->list[i].is_recorded)
			continue;
		if (nr_left || n + strlen(c->list[i].file) + LEFT_ROOM >= sizeof(text))
			nr_left++;
		else
			n += sprintf(text + n, " %s", c->list[i].file);
	}
	if (nr_left)
		sprintf(text + n, " and %zu more", nr_left);
	cli_note("ldb-record: %zu more process%s recorded%s%s", nr, nr == 1 ? "" : "es",
		 is_joined ? " in the same file" : ":", text);
}

void children_end(struct recording *r)
{
	struct children *c = &r->children;
	char missing[TEXT_ROOM];
	size_t nr = count_recorded(c);
	bool is_joined = false;

	/* Some children ended before they could connect to the recorder. */
	if (r->out.total.nr_forks > c->nr_heard)
		c->nr_short += r->out.total.nr_forks - c->nr_heard;
	describe_missing(c, missing);
	if (c->on && r->recorded && !r->o->flight.ns && (nr || *missing)) {
		is_joined = nr && r->has_trace && !r->out.total.disk_lost && has_room(r) && join(r, nr);
		write_metas(r, nr, missing);
	}
	if (c->must_name || nr)
		name_all(r, is_joined);
	if (r->recorded && !r->o->quiet) {
		if (nr)
			list_files(c, nr, is_joined);
		print_without_kernel(r);
		if (is_joined)
			print_sockets(r);
		if (*missing)
			cli_note("  not recorded: %s", missing);
	}
	for (size_t i = 0; i < c->nr; i++)
		free(c->list[i].file);
	free(c->list);
	free(c->known);
	if (c->epoll >= 0)
		close(c->epoll);
}
