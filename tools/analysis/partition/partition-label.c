// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Labels waits and times off the CPU in a partition so that the same thing has the same
 * name in all requests, and in another recording.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/lockset.h"
#include "facts/tasks.h"
#include "partition-private.h"

#define EPHEMERAL_PORT_MIN	32768	/* the usual start of net.ipv4.ip_local_port_range */
/* numbers in names of files that are as long, or longer, become * */
#define NUMBER_DIGITS		3

/* "item_locks+0x80" becomes item_locks. */
static void set_variable(char *label, const struct symbol *symbol)
{
	const char *plus = strstr(symbol->function, "+0x");
	int len = plus ? (int)(plus - symbol->function) : (int)strlen(symbol->function);

	snprintf(label, PARTITION_LABEL_MAX, "%.*s", len, symbol->function);
}

static void set_lock(char *label, const struct segment *s)
{
	const struct symbol *site = s->site;
	const char *noun = lock_kind_noun(s->lock_kind);

	if (s->lock_symbol && s->lock_symbol->known)
		set_variable(label, s->lock_symbol);
	else if (site && *site->file && !site->in_system)
		snprintf(label, PARTITION_LABEL_MAX, "%s at %s:%u", noun, basename(site->file), site->line);
	else if (site)
		snprintf(label, PARTITION_LABEL_MAX, "%s in %s", noun, site->function);
	else if (s->lock)
		snprintf(label, PARTITION_LABEL_MAX, "a %s", noun);
}

/* kworker/3:1-events and kworker/u8:2 become kworker; worker-17 becomes worker. */
static void set_task(char *label, const char *name)
{
	size_t len = strcspn(name, "/");

	if (name[len] != '/' || !len)
		len = tasks_stem(name);
	snprintf(label, PARTITION_LABEL_MAX, "%.*s", (int)len, name);
}

static void set_context(char *label, const struct context *context)
{
	if (context->kind == CONTEXT_TASK && context->name && *context->name)
		set_task(label, context->name);
	else
		snprintf(label, PARTITION_LABEL_MAX, "%s", context_kinds[context->kind].label);
}

static void set_waiting(char *label, const struct segment *s)
{
	const struct segment_sched *k = s->sched;

	if (k && k->nr_running && k->running[0].who.kind != CONTEXT_NONE)
		set_context(label, &k->running[0].who);
	else if (k && k->preempted_by.kind != CONTEXT_NONE)
		set_context(label, &k->preempted_by);
}

/*
 * Returns true if the peer of a socket is a client: the kernel assigns the ports of clients, from
 * the ephemeral range.
 */
static bool is_client(const char *socket)
{
	const char *port = strrchr(socket, ':');

	return port && atoi(port + 1) >= EPHEMERAL_PORT_MIN;
}

/* Numbered files count as one file: 000123.log becomes *.log. */
static void add_file(char *label, const char *file)
{
	size_t len = strlen(label), digits;

	for (; *file && len < PARTITION_LABEL_MAX - 1; file += digits) {
		digits = strspn(file, "0123456789");
		label[len++] = digits >= NUMBER_DIGITS ? '*' : *file;
		if (digits < NUMBER_DIGITS)
			digits = 1;
	}
	label[len] = '\0';
}

static void set_call(char *label, const struct segment_call *call)
{
	bool is_socket;

	if (!call->name)
		return;
	is_socket = !strncmp(call->file, "socket ", 7);
	snprintf(label, PARTITION_LABEL_MAX, "%s%s%s", call->name, *call->file ? " of " : "",
		 !is_socket ? "" : is_client(call->file) ? "a client's socket" : call->file);
	if (!is_socket)
		add_file(label, call->file);
}

/* Writes "deflate() of libz.so.1", with only the first number of the library's version. */
static void set_library_call(char *label, const struct symbol *func)
{
	const char *so = strstr(func->module, ".so.");
	size_t len = so ? strcspn(so + 4, ".") + (so + 4 - func->module) : strlen(func->module);

	snprintf(label, PARTITION_LABEL_MAX, "%.130s() of %.*s", func->function, (int)min(len, (size_t)50),
		 func->module);
}

enum leaf_kind partition_label(const struct segment *s, char *label)
{
	enum leaf_kind kind = leaf_kind_of(s);

	*label = '\0';
	if (kind == LEAF_LOCK || kind == LEAF_FUTEX)
		set_lock(label, s);
	else if (kind == LEAF_RUNNABLE || kind == LEAF_PREEMPTED)
		set_waiting(label, s);
	else if (s->kind == SEGMENT_LIBCALL)
		set_library_call(label, s->func);
	else if (s->kind == SEGMENT_BLOCKED && s->sched)
		set_call(label, &s->sched->call);
	return kind;
}

uint32_t partition_segment_leaf(struct partition *p, const struct segment *s, uint32_t path)
{
	char label[PARTITION_LABEL_MAX];
	enum leaf_kind kind = partition_label(s, label);
	const struct leaf_lock lock = {
		.address = s->lock, .site = s->site, .kind = kind == LEAF_LOCK ? s->lock_kind : 0,
	};
	bool has_lock = kind == LEAF_LOCK || kind == LEAF_FUTEX;

	return partition_leaf(p, kind, path, label, has_lock ? &lock : NULL);
}
