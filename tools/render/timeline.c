// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a timeline as text: a sentence that says how the time was spent; a picture with a lane
 * for each thread (a row for each depth of calls, one for waits, one for locks held); and a list of
 * the segments.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "cli/utf8.h"
#include "cli/wall.h"
#include "facts/ticks.h"
#include "render/chain.h"
#include "render/offcpu.h"
#include "render/samples.h"
#include "render/segment.h"
#include "render/text.h"
#include "render/wrap.h"

#define CHAIN_ROOM	2048
#define NAME_ROOM	60	/* least width of a name in a sentence */
#define INDENT		4	/* indentation of continued lines */
#define NEXT_INDENT	8	/* indentation of a segment's text on a line of its own */
#define LIST_USED	49	/* columns before the text of a segment */
#define CAUSES_SHOWN	3
#define MIGRATIONS_SHOWN 4
#define MARKS_SHOWN	8
#define OFF_SHARE_MIN	100	/* times off the CPU below 1/100 of the request are not listed */

/* Causes */

/* Returns a name that takes at most one line, even if it contains many template arguments. */
static const char *short_name(const struct render *r, const struct symbol *func, char *buf)
{
	char name[TEXT_ROOM];

	return wrap_name(text_function(func, name),
			 r->width > NAME_ROOM + INDENT ? r->width - INDENT : NAME_ROOM, buf);
}

/* Prints which thread held the lock or ended the wait, and the rest of the chain. */
static void put_chain(const struct render *r, const struct timeline_cause *c)
{
	char text[CHAIN_ROOM];

	chain_say(c->chain, true, text, sizeof(text));
	utf8_clean(text, text, sizeof(text));
	fputs(text, r->out);
	if (!*text && !c->in_queue && c->wait && c->wait->owner)
		fprintf(r->out, ", held by thread %" PRIu32, c->wait->owner);
}

/* Prints a cause in the words of leaf_kind_say(). */
static void put_bare(const struct render *r, const struct timeline_cause *c, const char *ns)
{
	char name[TEXT_ROOM], text[2 * TEXT_ROOM];

	text_clean(timeline_cause_name(c, text), name);
	fprintf(r->out, "%s %s", ns, leaf_kind_say(c->kind, name, text, sizeof(text)));
	if (c->kind == LEAF_IRQ && c->nr > 1)
		fprintf(r->out, " (%" PRIu64 " times)", c->nr);
}

/* Prints a time in a queue, with the state of the thread that took the request out. */
static void put_queued(const struct render *r, const struct timeline_cause *c, const char *ns)
{
	char buf[TEXT_ROOM], name[TEXT_ROOM], text[2 * TEXT_ROOM];
	const char *queue = timeline_cause_queue(c, buf);

	fprintf(r->out, "%s in queue %s", ns, queue ? text_clean(queue, name) : "");
	text_clean(timeline_cause_name(c, text), name);
	if (c->kind == LEAF_QUEUE)
		fprintf(r->out, "%s%s%s", *name ? " (" : "", name, *name ? ")" : "");
	else if (c->kind == LEAF_BEHIND)
		fprintf(r->out, ", %s", leaf_kind_say(c->kind, name, text, sizeof(text)));
	else
		fprintf(r->out, ", whose thread was %s%s", c->kind == LEAF_FUNCTION ? "in " : "",
			leaf_kind_say(c->kind, name, text, sizeof(text)));
	put_chain(r, c);
}

/*
 * Prints a time whose cause is not known: unobserved, in uninstrumented code, or as the label says.
 */
static void put_rest(const struct render *r, const struct timeline_cause *c, const char *ns)
{
	char away[UNITS_ROOM];

	if (*c->label) {
		fprintf(r->out, "%s %s", ns, c->label);
		return;
	}
	if (c->unobserved_ns >= c->ns) {
		fprintf(r->out, "%s unobserved (observation gap)", ns);
		return;
	}
	fprintf(r->out, "%s in uninstrumented code", ns);
	if (c->unobserved_ns > 0)
		fprintf(r->out, " (up to %s of it unobserved)",
			units_duration(c->unobserved_ns, away));
}

/*
 * Prints the time in system calls.  System calls below the threshold, and page faults, are not
 * included.
 */
static void put_syscalls(const struct render *r, const struct model *m, const struct timeline_cause *c)
{
	char ns[UNITS_ROOM];

	if (c->has_syscalls && c->nr_syscalls)
		fprintf(r->out, ", %s%s of it in %" PRIu64 " system call%s", m->call_min_ns ? "at least " : "",
			units_duration(c->syscall_ns, ns), c->nr_syscalls, c->nr_syscalls == 1 ? "" : "s");
}

void text_cause(const struct render *r, const struct model *m, const struct timeline_cause *c)
{
	char name[TEXT_ROOM], place[TEXT_ROOM], ns[UNITS_ROOM];

	units_duration(c->ns, ns);
	if (c->in_queue) {
		put_queued(r, c, ns);
		return;
	}
	switch (c->wait || c->off || c->kind == LEAF_FUNCTION ? c->kind : LEAF_UNKNOWN) {
	case LEAF_LOCK:
		fprintf(r->out, "%s waiting for %s", ns,
			text_lock(c->wait->lock_kind, c->wait->lock, c->wait->lock_symbol, name));
		text_site(c->wait->site, place);
		fprintf(r->out, "%s%s", *place ? " at " : "", place);
		put_chain(r, c);
		break;
	case LEAF_FUTEX:
		fprintf(r->out, "%s waiting for %s%s", ns,
			text_lock(c->wait->lock_kind, c->wait->lock, c->wait->lock_symbol, name),
			c->hold ? "" : " (of no recorded lock)");
		if (c->wait->site)
			fprintf(r->out, " in %s", short_name(r, c->wait->site, place));
		put_chain(r, c);
		break;
	case LEAF_RUNNABLE:
	case LEAF_PREEMPTED:
	case LEAF_THROTTLED:
	case LEAF_SLEEP:
	case LEAF_IO:
		offcpu_cause(m, c, name);
		fprintf(r->out, "%s %s", ns, name);
		put_chain(r, c);
		break;
	case LEAF_FUNCTION:
		text_place(c->func->func_file, c->func->func_line, place);
		fputs(ns, r->out);
		/*
		 * A large resolution is mentioned, because a part of the time may belong to the
		 * function before or after it.
		 */
		if (c->resolution_ns > c->ns / 20)
			fprintf(r->out, " (+-%s)", units_duration(c->resolution_ns, ns));
		fprintf(r->out, " of self time in %s%s%s", short_name(r, c->func, name),
			*place ? " " : "", place);
		put_syscalls(r, m, c);
		break;
	default:
		if (c->kind == LEAF_UNKNOWN) {
			put_rest(r, c, ns);
			put_syscalls(r, m, c);
		} else
			put_bare(r, c, ns);
	}
}

/* Names the processes in which the request's threads are, two at most. */
static void put_processes(const struct render *r, const struct timeline *t)
{
	const struct process *shown = NULL;
	char text[TEXT_ROOM];

	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct thread *of = t->segments[i].thread;

		if (t->segments[i].kind != SEGMENT_REQUEST || !of || !of->process || of->process == shown)
			continue;
		fprintf(r->out, "%s %s", shown ? " and" : " of", text_process(of->process, text));
		if (shown)
			break;
		shown = of->process;
	}
}

void text_explanation(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	char latency[UNITS_ROOM], p50[UNITS_ROOM];

	text_style(r, TEXT_BOLD);
	fprintf(r->out, "req %" PRIu64, t->req);
	put_processes(r, t);
	if (*t->class) {
		fputs(" ", r->out);
		text_cell(r, t->class, 40, false);
	}
	fprintf(r->out, ": %s%s", t->is_complete ? "" : "at least ",
		units_duration(t->latency_ns, latency));
	if (t->latency_resolution_ns)
		fprintf(r->out, " +-%s", units_duration(t->latency_resolution_ns, latency));
	if (rt->p50_ns >= 0)
		fprintf(r->out, " (p50 %s)", units_duration(rt->p50_ns, p50));
	text_style(r, TEXT_PLAIN);
	for (size_t i = 0; i < t->nr_causes && i < CAUSES_SHOWN; i++) {
		/*
		 * The biggest cause is printed in any case, others only if they are at least a
		 * tenth of the latency.
		 */
		if (i && t->causes[i].ns < t->latency_ns / 10)
			break;
		fputs(i ? "; " : ": ", r->out);
		text_cause(r, rt->model, &t->causes[i]);
	}
	fputs("\n", r->out);
}

/* Says which code was executed in the biggest functions that have samples. */
static void put_samples(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	char name[TEXT_ROOM], text[SAMPLES_ROOM];
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_causes && (r->is_verbose || nr < CAUSES_SHOWN); i++) {
		const struct timeline_cause *c = &t->causes[i];

		if (!c->split.nr_samples)
			continue;
		fprintf(r->out, "in %s: %s\n", c->func ? short_name(r, c->func, name) : "uninstrumented code",
			samples_say(rt->model, &c->split, text));
		nr++;
	}
	if (nr && *samples_missing(rt->model, text))
		fprintf(r->out, "%s\n", text);
}

static void put_migrations(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	size_t nr = r->is_verbose || t->nr_migrations <= MIGRATIONS_SHOWN ? t->nr_migrations :
		    MIGRATIONS_SHOWN;
	char name[TEXT_ROOM], ns[UNITS_ROOM];

	for (size_t i = 0; i < nr; i++) {
		const struct timeline_migration *m = &t->migrations[i];

		fprintf(r->out, "%s%s from CPU %" PRIu32 " to %" PRIu32 " at %s", i ? "; " : "migrated: ",
			text_thread(m->tid, m->thread, name), m->from_cpu, m->to_cpu,
			units_duration(m->at_ns - t->start_ns, ns));
	}
	if (nr < t->nr_migrations)
		fprintf(r->out, "; and %zu times more (-v)", t->nr_migrations - nr);
	if (nr)
		fputc('\n', r->out);
}

/* Prints the notes attached to the request. */
static void put_notes(const struct render *r, const struct timeline *t)
{
	char text[NOTES_ROOM], clean[NOTES_ROOM];

	if (!t->nr_notes)
		return;
	utf8_clean(notes_text(t->notes, t->nr_notes, text, sizeof(text)), clean, sizeof(clean));
	fprintf(r->out, "noted: %s\n", clean);
}

static void put_marks(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	size_t nr = r->is_verbose || t->nr_marks <= MARKS_SHOWN ? t->nr_marks : MARKS_SHOWN;
	char name[TEXT_ROOM], thread[TEXT_ROOM], ns[UNITS_ROOM];

	for (size_t i = 0; i < nr; i++) {
		const struct marked *m = &t->marks[i];

		fprintf(r->out, "%s%s %" PRId64 " at %s (%s)", i ? "; " : "events: ",
			text_clean(m->name, name), m->value,
			units_duration(ticks_time_ns(rt->model->reader, m->tick) - t->start_ns, ns),
			text_thread(m->tid, m->thread, thread));
	}
	if (nr < t->nr_marks)
		fprintf(r->out, "; and %zu more (-v)", t->nr_marks - nr);
	if (nr)
		fputc('\n', r->out);
}

static void put_facts(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	const struct model *m = rt->model;
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], text[TEXT_ROOM], wall[WALL_ROOM];

	fprintf(r->out, "started at %s of the recording, %s", units_duration(t->start_ns, a),
		wall_text(reader_wall_ns(m->reader, reader_tick(m->reader, t->start_ns)), wall));
	if (rt->nr_occurrences > 1)
		fprintf(r->out, ", instance %zu of %zu of this id (--nth)", rt->nth,
			rt->nr_occurrences);
	if (!t->is_complete)
		fputs(", not ended in the recording", r->out);
	if (t->has_lost_handoff)
		fputs(", put into a queue and never taken out (a tag is missing?)", r->out);
	fprintf(r->out, "\nobserved calls: %s of %s (%s)", units_count(m->seen, a),
		units_count(m->made, b), text_share(m->seen, m->made, c));
	if (m->nr_lost)
		fprintf(r->out, "; %" PRIu64 " records lost", m->nr_lost);
	if (m->nr_left)
		fprintf(r->out, "; %" PRIu64 " records left out as requested", m->nr_left);
	if (t->left_out_ns)
		fprintf(r->out, "; shorter than %s left out", units_duration(t->left_out_ns, a));
	/* Traces of older versions do not contain this information. */
	if (*m->kernel_events || m->has_sched) {
		text_kernel(m, text);
		fprintf(r->out, "; %s", text);
	}
	fputc('\n', r->out);
	text_clocks(r, m);
	text_messages(r, m);
	if (rt->nr_parts)
		fprintf(r->out, "%zu request%s of other processes belong%s to it: --parts shows all as one timeline\n",
			rt->nr_parts, rt->nr_parts == 1 ? "" : "s", rt->nr_parts == 1 ? "s" : "");
	offcpu_interruptions(r, &rt->interruptions);
	put_migrations(r, rt);
	put_notes(r, t);
	put_marks(r, rt);
	fputc('\n', r->out);
}

/* The list of segments */

/*
 * Writes the text of a segment.  It takes at most width columns if shortening a function's name
 * suffices for that.
 */
static void segment_text(const struct model *m, const struct segment *s, unsigned width, char *buf)
{
	const char *part = s->is_truncated ? " (not all of it was recorded)" :
			   s->is_clipped ? " (a part)" : "";
	char name[TEXT_ROOM], other[TEXT_ROOM];

	switch (s->kind) {
	case SEGMENT_FUNCTION:
		wrap_name(text_function(s->func, name),
			  width > strlen(part) + WRAP_NAME_MIN ? width - strlen(part) :
			  WRAP_NAME_MIN, other);
		snprintf(buf, TEXT_ROOM, "%.460s%s", other, part);
		break;
	case SEGMENT_LOCK_WAIT:
		text_lock(s->lock_kind, s->lock, s->lock_symbol, name);
		offcpu_waker(m, s->sched, other);
		snprintf(buf, TEXT_ROOM, "waits for %.200s%s%.200s", name,
			 s->has_failed ? " (it ended without the lock)" : "", other);
		break;
	case SEGMENT_RUNNABLE:
	case SEGMENT_PREEMPTED:
	case SEGMENT_BLOCKED:
	case SEGMENT_FUTEX_WAIT:
		offcpu_text(m, s, buf);
		break;
	case SEGMENT_LOCK_HOLD:
		text_lock(s->lock_kind, s->lock, s->lock_symbol, name);
		if (!lock_kind_is_held(s->lock_kind)) {
			snprintf(buf, TEXT_ROOM, "is being waited for (%.300s)",
				 s->lock_kind == LDB_LOCK_JOIN ? "join" : name);
			break;
		}
		snprintf(buf, TEXT_ROOM, "holds %.300s%s", name,
			 s->is_inferred ? " (known from the wait)" : "");
		break;
	case SEGMENT_SYSCALL:
		segment_call(&s->sched->call, buf);
		break;
	case SEGMENT_LIBCALL:
		wrap_name(text_function(s->func, name), WRAP_NAME_MIN + width / 2, other);
		snprintf(buf, TEXT_ROOM, "%.300s of %.100s%s", other, text_clean(s->func->module, name), part);
		break;
	case SEGMENT_QUEUE:
		snprintf(buf, TEXT_ROOM, "in queue %.300s",
			 text_clean(segment_name(s, other), name));
		break;
	default:
		snprintf(buf, TEXT_ROOM, "works on the request");
	}
}

static void put_line(const struct render *r, const struct render_timeline *rt,
		     const struct segment *s)
{
	const struct timeline *t = rt->timeline;
	char a[UNITS_ROOM], b[UNITS_ROOM], c[UNITS_ROOM], text[TEXT_ROOM], place[TEXT_ROOM];
	char thread[TEXT_ROOM], fit[TEXT_ROOM], line[2 * TEXT_ROOM + 64];
	unsigned indent = s->depth < 20 ? s->depth : 20, used;
	struct place p = segment_place(s);

	fprintf(r->out, "%9s %8s", text_ns(s->start_ns - t->start_ns, a),
		text_ns(s->end_ns - s->start_ns, b));
	if (s->resolution_ns)
		fprintf(r->out, " +-%-7s", text_ns(s->resolution_ns, c));
	else
		fprintf(r->out, "   %-7s", "");
	fputc(' ', r->out);
	text_thread(s->tid, s->thread, thread);
	text_cell(r, wrap_numbered(thread, 16, fit), 16, true);
	segment_text(rt->model, s, TEXT_ROOM, text);
	text_place(p.file, p.line, place);
	fputs(s->blocks_req ? " ! " : "   ", r->out);
	used = indent + (*place ? 2 + strlen(place) : 0);
	if (LIST_USED + used + strlen(text) > r->width) {
		/*
		 * The text is printed on a separate line, if there is a width; a name that does not
		 * fit there is shortened.
		 */
		unsigned before = r->has_width ? NEXT_INDENT : LIST_USED;

		if (r->has_width)
			fprintf(r->out, "\n%*s", NEXT_INDENT, "");
		segment_text(rt->model, s, r->width > before + used ? r->width - before - used : 0, text);
	}
	snprintf(line, sizeof(line), "%*s%s%s%s", (int)indent, "", text, *place ? "  " : "", place);
	text_style(r, s->kind == SEGMENT_LOCK_WAIT || s->kind == SEGMENT_QUEUE ||
		      segment_kinds[s->kind].off_cpu ? TEXT_WARN :
		      s->blocks_req ? TEXT_BAD : TEXT_PLAIN);
	fputs(line, r->out);
	text_style(r, TEXT_PLAIN);
	fputc('\n', r->out);
}

static void put_list(const struct render *r, const struct render_timeline *rt)
{
	const struct timeline *t = rt->timeline;
	size_t nr = r->is_verbose ? t->nr_segments : rt->nr_lines, shown = 0;
	int64_t from = timeline_longest(t, nr);

	text_styled(r, TEXT_BOLD, "%9s %8s   %-7s %-16s   %s\n", "start", "length", "", "thread",
		    "what (! it blocked the request)");
	for (size_t i = 0; i < t->nr_segments; i++) {
		const struct segment *s = &t->segments[i];

		if (s->end_ns - s->start_ns < from || shown == nr)
			continue;
		/*
		 * Short times off the CPU are not listed: a thread that shares its CPU may have
		 * very many.
		 */
		if (segment_kinds[s->kind].off_cpu && !r->is_verbose &&
		    s->end_ns - s->start_ns < t->latency_ns / OFF_SHARE_MIN)
			continue;
		shown++;
		put_line(r, rt, s);
	}
	if (shown < t->nr_segments)
		fprintf(r->out, "%zu shorter ones are not listed (-v lists all).\n",
			t->nr_segments - shown);
}

void text_timeline(const struct render *r, const struct render_timeline *t)
{
	struct wrap w;
	const struct render *in = wrap_begin(&w, r);

	text_explanation(in, t);
	put_samples(in, t);
	put_facts(in, t);
	text_picture(in, t);
	put_list(in, t);
	wrap_end(&w, INDENT);
}

void text_trace(const struct render *r, const struct render_timeline *each, size_t nr,
		const struct render_timeline *all, const char *which)
{
	struct wrap w;
	const struct render *in = wrap_begin(&w, r);
	char ns[UNITS_ROOM];

	fprintf(in->out, "%zu requests %s, in %s:\n", nr, which, units_duration(all->timeline->latency_ns, ns));
	for (size_t i = 0; i < nr; i++)
		text_explanation(in, &each[i]);
	put_samples(in, all);
	put_facts(in, all);
	text_picture(in, all);
	put_list(in, all);
	wrap_end(&w, INDENT);
}

void text_open(const struct render *r, const struct model *m, const struct instance *instances, size_t nr, int64_t at)
{
	char a[UNITS_ROOM], b[UNITS_ROOM], wall[WALL_ROOM];

	fprintf(r->out, "open at %s, slowest first:\n", wall_text(reader_wall_ns(m->reader, at), wall));
	for (size_t i = 0; i < nr; i++) {
		const struct instance *l = &instances[i];

		fprintf(r->out, "  req %-10" PRIu64 " %10s, since %s%s%s%s\n", l->id,
			units_duration(instance_latency_ns(m, l), a),
			units_duration(reader_ns(m->reader, at) - reader_ns(m->reader, l->start), b),
			*l->class ? "  " : "", l->class, l->is_complete ? "" : "  not ended");
	}
	fputc('\n', r->out);
}

void text_instances(const struct render *r, const struct model *m, const struct instance *instances, size_t nr,
		size_t nth)
{
	char a[UNITS_ROOM], b[UNITS_ROOM];

	fprintf(r->out, "req %" PRIu64 " occurs %zu times (--nth=K shows another one):\n",
		instances[0].id, nr);
	for (size_t i = 0; i < nr; i++) {
		if (!r->is_verbose && nr > 20 && i >= 10 && i + 10 < nr) {
			if (i == 10)
				fprintf(r->out, "     ... %zu more\n", nr - 20);
			continue;
		}
		fprintf(r->out, "%c%4zu  at %-10s %10s%s\n", i + 1 == nth ? '>' : ' ', i + 1,
			units_duration(reader_ns(m->reader, instances[i].start), a),
			units_duration(instance_latency_ns(m, &instances[i]), b),
			instances[i].is_complete ? "" : "  not ended");
	}
	fputc('\n', r->out);
}
