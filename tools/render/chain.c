// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "facts/lockset.h"
#include "render/chain.h"
#include "render/sentence.h"
#include "render/text.h"

size_t chain_say_lock(unsigned kind, const char *label, char *buf, size_t size)
{
	struct sentence s = { .buf = buf, .size = size };
	const char *noun = lock_kind_noun(kind);
	size_t len = strlen(noun);

	/*
	 * The label of a lock without a name says where the thread waits, and begins with a noun
	 * already.
	 */
	if (strncmp(label, "a ", 2) && (strncmp(label, noun, len) || label[len] != ' '))
		say(&s, "%s ", noun);
	say(&s, "%s", label);
	return s.used;
}

static void say_function(struct sentence *s, const struct chain_link *l)
{
	say(s, "%s()", l->label);
	if (s->is_long && *l->file)
		say(s, " %s", l->file);
}

/* Returns true if the link's thread is in another process than the thread that waits first. */
static bool is_of_other(const struct chain *chain, const struct chain_link *l)
{
	return l->process && l->process != chain->links[0].process;
}

/*
 * Returns true if l is the first thread of another process: sentences name it as the process.
 */
static bool is_process(const struct chain *chain, const struct chain_link *l)
{
	return is_of_other(chain, l) && l->tid == l->process->pid;
}

static void say_thread(struct sentence *s, const struct chain *chain, const struct chain_link *l)
{
	char text[TEXT_ROOM];

	if (!l->tid) {
		say(s, "%s", l->label);
		return;
	}
	say(s, "%s %s%s%" PRIu32, is_process(chain, l) ? "process" : "thread", l->thread, *l->thread ? " " : "",
	    model_kernel_tid(l->tid));
	if (is_of_other(chain, l) && !is_process(chain, l))
		say(s, " of %s", text_process(l->process, text));
}

static const char *ended(const struct chain_link *l)
{
	if (l->is_free)
		return "took the free lock and released it";
	switch (l->lock_kind) {
	case LDB_LOCK_COND:
		return "signalled it";
	case LDB_LOCK_SEM:
		return "posted it";
	case LDB_LOCK_BARRIER:
		return "came to it last";
	case LDB_LOCK_JOIN:
		return "ended";
	default:
		return "woke it";
	}
}

/* Says which thread ended the wait, if nobody held what was waited for. */
static void say_waker(struct sentence *s, const struct chain *chain, const struct chain_link *l,
		      const char *d)
{
	say(s, ", until ");
	say_thread(s, chain, l);
	say(s, " %s%s", ended(l), l->is_likely ? " (likely)" : "");
	if (!l->func)
		return;
	say(s, ", which was in ");
	say_function(s, l);
	say(s, " for %s", d);
}

/* Says for how much of the sleep a device was working; this may be less than the whole sleep. */
static void say_disk(struct sentence *s, const struct chain_link *l)
{
	char d[UNITS_ROOM];

	if (!l->disk.device || !l->disk.ns)
		return;
	if (s->is_long)
		units_duration(min(l->disk.ns, l->ns), d);
	else
		text_ns(min(l->disk.ns, l->ns), d);
	say(s, ", of this %s in %s", d, l->disk.device);
}

static void say_delay(struct sentence *s, const struct chain_link *l, const char *d)
{
	char text[TEXT_ROOM];

	if (l->kind == LEAF_LOCK || l->kind == LEAF_FUTEX) {
		chain_say_lock(l->kind == LEAF_LOCK ? l->lock_kind : 0, l->label, text, sizeof(text));
		say(s, ", which itself waited %s for %s", d, text);
		return;
	}
	say(s, ", of that %s ", d);
	if (l->kind == LEAF_IO || l->kind == LEAF_SLEEP)
		say(s, "%s", l->kind == LEAF_IO ? "in I/O" : "asleep");
	else
		say(s, "%s", leaf_kind_say(l->kind, *l->label || l->kind == LEAF_STOLEN ? l->label : "somebody", text,
				      sizeof(text)));
	if (*l->call)
		say(s, " (%s)", l->call);
	say_disk(s, l);
}

static void say_link(struct sentence *s, const struct chain *chain, const struct chain_link *l)
{
	char d[UNITS_ROOM];

	if (s->is_long)
		units_duration(l->ns, d);
	else
		text_ns(l->ns, d);
	switch (l->kind) {
	case LINK_HELD_BY:
		say(s, ", held by ");
		if (l->func) {
			say_function(s, l);
			say(s, " of ");
		}
		say_thread(s, chain, l);
		say(s, " for %s%s", d, l->source == EDGE_OWNER ? " (known from the wait)" :
		    l->is_likely ? " (likely)" : "");
		break;
	case LINK_WOKEN_BY:
		say_waker(s, chain, l, d);
		break;
	case LINK_TAKEN_BY:
		/*
		 * If the chain does not begin with a queue, the request was not waiting in it
		 * itself: the link says what the thread that takes requests out of the queue did in
		 * that time.
		 */
		say(s, chain->links[0].kind == LEAF_QUEUE ? ", taken out by " : ", while it was in the queue of ");
		say_thread(s, chain, l);
		break;
	case LEAF_FUNCTION:
		say(s, ", there in ");
		say_function(s, l);
		say(s, " for %s", d);
		break;
	case LINK_CALLS:
		say(s, ", which calls %s() (I/O)", l->label);
		break;
	case LINK_REQUEST:
		say(s, ", the longest of them request %s with %s", l->label, d);
		break;
	default:
		say_delay(s, l, d);
	}
}

size_t chain_say(const struct chain *chain, bool is_long, char *buf, size_t size)
{
	struct sentence s = { .buf = buf, .size = size, .is_long = is_long };

	if (size)
		*buf = '\0';
	if (chain && size && chain->nr)
		say_disk(&s, &chain->links[0]);
	for (size_t i = 1; chain && size && i < chain->nr; i++)
		say_link(&s, chain, &chain->links[i]);
	return s.used;
}

size_t chain_say_ender(const struct chain *chain, char *buf, size_t size)
{
	struct sentence s = { .buf = buf, .size = size };
	const struct chain_link *l = chain && chain->nr > 1 ? &chain->links[1] : NULL;

	if (size)
		*buf = '\0';
	if (!l || !size || (l->kind != LINK_WOKEN_BY && l->kind != LINK_HELD_BY))
		return 0;
	/*
	 * Prefers the name, because thread ids differ from request to request, while most names do
	 * not.
	 */
	if (*l->thread)
		say(&s, "%s %s", is_process(chain, l) ? "process" : "thread", l->thread);
	else
		say_thread(&s, chain, l);
	say(&s, " %s%s", l->kind == LINK_HELD_BY ? "held it" : ended(l),
	    l->is_likely ? " (likely)" : "");
	if (l->func) {
		say(&s, ", which was in ");
		say_function(&s, l);
	}
	return s.used;
}

/* Chains in JSON */

#define ROW struct chain_link
GET(get_kind, text, link_kind_name(e->kind))
GET(get_source, text, edge_source_name(e->source))
GET(get_certainty, text, chain_certainty(e))
WHEN(if_call, *e->call)
WHEN(if_disk, e->disk.device)
WHEN(if_process, e->process)
GET(get_process, text, e->process->name)
GET(get_pid, u64, model_kernel_tid(e->process->pid))
GET(get_device, text, e->disk.device)
GET(get_device_ns, i64, e->disk.ns)

static const struct column link_columns[] = {
	MADE("kind", get_kind), SAME(label), SAME(call, .when = if_call),
	MADE("device", get_device, .when = if_disk), MADE("device_ns", get_device_ns, .when = if_disk),
	SAME(file), SAME(tid),
	SAME(thread), MADE("process", get_process, .when = if_process), MADE("pid", get_pid, .when = if_process),
	SAME(ns), SAME(resolution_ns), MADE("source", get_source),
	MADE("certainty", get_certainty), SAME(confidence), { 0 }
};
#undef ROW

/* If no chain was followed, the array is empty. */
static struct rows links(const struct row *row)
{
	const struct chain *chain = row->at;

	return chain ? rows_of(chain->links, chain->nr) : (struct rows){ .nr = 0 };
}

const struct column chain_columns[] = { NESTED_AT("chain", links, link_columns), { 0 } };
