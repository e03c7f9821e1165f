// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a trace and has all automata read it; see oracle.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "oracle.h"

/* A trace must be complete; but its end may be missing if its recorder was killed on purpose. */
static void check_damage(struct oracle *o, const struct oracle_options *options)
{
	struct reader_damage d;
	char text[512];

	reader_damage(o->r, &d);
	if (!reader_is_damaged(o->r) || (d.no_footer && options->may_be_cut && !d.nr_bad_blocks))
		return;
	oracle_violation(o, ORACLE_TRACE, "damaged", "%s", reader_damage_text(o->r, text, sizeof(text)));
}

/*
 * The rules are for one process: a joined trace also contains events that a recorder has of the
 * other processes.  So a joined file is only read.
 */
static bool is_joined(struct oracle *o)
{
	const char *text = reader_meta(o->r, "children");
	bool is = text && strcmp(text, "0");

	if (is && o->out)
		fprintf(o->out, "trace: joined, %s more processes: only read\n", text);
	return is;
}

int64_t oracle_first(const char *path, const struct oracle_options *options, char *rule, size_t size)
{
	struct oracle o = { .out = options->out };
	struct reader_damage d;
	char err[512];

	o.r = reader_open(path, err, sizeof(err));
	if (!o.r) {
		if (options->out)
			fprintf(options->out, "%s\n", err);
		return -1;
	}
	if (reader_check(o.r))
		oracle_out_of_memory();
	reader_damage(o.r, &d);
	o.is_cut = d.no_footer;
	check_damage(&o, options);
	if (!is_joined(&o)) {
		check_trace(&o);
		witness_read(&o);
		check_calls(&o);
		check_locks(&o);
		check_requests(&o);
		check_threads(&o);
		check_flows(&o);
	}
	if (o.nr_excused && o.out)
		fprintf(o.out, "trace: %" PRIu64 " missing rows are explained by lost records\n",
			o.nr_excused);
	snprintf(rule, size, "%s", o.first_rule ? o.first_rule : "");
	free(o.witnesses);
	free(o.instances);
	reader_close(o.r);
	return (int64_t)o.nr_violations;
}

int64_t oracle_check(const char *path, const struct oracle_options *options)
{
	char rule[64];

	return oracle_first(path, options, rule, sizeof(rule));
}
