// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints causes of slow requests as text. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "cli/units.h"
#include "render/samples.h"
#include "render/table.h"
#include "render/text.h"
#include "render/traits.h"
#include "render/why.h"
#include "render/wrap.h"

#define ADVICE_SAID	3	/* categories whose advice is printed */
#define CATEGORY_MAX	32	/* greatest width of a category */
#define SHARES_SHOWN	12	/* shares of a request that are printed */

static void put_classes(const struct render *r, const struct why *w)
{
	for (size_t i = 0; i < w->p->nr_classes; i++) {
		const struct why_class *c = &w->classes[i];
		char usual[UNITS_ROOM], lo[UNITS_ROOM], hi[UNITS_ROOM], name[TEXT_ROOM];

		if (!c->nr_targets)
			continue;
		fprintf(r->out, "%s%s%zu of %zu requests, %s to %s, ", text_clean(c->name, name),
			*c->name ? ": " : "", c->nr_targets, c->nr, text_ns(c->target_lo_ns, lo),
			text_ns(c->target_hi_ns, hi));
		if (c->nr_reference)
			fprintf(r->out, "against the usual %s (%zu requests)\n",
				text_ns(c->reference_ns, usual), c->nr_reference);
		else
			fputs("and no others to compare them with: where all of their time went\n", r->out);
	}
}

static void put_coverage(const struct render *r, const struct why *w)
{
	fprintf(r->out, "explained: median %.1f %%, at least %.1f %% of what a request took longer; "
		"unknown: %.1f %% of the time", 100 * w->coverage_median, 100 * w->coverage_min,
		100 * w->unknown);
	if (w->coverage_median >= 1.05)
		fputs(" (over 100 %: the rest took less time than usual)", r->out);
	if (w->unobserved >= 0.0005)
		fprintf(r->out, " (unobserved: %.1f %%)", 100 * w->unobserved);
	if (w->nr_chains < w->nr_targets)
		fprintf(r->out, "; chains followed for the %zu slowest", w->nr_chains);
	fputc('\n', r->out);
}

/* Returns the width of the longest category, up to CATEGORY_MAX. */
static unsigned category_width(const struct why *w, size_t nr)
{
	size_t width = strlen("category");

	for (size_t i = 0; i < nr; i++)
		if (strlen(w->causes[i].category) > width)
			width = strlen(w->causes[i].category);
	return width < CATEGORY_MAX ? width : CATEGORY_MAX;
}

#define ROW struct why_cause
static const struct column cause_columns[] = {
	COLUMN("first", nr_first, .head = "first", .form = COLUMN_DIGITS),
	COLUMN("requests", nr_requests, .head = "in", .width = 7, .form = COLUMN_DIGITS),
	SAME(median_ns, .head = "median", .width = 8), SAME(total_ns, .head = "total", .width = 8),
	{ 0 }
};
#undef ROW

/* Prints the table of causes.  Text that does not fit continues on the next line. */
static void put_causes(const struct render *r, const struct why *w, size_t nr)
{
	unsigned category = r->width >= 100 ? category_width(w, nr) : 0;
	unsigned rest = r->width - table_width(r, cause_columns) - 3 - (category ? category + 1 : 0);
	char line[TEXT_ROOM] = "  cause", clean[TEXT_ROOM];

	if (category)
		snprintf(line, sizeof(line), "  %-*s cause", (int)category, "category");
	table_head(r, "", 0, cause_columns, line);
	for (size_t i = 0; i < nr; i++) {
		const struct why_cause *c = &w->causes[i];

		table_cells(r, cause_columns, c);
		fputs("  ", r->out);
		if (category) {
			text_cell(r, *c->category ? c->category : "-", category, true);
			fputc(' ', r->out);
		}
		snprintf(line, sizeof(line), "%s%s%s%s%s%s%s", why_kind_text(c), *c->label ? ": " : "",
			 c->label, c->kind == LEAF_FUNCTION && *c->label ? "()" : "",
			 *c->call ? " (" : "", c->call, *c->call ? ")" : "");
		text_clean(line, clean);
		if (strlen(clean) > rest)
			fputs("\n    ", r->out);
		text_cell(r, clean, strlen(clean) > rest ? r->width - 4 : rest, false);
		fputc('\n', r->out);
	}
}

/* Prints a sentence, in which names may contain any bytes. */
static void text_sentence(const struct render *r, const char *sentence)
{
	const struct render *in;
	char clean[TEXT_ROOM];
	struct wrap wrap;

	in = wrap_begin(&wrap, r);
	while (*sentence) {
		text_clean(sentence, clean);
		fputs(clean, in->out);
		sentence += strlen(clean);
	}
	fputc('\n', in->out);
	wrap_end(&wrap, 4);
}

COMPARE(share_compare, struct share, DOWN(ns))

/* Returns as many of the path's innermost functions as fit into the width. */
static const char *path_end(char *path, size_t width)
{
	size_t len = strlen(path);
	char *at;

	if (len <= width)
		return path;
	at = strchr(path + len - width, ';');
	if (!at)
		return path;
	at[-1] = '~';
	return at - 1;
}

/* Prints the biggest shares of a request's time. */
static void put_shares(const struct render *r, const struct why *w, const struct request *q)
{
	struct share *shares = malloc((q->nr_shares + 1) * sizeof(*shares));
	unsigned rest = r->width > 27 ? r->width - 27 : 20;
	char line[WHY_SENTENCE_MAX], clean[TEXT_ROOM];

	if (!shares)
		return;
	memcpy(shares, w->p->shares + q->first, q->nr_shares * sizeof(*shares));
	qsort(shares, q->nr_shares, sizeof(*shares), share_compare);
	text_styled(r, TEXT_BOLD, "\n%8s %7s %8s  where\n", "time", "share", "times");
	for (uint32_t i = 0; i < q->nr_shares && i < SHARES_SHOWN && shares[i].ns; i++) {
		const struct leaf *leaf = &w->p->leaves[shares[i].leaf];
		char ns[UNITS_ROOM], share[UNITS_ROOM], path[1024];
		int n = leaf->kind == LEAF_FUNCTION ? 0 :
			snprintf(line, sizeof(line), "%s%s%s%s", leaf_kinds[leaf->kind].name,
				 *leaf->label ? " " : "", leaf->label, leaf->path ? " in " : "");

		path_text(w->p, leaf->path, path, sizeof(path));
		snprintf(line + n, sizeof(line) - n, "%s",
			 path_end(path, rest > (unsigned)n + 20 ? rest - n : 20));
		fprintf(r->out, "%8s %7s %8" PRIu32 "  ", text_ns(shares[i].ns, ns),
			text_share(shares[i].ns, q->latency_ns, share), shares[i].nr);
		text_cell(r, text_clean(line, clean), rest, false);
		fputc('\n', r->out);
	}
	free(shares);
}

/* Says which code was executed in the functions of the table. */
static void put_samples(const struct render *r, const struct why *w, size_t nr)
{
	char text[SAMPLES_ROOM], line[SAMPLES_ROOM + TEXT_ROOM];
	bool has_any = false;

	for (size_t i = 0; i < nr; i++) {
		const struct why_cause *c = &w->causes[i];

		if (!c->split.nr_samples)
			continue;
		if (!has_any)
			fputc('\n', r->out);
		has_any = true;
		snprintf(line, sizeof(line), "in %s%s: %s", *c->label ? c->label : "uninstrumented code",
			 *c->label && c->kind == LEAF_FUNCTION ? "()" : "", samples_say(w->p->m, &c->split, text));
		text_sentence(r, line);
	}
	if (has_any && *samples_missing(w->p->m, text))
		text_sentence(r, text);
}

static void put_advice(const struct render *r, const struct why *w, size_t nr)
{
	char line[WHY_SENTENCE_MAX + TEXT_ROOM + 4], advice[WHY_SENTENCE_MAX];
	const char *last = "";

	for (size_t i = 0, said = 0; i < nr && said < ADVICE_SAID; i++) {
		const struct why_cause *c = &w->causes[i];

		if (!c->nr_first || !*c->advice || !strcmp(c->category, last))
			continue;
		if (!said++)
			fputc('\n', r->out);
		snprintf(line, sizeof(line), "%.*s: %s", TEXT_ROOM, c->category, why_cause_advice(c, advice));
		text_sentence(r, line);
		last = c->category;
	}
}

static void text_why(const struct render *r, const void *report)
{
	const struct render_why *rw = report;
	const struct why *w = rw->why;
	size_t nr = rw->nr_causes < w->nr_causes ? rw->nr_causes : w->nr_causes;
	char sentence[WHY_SENTENCE_MAX];
	const struct render *in;
	struct wrap wrap;

	in = wrap_begin(&wrap, r);
	text_head(in, rw->model, NULL);
	put_classes(in, w);
	put_coverage(in, w);
	wrap_end(&wrap, 4);
	fputc('\n', r->out);
	for (size_t i = 0; i < w->nr_targets && i < rw->nr_requests; i++)
		text_sentence(r, why_target_sentence(w, &w->targets[i], sentence));
	if (w->nr_targets == 1)
		put_shares(r, w, w->targets[0].request);
	if (nr) {
		fputc('\n', r->out);
		put_causes(r, w, nr);
	}
	if (nr < w->nr_causes)
		text_styled(r, TEXT_DIM, "... and %zu more causes: --top\n", w->nr_causes - nr);
	if (rw->traits)
		text_traits(r, rw->traits);
	put_samples(r, w, nr);
	put_advice(r, w, nr);
}

const struct printer why_printer = { DOCUMENT_WHY, why_columns, text_why, 0 };
const struct printer why_shared_printer = { DOCUMENT_WHY, why_shared_columns, text_why, 0 };
const struct printer why_shares_printer = { DOCUMENT_WHY, why_shares_columns, text_why, 0 };
