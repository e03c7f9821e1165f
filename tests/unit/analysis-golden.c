// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks that the outputs for the same recordings do not change: simulated programs that a seed
 * determines are shown in every form, and the hash of each document is compared with that in
 * analysis-golden.h.
 *
 * Other tests check that outputs are right; this one checks that they do not change.  After an
 * intended change, compare the documents before and after, and write the hashes again:
 *
 *	LDB_GOLDEN=before build/tests/unit/analysis-golden	(into a folder that exists)
 *	... the change ...
 *	LDB_GOLDEN=after build/tests/unit/analysis-golden; diff -r before after
 *	build/tests/unit/analysis-golden --write >tests/unit/analysis-golden.h
 */
#include <ctype.h>
#include "analysis/compare/differential.h"
#include "analysis/compare/gate.h"
#include "analysis/whatif/replay.h"
#include "analysis-sample.h"
#include "export/export.h"
#include "render/differential.h"
#include "render/pictures.h"
#include "render/render.h"
#include "render/whatif.h"
#include "render/why.h"
#include "analysis-program.h"
#include "analysis-golden.h"

#define NR_KNOWN	(sizeof(known) / sizeof(known[0]))

static bool is_writing;
static const char *folder, *program;
static size_t nr_shown;
static char *text;		/* the current document */
static size_t text_size;
static struct made made;
static struct render render;

/*
 * Overwrites a word wherever it occurs, because it differs in the next run, or in the next release.
 */
static void forget_word(const char *word, char by)
{
	size_t len = strlen(word);

	for (char *at = text; len && (at = memmem(at, text + text_size - at, word, len)); at += len)
		memset(at, by, len);
}

static uint64_t hash(void)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < text_size; i++)
		h = (h ^ (uint8_t)text[i]) * 0x100000001b3;
	return h;
}

static void begin(unsigned width)
{
	render = (struct render){ .width = width, .is_verbose = width % 2, .has_width = width % 4 > 1 };
	render.out = open_memstream(&text, &text_size);
	if (!render.out)
		bail_out("open_memstream");
}

static void end(const char *what)
{
	char path[600];
	uint64_t h;

	fclose(render.out);
	forget_word(made.path, 'P');
	forget_word(LDB_VERSION, 'V');
	h = hash();
	if (is_writing) {
		printf("\t{ \"%s\", \"%s\", 0x%llx },\n", program, what, (unsigned long long)h);
	} else {
		bool has = nr_shown < NR_KNOWN && !strcmp(known[nr_shown].program, program) &&
			   !strcmp(known[nr_shown].what, what);

		ok(has && known[nr_shown].hash == h, "%s: %s", program, what);
	}
	nr_shown++;
	if (folder) {
		snprintf(path, sizeof(path), "%s/%s.%s", folder, program, what);
		sample_store(path, (const uint8_t *)text, text_size);
	}
	free(text);
}

static void functions(void)
{
	struct stats_options o = STATS_OPTIONS_ALL;

	begin(100);
	for (o.by = STATS_BY_SITE; o.by <= STATS_BY_MODULE; o.by++) {
		struct render_functions f = { .model = made.model, .by = o.by, .sorted_by = "total" };
		const struct stats_entry **rows;
		struct stats s;

		if (stats_build(made.model, &o, &s))
			bail_out("stats_build");
		rows = calloc(s.nr + 1, sizeof(*rows));
		for (size_t i = 0; i < s.nr; i++)
			rows[i] = &s.entries[i];
		f.stats = &s;
		f.rows = rows;
		f.nr = s.nr;
		render_as(&render, RENDER_JSON, &functions_printer, &f);
		render_as(&render, RENDER_TEXT, &functions_printer, &f);
		free(rows);
		stats_free(&s);
	}
	end("functions");
}

static void locks(void)
{
	struct locks_options o = LOCKS_OPTIONS_ALL;
	struct render_locks show = { .model = made.model };
	struct locks l;

	begin(100);
	if (locks_build(made.model, &o, &l))
		bail_out("locks_build");
	show.locks = &l;
	show.nr = l.nr;
	render_as(&render, RENDER_JSON, &locks_printer, &show);
	render_as(&render, RENDER_TEXT, &locks_printer, &show);
	locks_free(&l);
	end("locks");
}

static void sched(void)
{
	struct schedstats_options o = SCHEDSTATS_OPTIONS_ALL;
	struct render_sched show = { .model = made.model, .nr_contexts = 20 };
	struct schedstats s;

	begin(100);
	if (schedstats_build(made.model, &o, &s))
		bail_out("schedstats_build");
	show.stats = &s;
	show.nr = s.nr;
	render_as(&render, RENDER_JSON, &sched_printer, &show);
	render_as(&render, RENDER_TEXT, &sched_printer, &show);
	schedstats_free(&s);
	end("sched");
}

static void requests(void)
{
	struct requests_options o = REQUESTS_OPTIONS_ALL;
	struct timeline timelines[8];
	struct requests q;

	begin(100);
	o.nr_slowest = 8;
	if (requests_build(made.model, &o, &q))
		bail_out("requests_build");
	for (size_t i = 0; i < q.nr_instances; i++) {
		struct render_timeline show = {
			.model = made.model, .timeline = &timelines[i], .nth = 1, .nr_occurrences = 1,
			.nr_lines = 60, .p50_ns = q.all.p50_ns,
		};

		if (timeline_build(made.model, &q.instances[i], &timelines[i]) ||
		    timeline_interruptions(made.model, &timelines[i], &show.interruptions))
			bail_out("timeline_build");
		json_timelines(&render, &show, 1, false);
		text_timeline(&render, &show);
	}
	end("timelines");
	begin(100);
	render_as(&render, RENDER_JSON, &requests_printer, &(struct render_requests){ made.model, &q, timelines });
	render_as(&render, RENDER_TEXT, &requests_printer, &(struct render_requests){ made.model, &q, timelines });
	for (size_t i = 0; i < q.nr_instances; i++)
		timeline_free(&timelines[i]);
	requests_free(&q);
	end("requests");
}

static void parted(struct partition *p, bool is_half)
{
	struct partition_options o = { .from = is_half ? 150000 : INT64_MIN, .to = INT64_MAX };

	if (partition_build(made.model, &o, p))
		bail_out("partition_build");
}

static void causes(struct partition *p, bool is_strict)
{
	struct why_options o = {
		.target_lo = 80, .target_hi = 100, .reference_lo = 30, .reference_hi = 60,
		.explain = 0.9, .nr_chains = 40, .is_strict = is_strict,
	};
	struct why w;

	begin(100 + is_strict);
	if (why_build(p, &o, &w))
		bail_out("why_build");
	render_as(&render, RENDER_TEXT, &why_printer,
		  &(struct render_why){ made.model, &w, &o, 100, 100, NULL });
	end(is_strict ? "why-strict" : "why");
	begin(100);
	render_as(&render, RENDER_JSON, &why_shares_printer,
		  &(struct render_why){ made.model, &w, &o, 100, 100, NULL });
	render_as(&render, RENDER_CSV, &why_shares_printer,
		  &(struct render_why){ made.model, &w, &o, 100, 100, NULL });
	end(is_strict ? "shares-strict" : "shares");
	begin(100);
	for (unsigned i = 0; i < NR_PICTURES; i++)
		for (render.form = RENDER_TEXT; render.form <= RENDER_JSON; render.form++)
			if (picture_show(&render, i, false, &w))
				bail_out("picture_show");
	render.form = RENDER_TEXT;
	end(is_strict ? "pictures-strict" : "pictures");
	why_free(&w);
}

static void whatifs(void)
{
	static const char *const texts[] = { "0x1200*0.5", "self:0x1000*0.25", "lock:0x7000*0.25", "lock:0x7*=sharded(4)", "no-preempt", "cpus+1" };

	begin(100);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct whatif_options o = WHATIF_OPTIONS_ALL;
		struct whatif_change c;
		char err[512] = "";
		struct whatif w;

		if (whatif_parse(texts[i], &c, err, sizeof(err))) {
			fprintf(render.out, "%s: %s\n", texts[i], err);
			continue;
		}
		o.changes = &c;
		o.nr_changes = 1;
		if (whatif_build(made.model, &o, &w, err, sizeof(err))) {
			fprintf(render.out, "%s: %s\n", texts[i], err);
		} else {
			render_as(&render, RENDER_JSON, &whatif_printer, &w);
			render_as(&render, RENDER_TEXT, &whatif_printer, &w);
			whatif_free(&w);
		}
		whatif_change_free(&c);
	}
	end("what-if");
}

static void exports(void)
{
	struct export_result result = { .nr_threads = 0 };
	struct export_options o = { .from = INT64_MIN, .to = INT64_MAX, .result = &result };

	for (const struct export_format *f = export_formats; f->name; f++) {
		char err[1024] = "";

		/*
		 * Skipped: formats that are written to a path (ctf, sqlite), and pprof, whose data
		 * are compressed and depend on the version of zlib.
		 */
		if (!f->to_stream || !strcmp(f->name, "pprof"))
			continue;
		begin(100);
		if (f->to_stream(made.model, &o, render.out, err, sizeof(err)))
			fprintf(render.out, "%s\n", err);
		end(f->name);
	}
}

static void compared(struct partition *p, struct partition *q)
{
	begin(100);
	for (uint32_t class = 0; class < p->nr_classes; class++) {
		struct differential_options o = {
			.target = { p, class, 80, 100 }, .reference = { p, class, 20, 60 },
			.nr_shown = 12, .nr_resamples = 60,
		};
		struct differential d;

		for (int i = 0; i < 2; i++) {
			if (i)
				o.reference = (struct differential_side){ q, class, 80, 100 };
			if (class >= q->nr_classes || differential_build(&o, &d))
				continue;
			fprintf(render.out, "%s %d: %lld..%lld\n", d.class, i, (long long)d.diff.lo_ns,
				(long long)d.diff.hi_ns);
			for (size_t k = 0; k < d.nr_parts; k++) {
				const struct differential_part *part = &d.parts[k];

				fprintf(render.out, "%u %s %s %lld %lld %.3f %.3f %.6f %lld..%lld\n", part->kind,
					part->label, part->where, (long long)part->target_ns,
					(long long)part->reference_ns, part->target_nr, part->reference_nr,
					part->share, (long long)part->diff.lo_ns, (long long)part->diff.hi_ns);
			}
			differential_free(&d);
		}
	}
	end("differences");
}

static void gates(const struct partition *p, const struct partition *q)
{
	static const char *const texts[] = { "p50+5%", "p99.9+1us", "max>10us", "B*:mean+0%", "p10+10%" };

	begin(100);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct gate_result *results = NULL;
		size_t nr = 0;
		char err[256];
		struct gate g;

		if (!gate_parse(texts[i], &g, err, sizeof(err)) || gate_check(&g, p, q, &results, &nr))
			bail_out("gate");
		for (size_t k = 0; k < nr; k++) {
			const struct gate_result *r = &results[k];

			fprintf(render.out, "%s %s: %zu %zu %lld %lld %lld..%lld %d%d%d%d\n", texts[i], r->class,
				r->nr_before, r->nr_after, (long long)r->before_ns, (long long)r->after_ns,
				(long long)r->change_lo_ns, (long long)r->change_hi_ns, r->is_over,
				r->is_certain, r->is_coarse, r->holds);
		}
		free(results);
	}
	end("gates");
}

static void show(void)
{
	struct partition p, q;

	functions();
	locks();
	sched();
	requests();
	parted(&p, false);
	parted(&q, true);
	causes(&p, false);
	causes(&p, true);
	compared(&p, &q);
	gates(&q, &p);
	partition_free(&p);
	partition_free(&q);
	whatifs();
	exports();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		struct program_options o;
	} programs[] = {
		{ "plain", { .seed = 11, .nr_threads = 3 } },
		{ "kernel", { .seed = 12, .nr_threads = 3, .has_kernel = true } },
		{ "queues", { .seed = 13, .nr_threads = 4, .has_kernel = true, .has_queues = true } },
		{ "turns", { .seed = 15, .nr_threads = 4, .is_simple = true } },
		{ "turns-kernel", { .seed = 16, .nr_threads = 4, .is_simple = true, .has_kernel = true } },
		{ "empty", { .seed = 17 } },
		{ "unsure", { .seed = 14, .nr_threads = 2, .has_queues = true, .is_unsure = true } },
	};

	/* Texts have local times. */
	setenv("TZ", "UTC", 1);
	is_writing = argc > 1 && !strcmp(argv[1], "--write");
	folder = getenv("LDB_GOLDEN");
	if (is_writing)
		printf("/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
		       "/* This file was written by analysis-golden --write. */\n"
		       "static const struct {\n\tconst char *program, *what;\n\tuint64_t hash;\n} known[] = {\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		program = programs[i].name;
		program_make(&made, program, &programs[i].o);
		show();
		made_close(&made);
	}
	if (is_writing) {
		printf("};\n");
		return 0;
	}
	is_int(nr_shown, NR_KNOWN, "as many documents as are known");
	return done();
}
