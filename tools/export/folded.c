// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes folded stacks for flame graph programs: a line "thread;outer;inner ns" for each stack
 * whose innermost frame has self time, with this time in ns.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "cli/utf8.h"
#include "export/walk.h"

/*
 * Prints a name; bytes that are not UTF-8, and characters that would end a name or a line, or
 * control a terminal, become '?'.
 */
static void put_name(FILE *out, const char *name)
{
	while (*name) {
		unsigned n = utf8_length(name);

		if (!n || *name == ';' || utf8_is_control(name, n))
			putc('?', out);
		else
			fwrite(name, 1, n, out);
		name += n ? n : 1;
	}
}

static void put_node(FILE *out, const struct stacks_node *n)
{
	char text[512];

	if (n->is_cause)
		put_name(out, stacks_cause_text(&n->cause, text, sizeof(text)));
	else if (n->func)
		put_name(out, n->func->function);
	else
		put_name(out, *n->thread ? n->thread : "[thread]");
}

static int put_stack(FILE *out, const struct stacks_node *n, const struct stacks_node ***path,
		     size_t *room)
{
	size_t nr = 0;

	for (const struct stacks_node *at = n; at; at = at->parent) {
		if (!array_room(path, room, nr, sizeof(**path)))
			return -ENOMEM;
		(*path)[nr++] = at;
	}
	while (nr--) {
		put_node(out, (*path)[nr]);
		putc(nr ? ';' : ' ', out);
	}
	fprintf(out, "%" PRId64 "\n", n->self_ns);
	return ferror(out) ? -EIO : 0;
}

int export_folded(struct model *m, const struct export_options *o, FILE *out, char *err,
		  size_t err_size)
{
	struct stacks_options options = { .with_causes = o->with_causes };
	const struct stacks_node **path = NULL;
	struct stacks s;
	size_t room = 0;
	int ret;

	stacks_init(&s, m, &options);
	ret = stacks_walk(&s, m, o);
	for (size_t i = 0; i < s.nr_nodes && !ret; i++)
		if (s.nodes[i]->self_ns)
			ret = put_stack(out, s.nodes[i], &path, &room);
	free(path);
	stacks_free(&s);
	return ret;
}
