// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Implements the functions that tag requests.  Each call writes a record, and a further one if it
 * also links the request to a trace context (context.h).  The reader of the trace infers on which
 * request a thread works.  The runtime stores whether a thread works on any request, for the
 * scanner, and the ids of up to four, for messages that the thread sends.
 *
 * The functions are async-signal-safe and do not change errno.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <ldb/ldb.h>
#include "internal.h"
#include "context.h"
#include "request.h"

_Static_assert(LDB_CLASS_MAX == 23, "24 bytes of payload, with the NUL");

/* If the thread works on several requests, the end or block of one counts as the end of all. */
static void keep_in_request(struct thread *t, uint16_t type)
{
	if (t)
		order_any_store(&t->in_request, type == LDB_EV_REQ_START);
}

/*
 * Stores the thread's innermost frame, which shows in which functions the request began or ended.
 */
static void put_frames(struct ldb_req_rec *req, const struct thread *t)
{
	uint64_t gen = thread_innermost(t, &req->nr_later);

	req->payload0 = (uint32_t)gen;
	req->payload1 = gen >> 32;
}

static void request_write(struct ldb_req_rec *req)
{
	union {
		struct ldb_req_rec req;
		struct ldb_rec slot[2];
	} r = { .req = *req };
	struct thread *t = thread_self();
	int saved = errno;

	if (req->type <= LDB_EV_REQ_END_ALL) {
		put_frames(&r.req, t);
		keep_in_request(t, req->type);
	}
	r.req.tsc = session_clock();
	r.req.tid = request_tid(t);
	r.req.cont1 = LDB_EV_CONT + 1;
	ring_write(r.slot, 2);
	errno = saved;
}

void request_start(uint64_t id, void *queue, const void *site)
{
	if (session_wants_tags())
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_START, .id = id,
			.queue = (uintptr_t)queue, .payload2 = (uintptr_t)site,
		});
}

void request_start_socket(uint64_t id, uint64_t queue, const void *site)
{
	if (session_wants_tags())
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_START, .flags = LDB_REQ_F_SOCKET, .id = id,
			.queue = queue, .payload2 = (uintptr_t)site,
		});
}

void request_block_of(uint32_t tid, uint64_t id)
{
	union {
		struct ldb_req_rec req;
		struct ldb_rec slot[2];
	} r = { .req = { .type = LDB_EV_REQ_BLOCK, .id = id, .tid = tid, .cont1 = LDB_EV_CONT + 1 } };

	if (!session_wants_tags())
		return;
	r.req.tsc = session_clock();
	ring_write(r.slot, 2);
}

void request_arrived(uint64_t id, void *queue, uint64_t age_ns)
{
	if (session_wants_tags() && age_ns <= LDB_AGE_MAX_NS)
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_ARRIVED, .id = id,
			.queue = (uintptr_t)queue, .payload2 = age_ns,
		});
}

void request_block(uint64_t id, void *queue, const void *site)
{
	if (session_wants_tags())
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_BLOCK, .id = id,
			.queue = (uintptr_t)queue, .payload2 = (uintptr_t)site,
		});
}

void request_end(uint64_t id, const void *site)
{
	if (session_wants_tags())
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_END, .id = id,
			.payload2 = (uintptr_t)site,
		});
}

static void request_end_all(const void *site)
{
	if (session_wants_tags())
		request_write(&(struct ldb_req_rec){
			.type = LDB_EV_REQ_END_ALL, .payload2 = (uintptr_t)site,
		});
}

void request_class(uint64_t id, const char *name)
{
	struct ldb_req_rec req = { .type = LDB_EV_REQ_CLASS, .id = id };
	char bytes[LDB_CLASS_MAX + 1] = "";

	if (!session_wants_tags())
		return;
	for (unsigned n = 0; name && n < LDB_CLASS_MAX && name[n]; n++)
		bytes[n] = name[n];
	memcpy(&req.payload0, bytes, 4);
	memcpy(&req.queue, bytes + 4, 8);
	memcpy(&req.payload1, bytes + 12, 4);
	memcpy(&req.payload2, bytes + 16, 8);
	request_write(&req);
}

/* W3C ids are byte strings; as numbers they are read like their hex digits. */
static uint64_t big_endian(const void *p)
{
	const unsigned char *bytes = p;
	uint64_t v = 0;

	for (unsigned n = 0; p && n < 8; n++)
		v = v << 8 | bytes[n];
	return v;
}

void request_link(uint64_t id, const void *trace, const void *span)
{
	uint64_t s;

	if (!session_wants_tags())
		return;
	s = big_endian(span);
	request_write(&(struct ldb_req_rec){
		.type = LDB_EV_REQ_LINK, .id = id,
		.queue = big_endian(trace),
		.payload2 = big_endian(trace ? (const char *)trace + 8 : NULL),
		.payload0 = (uint32_t)s,
		.payload1 = s >> 32,
	});
}

void request_link_published(uint64_t id)
{
	struct context_ids ids;

	if (session_wants_tags() && context_read(id, &ids))
		request_link(id, ids.trace, ids.span);
}

/*
 * The following functions store on which requests the calling thread works, because messages that
 * it sends belong to its request.
 */

static uint32_t find_tag(const struct thread *t, uint64_t id)
{
	uint32_t n = 0;

	while (n < t->nr_tags && t->tags[n] != id)
		n++;
	return n;
}

static void add_tag(struct thread *t, uint64_t id)
{
	if (find_tag(t, id) < t->nr_tags)
		return;
	if (t->nr_tags < sizeof(t->tags) / sizeof(*t->tags))
		t->tags[t->nr_tags++] = id;
	else
		t->nr_more_tags++;
}

/* A thread may also end a request on which only another thread works, so the id may be missing. */
static void remove_tag(struct thread *t, uint64_t id)
{
	uint32_t n = find_tag(t, id);

	if (n < t->nr_tags)
		t->tags[n] = t->tags[--t->nr_tags];
	else if (t->nr_more_tags)
		t->nr_more_tags--;
}

static void set_tag(uint64_t id, bool is_begin)
{
	struct thread *t = thread_self();

	if (!t)
		return;
	if (t->tag_epoch != session_page.a.lock_epoch) {
		t->tag_epoch = session_page.a.lock_epoch;
		t->nr_tags = t->nr_more_tags = 0;
	}
	if (is_begin)
		add_tag(t, id);
	else
		remove_tag(t, id);
}

bool request_tagged(uint64_t *id)
{
	const struct thread *t = thread_self();

	if (!t || t->nr_tags != 1 || t->nr_more_tags || t->tag_epoch != session_page.a.lock_epoch)
		return false;
	*id = t->tags[0];
	return true;
}

/*
 * The functions in the program's table.  tag_start(), tag_block() and tag_end() also link the
 * request to the context that a tracing library has published for the calling thread.
 */

static void tag_start(uint64_t id, void *queue, const void *site)
{
	if (!session_wants_tags())
		return;
	set_tag(id, true);
	request_start(id, queue, site);
	if (context_may_be()) {
		if (!queue)	/* if there is a queue, the same request continues */
			context_forget(id);
		request_link_published(id);
	}
}

static void tag_block(uint64_t id, void *queue, const void *site)
{
	if (!session_wants_tags())
		return;
	if (context_may_be())
		request_link_published(id);
	set_tag(id, false);
	request_block(id, queue, site);
}

static void tag_end(uint64_t id, const void *site)
{
	if (!session_wants_tags())
		return;
	if (context_may_be()) {
		request_link_published(id);
		context_forget(id);
	}
	set_tag(id, false);
	request_end(id, site);
}

static void tag_end_all(const void *site)
{
	struct thread *t = thread_self();

	if (t)
		t->nr_tags = t->nr_more_tags = 0;
	request_end_all(site);
}

static void tag_link(uint64_t id, const void *trace, const void *span)
{
	if (context_may_be())
		context_given(id);
	request_link(id, trace, span);
}

/* Other threads may be calling through the table already. */
#define FILL(member, fn)	order_api_fill(&api->member, fn)

static void fill_2(struct ldb_api_2 *api)
{
	FILL(req_arrived, request_arrived);
}

static void fill_3(struct ldb_api_3 *api)
{
	FILL(lock_wait, own_wait);
	FILL(lock_acquired, own_acquired);
	FILL(lock_released, own_released);
}

static void fill_4(struct ldb_api_4 *api)
{
	FILL(req_note, note_text);
	FILL(req_note_u64, note_number);
	FILL(event, note_event);
	FILL(record_start, command_start);
	FILL(record_stop, command_stop);
	FILL(record_dump, command_dump);
}

static void fill_1(struct ldb_api *api)
{
	FILL(req_start, tag_start);
	FILL(req_block, tag_block);
	FILL(req_end, tag_end);
	FILL(req_end_all, tag_end_all);
	FILL(req_class, request_class);
	FILL(req_link, tag_link);
	FILL(stack_register, stack_register);
	FILL(stack_unregister, stack_unregister);
}

void request_fill(uint64_t version, void *table)
{
	if (version == 1)
		fill_1(table);
	else if (version == 2)
		fill_2(table);
	else if (version == 3)
		fill_3(table);
	else if (version == 4)
		fill_4(table);
}

/* The THREAD_EXIT event ends the thread's work on requests; nothing has to be freed. */
void request_thread_exit(struct thread *t)
{
	(void)t;
}
