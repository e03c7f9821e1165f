// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints pictures for programs: JSON, CSV, folded stacks; see pictures.h. */
#include <inttypes.h>
#include <string.h>

#include "render/pictures.h"
#include "render/text.h"
#include "render/why.h"

static const struct why *why_of(const struct row *row)
{
	return ((const struct render_picture *)row_report(row))->why;
}

#define ROW struct box
static const struct column box_columns[] = {
	COLUMN("count", nr, .csv = "requests"), COLUMN("min_ns", min), COLUMN("q1_ns", q1),
	COLUMN("median_ns", median), COLUMN("q3_ns", q3), COLUMN("max_ns", max),
	COLUMN("total_ns", total), { 0 }
};

static const struct column depth_columns[] = {
	COLUMN("count", nr), SAME(min), SAME(q1), SAME(median), SAME(q3), SAME(max), SAME(total),
	{ 0 }
};
#undef ROW

/* The outlier plot */

#define ROW struct why_amount
GET(get_rank, u64, row->nth + 1)
FROM(amount_cause, rows_one(&why_of(row)->causes[e->cause]))

static const struct column amount_columns[] = {
	MADE("rank", get_rank, .form = COLUMN_ONLY_CSV),
	SAME(cause, .form = COLUMN_ONLY_JSON),
	PART_AT(NULL, amount_cause, why_cause_columns, .form = COLUMN_ONLY_CSV), SAME(ns), { 0 }
};
#undef ROW

#define ROW struct balloon
static const struct why_target *target_of(const struct row *row)
{
	return &why_of(row)->targets[((const ROW *)row->at)->target];
}

static struct rows amounts(const struct row *row)
{
	const struct why_target *t = target_of(row);

	return rows_of(t->amounts, t->nr_amounts < BALLOON_CAUSES ? t->nr_amounts : BALLOON_CAUSES);
}

GET(get_req, u64, target_of(row)->request->id)
GET(get_class, text, why_of(row)->p->classes[target_of(row)->request->class])
GET(get_start, i64, target_of(row)->request->start_ns)
GET(get_latency, i64, target_of(row)->request->latency_ns)
GET(get_deviation, i64, target_of(row)->deviation_ns)

static const struct column balloon_columns[] = {
	SAME(number), MADE("req", get_req), MADE("class", get_class), MADE("start_ns", get_start),
	MADE("latency_ns", get_latency), MADE("deviation_ns", get_deviation),
	NESTED_AT("causes", amounts, amount_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

#define ROW struct balloon_bin
static const struct column bin_columns[] = {
	SAME(first), COLUMN("count", nr), SAME(min_ns), SAME(median_ns), SAME(max_ns), { 0 }
};
#undef ROW

#define ROW struct balloons
static const struct column balloons_columns[] = {
	COLUMN("requests", nr_requests, .form = COLUMN_ONLY_JSON),
	NESTED("targets", at, nr, balloon_columns, .form = COLUMN_SPREAD),
	NESTED("bins", bins, nr_bins, bin_columns), { 0 }
};
#undef ROW

/* Boxes */

#define ROW struct cause_box
FROM(boxed, rows_one(&why_of(row)->causes[e->cause]))
GET(get_path, text, path_text(why_of(row)->p, why_of(row)->causes[e->cause].path, buf, COLUMN_ROOM))

static const struct column cause_box_columns[] = {
	COLUMN("number", cause, .form = COLUMN_ONLY_JSON), PART_AT(NULL, boxed, why_cause_columns),
	MADE("path", get_path),
	PART("box", box, box_columns, .form = COLUMN_ONLY_JSON),
	PART(NULL, box, box_columns, .form = COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

#define ROW struct cause_group
GET(get_nothing, none)

static struct rows group_causes(const struct row *row)
{
	const struct boxes *b = ((const struct render_picture *)row_report(row))->of;
	const ROW *k = row->at;

	return rows_of(b->at + k->first, k->nr);
}

FROM(self, rows_one(row->at))

/* CSV has a row for the whole group, without a cause, and a row for each cause. */
static const struct column group_row_columns[] = {
	MADE("cause", get_nothing), MADE("anomaly", get_nothing), MADE("label", get_nothing),
	MADE("path", get_nothing), PART(NULL, box, box_columns), { 0 }
};

static const struct column group_columns[] = {
	COLUMN("group", name), PART("box", box, box_columns),
	NESTED_AT(NULL, self, group_row_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	NESTED_AT("causes", group_causes, cause_box_columns, .form = COLUMN_TALL | COLUMN_SPREAD),
	{ 0 }
};
#undef ROW

#define ROW struct boxes
static const struct column boxes_columns[] = {
	NESTED("boxes", groups, nr_groups, group_columns, .form = COLUMN_TALL | COLUMN_SPREAD),
	{ 0 }
};
#undef ROW

/* Queues */

#define ROW struct queue_extra
static const struct column extra_columns[] = {
	COLUMN("ahead", extra, .csv = "more_ahead"), COLUMN("requests", nr), { 0 }
};
#undef ROW

#define ROW struct queue_depth
GET(get_depth_class, text, why_of(row)->classes[e->class].name)

/* CSV has a row for the whole queue, and a row for each depth. */
static const struct column depth_row_columns[] = {
	MADE("more_ahead", get_nothing), PART(NULL, box, box_columns), { 0 }
};

static const struct column queue_columns[] = {
	MADE("class", get_depth_class), SAME(behind), SAME(where), SAME(reference),
	SAME(reference_ns),
	NESTED_AT(NULL, self, depth_row_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV),
	NESTED("more", extras, nr_extras, extra_columns, .form = COLUMN_ONE_LINE | COLUMN_SPREAD),
	PART("depth", depth, depth_columns), PART("box", box, box_columns), { 0 }
};
#undef ROW

#define ROW struct queues
static const struct column queues_columns[] = {
	NESTED("queues", at, nr, queue_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};
#undef ROW

/* CPUs */

#define ROW struct cpu_context
GET(get_context, text, picture_context(e))
GET(get_context_kind, text, context_kinds[e->kind].json)
GET(get_lifetime, i64, ((const struct cpus *)row->in->in->at)->lifetime_ns)

static const struct column cpu_context_columns[] = {
	MADE("context", get_context), MADE("kind", get_context_kind), COLUMN("own", is_own),
	SAME(ns), MADE("lifetime_ns", get_lifetime, .form = COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

#define ROW struct cpu_bar
static const struct column cpu_columns[] = {
	SAME(cpu), SAME(known_ns, .form = COLUMN_ONLY_JSON),
	NESTED("contexts", contexts, nr_contexts, cpu_context_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

#define ROW struct cpus
static const struct column cpus_columns[] = {
	COLUMN("kernel_events", has_events, .form = COLUMN_ONLY_JSON),
	SAME(lifetime_ns, .form = COLUMN_ONLY_JSON),
	NESTED("cpus", at, nr, cpu_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};
#undef ROW

/* Blame */

#define ROW struct blametree_frame
GET(get_frame, u64, row->nth)
GET(get_frame_kind, text, link_kind_name(e->kind))

static const struct column frame_columns[] = {
	MADE("frame", get_frame, .form = COLUMN_ONLY_CSV), SAME(parent), SAME(depth),
	MADE("kind", get_frame_kind), SAME(name), SAME(own_ns), SAME(all_ns), COLUMN("count", nr),
	{ 0 }
};
#undef ROW

#define ROW struct blamed
GET(get_blamed_kind, text, link_kind_name(e->kind))

static const struct column blamed_columns[] = {
	MADE("kind", get_blamed_kind), SAME(label), SAME(call), SAME(file), SAME(thread), SAME(tid),
	COLUMN("threads", nr_threads), COLUMN("requests", nr_requests), COLUMN("count", nr), SAME(total_ns),
	SAME(own_ns), { 0 }
};
#undef ROW

#define ROW struct blametree
static const struct column blame_columns[] = {
	NESTED("blame", at, nr, frame_columns, .form = COLUMN_SPREAD),
	NESTED("sums", sums, nr_sums, blamed_columns, .form = COLUMN_ONLY_JSON), { 0 }
};

static const struct column sums_columns[] = {
	NESTED("sums", sums, nr_sums, blamed_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

/* Prints a picture as a report, or as a part of one. */

#define ROW struct render_picture
FROM(picture, rows_one(e->of))

static const struct column balloons_report[] = {
	PART_AT("balloons", picture, balloons_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};

static const struct column boxes_report[] = {
	PART_AT(NULL, picture, boxes_columns, .form = COLUMN_SPREAD), { 0 }
};

static const struct column queues_report[] = {
	PART_AT(NULL, picture, queues_columns, .form = COLUMN_SPREAD), { 0 }
};

static const struct column cpus_report[] = {
	PART_AT("cpus", picture, cpus_columns, .form = COLUMN_TALL | COLUMN_SPREAD), { 0 }
};

static const struct column blame_report[] = {
	PART_AT(NULL, picture, blame_columns, .form = COLUMN_SPREAD), { 0 }
};

const struct column picture_sums[] = {
	PART_AT(NULL, picture, sums_columns, .form = COLUMN_SPREAD), { 0 }
};
#undef ROW

const struct column *const picture_columns[NR_PICTURES] = {
	[PICTURE_BALLOONS] = balloons_report, [PICTURE_BOXES] = boxes_report,
	[PICTURE_QUEUES] = queues_report, [PICTURE_CPUS] = cpus_report,
	[PICTURE_BLAME] = blame_report,
};

void picture_put_json(struct json *j, enum picture which, const struct why *w, const void *of)
{
	relation_json(j, picture_columns[which], &(struct render_picture){ w, of });
}

/* Folded stacks */

/*
 * Writes the frames from the outermost one below "all" inward.  Returns false if the frame is
 * "all".
 */
static bool put_stack(FILE *out, const struct blametree *b, uint32_t frame)
{
	char text[TEXT_ROOM];

	if (!frame)
		return false;
	if (put_stack(out, b, b->at[frame].parent))
		fputc(';', out);
	fputs(picture_frame(&b->at[frame], text), out);
	return true;
}

void folded_blame(const struct render *r, const struct blametree *b)
{
	for (uint32_t i = 0; i < b->nr; i++) {
		if (!b->at[i].own_ns)
			continue;
		put_stack(r->out, b, i);
		fprintf(r->out, " %" PRId64 "\n", b->at[i].own_ns);
	}
}
