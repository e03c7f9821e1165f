// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the traits that slow requests share, as text, as JSON, and for pages. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "render/text.h"
#include "render/traits.h"

#define SHOWN	5	/* traits that are shown in text */

static const char *const source_names[] = {
	[TRAIT_CLASS] = "class", [TRAIT_THREAD] = "thread", [TRAIT_CPU] = "cpu", [TRAIT_QUEUE] = "queue",
	[TRAIT_IDLE] = "idle", [TRAIT_OPEN] = "open", [TRAIT_NOTE] = "note",
};

/* Writes a threshold: of idle time as a duration, otherwise in the syntax of --note: "64K". */
static const char *bound_text(const struct trait_part *p, char *buf)
{
	static const char units[] = "KMG";
	uint64_t n = p->value;
	int unit = -1;

	if (p->source == TRAIT_IDLE)
		return units_duration((double)n, buf);
	for (; unit < 2 && n && n % 1024 == 0; unit++)
		n /= 1024;
	snprintf(buf, UNITS_ROOM, "%" PRIu64 "%.*s", n, unit >= 0, units + (unit >= 0 ? unit : 0));
	return buf;
}

/* Writes a trait, such as "tenant=7 and bytes>64K". */
static const char *trait_text(const struct trait *t, char *buf, size_t size)
{
	static const char *const ops[] = { [TRAIT_IS] = "=", [TRAIT_ABOVE] = ">", [TRAIT_AT_MOST] = "<=" };
	char bound[UNITS_ROOM];
	size_t used = 0;

	*buf = '\0';
	for (unsigned i = 0; i < t->nr_parts && used < size; i++) {
		const struct trait_part *p = &t->parts[i];

		used += snprintf(buf + used, size - used, "%s%s%s%s", i ? " and " : "", p->name, ops[p->op],
				 p->text ? p->text : bound_text(p, bound));
	}
	return buf;
}

static double share(size_t nr, size_t all)
{
	return all ? (double)nr / (double)all : 0;
}

/* JSON */

#define ROW struct trait_part
GET(get_source, text, source_names[e->source])
WHEN(if_text, e->text)
WHEN(if_above, !e->text && e->op == TRAIT_ABOVE)
WHEN(if_at_most, !e->text && e->op == TRAIT_AT_MOST)

static const struct column part_columns[] = {
	MADE("source", get_source), SAME(name), COLUMN("is", text, .when = if_text),
	COLUMN("above", value, .when = if_above), COLUMN("at_most", value, .when = if_at_most), { 0 }
};
#undef ROW

#define ROW struct trait
static const struct traits *traits_of(const struct row *row)
{
	return row->in->at;
}

static double lift(const struct row *row)
{
	const ROW *e = row->at;

	return share(e->nr_slow, traits_of(row)->nr_slow) / share(e->nr_usual, traits_of(row)->nr_usual);
}

GET(get_trait, text, trait_text(e, buf, COLUMN_ROOM))
GET(get_slow_share, double, share(e->nr_slow, traits_of(row)->nr_slow))
GET(get_usual_share, double, share(e->nr_usual, traits_of(row)->nr_usual))
GET(get_lift, double, lift(row))
FROM(parts, rows_of(e->parts, e->nr_parts))
WHEN(if_lift, e->nr_usual)

static const struct column trait_columns[] = {
	MADE("trait", get_trait), NESTED_AT("parts", parts, part_columns), COLUMN("slow", nr_slow),
	MADE("slow_share", get_slow_share), COLUMN("usual", nr_usual),
	MADE("usual_share", get_usual_share), MADE("lift", get_lift, .when = if_lift), SAME(p),
	SAME(p_adjusted), { 0 }
};
#undef ROW

#define ROW struct traits
const struct column traits_columns[] = {
	COLUMN("slow", nr_slow), COLUMN("usual", nr_usual), COLUMN("tests", nr_tests),
	COLUMN("draws", nr_draws), COLUMN("noted", nr_noted), COLUMN("dropped_notes", nr_dropped_notes),
	NESTED("found", at, nr, trait_columns), { 0 }
};

const struct column found_columns[] = {
	NESTED("found", at, nr, trait_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

/* Text */

static void put_trait(const struct render *r, const struct traits *t, const struct trait *e)
{
	char slow[UNITS_ROOM], usual[UNITS_ROOM], text[TEXT_ROOM], clean[TEXT_ROOM], lift[UNITS_ROOM];
	double times = share(e->nr_slow, t->nr_slow) / share(e->nr_usual ? e->nr_usual : 1, t->nr_usual);

	/* If no usual request has the trait, the lift is computed as if one had it. */
	snprintf(lift, sizeof(lift), "%s%.*fx", e->nr_usual ? "" : ">", times < 10 ? 1 : 0, times);
	fprintf(r->out, "%8s %8s %8s %6.3f  ", text_share(e->nr_slow, t->nr_slow, slow),
		text_share(e->nr_usual, t->nr_usual, usual), lift, e->p_adjusted);
	trait_text(e, text, sizeof(text));
	text_cell(r, text_clean(text, clean), r->width > 37 ? r->width - 36 : 20, false);
	fputc('\n', r->out);
}

void text_traits(const struct render *r, const struct traits *t)
{
	if (t->nr_dropped_notes)
		fprintf(r->out, "\n%" PRIu64 " notes were left out: too many different texts\n", t->nr_dropped_notes);
	if (!t->nr_slow || (!t->nr && !t->nr_noted))
		return;
	if (!t->nr) {
		fprintf(r->out, "\nno note distinguishes the %zu slow requests from %zu usual ones "
			"(%zu traits, p of %zu draws)\n", t->nr_slow, t->nr_usual, t->nr_tests, t->nr_draws);
		return;
	}
	text_styled(r, TEXT_BOLD, "\n%8s %8s %8s %6s  %s\n", "of slow", "of usual", "lift", "p",
		    "what slow ones share");
	for (size_t i = 0; i < t->nr && i < SHOWN; i++)
		put_trait(r, t, &t->at[i]);
	text_styled(r, TEXT_DIM, "%zu slow and %zu usual ones compared; p is adjusted for %zu traits by %zu draws\n",
		    t->nr_slow, t->nr_usual, t->nr_tests, t->nr_draws);
}
