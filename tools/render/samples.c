// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/samples.h"

#define PARTS_SAID	4
#define PART_MIN	0.05	/* smaller shares are not mentioned, except the first */

/* Writes what is known of a place: the function, with parentheses, and the line or file. */
static void say_place(const struct sample_place *p, char *buf, size_t size)
{
	const char *call = *p->function ? "()" : "", *in = *p->function ? " in " : "";

	switch (p->kind) {
	case PLACE_LINE:
		if (*p->file)
			snprintf(buf, size, "%s%s%s%s:%u", p->function, call, *p->function ? " at " : "",
				 basename(p->file), p->line);
		else
			snprintf(buf, size, "%s%s", *p->function ? p->function : "its own code", call);
		break;
	case PLACE_LIBRARY:
		snprintf(buf, size, "%s%s%s%s", p->function, call, *p->module ? in : "", p->module);
		break;
	case PLACE_KERNEL:
		snprintf(buf, size, "%s%s%sthe kernel", p->function, call, in);
		break;
	default:
		snprintf(buf, size, "code of no file");
	}
}

char *samples_place(const struct sample_place *p, char *buf)
{
	char text[TEXT_ROOM];

	say_place(p, text, sizeof(text));
	return (char *)text_clean(text, buf);
}

static const char *clock_of(const struct model *m, char *buf)
{
	snprintf(buf, TEXT_ROOM, "%.*s", (int)strcspn(m->samples, " "), m->samples);
	return buf;
}

char *samples_say(const struct model *m, const struct split *s, char *buf)
{
	char place[TEXT_ROOM], text[TEXT_ROOM], clock[TEXT_ROOM];
	size_t used = 0;

	*buf = '\0';
	if (!s->nr_samples)
		return buf;
	for (size_t i = 0; i < s->nr_parts && i < PARTS_SAID; i++) {
		const struct split_part *p = &s->parts[i];

		if (i && p->share < PART_MIN)
			break;
		used += snprintf(buf + used, SAMPLES_ROOM - used, "%s%.0f %% (%.0f..%.0f) %.300s", i ? ", " : "",
				 100 * p->share, 100 * p->low, 100 * p->high, samples_place(&p->place, place));
	}
	snprintf(buf + used, SAMPLES_ROOM - used, "; %zu sample%s of %s", s->nr_samples,
		 s->nr_samples == 1 ? "" : "s", text_clean(clock_of(m, clock), text));
	return buf;
}

char *samples_missing(const struct model *m, char *buf)
{
	size_t used = 0;

	*buf = '\0';
	if (m->has_user_samples)
		used += snprintf(buf, TEXT_ROOM, "no samples in the kernel: perf does not permit this user to take them");
	if (m->nr_lost_samples)
		snprintf(buf + used, TEXT_ROOM - used, "%s%" PRIu64 " sample%s lost", used ? "; " : "",
			 m->nr_lost_samples, m->nr_lost_samples == 1 ? " was" : "s were");
	return buf;
}

#define ROW struct split_part
GET(get_kind, text, place_kind_name(e->place.kind))
WHEN(if_function, *e->place.function)
WHEN(if_module, *e->place.module)
WHEN(if_file, *e->place.file)
GET(get_function, text, e->place.function)
GET(get_module, text, e->place.module)
GET(get_file, text, e->place.file)
GET(get_line, u64, e->place.line)

static const struct column part_columns[] = {
	MADE("kind", get_kind), MADE("function", get_function, .csv = "inside_function", .when = if_function),
	MADE("module", get_module, .when = if_module),
	MADE("file", get_file, .csv = "inside_file", .when = if_file),
	MADE("line", get_line, .csv = "inside_line", .when = if_file), COLUMN("samples", nr), SAME(share),
	SAME(low), SAME(high), { 0 }
};
#undef ROW

#define ROW struct split
GET(get_nr, u64, e->nr_samples)
FROM(parts, rows_of(e->parts, e->nr_parts))

const struct column samples_columns[] = {
	MADE("count", get_nr), NESTED_AT("places", parts, part_columns), { 0 }
};
#undef ROW

struct rows samples_rows(const struct split *s)
{
	return s->nr_samples ? rows_one(s) : rows_one(NULL);
}

/* ldb-report --samples */

#define ROW struct sampled_entry
GET(get_entry_function, text, e->func ? e->func->function : "")
GET(get_entry_file, text, e->func ? e->func->func_file : "")
GET(get_entry_line, u64, e->func ? e->func->func_line : 0)
FROM(entry_parts, rows_of(e->split.parts, e->split.nr_parts))

static const struct column entry_columns[] = {
	MADE("function", get_entry_function), MADE("file", get_entry_file), MADE("line", get_entry_line),
	COLUMN("of_all", share), COLUMN("of_all_low", low), COLUMN("of_all_high", high),
	PART("samples", split, samples_columns, .form = COLUMN_ONLY_JSON),
	NESTED_AT(NULL, entry_parts, part_columns, .form = COLUMN_SPREAD | COLUMN_ONLY_CSV), { 0 }
};
#undef ROW

#define ROW struct render_sampled
FROM(entries, rows_of(e->sampled->entries, e->nr))
GET(get_clock, text, e->model->samples)

static const struct column sampled_columns[] = {
	MADE("clock", get_clock, .form = COLUMN_ONLY_JSON),
	VIA("lost", model, nr_lost_samples, .form = COLUMN_ONLY_JSON),
	VIA("user_only", model, has_user_samples, .form = COLUMN_ONLY_JSON),
	VIA("samples", sampled, nr_samples, .form = COLUMN_ONLY_JSON),
	VIA("others", sampled, nr_others, .form = COLUMN_ONLY_JSON),
	NESTED_AT("functions", entries, entry_columns, .form = COLUMN_SPREAD | COLUMN_TALL), { 0 }
};
#undef ROW

static void put_entry(const struct render *r, const struct sampled_entry *e)
{
	char text[TEXT_ROOM], place[TEXT_ROOM] = "";

	if (e->func)
		text_place(e->func->func_file, e->func->func_line, place);
	text_styled(r, TEXT_BOLD, "%5.1f %% (%.1f..%.1f) %s%s%s", 100 * e->share, 100 * e->low, 100 * e->high,
		    e->func ? text_function(e->func, text) : "uninstrumented code", *place ? " " : "", place);
	fputc('\n', r->out);
	for (size_t i = 0; i < e->split.nr_parts; i++) {
		const struct split_part *p = &e->split.parts[i];

		if (i && p->share < PART_MIN && !r->is_verbose)
			break;
		fprintf(r->out, "    %3.0f %% (%.0f..%.0f) %s\n", 100 * p->share, 100 * p->low, 100 * p->high,
			samples_place(&p->place, text));
	}
}

static void text_sampled(const struct render *r, const void *report)
{
	const struct render_sampled *s = report;
	char text[TEXT_ROOM];

	text_head(r, s->model, NULL);
	fprintf(r->out, "%" PRIu64 " samples in functions and between them, %" PRIu64 " on the way to a wait or back; clock: %s\n\n",
		s->sampled->nr_samples, s->sampled->nr_others, text_clean(s->model->samples, text));
	for (size_t i = 0; i < s->nr; i++)
		put_entry(r, &s->sampled->entries[i]);
	if (s->nr < s->sampled->nr)
		fprintf(r->out, "%zu more functions: --top=%zu shows all.\n", s->sampled->nr - s->nr, s->sampled->nr);
	if (*samples_missing(s->model, text))
		fprintf(r->out, "%s\n", text);
}

const struct printer sampled_printer = {
	DOCUMENT_REPORT_SAMPLES, sampled_columns, text_sampled, TEXT_INDENT
};
