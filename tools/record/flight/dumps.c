// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes dumps; see dumps.h.  A dump moves through three lists: dumps to be copied, dumps whose
 * functions must be named, and dumps that are done.  The threads are created before the recorder
 * lowers its priority, because they would inherit the lower one.  The thread that looks up names
 * has a low priority of its own.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/flight/dumps.h"
#include "record/session/session.h"

/*
 * The nice value of the thread that looks up names, which takes some tenths of a second of CPU
 * time.
 */
#define NICE	5

struct list {
	struct flight_dump *first, **last;
};

struct flight_dumps {
	struct flight_dumps_options o;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t copier, namer;
	/* lock protects this field and the following ones */
	struct list to_copy, to_name, done;
	/* numbers of dumps that are not done, and of dumps that are not published */
	unsigned nr, nr_hidden;
	bool is_over;
};

static void list_init(struct list *l)
{
	l->first = NULL;
	l->last = &l->first;
}

static void list_add(struct list *l, struct flight_dump *d)
{
	d->next = NULL;
	*l->last = d;
	l->last = &d->next;
}

static struct flight_dump *list_take(struct list *l)
{
	struct flight_dump *d = l->first;

	if (!d)
		return NULL;
	l->first = d->next;
	if (!l->first)
		l->last = &l->first;
	return d;
}

void flight_dumps_free_one(struct flight_dump *dump)
{
	if (!dump)
		return;
	free(dump->blocks);
	ksyms_free(dump->ksyms);
	free(dump);
}

/* Copying */

/* Functions that are still running have the latest ends, so their rows must be copied last. */
static int copy_known(struct flight_dump *d, bool are_funcs)
{
	struct ldb_block_header h;
	int rc = 0;

	for (size_t at = 0; at < d->size && !rc; at += sizeof(h) + h.bytes) {
		memcpy(&h, d->blocks + at, sizeof(h));
		if ((h.kind == LDB_BLK_FUNC) == are_funcs)
			rc = writer_add_block(d->file.writer, d->blocks + at, sizeof(h) + h.bytes);
	}
	return rc;
}

static int copy_ring(struct flight_dumps *s, struct flight_dump *d)
{
	void *buffer = NULL;
	size_t room = 0;
	int rc = 0;

	for (uint64_t n = d->first; n < d->end && !rc; n++) {
		ssize_t size = flight_ring_read(s->o.ring, n, &buffer, &room);

		if (size > 0)
			rc = writer_add_block(d->file.writer, buffer, size);
		else if (size < 0)
			rc = size;
		else
			d->nr_missing++;
	}
	free(buffer);
	return rc;
}

static void say_missing(const struct flight_dump *d)
{
	char text[128];

	if (!d->nr_missing)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " of the first blocks were dropped before this dump had copied them",
		 d->nr_missing);
	writer_add_meta(d->file.writer, "warning", text);
}

static void copy(struct flight_dumps *s, struct flight_dump *d)
{
	int rc = flight_file_open(&d->file, s->o.name, &s->o.header, d->err, sizeof(d->err));

	d->bytes = rc;
	if (rc)
		return;
	rc = copy_known(d, false);
	rc = rc ? rc : copy_ring(s, d);
	rc = rc ? rc : copy_known(d, true);
	say_missing(d);
	if (rc) {
		writer_close(d->file.writer);
		outfile_drop(&d->file.out);
	} else {
		rc = flight_file_close(&d->file);
	}
	d->bytes = rc ? rc : flight_file_publish(&d->file, d->path, sizeof(d->path));
	if (d->bytes < 0)
		snprintf(d->err, sizeof(d->err), "cannot write a dump: %s", strerror(-d->bytes));
}

static void name(struct flight_dumps *s, struct flight_dump *d)
{
	if (d->bytes >= 0)
		d->bytes = flight_file_name(&d->file, s->o.names, s->o.pid, d->path, d->ksyms);
}

/* The threads */

static struct flight_dump *next(struct flight_dumps *s, struct list *from)
{
	struct flight_dump *d;

	pthread_mutex_lock(&s->lock);
	while (!(d = list_take(from)) && !s->is_over)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return d;
}

static void pass_on(struct flight_dumps *s, struct flight_dump *d, struct list *to)
{
	pthread_mutex_lock(&s->lock);
	list_add(to, d);
	if (to == &s->done)
		s->nr--;
	else
		s->nr_hidden--;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

static void *run_copier(void *arg)
{
	struct flight_dumps *s = arg;
	struct flight_dump *d;

	while ((d = next(s, &s->to_copy))) {
		copy(s, d);
		d->done_ns = clock_mono_ns();
		pass_on(s, d, &s->to_name);
	}
	return NULL;
}

static void *run_namer(void *arg)
{
	struct flight_dumps *s = arg;
	struct flight_dump *d;

	setpriority(PRIO_PROCESS, syscall(SYS_gettid), NICE);
	while ((d = next(s, &s->to_name))) {
		name(s, d);
		d->named_ns = clock_mono_ns();
		pass_on(s, d, &s->done);
	}
	return NULL;
}

struct flight_dumps *flight_dumps_open(const struct flight_dumps_options *o)
{
	struct flight_dumps *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	list_init(&s->to_copy);
	list_init(&s->to_name);
	list_init(&s->done);
	if (pthread_create(&s->copier, NULL, run_copier, s))
		goto err_free;
	if (!pthread_create(&s->namer, NULL, run_namer, s))
		return s;
	pthread_mutex_lock(&s->lock);
	s->is_over = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->copier, NULL);
err_free:
	free(s);
	return NULL;
}

void flight_dumps_wait(struct flight_dumps *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->nr)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

void flight_dumps_close(struct flight_dumps *s)
{
	struct flight_dump *d;

	if (!s)
		return;
	flight_dumps_wait(s);
	pthread_mutex_lock(&s->lock);
	s->is_over = true;
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->copier, NULL);
	pthread_join(s->namer, NULL);
	while ((d = list_take(&s->done)))
		flight_dumps_free_one(d);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}

void flight_dumps_add(struct flight_dumps *s, struct flight_dump *dump)
{
	pthread_mutex_lock(&s->lock);
	s->nr++;
	s->nr_hidden++;
	list_add(&s->to_copy, dump);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

struct flight_dump *flight_dumps_done(struct flight_dumps *s)
{
	struct flight_dump *d;

	pthread_mutex_lock(&s->lock);
	d = list_take(&s->done);
	pthread_mutex_unlock(&s->lock);
	return d;
}

unsigned flight_dumps_nr(struct flight_dumps *s, unsigned *nr_hidden)
{
	unsigned nr;

	pthread_mutex_lock(&s->lock);
	nr = s->nr;
	*nr_hidden = s->nr_hidden;
	pthread_mutex_unlock(&s->lock);
	return nr;
}
