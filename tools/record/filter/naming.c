// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks up names in a child process, which writes four texts for each address: the address in hex,
 * the name of the function or variable, file, module.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include "base/array.h"
#include "record/filter/naming.h"
#include "record/process/proc.h"

#define PAUSE_NS	100000000	/* from the end of a child to the start of the next */
#define FINISH_TURNS	200
#define TURN_MS		10

struct list {
	struct ldb_row_module *rows;
	size_t nr, room;
};

struct question {
	const struct naming *naming;
	const struct modules *modules;
	int64_t tick;
	const struct record_ask *asks;
	size_t nr;
};

static void add_module(void *arg, const struct ldb_row_module *row)
{
	struct list *l = arg;

	if (array_push(l->rows, l->nr, l->room, *row))
		return;		/* no memory: functions of this module will have no names */
}

static void put(void *arg, uint64_t addr, const char *name, const char *file, const char *module)
{
	FILE *f = arg;

	fprintf(f, "%" PRIx64 "%c%s%c%s%c%s%c", addr, 0, name, 0, file, 0, module, 0);
}

/* Runs in the child. */
static void look_up(void *question, FILE *out)
{
	const struct question *q = question;
	struct list modules = { 0 };
	char root[64];
	struct record_lookup l = { .tick = q->tick, .asks = q->asks, .nr_asks = q->nr, .name = put, .arg = out };

	modules_each(q->modules, add_module, &modules);
	l.root = proc_root(q->naming->program, root, sizeof(root));
	l.modules = modules.rows;
	l.nr_modules = modules.nr;
	q->naming->lookup(&l);
}

static void begin(struct naming *n, struct filter *f, const struct modules *m, int64_t tick)
{
	struct question q = { .naming = n, .modules = m, .tick = tick };

	q.nr = filter_unknown(f, &q.asks);
	if (q.nr && n->lookup && helper_begin(&n->helper, look_up, &q))
		filter_asked(f);
}

static void pass_on(const struct naming *n, struct filter *f)
{
	const struct helper *h = &n->helper;

	for (const char *at = helper_text(h, NULL); at;) {
		const char *name = helper_text(h, at), *file = name ? helper_text(h, name) : NULL;
		const char *module = file ? helper_text(h, file) : NULL;

		if (!module)
			return;
		filter_name(f, strtoull(at, NULL, 16), name, file, module);
		at = helper_text(h, module);
	}
}

void naming_end(struct naming *n)
{
	helper_end(&n->helper);
}

void naming_poll(struct naming *n, struct filter *f, const struct modules *m, int64_t tick, int64_t now_ns)
{
	if (n->helper.child) {
		if (!helper_has_ended(&n->helper))
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
	const struct record_ask *asks;

	n->next_ns = 0;
	for (unsigned i = 0; i < FINISH_TURNS && (n->helper.child || filter_unknown(f, &asks)); i++) {
		naming_poll(n, f, m, tick, 0);
		n->next_ns = 0;
		poll(NULL, 0, TURN_MS);
	}
}
