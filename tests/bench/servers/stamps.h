/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The patches in this folder call these functions at the request boundaries of a server.  They
 * set the tags for ldb, and make time stamps that are the same with and without ldb.
 *
 *	request_begin()		a command is about to be parsed and executed
 *	request_done()		its response is ready
 *	request_sent()		the response has been written to the socket
 *	request_drop()		the connection goes away
 *
 * The tags lie between the stamps, so the figures contain their cost.  With STAMPS_FILE set, each
 * thread has two histograms (begin to done, begin to sent, in ticks of the time stamp counter) in
 * that file, mapped, for the client to read.
 */
#ifndef BENCH_STAMPS_H
#define BENCH_STAMPS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <x86intrin.h>
#include <ldb/ldb.h>
#include "hist.h"

#define STAMPS_THREADS	32

struct stamps_slot {
	struct hist done, sent;
};

struct stamps_file {
	uint32_t nr_slots;		/* number of slots that threads have taken */
	uint32_t pad[15];
	struct stamps_slot slot[STAMPS_THREADS];
};

struct request {
	uint64_t id;			/* 0: none */
	uint64_t begin;
	bool done;
};

/* Returns the thread's histograms, or NULL.  They are looked up only once. */
static __attribute__((noinline, unused)) struct stamps_slot *stamps_open(void)
{
	const char *name = getenv("STAMPS_FILE");
	struct stamps_file *f;
	uint32_t mine;
	int fd;

	if (!name)
		return NULL;
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*f)))
		return NULL;
	f = (struct stamps_file *)mmap(NULL, sizeof(*f), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (f == MAP_FAILED)
		return NULL;
	mine = __atomic_fetch_add(&f->nr_slots, 1, __ATOMIC_RELAXED);
	return mine < STAMPS_THREADS ? &f->slot[mine] : NULL;
}

static inline __attribute__((always_inline, unused)) struct stamps_slot *stamps_mine(void)
{
	static __thread struct stamps_slot *mine;
	static __thread bool tried;

	if (__builtin_expect(!tried, 0)) {
		mine = stamps_open();
		tried = true;
	}
	return mine;
}

static inline __attribute__((always_inline, unused)) void request_drop(struct request *r)
{
	if (r->id)
		ldb_req_end(r->id);
	r->id = 0;
}

/*
 * Begins a request and returns true, unless one is still being read: then that continues.  A
 * request whose response waits to be written is over.
 */
static inline __attribute__((always_inline, unused)) bool request_is_new(struct request *r)
{
	static uint64_t last_id;

	if (r->id && !r->done)
		return false;
	request_drop(r);
	r->begin = __rdtsc();
	r->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	r->done = false;
	return true;
}

static inline __attribute__((always_inline, unused)) void request_begin(struct request *r)
{
	if (request_is_new(r))
		ldb_req_start(r->id, NULL);
}

static inline __attribute__((always_inline, unused)) void request_done(struct request *r)
{
	struct stamps_slot *mine;

	if (!r->id || r->done)
		return;
	r->done = true;
	mine = stamps_mine();
	if (mine)
		hist_add(&mine->done, __rdtsc() - r->begin);
}

static inline __attribute__((always_inline, unused)) void request_sent(struct request *r)
{
	struct stamps_slot *mine;

	if (!r->id || !r->done)
		return;
	request_drop(r);
	mine = stamps_mine();
	if (mine)
		hist_add(&mine->sent, __rdtsc() - r->begin);
}

#endif
