// SPDX-License-Identifier: GPL-2.0-or-later
/* Executes commands for a running recording; see command.h.  ldb-ctl(1) describes them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "cli/units.h"
#include "record/flight/flight.h"
#include "record/flight/triggers.h"
#include "record/run/recording.h"

struct answer {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void say(struct answer *a, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(a->text, a->size, format, ap);
	va_end(ap);
}

/* Removes the first word from the text, and returns it. */
static char *cut_word(char **text)
{
	char *word = *text + strspn(*text, " \t");

	*text = word + strcspn(word, " \t");
	if (**text)
		*(*text)++ = '\0';
	*text += strspn(*text, " \t");
	return word;
}

/* Writes a META row of a new setting, which reports show. */
static void note(struct recording *r, const char *key, const char *value)
{
	writer_add_meta(r->out.writer, key, value);
}

static void note_number(struct recording *r, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	note(r, key, text);
}

static void done(struct answer *a, const char *why)
{
	if (why)
		say(a, "error: %s", why);
	else
		say(a, "ok");
}

static void tuned(struct recording *r, struct answer *a)
{
	done(a, recording_tune(r) ? "the program does not read its messages: try again" : NULL);
}

static void do_status(struct recording *r, char *args, struct answer *a)
{
	struct threads_total now = threads_now(r->out.threads);
	char functions[2048], classes[1024];
	uint64_t left = 0;

	filter_print_functions(r->out.filter, functions, sizeof(functions));
	filter_print_classes(r->out.filter, classes, sizeof(classes));
	for (unsigned i = 1; i < FILTER_NR_LEFT; i++)
		left += r->out.total.left[i] + r->out.filter->left[i];
	say(a, "ok pid=%d; state=%s; seconds=%.1f; events=%" PRIu64 "; lost=%" PRIu64 "; threads=%" PRIu64
	    "; calls=%" PRIu64 "; observed_calls=%" PRIu64 "; left_out=%" PRIu64 "; pauses=%" PRIu64 "; bytes=%" PRIu64
	    "; lock_threshold_ns=%" PRIu64 "; func_threshold_ns=%" PRIu64 "; inside_requests=%s; kernel=%s; functions=%s; classes=%s; output=%s",
	    r->pid, r->out.is_paused ? "paused" : "recording", (clock_mono_ns() - r->out.total.begin_ns) / 1e9, output_events(&r->out),
	    r->out.total.nr_lost + r->out.total.disk_lost, now.nr_threads, now.made, now.seen, left, r->out.total.nr_pauses, writer_bytes(r->out.writer),
	    r->lock_threshold_ns, r->tune.func_threshold_ns, r->tune.flags & LDB_TUNE_IN_REQUESTS ? "on" : "off",
	    kernel_name(&r->out), *functions ? functions : "all", *classes ? classes : "all",
	    r->o->live ? "none" : r->o->output);
}

static void do_pause(struct recording *r, char *args, struct answer *a)
{
	recording_pause(r, true);
	done(a, NULL);
}

static void do_resume(struct recording *r, char *args, struct answer *a)
{
	recording_pause(r, false);
	done(a, NULL);
}

static void do_stop(struct recording *r, char *args, struct answer *a)
{
	done(a, NULL);
	r->command.wants_stop = true;
}

static void do_dump(struct recording *r, char *args, struct answer *a)
{
	done(a, flight_trigger(r->out.flight, *args ? args : "ldb-ctl dump") ? NULL :
	     "there is no flight recorder (ldb-record --flight), or its limit is reached");
}

static void do_snapshot(struct recording *r, char *args, struct answer *a)
{
	if (r->o->live || r->o->flight.ns) {
		done(a, r->o->live ? "nothing is written here" : "a flight recorder writes dumps: dump");
		return;
	}
	output_snapshot(&r->out);
	done(a, NULL);
}

/* Names of classes may contain blanks, so the rest of the line is one trigger. */
static void do_triggers(struct recording *r, char *args, struct answer *a)
{
	struct flight_triggers *t = flight_triggers_of(r->out.flight);
	const char *verb = cut_word(&args), *why = NULL;
	char text[4096];

	if (!t)
		why = "there is no flight recorder: ldb-record --flight";
	else if (*verb && (!*args || (strcmp(verb, "add") && strcmp(verb, "remove"))))
		why = "say what to do: triggers add 'request>50ms', triggers remove 'request>50ms'";
	else if (*verb)
		why = *verb == 'a' ? flight_triggers_add(t, args) : flight_triggers_remove(t, args);
	if (why) {
		done(a, why);
		return;
	}
	flight_triggers_print(t, text, sizeof(text));
	if (*verb)
		note(r, "triggers", *text ? text : "none");
	say(a, "ok %s", *text ? text : "none");
}

static const char *without_lookup(const struct recording *r)
{
	return r->o->lookup ? NULL : "functions cannot be looked up here";
}

static void do_functions(struct recording *r, char *args, struct answer *a)
{
	char text[2048];
	const char *why = *args ? without_lookup(r) ?: filter_set_functions(r->out.filter, args) : NULL;

	if (why) {
		done(a, why);
		return;
	}
	filter_print_functions(r->out.filter, text, sizeof(text));
	if (*args)
		note(r, "functions", *text ? text : "all");
	say(a, "ok %s", *text ? text : "all");
}

static void do_classes(struct recording *r, char *args, struct answer *a)
{
	char text[2048];
	const char *why = *args ? filter_set_classes(r->out.filter, args) : NULL;

	if (why) {
		done(a, why);
		return;
	}
	filter_print_classes(r->out.filter, text, sizeof(text));
	if (*args)
		note(r, "classes", *text ? text : "all");
	say(a, "ok %s", *text ? text : "all");
}

static void do_min_latency(struct recording *r, char *args, struct answer *a)
{
	char text[2200], *word = strrchr(args, ' ');
	const char *why;
	uint64_t ns;

	if (!word || units_parse_duration(word + 1, 0, &ns)) {
		say(a, "error: give a function and a time: min-latency FUNCTION 100us");
		return;
	}
	while (word > args && word[-1] == ' ')
		word--;
	*word = '\0';
	if (!strcmp(args, "*")) {
		r->tune.func_threshold_ns = ns;
		note_number(r, "func_threshold_ns", ns);
		tuned(r, a);
		return;
	}
	why = without_lookup(r) ?: filter_set_shortest(r->out.filter, args, ns);
	if (!why) {
		snprintf(text, sizeof(text), "%.2000s %" PRIu64, args, ns);
		note(r, "min_latency_ns", text);
	}
	done(a, why);
}

/*
 * The runtime does not count the lock events that it leaves out, so its own threshold is only ever
 * lowered.  The recorder's filter, which counts them, applies higher thresholds.
 */
static void do_threshold(struct recording *r, char *args, struct answer *a)
{
	char *what = cut_word(&args);
	uint64_t ns;

	if (strcmp(what, "lock") || units_parse_duration(args, 0, &ns)) {
		say(a, "error: give a time: threshold lock 10us");
		return;
	}
	r->lock_threshold_ns = ns;
	r->out.filter->lock_min = ns * r->out.filter->ticks_per_ns;
	if (ns >= r->tune.lock_threshold_ns) {
		done(a, NULL);
		return;
	}
	r->tune.lock_threshold_ns = ns;
	note_number(r, "lock_threshold_ns", ns);
	tuned(r, a);
}

static void do_inside_requests(struct recording *r, char *args, struct answer *a)
{
	if (strcmp(args, "on") && strcmp(args, "off")) {
		say(a, "error: say on or off: inside-requests on");
		return;
	}
	r->tune.flags = (r->tune.flags & ~LDB_TUNE_IN_REQUESTS) | (args[1] == 'n' ? LDB_TUNE_IN_REQUESTS : 0);
	tuned(r, a);
}

static const struct word {
	const char *name;
	void (*fn)(struct recording *r, char *args, struct answer *a);
} words[] = {
	{ "status", do_status }, { "pause", do_pause }, { "resume", do_resume }, { "dump", do_dump },
	{ "triggers", do_triggers }, { "snapshot", do_snapshot },
	{ "stop", do_stop }, { "functions", do_functions }, { "min-latency", do_min_latency },
	{ "threshold", do_threshold }, { "classes", do_classes }, { "inside-requests", do_inside_requests },
};

void command_execute(struct recording *r, char *line, char *text, size_t size)
{
	struct answer a = { text, size };
	char *name = cut_word(&line);
	size_t len = strlen(line);

	while (len && strchr(" \t\r", line[len - 1]))
		line[--len] = '\0';
	if (!recording_is_open(r) || r->phase == PHASE_DETACH) {
		say(&a, "error: the recording has not begun, or has ended");
		return;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(words[i].name, name))
			continue;
		words[i].fn(r, line, &a);
		return;
	}
	say(&a, "error: there is no command %.40s", name);
}
