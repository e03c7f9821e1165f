// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the rings; the rules are in linux/ldb.h.
 *
 * A record is copied first and checked then: what was checked cannot change any
 * more.  A slot that is reserved but not written yet goes to a list and is
 * looked at again, so that one preempted writer holds up nobody.  It is given
 * up when it was overwritten, or is older than PENDING_MAX_NS.
 *
 * An event of several slots counts as lost in all its slots.  Slots of an event
 * whose first slot is on the list (orphans) share its fate.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "record/drain.h"

#define PENDING_MAX_NS	2000000000LL
#define PENDING_MAX	4096	/* of a ring; the oldest are given up */
#define EVENT_SLOTS_MAX	3

struct pending {
	uint64_t idx;
	int64_t since_ns;
	unsigned nr_orphans;	/* slots of its event that were met already */
};

struct ring {
	const struct ldb_ring_hdr *hdr;
	const struct ldb_rec *slots;
	uint64_t size, mask;
	uint64_t pos;		/* next slot to look at */
	uint64_t first;		/* slots before it were overwritten unread */
	struct pending *pending;	/* by idx */
	unsigned nr_pending;
	struct drain_lost lost;
};

struct drain {
	struct ring *rings;
	unsigned nr_rings;
	drain_event_fn *event;
	void *arg;
	uint64_t nr_events;
};

struct drain *drain_alloc(const struct session *s, drain_event_fn *event, void *arg)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->event = event;
	d->arg = arg;
	d->rings = calloc(session_nr_rings(s), sizeof(*d->rings));
	if (!d->rings)
		goto err_free;
	for (; d->nr_rings < session_nr_rings(s); d->nr_rings++) {
		struct ring *r = &d->rings[d->nr_rings];

		r->hdr = session_ring(s, d->nr_rings);
		r->slots = (const void *)((const char *)r->hdr + LDB_RING_HDR_SIZE);
		r->size = 1ULL << session_ring_order(s, d->nr_rings);
		r->mask = r->size - 1;
		r->pending = malloc(PENDING_MAX * sizeof(*r->pending));
		if (!r->pending)
			goto err_free;
	}
	return d;

err_free:
	drain_free(d);
	return NULL;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	for (unsigned i = 0; i < d->nr_rings; i++)
		free(d->rings[i].pending);
	free(d->rings);
	free(d);
}

static uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->hdr->head, __ATOMIC_ACQUIRE);
}

/* Only with a head read after the copy was taken: that one may be too late. */
static bool is_overwritten(const struct ring *r, uint64_t idx)
{
	atomic_thread_fence(memory_order_acquire);
	return ring_head(r) - idx > r->size;
}

/* False: not written yet, or overwritten, or overwritten while it was copied. */
static bool slot_read(const struct ring *r, uint64_t idx, struct ldb_rec *rec)
{
	const struct ldb_rec *slot = &r->slots[idx & r->mask];
	uint32_t commit = __atomic_load_n(&slot->commit, __ATOMIC_ACQUIRE);

	rec->tsc = __atomic_load_n(&slot->tsc, __ATOMIC_RELAXED);
	rec->tid = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);
	rec->type = __atomic_load_n(&slot->type, __ATOMIC_RELAXED);
	rec->flags = __atomic_load_n(&slot->flags, __ATOMIC_RELAXED);
	rec->arg = __atomic_load_n(&slot->arg, __ATOMIC_RELAXED);
	rec->arg2 = __atomic_load_n(&slot->arg2, __ATOMIC_RELAXED);
	rec->commit = commit;
	return commit == ((uint32_t)(idx + 1) ^ ldb_rec_hash(rec));
}

/* Slots of the event that starts with this type; 0: none does. */
static unsigned event_slots(unsigned type)
{
	switch (type) {
	case LDB_EV_THREAD_START:
	case LDB_EV_THREAD_EXIT:
	case LDB_EV_GAP:
	case LDB_EV_LOST:
	case LDB_EV_SWITCH:
	case LDB_EV_OCCUPANT:
	case LDB_EV_WAKING:
	case LDB_EV_WAKEUP:
	case LDB_EV_MIGRATE:
	case LDB_EV_FUTEX_WAKE:
	case LDB_EV_FORK:
	case LDB_EV_EXEC:
	case LDB_EV_EXIT:
		return 1;
	case LDB_EV_LOCK_WAIT:
	case LDB_EV_LOCK_HOLD:
	case LDB_EV_REQ_START:
	case LDB_EV_REQ_BLOCK:
	case LDB_EV_REQ_END:
	case LDB_EV_REQ_END_ALL:
	case LDB_EV_REQ_CLASS:
	case LDB_EV_REQ_LINK:
	case LDB_EV_SWITCH_OUT:
	case LDB_EV_FUTEX_WAIT:
	case LDB_EV_TASK:
		return 2;
	case LDB_EV_FUNC:
		return 3;
	default:
		return 0;
	}
}

/* Which slot of its event a continuation is; 0: it is none. */
static unsigned cont_number(unsigned type)
{
	return type > LDB_EV_CONT && type < LDB_EV_CONT + EVENT_SLOTS_MAX ? type - LDB_EV_CONT : 0;
}

/* The entry of a slot, or NULL. */
static struct pending *pending_find(struct ring *r, unsigned nr, uint64_t idx)
{
	unsigned lo = 0, hi = nr;

	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;

		if (r->pending[mid].idx < idx)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < nr && r->pending[lo].idx == idx ? &r->pending[lo] : NULL;
}

static void pending_add(struct ring *r, uint64_t idx, int64_t now_ns)
{
	if (r->nr_pending == PENDING_MAX) {
		unsigned half = PENDING_MAX / 2;

		for (unsigned i = 0; i < half; i++)
			r->lost.uncommitted += 1 + r->pending[i].nr_orphans;
		memmove(r->pending, r->pending + half, half * sizeof(*r->pending));
		r->nr_pending = half;
	}
	r->pending[r->nr_pending++] = (struct pending){ idx, now_ns, 0 };
}

/*
 * The event that starts at idx, whose first record is in recs[0].  Returns its
 * slots, 0: not all are written yet, -1: it is none.
 */
static int event_read(const struct ring *r, uint64_t idx, uint64_t head, struct ldb_rec *recs)
{
	unsigned n = event_slots(recs[0].type);

	if (!n || head - idx < n)	/* reserved together, so head is past all of them */
		return -1;
	for (unsigned k = 1; k < n; k++) {
		if (!slot_read(r, idx + k, &recs[k]))
			return 0;
		if (cont_number(recs[k].type) != k)
			return -1;
	}
	return n;
}

static void hand_out(struct drain *d, unsigned ring, const struct ldb_rec *recs, unsigned n)
{
	d->nr_events++;
	d->event(d->arg, ring, recs, n);
}

/* A continuation without its event: the first slot is still awaited, or was lost. */
static void orphan(struct ring *r, uint64_t idx, unsigned k)
{
	struct pending *p = pending_find(r, r->nr_pending, idx - k);

	if (p)
		p->nr_orphans++;
	else if (idx - k < r->first)
		r->lost.overrun++;
	else
		r->lost.torn++;
}

/* Overwritten; if it began an event, the slots that follow are lost with it. */
static void lose_first(struct ring *r, uint64_t idx)
{
	r->lost.overrun++;
	r->first = idx + 1;
}

/* Looks at the slot at r->pos and moves on. */
static void ring_step(struct drain *d, struct ring *r, uint64_t head, int64_t now_ns)
{
	struct ldb_rec recs[EVENT_SLOTS_MAX];
	uint64_t idx = r->pos;
	int n;

	r->pos++;
	if (!slot_read(r, idx, &recs[0])) {
		if (is_overwritten(r, idx))
			lose_first(r, idx);
		else
			pending_add(r, idx, now_ns);
		return;
	}
	if (cont_number(recs[0].type)) {
		orphan(r, idx, cont_number(recs[0].type));
		return;
	}
	n = event_read(r, idx, head, recs);
	if (n > 0) {
		r->pos = idx + n;
		hand_out(d, r - d->rings, recs, n);
	} else if (n < 0) {
		r->lost.torn++;
	} else if (is_overwritten(r, idx)) {
		lose_first(r, idx);
	} else {
		pending_add(r, idx, now_ns);
	}
}

/* Looks at the awaited slots again; those not settled stay. */
static void ring_retry(struct drain *d, struct ring *r, uint64_t head, int64_t now_ns, bool last)
{
	uint64_t taken = 0;	/* slots before it belong to an event handed out here */
	unsigned kept = 0;

	for (unsigned i = 0; i < r->nr_pending; i++) {
		struct pending p = r->pending[i], *first;
		struct ldb_rec recs[EVENT_SLOTS_MAX];
		unsigned k = 0;
		int n = 0;

		if (p.idx < taken)
			continue;
		if (slot_read(r, p.idx, &recs[0])) {
			k = cont_number(recs[0].type);
			n = k ? -1 : event_read(r, p.idx, head, recs);
		}
		first = k ? pending_find(r, kept, p.idx - k) : NULL;
		if (first) {
			first->nr_orphans++;
		} else if (n > 0) {
			taken = p.idx + n;
			hand_out(d, r - d->rings, recs, n);
		} else if (n < 0) {
			r->lost.torn += 1 + p.nr_orphans;
		} else if (is_overwritten(r, p.idx)) {
			r->lost.overrun += 1 + p.nr_orphans;
		} else if (last || now_ns - p.since_ns > PENDING_MAX_NS) {
			r->lost.uncommitted += 1 + p.nr_orphans;
		} else {
			r->pending[kept++] = p;
		}
	}
	r->nr_pending = kept;
}

static unsigned ring_drain(struct drain *d, struct ring *r, int64_t now_ns, bool last)
{
	uint64_t head = ring_head(r), behind = head - r->pos;
	unsigned fill;

	if (behind > r->size) {
		uint64_t lost = behind - r->size;

		/* A head that goes back, or leaps ahead, is the program's doing. */
		if (behind > UINT64_MAX / 2) {
			r->lost.torn++;
			lost = behind;
		} else {
			r->lost.overrun += lost;
		}
		r->pos += lost;
		r->first = r->pos;
		behind = head - r->pos;
	}
	fill = behind * 1000 / r->size;
	if (r->nr_pending)
		ring_retry(d, r, head, now_ns, false);
	while (r->pos < head)
		ring_step(d, r, head, now_ns);
	if (last)
		ring_retry(d, r, head, now_ns, true);
	return fill;
}

unsigned drain_pass(struct drain *d, int64_t now_ns)
{
	unsigned fullest = 0;

	for (unsigned i = 0; i < d->nr_rings; i++) {
		unsigned fill = ring_drain(d, &d->rings[i], now_ns, false);

		if (fill > fullest)
			fullest = fill;
	}
	return fullest;
}

void drain_finish(struct drain *d, int64_t now_ns)
{
	for (unsigned i = 0; i < d->nr_rings; i++)
		ring_drain(d, &d->rings[i], now_ns, true);
}

struct drain_lost drain_take_lost(struct drain *d, unsigned ring)
{
	struct drain_lost lost = d->rings[ring].lost;

	d->rings[ring].lost = (struct drain_lost){ 0 };
	return lost;
}

unsigned drain_nr_rings(const struct drain *d)
{
	return d->nr_rings;
}

uint64_t drain_events(const struct drain *d)
{
	return d->nr_events;
}
