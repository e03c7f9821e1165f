// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares two runs, or two slices of one run; see compare.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/error.h"
#include "render/compare.h"
#include "render/table.h"
#include "render/text.h"

static bool parse_percentile(const char *text, double *value, const char **end)
{
	char *at;

	/* strtod() also accepts signs, blanks and "inf", which are not valid here. */
	if (*text < '0' || *text > '9')
		return false;
	*value = strtod(text, &at);
	*end = at;
	for (; text < at; text++)
		if ((*text < '0' || *text > '9') && *text != '.')
			return false;
	return *value <= 100;
}

static bool parse_slice(const char *text, struct compare_slice *s)
{
	const char *at = *text == 'p' ? text + 1 : text;
	double p;

	if (parse_percentile(at, &p, &at)) {
		if (!*at) {
			/*
			 * "p99" means all requests from this percentile on; "p50" means the
			 * requests around it.
			 */
			*s = (struct compare_slice){
				p >= 90 ? p : p < 10 ? 0 : p - 10, p >= 90 ? 100 : p + 10,
			};
			if (s->lo < 100)
				return true;
		} else if (*at == '-' && parse_percentile(at + 1, &s->hi, &at) && !*at && p < s->hi) {
			s->lo = p;
			return true;
		}
	}
	return false;
}

void compare_parse_slices(const char *text, struct compare_options *o)
{
	const char *comma = strchr(text, ',');
	char target[64];

	snprintf(target, sizeof(target), "%.*s", comma ? (int)(comma - text) : 0, text);
	if (!comma || !parse_slice(target, &o->target) || !parse_slice(comma + 1, &o->reference))
		cli_usage("'%.60s' is not a pair of slices: write p99,p50 or 90-99,40-60", text);
}

/* Results of a comparison so far. */
struct comparison {
	const struct compare_options *o;
	struct render_differential shown;
	struct differential *of;
	const char **only_target, **only_reference;
	struct gate *conditions;
	size_t nr_conditions;
	struct gate_result *gates;
};

static void open_comparison(struct comparison *c, size_t nr_target, size_t nr_reference)
{
	c->of = calloc(nr_target + 1, sizeof(*c->of));
	c->only_target = calloc(nr_target + 1, sizeof(*c->only_target));
	c->only_reference = calloc(nr_reference + 1, sizeof(*c->only_reference));
	if (!c->of || !c->only_target || !c->only_reference)
		open_fail_memory();
	c->shown.of = c->of;
	c->shown.only_target = c->only_target;
	c->shown.only_reference = c->only_reference;
}

static void close_comparison(struct comparison *c)
{
	for (size_t i = 0; i < c->shown.nr; i++)
		differential_free(&c->of[i]);
	free(c->of);
	free(c->only_target);
	free(c->only_reference);
	free(c->conditions);
	free(c->gates);
}

/* Returns true if the class contains requests. */
static bool has_requests(const struct partition *p, uint32_t class)
{
	if (class == UINT32_MAX)
		return false;
	for (size_t i = 0; i < p->nr_requests; i++)
		if (p->requests[i].class == class)
			return true;
	return false;
}

static void add_class(struct comparison *c, const struct partition *target, uint32_t class,
		      const struct partition *reference, uint32_t reference_class)
{
	const struct compare_options *o = c->o;
	struct differential_options d = {
		.target = { target, class, o->target.lo, o->target.hi },
		.reference = { reference, reference_class, o->reference.lo, o->reference.hi },
		.nr_shown = o->nr_shown, .categories = o->categories,
	};

	if (differential_build(&d, &c->of[c->shown.nr]))
		open_fail_memory();
	c->shown.nr++;
}

static void add_classes(struct comparison *c, const struct partition *target,
			const struct partition *reference)
{
	struct render_differential *shown = &c->shown;

	for (size_t i = 0; i < target->nr_classes; i++) {
		uint32_t class = differential_class(reference, target->classes[i]);

		if (!has_requests(target, i))
			continue;
		if (has_requests(reference, class))
			add_class(c, target, i, reference, class);
		else
			c->only_target[shown->nr_only_target++] = target->classes[i];
	}
	for (size_t i = 0; i < reference->nr_classes; i++)
		if (has_requests(reference, i) &&
		    !has_requests(target, differential_class(target, reference->classes[i])))
			c->only_reference[shown->nr_only_reference++] = reference->classes[i];
}

/* Parses the conditions before the traces are read, so that errors are reported at once. */
static void parse_conditions(struct comparison *c)
{
	const struct cli_list *list = c->o->fail_if;
	char err[512];

	if (!list)
		return;
	c->conditions = calloc(list->nr + 1, sizeof(*c->conditions));
	if (!c->conditions)
		open_fail_memory();
	for (size_t i = 0; i < list->nr; i++)
		if (!gate_parse(list->items[i], &c->conditions[i], err, sizeof(err)))
			cli_usage("--fail-if %s", err);
	c->nr_conditions = list->nr;
}

/* Returns false if a condition matches no class, because it probably has a typing error. */
static bool add_gates(struct comparison *c, const struct partition *before,
		      const struct partition *after)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_conditions; i++) {
		const struct gate *g = &c->conditions[i];
		size_t had = nr;

		if (gate_check(g, before, after, &c->gates, &nr))
			open_fail_memory();
		if (nr == had) {
			cli_error("--fail-if '%s': no matching class of requests is in both recordings",
				  g->text);
			return false;
		}
	}
	c->shown.gates = c->gates;
	c->shown.nr_gates = nr;
	return true;
}

/*
 * Returns the exit status.  Unless the user reads the report (is_read), prints the conditions that
 * hold on stderr.
 */
static int say_gates(const struct comparison *c, bool is_read)
{
	char sentence[GATE_SENTENCE_MAX];
	int status = CLI_OK;

	for (size_t i = 0; i < c->shown.nr_gates; i++) {
		if (!c->gates[i].holds)
			continue;
		if (!is_read)
			cli_error("%s", gate_sentence(&c->gates[i], sentence));
		status = CLI_SLOWER;
	}
	return status;
}

static int compare_runs(struct comparison *c, const struct opened *after,
			const struct partition *p_after, const struct opened *before,
			const struct partition *p_before)
{

	open_comparison(c, p_after->nr_classes, p_before->nr_classes);
	c->shown.is_compare = true;
	c->shown.target_file = open_input(after->options);
	c->shown.reference_file = open_input(before->options);
	c->shown.target_model = after->model;
	c->shown.reference_model = before->model;
	add_classes(c, p_after, p_before);
	if (!c->shown.nr) {
		cli_error("the recordings have no class of requests in common");
		return CLI_FAILURE;
	}
	if (!add_gates(c, p_before, p_after))
		return CLI_FAILURE;
	render_show(&after->render, &differential_printer, &c->shown);
	return say_gates(c, after->render.form == RENDER_TEXT && !after->options->output);
}

static void copy_list(struct cli_list *list)
{
	const char **items = calloc(list->nr + 1, sizeof(*items));

	if (!items)
		open_fail_memory();
	for (size_t i = 0; i < list->nr; i++)
		items[i] = list->items[i];
	list->items = items;
}

/*
 * Returns the options with which the other recording is opened: it has no output, and lists of its
 * own, which open_finish() frees.
 */
static struct open_options other_options(const struct open_options *open, const char *input)
{
	struct open_options o = *open;

	o.input = input;
	o.output = NULL;
	copy_list(&o.debug_dirs);
	copy_list(&o.request);
	return o;
}

/* Says which of the two recordings is damaged, because the reader's message does not say it. */
static void say_damage(const struct opened *o)
{
	if (!reader_check(o->reader) && reader_is_damaged(o->reader))
		cli_warn("%s is damaged", open_input(o->options));
}

int compare_files(const struct open_options *open, const char *before, const char *after,
		  const struct compare_options *o)
{
	struct open_options options_before = other_options(open, before), options_after = *open;
	struct partition p_before, p_after;
	struct opened o_before, o_after;
	struct comparison c = { .o = o };
	int status, closed;

	options_after.input = after;
	parse_conditions(&c);
	if (open->output && open_is_same_file(before, open->output)) {
		cli_error("%s is one of the recordings: give another file with -o", open->output);
		exit(CLI_FAILURE);
	}
	open_trace(&o_before, &options_before);
	open_trace(&o_after, &options_after);
	o->build(&o_before, &p_before);
	o->build(&o_after, &p_after);
	status = compare_runs(&c, &o_after, &p_after, &o_before, &p_before);
	close_comparison(&c);
	partition_free(&p_before);
	partition_free(&p_after);
	say_damage(&o_after);
	say_damage(&o_before);
	/*
	 * If a recording is damaged, the exit status says so, because the result of the conditions
	 * is unreliable then.
	 */
	closed = open_finish(&o_after, status != CLI_FAILURE, true);
	if (status == CLI_OK || (status == CLI_SLOWER && closed != CLI_OK))
		status = closed;
	closed = open_finish(&o_before, status != CLI_FAILURE, true);
	if (status == CLI_OK || (status == CLI_SLOWER && closed != CLI_OK))
		status = closed;
	return status;
}

bool compare_slices(const struct opened *opened, const struct partition *p,
		    const struct compare_options *o)
{
	struct comparison c = { .o = o };
	bool found;

	open_comparison(&c, p->nr_classes, p->nr_classes);
	c.shown.target_file = c.shown.reference_file = open_input(opened->options);
	c.shown.target_model = c.shown.reference_model = opened->model;
	add_classes(&c, p, p);
	found = c.shown.nr;
	if (found)
		render_show(&opened->render, &differential_printer, &c.shown);
	else
		cli_error("no request that matches ended in this recording");
	close_comparison(&c);
	return found;
}

/* Names without a category */

struct named {
	const char *kind, *name;
	int64_t ns, all_ns;
};

#define ROW struct named
GET(get_named_share, text, text_share(e->ns, e->all_ns, buf))

static const struct column named_columns[] = {
	COLUMN("time_ns", ns, .head = "time"),
	MADE("share", get_named_share, .head = "share"), { 0 }
};
#undef ROW

static int compare_names(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;
	int order = strcmp(a->kind, b->kind);

	return order ? order : strcmp(a->name, b->name);
}

static int compare_times(const void *pa, const void *pb)
{
	const struct named *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return compare_names(pa, pb);
}

/* Merges equal names and sums their times. */
static size_t merge(struct named *names, size_t nr)
{
	size_t left = 0;

	qsort(names, nr, sizeof(*names), compare_names);
	for (size_t i = 0; i < nr; i++) {
		if (left && !compare_names(&names[left - 1], &names[i]))
			names[left - 1].ns += names[i].ns;
		else
			names[left++] = names[i];
	}
	qsort(names, left, sizeof(*names), compare_times);
	return left;
}

static const char *name_of(const struct partition *p, const struct leaf *leaf)
{
	return leaf->kind == LEAF_FUNCTION || !*leaf->label ? path_name(p, leaf->path) : leaf->label;
}

bool text_uncategorised(const struct render *r, const struct partition *p,
			struct categories *categories, size_t nr_shown)
{
	struct named *names = calloc(p->nr_leaves + 1, sizeof(*names));
	int64_t *sums = calloc(p->nr_leaves + 1, sizeof(*sums)), all = 0;
	size_t nr = 0;

	if (!names || !sums)
		open_fail_memory();
	for (size_t i = 0; i < p->nr_shares; i++) {
		sums[p->shares[i].leaf] += p->shares[i].ns;
		all += p->shares[i].ns;
	}
	for (size_t i = 0; i < p->nr_leaves; i++) {
		const char *kind = categories_kind(p->leaves[i].kind, leaf_lock(p, &p->leaves[i])->kind);
		const char *name = name_of(p, &p->leaves[i]);

		if (sums[i] && !categories_find(categories, kind, name))
			names[nr++] = (struct named){ kind, name, sums[i], all };
	}
	nr = merge(names, nr);
	if (nr)
		table_head(r, "", 0, named_columns, "  kind       name");
	for (size_t i = 0; i < nr && i < nr_shown; i++) {
		char name[TEXT_ROOM];

		table_cells(r, named_columns, &names[i]);
		fprintf(r->out, "  %-9s  %s\n", names[i].kind, text_clean(names[i].name, name));
	}
	if (nr > nr_shown)
		fprintf(r->out, "... and %zu more: --top\n", nr - nr_shown);
	if (!nr)
		open_say_empty(r, "every name has a category");
	free(names);
	free(sums);
	return true;
}
