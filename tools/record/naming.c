// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asks a child for names: it writes "PC function file module" for each address, as texts that end
 * with a NUL.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/array.h"
#include "record/naming.h"

#define PAUSE_NS	100000000	/* between two children */
#define TEXT_MAX	(64 << 20)	/* a child that writes more is lying */
#define AT_ONCE		65536
#define FINISH_TURNS	200
#define TURN_MS		10

struct list {
	struct ldb_row_module *rows;
	size_t nr, room;
};

static void add_module(void *arg, const struct ldb_row_module *row)
{
	struct list *l = arg;

	if (array_push(l->rows, l->nr, l->room, *row))
		return;		/* its functions will have no names */
}

static void put(void *arg, uint64_t pc, const char *function, const char *file, const char *module)
{
	FILE *f = arg;

	fprintf(f, "%" PRIx64 "%c%s%c%s%c%s%c", pc, 0, function, 0, file, 0, module, 0);
}

static void child(const struct naming *n, int fd, const struct modules *m, int64_t tick,
		  const uint64_t *pcs, size_t nr)
{
	struct list modules = { 0 };
	char root[64];
	FILE *f = fdopen(fd, "w");
	struct record_lookup l = { .tick = tick, .pcs = pcs, .nr_pcs = nr, .name = put, .arg = f };

	signals_child();
	modules_each(m, add_module, &modules);
	l.root = target_root(n->program, root, sizeof(root));
	l.modules = modules.rows;
	l.nr_modules = modules.nr;
	if (f) {
		n->lookup(&l);
		fclose(f);
	}
	_exit(0);
}

static void begin(struct naming *n, struct filter *f, const struct modules *m, int64_t tick)
{
	const uint64_t *pcs;
	size_t nr = filter_unknown(f, &pcs);
	int fds[2];

	if (!nr || !n->lookup || pipe2(fds, O_CLOEXEC))
		return;
	n->child = fork();
	if (!n->child)
		child(n, fds[1], m, tick, pcs, nr);
	close(fds[1]);
	if (n->child < 0) {
		n->child = 0;
		close(fds[0]);
		return;
	}
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	n->fd = fds[0];
	n->nr = 0;
	filter_asked(f);
}

/* Returns the text behind this one; NULL: there is none. */
static const char *next(const char *text, const char *end)
{
	const char *zero = text ? memchr(text, 0, end - text) : NULL;

	return zero ? zero + 1 : NULL;
}

static void pass_on(const struct naming *n, struct filter *f)
{
	const char *at = n->text, *end = n->text + n->nr;

	while (at && at < end) {
		const char *function = next(at, end), *file = next(function, end), *module = next(file, end);
		const char *after = next(module, end);

		if (after)
			filter_name(f, strtoull(at, NULL, 16), function, file, module);
		at = after;
	}
}

void naming_end(struct naming *n)
{
	if (n->child) {
		kill(n->child, SIGKILL);
		close(n->fd);
		waitpid(n->child, NULL, 0);
	}
	n->child = 0;
	free(n->text);
	n->text = NULL;
	n->nr = n->room = 0;
}

/* Returns false when all has come. */
static bool read_more(struct naming *n)
{
	ssize_t got;

	do {
		if (n->nr > TEXT_MAX || !array_reserve(&n->text, &n->room, n->nr + AT_ONCE, 1))
			return false;
		got = read(n->fd, n->text + n->nr, n->room - n->nr);
		n->nr += got > 0 ? got : 0;
	} while (got > 0);
	return got < 0 && (errno == EAGAIN || errno == EINTR);
}

void naming_poll(struct naming *n, struct filter *f, const struct modules *m, int64_t tick, int64_t now_ns)
{
	if (n->child) {
		if (read_more(n))
			return;
		pass_on(n, f);
		naming_end(n);
		n->next_ns = now_ns + PAUSE_NS;
	} else if (now_ns >= n->next_ns) {
		begin(n, f, m, tick);
	}
}

void naming_finish(struct naming *n, struct filter *f, const struct modules *m, int64_t tick)
{
	const uint64_t *pcs;

	n->next_ns = 0;
	for (unsigned i = 0; i < FINISH_TURNS && (n->child || filter_unknown(f, &pcs)); i++) {
		naming_poll(n, f, m, tick, 0);
		n->next_ns = 0;
		poll(NULL, 0, TURN_MS);
	}
}
