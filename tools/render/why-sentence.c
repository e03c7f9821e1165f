// SPDX-License-Identifier: GPL-2.0-or-later
/* Describes causes in sentences: the first cause with its chain, then other big causes. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/units.h"
#include "facts/lockset.h"
#include "render/chain.h"
#include "render/sentence.h"
#include "render/text.h"
#include "render/why.h"

#define OTHERS_SAID	2	/* greatest number of further causes in a sentence */

const char *why_cause_name(const struct why_cause *c)
{
	return link_kind_name(why_cause_kind(c));
}

const char *why_kind_text(const struct why_cause *c)
{
	return c->has_faults ? "page faults" : c->kind == LEAF_LOCK ? lock_kind_noun(c->lock_kind) :
	       leaf_kinds[c->kind].noun;
}

static const char *function_text(const struct why_cause *c)
{
	switch (c->anomaly) {
	case ANOMALY_MORE:
		return "more calls of";
	case ANOMALY_UNEXPECTED:
		return "rarely called";
	default:
		return "slower";
	}
}

/* Returns " in " if the place has a name, else "". */
static const char *in(const char *label)
{
	return *label ? " in " : "";
}

/* Writes the system call in which a thread slept. */
static void say_call(struct sentence *s, const char *call)
{
	if (*call)
		say(s, " (%s)", call);
}

/* Writes a cause without its chain. */
static void say_cause(struct sentence *s, const struct why_cause *c, int64_t ns)
{
	const char *label = c->label;
	char d[UNITS_ROOM], text[TEXT_ROOM];

	text_ns(ns, d);
	switch (c->kind) {
	case LEAF_FUNCTION:
		say(s, "%s %s %s()%s", d, function_text(c), label,
		    c->has_faults ? " with page faults" : "");
		break;
	case LEAF_LOCK:
		chain_say_lock(c->lock_kind, label, text, sizeof(text));
		say(s, "%s waiting for %s", d, text);
		break;
	case LEAF_IRQ:
		say(s, "%s interrupted by %s", d, *label ? label : "an interrupt");
		break;
	case LEAF_QUEUE:
		say(s, "%s%s%s", d, in(label), *label ? label : " in a queue");
		break;
	case LEAF_UNKNOWN:
		say(s, "%s %s", d, *label ? label : "in uninstrumented code");
		break;
	default:
		say(s, "%s %s", d, leaf_kind_say(c->kind, label, text, sizeof(text)));
		break;
	}
	say_call(s, c->call);
}

static void say_chain(struct sentence *s, const struct chain *chain)
{
	s->used += chain_say(chain, false, s->buf + s->used, s->size - s->used);
}

/* Writes a cause and its time, with the resolution if this is large. */
static void say_amount(struct sentence *s, const struct why *w, const struct why_target *t, size_t i)
{
	const struct why_cause *c = &w->causes[t->amounts[i].cause];
	const struct request *r = t->request;
	int64_t resolution = c->kind == LEAF_FUNCTION ? r->resolution_ns : r->off_resolution_ns;
	char d[UNITS_ROOM];

	say_cause(s, c, t->amounts[i].ns);
	if (resolution > t->amounts[i].ns / 20)
		say(s, " (+-%s)", text_ns(resolution, d));
}

/*
 * An amount is the time beyond the usual time, but a chain is about the whole time in a queue.  If
 * the whole time is longer, it is mentioned, because the chain's links are about parts of it.
 */
static void say_stay(struct sentence *s, const struct chain *chain, int64_t amount_ns)
{
	char d[UNITS_ROOM];

	if (chain && chain->nr > 1 && chain->links[1].kind == LINK_TAKEN_BY &&
	    chain->links[1].ns > amount_ns + amount_ns / 20)
		say(s, " (it was there for %s)", text_ns(chain->links[1].ns, d));
}

char *why_target_sentence(const struct why *w, const struct why_target *t, char *buf)
{
	const struct why_class *class = &w->classes[t->request->class];
	struct sentence s = { .buf = buf, .size = WHY_SENTENCE_MAX };
	char latency[UNITS_ROOM], usual[UNITS_ROOM];

	*buf = '\0';
	say(&s, "req %" PRIu64 "%s%s %s ", t->request->id, *class->name ? " " : "", class->name,
	    text_ns(t->request->latency_ns, latency));
	if (t->request->latency_resolution_ns)
		say(&s, "+-%s ", text_ns(t->request->latency_resolution_ns, latency));
	if (class->nr_reference)
		say(&s, "(usual %s): ", text_ns(class->reference_ns, usual));
	else
		say(&s, "(the only one of its class): ");
	if (!t->nr_amounts) {
		say(&s, "nothing deviates from the reference by more than the noise");
		return buf;
	}
	say_amount(&s, w, t, 0);
	say_stay(&s, t->chain, t->amounts[0].ns);
	say_chain(&s, t->chain);
	for (size_t i = 1; i < t->nr_amounts && i <= OTHERS_SAID; i++) {
		if (t->amounts[i].ns < t->deviation_ns / 20)
			break;
		say(&s, "; ");
		say_amount(&s, w, t, i);
	}
	return buf;
}

char *why_cause_sentence(const struct why *w, const struct why_cause *c, char *buf)
{
	struct sentence s = { .buf = buf, .size = WHY_SENTENCE_MAX };

	*buf = '\0';
	say(&s, "%zu of %zu slow requests: ", c->nr_requests, w->nr_targets);
	say_cause(&s, c, c->median_ns);
	if (c->chain) {
		say(&s, " (median); in the slowest");
		say_chain(&s, c->chain);
	}
	return buf;
}

char *why_cause_advice(const struct why_cause *c, char *buf)
{
	struct sentence s = { .buf = buf, .size = WHY_SENTENCE_MAX };
	char who[TEXT_ROOM];

	*buf = '\0';
	say(&s, "%s", c->advice);
	if (*c->advice && chain_say_ender(c->chain, who, sizeof(who)))
		say(&s, " (in the slowest %s)", who);
	return buf;
}
