// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the kernel's counters of threads if there are no kernel events.  (raw thread)
 *
 * A thread whose chain of frame records does not change may compute, wait for a CPU or sleep.  The
 * kernel counts how long each thread has run, how long it has waited for a CPU, and how often it
 * was switched to one; users can read these counters of their own processes.  The counters are read
 * when a thread's chain has not changed for some time, at intervals after that, and when it changes
 * again.  The analysis infers what happened between two readings (tools/facts/counters.c).
 *
 * The CPU clock of a thread is exact, also while the thread runs; if two readings differ, it runs.
 * The other counters are in a file, which for the first 256 threads stays open in the scanners'
 * file table, where the program does not find it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <time.h>
#include "scan.h"

/* number of files that stay open; the files of further threads are opened each time */
#define FILES_MAX	256
#define OUTSIDE		8		/* intervals until a thread in no request is read */
#define STEPS		8		/* readings while the time without a change about doubles */
#define STATUS_SIZE	4096		/* twice the usual size of the file */

static struct {
	uint32_t tid;			/* 0: none is open */
	int fd;
} files[FILES_MAX];

/* Returns true if /proc belongs to the program's own pid namespace. */
static bool has_proc(void)
{
	char link[32];
	long n = sys(SYS_readlinkat, AT_FDCWD, "/proc/self", link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	return raw_number(link) == sys(SYS_getpid);
}

bool schedstat_init(void)
{
	memset(files, 0, sizeof(files));
	if (!session.schedstat_after || has_proc())
		return true;
	session.schedstat_after = 0;
	return false;
}

void schedstat_end(void)
{
	for (unsigned i = 0; i < FILES_MAX; i++)
		if (files[i].tid)
			sys(SYS_close, files[i].fd);
	memset(files, 0, sizeof(files));
}

void schedstat_thread_new(struct scan_state *st)
{
	st->ran = 0;
	st->is_counted = false;
	st->known_left = UINT32_MAX;
	st->state = LDB_STATE_UNKNOWN;
	st->count_at = session.schedstat_after ? st->changed + session.schedstat_after : UINT64_MAX;
}

static long read_kept(uint32_t slot, uint32_t tid, char *buf, size_t size)
{
	long n;

	if (files[slot].tid != tid) {
		if (files[slot].tid)
			sys(SYS_close, files[slot].fd);
		n = raw_task_open(tid, "schedstat");
		files[slot].tid = n < 0 ? 0 : tid;
		files[slot].fd = n;
		if (n < 0)
			return n;
	}
	n = sys(SYS_pread64, files[slot].fd, buf, size - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/* "3989064 4567610 2": ns on a CPU, ns waiting for a CPU, number of times switched to a CPU. */
static bool parse(const char *text, uint64_t v[3])
{
	for (int i = 0; i < 3; i++, text++) {
		const char *begin = text;

		for (v[i] = 0; *text >= '0' && *text <= '9'; text++)
			v[i] = v[i] * 10 + (*text - '0');
		if (text == begin || (*text != ' ' && *text != '\n'))
			return false;
	}
	return true;
}

static bool read_counters(const struct scan_state *st, uint64_t v[3])
{
	uint32_t tid = st->t->tid, slot = st->t->slot;
	char buf[96];
	long n = slot < FILES_MAX ? read_kept(slot, tid, buf, sizeof(buf)) :
				    raw_task_read(tid, "schedstat", buf, sizeof(buf));

	return n > 0 && parse(buf, v);
}

/*
 * Returns the CPU clock of a thread, which is exact even while the thread runs; 0: the thread has
 * ended.
 */
static uint64_t cpu_clock(uint32_t tid)
{
	/* CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED */
	clockid_t clock = ~(clockid_t)tid * 8 | 6;
	struct timespec ts;

	if (sys(SYS_clock_gettime, clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static unsigned state_of(char letter)
{
	switch (letter) {
	case 'R': return LDB_STATE_RUNNING;
	case 'S': return LDB_STATE_SLEEPING;
	case 'D': return LDB_STATE_DISK;
	case 'T': return LDB_STATE_STOPPED;
	case 't': return LDB_STATE_TRACED;
	case 'I': return LDB_STATE_IDLE;
	default: return LDB_STATE_UNKNOWN;
	}
}

/*
 * Returns the text after a line's start that consists of a name and a tab; NULL: there is no such
 * line.
 */
static const char *value_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (; *text; text++) {
		if (!memcmp(text, name, n) && text[n] == '\t')
			return text + n + 1;
		while (*text && *text != '\n')
			text++;
	}
	return NULL;
}

/*
 * Reads the state of a thread that is off its CPU, and how often it has slept.  The kernel prints a
 * long text for this, so it is read only once after each time that the thread has left its CPU.
 */
static bool read_status(struct scan_state *st, uint32_t *nr_sleeps)
{
	char buf[STATUS_SIZE];
	const char *state, *sleeps;

	st->state = LDB_STATE_UNKNOWN;
	if (raw_task_read(st->t->tid, "status", buf, sizeof(buf)) <= 0)
		return false;
	state = value_of(buf, "State:");
	sleeps = value_of(buf, "voluntary_ctxt_switches:");
	if (state)
		st->state = state_of(*state);
	for (*nr_sleeps = 0; sleeps && *sleeps >= '0' && *sleeps <= '9'; sleeps++)
		*nr_sleeps = *nr_sleeps * 10 + (*sleeps - '0');
	return sleeps;
}

struct counters {
	uint64_t v[3];			/* see parse() */
	uint64_t run;			/* CPU clock */
	bool is_on;			/* the thread is running */
};

/* Returns false if the counters cannot be read, usually because the thread has ended. */
static bool read_all(const struct scan_state *st, struct counters *c)
{
	uint64_t before = cpu_clock(st->t->tid);
	bool ok = read_counters(st, c->v);

	c->run = cpu_clock(st->t->tid);
	c->is_on = c->run != before;
	return ok && before && c->run;
}

/*
 * Reads the number of sleeps if the thread has left its CPU since the number was last read.  It is
 * valid only if the thread has not run since the other counters were read.
 */
static bool read_sleeps(struct scan_state *st, const struct counters *c, uint32_t *nr_sleeps)
{
	uint32_t left = c->v[2] - c->is_on;
	struct counters after;

	if (left == st->known_left || !read_status(st, nr_sleeps))
		return false;
	if (!read_all(st, &after) || after.v[2] != c->v[2] || after.is_on != c->is_on) {
		st->state = LDB_STATE_UNKNOWN;
		return false;
	}
	st->known_left = left;
	return true;
}

static void read_thread(struct scanner *s, struct scan_state *st, unsigned flags)
{
	uint64_t begin = scan_stamp(), end, unc;
	uint32_t nr_sleeps = 0;
	struct counters c;
	struct ldb_rec r[2];
	bool ok = read_all(st, &c);

	end = scan_stamp();
	st->count_at = end + session.schedstat_after;
	if (!ok)
		return;
	if (read_sleeps(st, &c, &nr_sleeps))
		flags |= LDB_SCHEDSTAT_F_SLEEPS;
	flags |= c.is_on ? LDB_SCHEDSTAT_F_ON_CPU | LDB_STATE_RUNNING : st->state;
	unc = end - begin;
	r[0] = (struct ldb_rec){
		.tsc = end, .tid = st->t->tid, .type = LDB_EV_SCHEDSTAT, .flags = flags, .arg = c.run,
		.arg2 = unc < UINT32_MAX ? unc : UINT32_MAX,
	};
	r[1] = (struct ldb_rec){
		.tsc = st->ran, .tid = c.v[2], .type = LDB_EV_CONT + 1, .arg = c.v[1], .arg2 = nr_sleeps,
	};
	ring_write_scan(s->id, r, 2);
}

void schedstat_still(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	uint64_t after = session.schedstat_after, quiet = lo - st->changed;

	if (!after) {
		st->count_at = UINT64_MAX;
	} else if (quiet < after * OUTSIDE && !order_any_load(&st->t->in_request)) {
		st->count_at = st->changed + after * OUTSIDE;
	} else {
		read_thread(s, st, 0);
		st->is_counted = true;
		if (quiet / STEPS > after)
			st->count_at += quiet / STEPS - after;
	}
}

void schedstat_changed(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	st->ran = st->looked;
	if (unlikely(st->is_counted || lo - st->looked > session.schedstat_after))
		read_thread(s, st, st->is_counted ? 0 : LDB_SCHEDSTAT_F_UNSEEN);
	st->is_counted = false;
	st->count_at = st->changed + session.schedstat_after;
}
