// SPDX-License-Identifier: GPL-2.0-or-later
/* What a replay predicts, in all formats. */
#include <inttypes.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/document.h"
#include "cli/units.h"
#include "render/text.h"
#include "render/whatif.h"
#include "render/wrap.h"

static const char *const points[NR_WHATIF_POINTS] = { "p50", "p90", "p99", "p99.9", "max" };
static const char *const keys[NR_WHATIF_POINTS] = {
	"p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns",
};
static const char *const policies[NR_WHATIF_POLICIES] = { "fifo", "barging", "recorded" };

static void put_change(const struct render *r, const struct whatif_change *c)
{
	static const char *const things[] = {
		"invocations", "invocations", "holds", "holds", "preemptions", "waits for a CPU",
	};
	char text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM];

	text_styled(r, TEXT_BOLD, "%s", text_clean(c->text, text));
	fprintf(r->out, ": %s %s, %s in all", units_count(c->nr, a), things[c->kind],
		units_duration(c->ns, b));
	if (c->resolution_ns)
		fprintf(r->out, " +-%s", units_duration(c->resolution_ns, a));
	fputs(".\n", r->out);
}

static void put_check(const struct render *r, const struct whatif *w)
{
	static const char *const names[NR_WHATIF_POLICIES] = {
		"handed over in order", "to who comes first", "in the recording's order",
	};

	fputs("Self-check, p50 and p99 with nothing changed: off by ", r->out);
	for (int p = 0; p < NR_WHATIF_POLICIES; p++)
		fprintf(r->out, "%s%+.1f %% with locks %s%s", p ? ", " : "", 100 * w->error[p], names[p],
			w->is_good[p] ? "" : " (not used)");
	fputs(".\n", r->out);
}

/* What the recording did not say, and what was made of that. */
static void put_lacks(const struct render *r, const struct whatif *w)
{
	char a[UNITS_ROOM], b[UNITS_ROOM];

	if (!w->has_holds)
		fprintf(r->out, "Recorded with --mutex=%.10s: only contended holds are known, a lock that was "
			"free is not in the replay.\n", *w->mutex ? w->mutex : "wait");
	else if (w->lock_threshold_ns)
		fprintf(r->out, "Holds shorter than %s are not known (--lock-threshold).\n",
			units_duration(w->lock_threshold_ns, a));
	if (w->has_functions && w->model->gap_ns > w->model->duration_ns / 50)
		fprintf(r->out, "The scanner did not run for %s of %s: when functions began and ended is not "
			"known well.\n", units_duration(w->model->gap_ns, a),
			units_duration(w->model->duration_ns, b));
	if (!w->has_sched)
		fputs("No kernel events: a thread's time is its own, also where it slept or had no CPU.\n",
		      r->out);
	if (w->nr_blind_waits)
		fprintf(r->out, "Kept as they were, because nobody was seen to hold the lock: %" PRIu64 " of "
			"%" PRIu64 " waits, %s of %s.\n", w->nr_blind_waits, w->nr_waits,
			units_duration(w->blind_ns, a), units_duration(w->wait_ns, b));
	if (w->nr_fixed)
		fprintf(r->out, "Ending when they ended, because it is not known who woke: %" PRIu64 " waits, "
			"%s.\n", w->nr_fixed, units_duration(w->fixed_ns, a));
}

static void put_cell(const struct render *r, int64_t lo, int64_t hi)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], cell[TEXT_ROOM];

	text_ns(lo, a);
	text_ns(hi, b);
	if (strcmp(a, b))
		snprintf(cell, sizeof(cell), "%s..%s", a + strspn(a, " "), b + strspn(b, " "));
	else
		snprintf(cell, sizeof(cell), "%s", a + strspn(a, " "));
	fprintf(r->out, " %*s", r->width >= 100 ? 16 : 11, cell);
}

static void put_class(const struct render *r, const struct whatif_class *c, const char *name)
{
	char text[TEXT_ROOM], count[UNITS_ROOM];

	text_cell(r, text_clean(name, text), 10, true);
	fprintf(r->out, " %5s before", units_count(c->nr, count));
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		put_cell(r, c->measured_ns[i], c->measured_ns[i]);
	fprintf(r->out, "\n%*s", 17, "");
	text_styled(r, TEXT_BOLD, "after ");
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		put_cell(r, c->lo_ns[i], c->hi_ns[i]);
	fputc('\n', r->out);
}

static void put_classes(const struct render *r, const struct whatif *w)
{
	text_styled(r, TEXT_BOLD, "\n%-10s %5s %6s", "class", "count", "");
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		text_styled(r, TEXT_BOLD, " %*s", r->width >= 100 ? 16 : 11, points[i]);
	fputc('\n', r->out);
	put_class(r, &w->all, "all");
	if (w->nr_classes == 1 && !*w->classes[0].name)
		return;
	for (size_t i = 0; i < w->nr_classes; i++)
		put_class(r, &w->classes[i], *w->classes[i].name ? w->classes[i].name : "(none)");
}

static void put_requests(const struct render *r, const struct whatif *w)
{
	char text[TEXT_ROOM], a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM];

	fprintf(r->out, "\n%s of %s requests take longer or shorter%s\n",
		units_count(w->nr_changed, a), units_count(w->all.nr, b),
		w->nr_requests ? "; most:" : ".");
	for (size_t i = 0; i < w->nr_requests; i++) {
		const struct whatif_request *q = &w->requests[i];

		fprintf(r->out, "%12" PRIu64 " %s%sat %s: %s -> %s", q->id, text_clean(q->class, text),
			*q->class ? " " : "", units_duration(q->start_ns, a),
			units_duration(q->before_ns, b), units_duration(q->lo_ns, c));
		if (q->hi_ns > q->lo_ns)
			fprintf(r->out, " .. %s", units_duration(q->hi_ns, c));
		fputc('\n', r->out);
	}
}

void text_whatif(const struct render *to, const struct whatif *w)
{
	struct wrap wrap;
	const struct render *r = wrap_begin(&wrap, to);
	char a[UNITS_ROOM], b[UNITS_ROOM];

	fprintf(r->out, "Replay of %s requests in %s steps; threads: %zu, locks: %zu, queues: %zu.\n",
		units_count(w->all.nr, a), units_count(w->nr_steps, b), w->nr_threads, w->nr_locks,
		w->nr_queues);
	for (size_t i = 0; i < w->nr_changes; i++)
		put_change(r, &w->changes[i]);
	put_check(r, w);
	put_lacks(r, w);
	put_classes(r, w);
	put_requests(r, w);
	wrap_end(&wrap, 4);
}

/* JSON */

static void json_points(struct json *j, const char *key, const int64_t *values)
{
	json_flat(j);
	json_object_begin(j, key);
	for (int i = 0; i < NR_WHATIF_POINTS; i++)
		json_i64(j, keys[i], values[i]);
	json_object_end(j);
}

static void json_class(struct json *j, const char *key, const struct whatif *w,
		       const struct whatif_class *c)
{
	json_object_begin(j, key);
	if (!key)
		json_string(j, "class", c->name);
	json_u64(j, "requests", c->nr);
	json_points(j, "before", c->measured_ns);
	json_points(j, "after_lo", c->lo_ns);
	json_points(j, "after_hi", c->hi_ns);
	for (int p = 0; p < NR_WHATIF_POLICIES; p++) {
		json_object_begin(j, policies[p]);
		json_points(j, "replayed", c->replayed_ns[p]);
		if (w->is_good[p])
			json_points(j, "after", c->predicted_ns[p]);
		json_object_end(j);
	}
	json_object_end(j);
}

static void json_lacks(struct json *j, const struct whatif *w)
{
	json_object_begin(j, "recording");
	json_string(j, "mutex", w->mutex);
	json_bool(j, "all_holds", w->has_holds);
	json_i64(j, "lock_threshold_ns", w->lock_threshold_ns);
	json_bool(j, "kernel_events", w->has_sched);
	json_i64(j, "gap_ns", w->model->gap_ns);
	json_i64(j, "duration_ns", w->model->duration_ns);
	json_u64(j, "waits", w->nr_waits);
	json_i64(j, "wait_ns", w->wait_ns);
	json_u64(j, "waits_without_holder", w->nr_blind_waits);
	json_i64(j, "without_holder_ns", w->blind_ns);
	json_u64(j, "waits_without_waker", w->nr_fixed);
	json_i64(j, "without_waker_ns", w->fixed_ns);
	json_object_end(j);
}

static void json_check(struct json *j, const struct whatif *w)
{
	json_object_begin(j, "self_check");
	json_double(j, "limit", WHATIF_ERROR_MAX);
	for (int p = 0; p < NR_WHATIF_POLICIES; p++) {
		json_flat(j);
		json_object_begin(j, policies[p]);
		json_double(j, "error", w->error[p]);
		json_bool(j, "passed", w->is_good[p]);
		json_object_end(j);
	}
	json_object_end(j);
}

static void json_requests_of(struct json *j, const struct whatif *w)
{
	json_u64(j, "changed", w->nr_changed);
	json_array_begin(j, "requests");
	for (size_t i = 0; i < w->nr_requests; i++) {
		const struct whatif_request *q = &w->requests[i];

		json_flat(j);
		json_object_begin(j, NULL);
		json_u64(j, "req", q->id);
		json_string(j, "class", q->class);
		json_i64(j, "start_ns", q->start_ns);
		json_i64(j, "before_ns", q->before_ns);
		json_i64(j, "after_lo_ns", q->lo_ns);
		json_i64(j, "after_hi_ns", q->hi_ns);
		json_object_end(j);
	}
	json_array_end(j);
}

void json_whatif(const struct render *r, const struct whatif *w)
{
	struct json j;

	json_init(&j, r->out);
	document_begin(&j, DOCUMENT_WHATIF);
	json_array_begin(&j, "changes");
	for (size_t i = 0; i < w->nr_changes; i++) {
		json_flat(&j);
		json_object_begin(&j, NULL);
		json_string(&j, "change", w->changes[i].text);
		json_u64(&j, "count", w->changes[i].nr);
		json_i64(&j, "total_ns", w->changes[i].ns);
		json_i64(&j, "resolution_ns", w->changes[i].resolution_ns);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_check(&j, w);
	json_lacks(&j, w);
	json_class(&j, "all", w, &w->all);
	json_array_begin(&j, "classes");
	for (size_t i = 0; i < w->nr_classes; i++)
		json_class(&j, NULL, w, &w->classes[i]);
	json_array_end(&j);
	json_requests_of(&j, w);
	json_object_end(&j);
	json_end(&j);
}

/* CSV: a row for each class and percentile */

static void csv_class(struct csv *c, const struct whatif_class *of, const char *name, bool is_all)
{
	for (int i = 0; i < NR_WHATIF_POINTS; i++) {
		csv_u64(c, is_all);
		csv_string(c, name);
		csv_u64(c, of->nr);
		csv_string(c, points[i]);
		csv_i64(c, of->measured_ns[i]);
		csv_i64(c, of->lo_ns[i]);
		csv_i64(c, of->hi_ns[i]);
		for (int p = 0; p < NR_WHATIF_POLICIES; p++)
			csv_i64(c, of->replayed_ns[p][i]);
		csv_row_end(c);
	}
}

void csv_whatif(const struct render *r, const struct whatif *w)
{
	static const char *const names[] = {
		"all", "class", "requests", "point", "before_ns", "after_lo_ns", "after_hi_ns",
		"replayed_fifo_ns", "replayed_barging_ns", "replayed_recorded_ns", NULL
	};
	struct csv c;

	csv_init(&c, r->out);
	for (size_t i = 0; names[i]; i++)
		csv_string(&c, names[i]);
	csv_row_end(&c);
	csv_class(&c, &w->all, "", true);
	for (size_t i = 0; i < w->nr_classes; i++)
		csv_class(&c, &w->classes[i], w->classes[i].name, false);
}
