// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests when the recorder converts the times of kernel events: each must be between two samples of
 * the clocks.  Two samples that are close together say little about the clocks' rates, so the test
 * makes these very different: the kernel's clock is the test's own, and its rate changes after the
 * last sample that the source of the events has taken.
 */
#include <sys/mman.h>
#include <time.h>
#include "arch/cpu.h"
#include "record/rows/drain.h"
#include "trace-sample.h"

#define ORDER		10
#define STRIDE		(LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << ORDER))
#define WAIT_TICKS	2000000		/* a millisecond, about */
#define ERROR		(WAIT_TICKS / 10)
#define TID		500

/* The kernel's clock: ns_at is its time at tick_at, and since then its rate is constant. */
static uint64_t tick_at, ns_at, rate = 1, last_tick;

static uint64_t kernel_ns(uint64_t tick)
{
	return ns_at + (tick - tick_at) * rate;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	uint64_t ns;

	last_tick = cpu_stamp();
	ns = kernel_ns(last_tick);
	*ts = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return 0;
}

/* The rate changes at the last reading of the clock, so that no time passes in between. */
static void change_rate(uint64_t to)
{
	ns_at = kernel_ns(last_tick);
	tick_at = last_tick;
	rate = to;
}

static uint64_t wait_a_little(void)
{
	uint64_t begin = cpu_stamp(), now = begin;

	while (now - begin < WAIT_TICKS)
		now = cpu_stamp();
	return now;
}

static void put(void *ring, uint64_t stamp)
{
	struct ldb_ring_hdr *hdr = ring;
	struct ldb_rec *slots = (void *)((char *)ring + LDB_RING_HDR_SIZE);
	struct ldb_rec rec = { .tsc = stamp, .tid = TID, .type = LDB_EV_WAKEUP };
	uint64_t idx = hdr->head++;

	rec.commit = (uint32_t)(idx + 1) ^ ldb_rec_hash(&rec);
	slots[idx & ((1 << ORDER) - 1)] = rec;
}

static int64_t tick_in(const char *path, size_t *nr)
{
	struct cursor *cursor;
	struct reader_rows in;
	struct reader *r;
	int64_t tick = 0;
	char err[256];

	r = reader_open(path, err, sizeof(err));
	if (!r)
		bail_out(err);
	*nr = 0;
	cursor = reader_cursor(r, LDB_BLK_SCHED, NULL);
	while (cursor && cursor_next(cursor, &in) > 0) {
		*nr += in.nr;
		tick = in.sched[0].tick;
	}
	cursor_close(cursor);
	reader_close(r);
	return tick;
}

/* The recorder, as far as it is needed to read the kernel's rings. */
static struct session session;
static struct writer *w;
static struct pack *pack;
static struct kernel_clock *kernel_clock;
static struct drain *drain;
static void *rings;

static void begin(const char *path, uint64_t t0)
{
	char err[256];

	if (session_open(&session, 1 << 20, 1, LDB_CLOCK_TSC, 1000000000))
		bail_out("session_open");
	rings = mmap(NULL, STRIDE * session.info.nr_cpus, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (rings == MAP_FAILED)
		bail_out("mmap");
	session_add_kernel_rings(&session, rings, STRIDE, ORDER);
	w = writer_open(path, &sample_header, err, sizeof(err));
	pack = w ? pack_alloc(&session, w, t0, 0, 0) : NULL;
	kernel_clock = kernel_clock_alloc(LDB_CLOCK_TSC, CLOCK_MONOTONIC, t0, 0);
	drain = pack && kernel_clock ? drain_alloc(&session, pack, kernel_clock) : NULL;
	if (!drain)
		bail_out("cannot begin");
}

static void end(void)
{
	pack_finish(pack);
	pack_free(pack);
	writer_close(w);
	drain_free(drain);
	kernel_clock_free(kernel_clock);
	session_close(&session);
}

static void test_conversion(const char *path)
{
	uint64_t t0 = cpu_stamp(), at;
	int64_t error;
	size_t nr;

	tick_at = t0;
	begin(path, t0);
	wait_a_little();
	kernel_clock_sample(kernel_clock, true);
	change_rate(2);
	at = wait_a_little();
	put(rings, kernel_ns(at));
	wait_a_little();
	drain_pass(drain, 0);
	end();
	error = tick_in(path, &nr) - (int64_t)(at - t0);
	is_int(nr, 1, "an event of the kernel is read");
	ok(error < ERROR && error > -ERROR, "its time is between two samples of the clocks: %ld ticks off", (long)error);
}

int main(void)
{
	char path[] = "/tmp/ldb-drain.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("mkstemp");
	close(fd);
	test_conversion(path);
	unlink(path);
	return done();
}
