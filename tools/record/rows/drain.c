// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the rings according to the rules in linux/ldb.h.
 *
 * A record is copied and then checked, so that it cannot change after the check.  A slot that is
 * reserved but not written yet is put into a list and is read again later, so that a preempted
 * writer delays no other records.  The slot is given up when it was overwritten, after
 * PENDING_MAX_NS, when the list is full, or at the end of the recording.
 *
 * If an event of several slots is lost, all of its slots are counted as lost.  If the first slot of
 * an event is in the list, the event's other slots (orphans) are lost or read together with it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/search.h"
#include "record/rows/drain.h"
#include "record/session/order.h"

#define PENDING_MAX_NS	2000000000LL
#ifndef PENDING_MAX		/* tests/fuzz defines a smaller number */
#define PENDING_MAX	4096	/* unwritten slots of a ring; the oldest are given up */
#endif
#define EVENT_SLOTS_MAX	3
#define AT_ONCE		64	/* slots that are copied together */
#define AHEAD		32	/* a slot is prefetched this many slots before it is read */
#define SLICE_ALL	(1U << 18)	/* slots of all rings, between two calls of pack_release() */
#define SLICE_MIN	4096	/* least number of slots of one ring that are read at a time */

struct pending {
	uint64_t idx;
	int64_t since_ns;
	unsigned nr_orphans;	/* slots of its event that were read already */
};

struct ring {
	const struct ldb_ring_hdr *hdr;
	const struct ldb_rec *slots;
	uint64_t size, mask;
	uint64_t pos;		/* next slot to read */
	uint64_t head;		/* slots before this one are read in this pass */
	uint64_t time;		/* time of the last event */
	uint64_t first;		/* the slots just before this one were overwritten unread */
	bool is_cut;		/* something was lost since the last event */
	struct pending *pending;	/* in ascending order of idx */
	unsigned nr_pending;
	struct drain_lost lost;
};

struct drain {
	struct ring *rings;
	unsigned nr_rings;
	struct pack *pack;
	/* clock of the rings from first_kernel on; NULL: the session's */
	struct kernel_clock *clock;
	unsigned first_kernel;
	uint64_t nr_events;
};

struct drain *drain_alloc(const struct session *s, struct pack *pack, struct kernel_clock *clock)
{
	struct drain *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->first_kernel = s->info.nr_rings;
	d->pack = pack;
	d->clock = clock;
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

static void lose(struct ring *r, uint64_t *of, uint64_t nr)
{
	*of += nr;
	r->is_cut = true;
}

/*
 * Loads the head after the slot was copied: a value loaded earlier would not show that the slot was
 * overwritten during the copy.
 */
static bool is_overwritten(const struct ring *r, uint64_t idx)
{
	return order_ring_head_after(r->hdr) - idx > r->size;
}

/* Returns false if the slot is not written yet, or was overwritten, perhaps during the copy. */
static inline bool slot_read(const struct ring *r, uint64_t idx, struct ldb_rec *rec)
{
	return order_slot_read(&r->slots[idx & r->mask], idx, rec);
}

/*
 * Returns the number of slots of an event whose first slot is of this type; 0: there is no such
 * event.
 */
static inline unsigned event_slots(unsigned type)
{
	return pack_type(type)->nr_slots;
}

/* Returns the position of a continuation slot in its event; 0: the slot is not one. */
static unsigned cont_number(unsigned type)
{
	return type > LDB_EV_CONT && type < LDB_EV_CONT + EVENT_SLOTS_MAX ? type - LDB_EV_CONT : 0;
}

/* Returns the entry of a slot in the list, or NULL. */
static struct pending *pending_find(struct ring *r, unsigned nr, uint64_t idx)
{
	unsigned lo = search(nr, i, r->pending[i].idx < idx);

	return lo < nr && r->pending[lo].idx == idx ? &r->pending[lo] : NULL;
}

static void pending_add(struct ring *r, uint64_t idx, int64_t now_ns)
{
	if (r->nr_pending == PENDING_MAX) {
		unsigned half = PENDING_MAX / 2;

		for (unsigned i = 0; i < half; i++)
			lose(r, &r->lost.uncommitted, 1 + r->pending[i].nr_orphans);
		memmove(r->pending, r->pending + half, half * sizeof(*r->pending));
		r->nr_pending = half;
	}
	r->pending[r->nr_pending++] = (struct pending){ idx, now_ns, 0 };
}

/*
 * Reads the event that starts at idx, whose first record is in recs[0].  Returns its number of
 * slots; 0: some are not written yet, or were overwritten; -1: no event starts there.
 */
static int event_read(const struct ring *r, uint64_t idx, uint64_t head, struct ldb_rec *recs)
{
	unsigned n = event_slots(recs[0].type);

	if (!n || head - idx < n)	/* an event's slots are reserved together */
		return -1;
	for (unsigned k = 1; k < n; k++) {
		if (!slot_read(r, idx + k, &recs[k]))
			return 0;
		if (cont_number(recs[k].type) != k)
			return -1;
	}
	return n;
}

static void hand_out(struct drain *d, struct ring *r, struct ldb_rec *recs)
{
	unsigned ring = r - d->rings;

	d->nr_events++;
	if (d->clock && ring >= d->first_kernel)
		kernel_clock_stamp(d->clock, recs, pack_type(recs[0].type)->has_begin);
	r->time = recs[0].tsc;
	if (r->is_cut) {
		r->is_cut = false;
		pack_lost(d->pack, recs[0].tsc);
	}
	pack_event(d->pack, ring, recs);
}

/* Copies up to nr slots from r->pos on, up to the first that is not written; returns how many. */
static unsigned slots_read(const struct ring *r, unsigned nr, struct ldb_rec *recs)
{
	for (unsigned i = 0; i < nr; i++) {
		__builtin_prefetch(&r->slots[(r->pos + i + AHEAD) & r->mask]);
		if (!slot_read(r, r->pos + i, &recs[i]))
			return i;
	}
	return nr;
}

/* Reads complete consecutive events, which is the usual case.  Stops at anything else. */
static void ring_run(struct drain *d, struct ring *r, uint64_t until)
{
	while (r->pos < until) {
		struct ldb_rec recs[AT_ONCE];
		unsigned nr = until - r->pos < AT_ONCE ? until - r->pos : AT_ONCE, i = 0;

		nr = slots_read(r, nr, recs);
		while (i < nr) {
			unsigned n = event_slots(recs[i].type), k = 1;

			while (k < n && i + k < nr && recs[i + k].type == LDB_EV_CONT + k)
				k++;
			if (k != n)
				break;
			hand_out(d, r, &recs[i]);
			i += n;
		}
		if (!i)
			return;
		r->pos += i;
	}
}

/*
 * Counts a continuation slot that was found alone: its event's first slot is in the list, was
 * overwritten, or is not valid.
 */
static void orphan(struct ring *r, uint64_t idx, unsigned k)
{
	struct pending *p = pending_find(r, r->nr_pending, idx - k);

	if (p)
		p->nr_orphans++;
	else if (idx - k < r->first)
		lose(r, &r->lost.overrun, 1);
	else
		lose(r, &r->lost.torn, 1);
}

/*
 * Handles an overwritten slot.  If it was the first one of an event, its continuation slots are
 * lost, too.
 */
static void lose_first(struct ring *r, uint64_t idx)
{
	lose(r, &r->lost.overrun, 1);
	r->first = idx + 1;
}

/* Reads the slot at r->pos, and the event that begins there, if any; advances r->pos. */
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
		hand_out(d, r, recs);
	} else if (n < 0) {
		lose(r, &r->lost.torn, 1);
	} else if (is_overwritten(r, idx)) {
		lose_first(r, idx);
	} else {
		pending_add(r, idx, now_ns);
	}
}

/*
 * Reads the slots in the list again.  Those that are still not written remain, unless they are too
 * old, or `last` is set.
 */
static void ring_retry(struct drain *d, struct ring *r, uint64_t head, int64_t now_ns, bool last)
{
	uint64_t taken = 0;	/* earlier slots belong to an event that was passed on here */
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
			hand_out(d, r, recs);
		} else if (n < 0) {
			lose(r, &r->lost.torn, 1 + p.nr_orphans);
		} else if (is_overwritten(r, p.idx)) {
			lose(r, &r->lost.overrun, 1 + p.nr_orphans);
		} else if (last || now_ns - p.since_ns > PENDING_MAX_NS) {
			lose(r, &r->lost.uncommitted, 1 + p.nr_orphans);
		} else {
			r->pending[kept++] = p;
		}
	}
	r->nr_pending = kept;
}

/*
 * Determines the end of this pass, and reads the slots in the list again.  Returns how full the
 * ring is, in 1/1000.
 */
static unsigned ring_begin(struct drain *d, struct ring *r, int64_t now_ns)
{
	uint64_t behind;

	r->head = order_ring_head(r->hdr);
	behind = r->head - r->pos;
	if (behind > r->size) {
		uint64_t lost = behind - r->size;

		/* Only the program can make a head go back, or jump ahead. */
		if (behind > UINT64_MAX / 2) {
			lose(r, &r->lost.torn, 1);
			lost = behind;
		} else {
			lose(r, &r->lost.overrun, lost);
		}
		r->pos += lost;
		r->first = r->pos;
		behind = r->head - r->pos;
	}
	if (r->nr_pending)
		ring_retry(d, r, r->head, now_ns, false);
	return behind * 1000 / r->size;
}

static void ring_read(struct drain *d, struct ring *r, uint64_t nr, int64_t now_ns)
{
	uint64_t until = r->head - r->pos < nr ? r->head : r->pos + nr;

	while (r->pos < until) {
		ring_run(d, r, until);
		if (r->pos < until)
			ring_step(d, r, r->head, now_ns);
	}
}

/* Returns the ring with the oldest unread events; NULL: this pass has read all rings. */
static struct ring *ring_behind(const struct drain *d)
{
	struct ring *behind = NULL;

	for (unsigned i = 0; i < d->nr_rings; i++) {
		struct ring *r = &d->rings[i];

		if (r->pos < r->head && (!behind || r->time < behind->time))
			behind = r;
	}
	return behind;
}

/*
 * If many rings contain many events, the ring with the oldest ones is always read next.  So the
 * number of rows that must be retained for sorting remains small.
 */
static void read_rings(struct drain *d, int64_t now_ns)
{
	uint64_t slice = SLICE_ALL / d->nr_rings;
	struct ring *r;

	if (slice < SLICE_MIN)
		slice = SLICE_MIN;
	for (unsigned i = 0; i < d->nr_rings; i++)
		ring_read(d, &d->rings[i], slice, now_ns);
	while ((r = ring_behind(d))) {
		/* All older events of all rings have been read. */
		pack_release(d->pack, r->time);
		ring_read(d, r, slice, now_ns);
	}
}

/*
 * Called after the heads of all rings were read: all events of this pass were stamped before now,
 * so their times are between two samples of the clock.
 */
static void sample_clock(struct drain *d)
{
	if (!d->clock || d->first_kernel == d->nr_rings)
		return;
	kernel_clock_sample(d->clock, true);
	chains_set_error(pack_chains(d->pack), kernel_clock_err(d->clock));
}

unsigned drain_pass(struct drain *d, int64_t now_ns)
{
	unsigned fullest = 0;

	for (unsigned i = 0; i < d->nr_rings; i++) {
		unsigned fill = ring_begin(d, &d->rings[i], now_ns);

		if (fill > fullest)
			fullest = fill;
	}
	sample_clock(d);
	read_rings(d, now_ns);
	return fullest;
}

void drain_finish(struct drain *d, int64_t now_ns)
{
	drain_pass(d, now_ns);
	for (unsigned i = 0; i < d->nr_rings; i++)
		ring_retry(d, &d->rings[i], d->rings[i].head, now_ns, true);
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
