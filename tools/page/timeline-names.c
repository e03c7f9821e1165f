// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes each name of the timeline's page once; tables refer to names by number. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "facts/tasks.h"
#include "facts/ticks.h"
#include "page/timeline-private.h"
#include "render/segment.h"
#include "render/text.h"

int64_t names_string(struct timeline_data *d, const char *s)
{
	return intern_string(&d->strings, s ? s : "");
}

/*
 * Returns the number of a symbol.  A symbol is one address in a function, so many symbols share a
 * name and a place.
 */
static int64_t by_symbol(struct intern *symbols, int64_t **numbers, const struct symbol *s,
			 bool *is_new)
{
	size_t room = symbols->room;
	int64_t number = intern_get(symbols, &s, sizeof(s), is_new), *grown;

	if (number < 0 || symbols->room == room)
		return number;
	grown = reallocarray(*numbers, symbols->room, sizeof(*grown));
	if (!grown)
		return -1;
	*numbers = grown;
	return number;
}

static int64_t add_function(struct timeline_data *d, const struct symbol *s)
{
	char name[TEXT_ROOM];
	int64_t key[4] = { names_string(d, s->function), names_string(d, s->func_file), s->func_line,
		names_string(d, text_function(s, name)) };

	if (key[0] < 0 || key[1] < 0 || key[3] < 0)
		return -1;
	return intern_get(&d->functions, key, sizeof(key), NULL);
}

static int64_t get_function(struct timeline_data *d, const struct symbol *s)
{
	bool is_new;
	int64_t number = by_symbol(&d->symbols, &d->function_of, s, &is_new);

	if (number < 0)
		return -1;
	if (is_new)
		d->function_of[number] = add_function(d, s);
	return d->function_of[number];
}

static int64_t add_site(struct timeline_data *d, const char *function, const char *file,
			unsigned line)
{
	int64_t key[3] = { names_string(d, function), names_string(d, file), line };

	return key[0] < 0 || key[1] < 0 ? -1 : intern_get(&d->sites, key, sizeof(key), NULL);
}

int64_t names_site(struct timeline_data *d, const struct symbol *s)
{
	char name[TEXT_ROOM];
	int64_t number;
	bool is_new;

	if (!s)
		return 0;
	number = by_symbol(&d->call_symbols, &d->site_of, s, &is_new);
	if (number < 0)
		return -1;
	if (is_new)
		d->site_of[number] = add_site(d, text_function(s, name), s->file, s->line);
	return d->site_of[number];
}

int64_t names_call(struct timeline_data *d, const struct symbol *func, const struct symbol *site)
{
	int64_t key[2] = { get_function(d, func), names_site(d, site) };

	return key[0] < 0 || key[1] < 0 ? -1 : intern_get(&d->calls, key, sizeof(key), NULL);
}

int64_t names_thread(struct timeline_data *d, uint32_t tid, const struct thread *thread)
{
	struct page_thread key;
	size_t room = d->threads.room;
	const struct task *task;
	struct page_thread_more *more;
	int64_t number;
	bool is_new;

	memset(&key, 0, sizeof(key));
	key.tid = tid;
	if (thread) {
		key.start = ticks_time_ns(d->m->reader, thread->start);
		key.end = ticks_time_ns(d->m->reader, thread->end);
	}
	number = intern_get(&d->threads, &key, sizeof(key), &is_new);
	if (number < 0 || !is_new)
		return number;
	if (d->threads.room != room) {
		more = reallocarray(d->threads_more, d->threads.room, sizeof(*more));
		if (!more)
			return -1;
		d->threads_more = more;
	}
	more = &d->threads_more[number];
	/* Uses the last name, because threads set their names after they have started. */
	task = thread ? NULL : tasks_find(d->m->tasks, tid, INT64_MAX);
	more->name = names_string(d, thread ? model_thread_name(thread) : task ? task->name : "");
	more->made = more->seen = 0;
	more->is_unobserved = false;
	if (thread) {
		more->made = thread->made;
		more->seen = thread->seen;
		more->is_unobserved = thread->is_unobserved;
	}
	return more->name < 0 ? -1 : number;
}

static int64_t add_context(struct timeline_data *d, const struct context *p)
{
	char text[TEXT_ROOM];
	int64_t key[5] = { p->kind, p->tid, p->pid, names_string(d, p->name),
		names_string(d, text_context(d->m, p, text)) };

	return key[3] < 0 || key[4] < 0 ? -1 : intern_get(&d->contexts, key, sizeof(key), NULL);
}

/* Names of contexts are those of the model, so their pointers can be compared. */
int64_t names_context(struct timeline_data *d, const struct context *p)
{
	size_t place = (p->kind + p->tid * 8 + ((uintptr_t)p->name >> 4)) % CONTEXT_MEMOS;
	struct context_memo *memo = &d->context_memo[place];

	if (memo->is_known && memo->context.kind == p->kind && memo->context.tid == p->tid &&
	    memo->context.pid == p->pid && memo->context.name == p->name)
		return memo->number;
	*memo = (struct context_memo){ .context = *p, .number = add_context(d, p) };
	memo->is_known = memo->number >= 0;
	return memo->number;
}

int64_t names_lock(struct timeline_data *d, const struct segment *s)
{
	char name[TEXT_ROOM], text[TEXT_ROOM];
	bool is_call = s->sched && s->sched->call.name;
	const char *short_name = is_call ? s->sched->call.name : segment_name(s, name);
	int64_t key[2];

	if (s->kind == SEGMENT_EVENT)
		snprintf(text, sizeof(text), "%.400s %" PRId64, short_name, s->mark->value);
	else if (s->kind == SEGMENT_QUEUE || s->kind == SEGMENT_IRQ)
		snprintf(text, sizeof(text), "%.400s", short_name);
	else if (is_call)
		segment_call(&s->sched->call, text);
	else
		text_lock(s->lock_kind, s->lock, s->lock_symbol, text);
	key[0] = names_string(d, short_name);
	key[1] = names_string(d, text);
	return key[0] < 0 || key[1] < 0 ? -1 : intern_get(&d->locks, key, sizeof(key), NULL);
}

int names_init(struct timeline_data *d)
{
	/* Number 0: not known. */
	int64_t lock[2] = { names_string(d, ""), 0 };
	const struct context nobody = { .kind = CONTEXT_NONE };

	if (lock[0] || add_site(d, "", "", 0) || names_context(d, &nobody) ||
	    intern_get(&d->locks, lock, sizeof(lock), NULL))
		return -ENOMEM;
	return 0;
}

void names_free(struct timeline_data *d)
{
	struct intern *all[] = { &d->strings, &d->functions, &d->sites, &d->calls, &d->symbols,
		&d->call_symbols, &d->threads, &d->contexts, &d->locks };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		intern_free(all[i]);
	free(d->function_of);
	free(d->site_of);
	free(d->threads_more);
}

static void write_tuples(struct json *j, const char *key, const struct intern *t, unsigned nr)
{
	json_array_begin(j, key);
	for (size_t i = 0; i < t->nr; i++)
		for (unsigned k = 0; k < nr; k++)
			json_i64(j, NULL, ((const int64_t *)intern_key(t, i))[k]);
	json_array_end(j);
}

static void write_threads(struct timeline_data *d, struct json *j)
{
	json_array_begin(j, "threads");
	for (size_t i = 0; i < d->threads.nr; i++) {
		const struct page_thread *t = intern_key(&d->threads, i);
		const struct page_thread_more *more = &d->threads_more[i];

		json_object_begin(j, NULL);
		json_u64(j, "tid", t->tid);
		json_string(j, "name", intern_key(&d->strings, more->name));
		json_i64(j, "start", t->start);
		json_i64(j, "end", t->end);
		json_u64(j, "made", more->made);
		json_u64(j, "seen", more->seen);
		if (more->is_unobserved)
			json_bool(j, "unobserved", true);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Writes numbers that the tables use. */
static void write_numbers(struct json *j)
{
	json_object_begin(j, "flags");
#define FLAG(name, value) json_u64(j, #name, value);
	PAGE_FLAGS(FLAG)
#undef FLAG
	json_object_end(j);
	json_u64(j, "context_task", CONTEXT_TASK);
}

void names_write(struct timeline_data *d, struct json *j)
{
	write_numbers(j);
	json_array_begin(j, "strings");
	for (size_t i = 0; i < d->strings.nr; i++)
		json_string(j, NULL, intern_key(&d->strings, i));
	json_array_end(j);
	write_tuples(j, "functions", &d->functions, 4);
	write_tuples(j, "sites", &d->sites, 3);
	write_tuples(j, "calls", &d->calls, 2);
	write_tuples(j, "contexts", &d->contexts, 5);
	write_tuples(j, "locks", &d->locks, 2);
	write_threads(d, j);
}
