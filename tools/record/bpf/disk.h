/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records requests to block devices by recorded threads, and by kernel threads, which write for
 * threads that call fsync().
 *
 * The thread is known when a bio is inserted into the device's queue.  The duration is known when
 * the bio is completed, in an interrupt.  In between the bio has an entry in flights[].  For a bio
 * of another program, the first event costs a few comparisons, and each completion a search of
 * FLIGHT_PROBES entries.
 */
#ifndef RECORD_BPF_DISK_H
#define RECORD_BPF_DISK_H

#include "sched.h"

#define FLIGHTS_MAX	4096	/* a power of two */
#define FLIGHT_PROBES	8
#define FLIGHT_BUSY	1
#define BIOS_MAX	32	/* bios of one request; the completion of further ones is missed */
#define FLIGHT_OLD_NS	60000000000ULL	/* of an older entry, the completion was missed */

struct flight {
	u64 bio;		/* 0: free; FLIGHT_BUSY: being filled in */
	u64 begin;
	u32 tid, flags, bytes, pad;
	u64 name[2];
} flights[FLIGHTS_MAX];

/*
 * Returns an argument of the tracepoint as a pointer whose type the kernel does not know: with
 * others it allows no arithmetic.
 */
static __always_inline void *pointer_arg(u64 *ctx, u32 n)
{
	void *value = NULL;

	bpf_probe_read_kernel(&value, sizeof(value), ctx + n);
	return value;
}

static __always_inline struct flight *flight_at(u64 bio, u32 n)
{
	return &flights[((bio >> 6) + n) & (FLIGHTS_MAX - 1)];
}

static __always_inline struct flight *take_flight(u64 bio, u64 now)
{
	for (u32 n = 0; n < FLIGHT_PROBES; n++) {
		struct flight *f = flight_at(bio, n);
		u64 was = *(volatile u64 *)&f->bio;

		if (was == FLIGHT_BUSY || (was && was != bio && now - f->begin < FLIGHT_OLD_NS))
			continue;
		if (__sync_val_compare_and_swap(&f->bio, was, FLIGHT_BUSY) == was)
			return f;
	}
	__sync_fetch_and_add(&state.nr_unwritten, 1);
	return NULL;
}

static __always_inline u32 disk_op(u32 opf, u32 bytes)
{
	u32 op = opf & BIO_OP_MASK;

	if (op == BIO_READ)
		return LDB_DISK_READ;
	if (op == BIO_FLUSH || (op == BIO_WRITE && !bytes))
		return LDB_DISK_FLUSH;
	return op == BIO_WRITE ? LDB_DISK_WRITE : LDB_DISK_OTHER;
}

static noinline void disk_begins(struct bio *bio, struct task_struct *p, bool is_own)
{
	u64 now = now_ns();
	u32 tid = is_own ? member_tid(p, member_of(p)) : WHO_TID(other_task(p, now));
	struct flight *f = tid ? take_flight((u64)bio, now) : NULL;
	struct gendisk *disk = BPF_CORE_READ(bio, bi_bdev, bd_disk);
	u32 opf = 0;

	if (!f)
		return;
	bpf_core_read(&f->bytes, sizeof(f->bytes), &bio->bi_iter.bi_size);
	bpf_core_read(&opf, sizeof(opf), &bio->bi_opf);
	bpf_core_read(f->name, sizeof(f->name), &disk->disk_name);
	f->begin = now;
	f->tid = tid;
	f->flags = disk_op(opf, f->bytes) | (is_own ? LDB_DISK_F_OWN : 0);
	/*
	 * The bio is submitted after this program has ended, so its completion finds a complete
	 * entry.
	 */
	*(volatile u64 *)&f->bio = (u64)bio;
}

SEC("tp_btf/block_bio_queue")
int ldb_block_bio_queue(u64 *ctx)
{
	struct task_struct *p = bpf_get_current_task_btf();
	bool is_own = is_observed(p);

	if ((!is_own && !(p->flags & TASK_KERNEL)) || observed_tgid() < 0 ||
	    preempt_count(p) & (HARDIRQ_MASK | SOFTIRQ_OFFSET))
		return 0;
	disk_begins(pointer_arg(ctx, 0), p, is_own);
	return 0;
}

static noinline void disk_ends(struct flight *f, u32 status)
{
	u64 begin = f->begin, name0 = f->name[0], name1 = f->name[1];
	u32 tid = f->tid, flags = f->flags, bytes = f->bytes;

	*(volatile u64 *)&f->bio = 0;
	if (observed_tgid() >= 0)
		emit2(now_ns(), tid, LDB_EV_DISK, flags | (status ? LDB_DISK_F_FAILED : 0), begin, bytes,
		      name0, name1);
}

static __always_inline void disk_ends_of(struct bio *bio, u32 status)
{
	for (u32 n = 0; n < FLIGHT_PROBES; n++) {
		struct flight *f = flight_at((u64)bio, n);

		if (*(volatile u64 *)&f->bio != (u64)bio)
			continue;
		disk_ends(f, status);
		break;
	}
}

/* Devices with request queues report the end of a request, and not the ends of its bios. */
SEC("tp_btf/block_rq_complete")
int ldb_block_rq_complete(u64 *ctx)
{
	struct request *rq = pointer_arg(ctx, 0);
	struct bio *bio = BPF_CORE_READ(rq, bio);
	u32 rest = ctx[2];

	for (u32 n = 0; n < BIOS_MAX && bio; n++) {
		u32 bytes = BPF_CORE_READ(bio, bi_iter.bi_size);

		if (bytes > rest)
			break;
		rest -= bytes;
		disk_ends_of(bio, ctx[1]);
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

SEC("tp_btf/block_bio_complete")
int ldb_block_bio_complete(u64 *ctx)
{
	struct bio *bio = pointer_arg(ctx, 1);

	disk_ends_of(bio, BPF_CORE_READ(bio, bi_status));
	return 0;
}

#endif
