// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probes of block_bio_queue, block_rq_complete and block_bio_complete record requests to block
 * devices by observed threads, and by kernel threads, which may write the data of threads that call
 * fsync().
 *
 * The thread is known when a bio is inserted into the device's queue; the duration is known when the
 * bio is completed, in an interrupt.  In between, the bio has an entry in a table of the session.
 * The block layer completes only bios that were inserted, so the entry that is found at the end is
 * complete; the exchanges, which are full barriers, separate one use of an entry from the next.
 */
#include <linux/blk-mq.h>
#include <linux/bio.h>
#include "event.h"
#include "probes.h"

#if LDB_HAVE_DISKS

#define FLIGHT_PROBES	8
#define FLIGHT_BUSY	((void *)1)
#define FLIGHT_OLD_S	60	/* an older entry is reused: the end of its bio was missed */

static struct ldb_flight *flight_at(struct ldb_session *s, const struct bio *bio, u32 n)
{
	return &s->flights[(hash_ptr(bio, LDB_FLIGHT_BITS) + n) % (1 << LDB_FLIGHT_BITS)];
}

static bool is_old(const struct ldb_session *s, struct ldb_flight *f, u64 now)
{
	return now - READ_ONCE(f->begin) > FLIGHT_OLD_S * ldb_clock_hz(s->clock);
}

/*
 * Reserves a free or obsolete entry.  If there is none, returns NULL, and counts the bio as lost.
 */
static struct ldb_flight *take_flight(struct ldb_session *s, struct bio *bio, u64 now)
{
	u32 n;

	for (n = 0; n < FLIGHT_PROBES; n++) {
		struct ldb_flight *f = flight_at(s, bio, n);
		void *was = READ_ONCE(f->bio);

		if (was == FLIGHT_BUSY || (was && was != bio && !is_old(s, f, now)))
			continue;
		if (cmpxchg(&f->bio, was, FLIGHT_BUSY) == was)
			return f;
	}
	ldb_emit(ldb_this_cpu(s), now, 0, LDB_EV_LOST, 0, 1, smp_processor_id());
	return NULL;
}

static u32 op_of(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return LDB_DISK_READ;
	case REQ_OP_WRITE:
		return bio->bi_iter.bi_size ? LDB_DISK_WRITE : LDB_DISK_FLUSH;
	case REQ_OP_FLUSH:
		return LDB_DISK_FLUSH;
	default:
		return LDB_DISK_OTHER;
	}
}

/* Records the start of a bio; t is NULL if current is a kernel thread. */
static void begins(struct ldb_session *s, const struct ldb_thread *t, struct bio *bio)
{
	u64 now = ldb_clock_now(s->clock);
	u32 tid = t ? t->tid : ldb_name_other(ldb_this_cpu(s), current, now).tid;
	struct ldb_flight *f = tid ? take_flight(s, bio, now) : NULL;

	if (!f)
		return;
	WRITE_ONCE(f->begin, now);
	f->tid = tid;
	f->flags = op_of(bio) | (t ? LDB_DISK_F_OWN : 0);
	f->bytes = bio->bi_iter.bi_size;
	memset(f->name, 0, sizeof(f->name));
	if (bio->bi_bdev)
		memcpy(f->name, bio->bi_bdev->bd_disk->disk_name,
		       strnlen(bio->bi_bdev->bd_disk->disk_name, sizeof(f->name)));
	xchg(&f->bio, bio);
}

static void begins_of_kernel(struct bio *bio)
{
	struct ldb_session *s;

	list_for_each_entry_rcu(s, &ldb_bound, bound)
		if (ldb_wants(s, LDB_GROUP_DISK) && s->sees_others && !READ_ONCE(s->dead))
			begins(s, NULL, bio);
}

void ldb_probe_bio_queue(void *unused, struct bio *bio)
{
	struct ldb_thread *t;

	/* In an interrupt, the bio does not belong to the interrupted thread. */
	if (!in_task())
		return;
	preempt_disable_notrace();
	rcu_read_lock();
	t = ldb_observed_current();
	if (t && ldb_wants(t->s, LDB_GROUP_DISK))
		begins(t->s, t, bio);
	else if (!t && current->flags & PF_KTHREAD)
		begins_of_kernel(bio);
	rcu_read_unlock();
	preempt_enable_notrace();
}

static void ends(struct ldb_session *s, struct ldb_flight *f, const struct bio *bio,
		 bool failed)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	struct ldb_flight was = *f;
	u64 now, idx, name[2];

	if (cmpxchg(&f->bio, (void *)bio, NULL) != bio)
		return;
	memcpy(name, was.name, sizeof(name));
	now = ldb_clock_now(s->clock);
	idx = ldb_reserve(sc, 2);
	ldb_put(sc, idx, now, was.tid, LDB_EV_DISK,
		was.flags | (failed ? LDB_DISK_F_FAILED : 0), was.begin, was.bytes);
	ldb_put(sc, idx + 1, name[0], 0, LDB_EV_CONT + 1, 0, name[1], 0);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

static void ends_in(struct ldb_session *s, const struct bio *bio, bool failed)
{
	u32 n;

	for (n = 0; n < FLIGHT_PROBES; n++) {
		struct ldb_flight *f = flight_at(s, bio, n);

		if (READ_ONCE(f->bio) != bio)
			continue;
		ends(s, f, bio, failed);
		return;
	}
}

/* Records the end of a bio in all sessions.  Called with preemption off. */
static void ends_in_all(const struct bio *bio, bool failed)
{
	struct ldb_session *s;

	rcu_read_lock();
	list_for_each_entry_rcu(s, &ldb_bound, bound)
		if (ldb_wants(s, LDB_GROUP_DISK))
			ends_in(s, bio, failed);
	rcu_read_unlock();
}

/* For request-based devices the kernel reports the end of a request, but not of its bios. */
void ldb_probe_rq_complete(void *unused, struct request *rq, blk_status_t error,
			   unsigned int nr_bytes)
{
	const struct bio *bio;

	preempt_disable_notrace();
	for (bio = rq->bio; bio && bio->bi_iter.bi_size <= nr_bytes; bio = bio->bi_next) {
		nr_bytes -= bio->bi_iter.bi_size;
		ends_in_all(bio, error);
	}
	preempt_enable_notrace();
}

void ldb_probe_bio_complete(void *unused, struct request_queue *q, struct bio *bio)
{
	preempt_disable_notrace();
	ends_in_all(bio, bio->bi_status);
	preempt_enable_notrace();
}

#endif /* LDB_HAVE_DISKS */
