// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program logs the truth: it stamps its own invocations with rdtsc and logs them with their
 * generations, so that tests/e2e/truth-check.c can compare the trace with them one by one.
 *
 * truth SECONDS LOGFILE
 *
 * before <= entry <= t0 <= ... <= t1 <= exit <= after, where entry and exit are the times at which
 * the frame record is linked and unlinked.
 */
#include <algorithm>
#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
#include <sys/syscall.h>
#include <unistd.h>
#include <ldb/abi.h>

extern __thread struct ldb_thread __ldb_thread;

#define NEVER	__attribute__((no_instrument_function, always_inline)) static inline
#define KEEP	__attribute__((noinline, noclone))

enum { F_LEAF, F_RECURSE, F_COMPARE, F_POINTED, F_THROWER, F_CATCHER, F_JUMPER, F_SETTER,
       F_SORTER, F_MIDDLE, NR_FUNCS };

struct entry {
	uint64_t gen, before, t0, t1, after;
	uint32_t fn, tid;
};

struct total {			/* one per thread */
	uint64_t first_gen, last_gen, start, end;
	uint32_t tid, pad;
};

struct logfile_header {
	char magic[8];
	uint64_t tsc_hz, nr_entries, nr_totals, func[NR_FUNCS];
};

#define LOG_MAX		(1 << 20)

struct log {
	entry *e;
	size_t nr;
	uint32_t tid;
	uint64_t rng;
};

static thread_local log *mine;
static double ticks_per_ns;
static std::mutex out_lock;
static std::vector<entry> all;
static std::vector<total> totals;
static std::atomic<unsigned> dropped;

/*
 * A store is visible to other CPUs only when it leaves the store buffer, and rdtsc does not wait
 * for that.  With the fence a stamp means that all earlier stores are visible, and the trace must
 * agree without any tolerance; without it (LDB_TRUTH_UNFENCED) the difference shows how late
 * visibility can be.
 */
static bool fenced = true;

/* With LDB_TRUTH_MONOTONIC the trace will be in CLOCK_MONOTONIC, so these stamps must be, too. */
static bool monotonic;

NEVER uint64_t now()
{
	uint32_t lo, hi;

	if (fenced)
		__asm__ volatile("mfence" : : : "memory");
	if (monotonic) {
		timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		__asm__ volatile("lfence" : : : "memory");
		return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
	}

	__asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

NEVER uint64_t rnd(uint64_t n)
{
	mine->rng ^= mine->rng << 13;
	mine->rng ^= mine->rng >> 7;
	mine->rng ^= mine->rng << 17;
	return mine->rng % n;
}

NEVER void spin_until(uint64_t t)
{
	while (now() < t)
		;
}

/* This is called first in a function: gen is still the generation of this frame. */
NEVER entry *enter(uint32_t fn, uint64_t before)
{
	entry *e;

	if (mine->nr == LOG_MAX) {
		dropped++;
		mine->nr--;
	}
	e = &mine->e[mine->nr++];
	e->t0 = now();
	e->gen = __ldb_thread.gen >> LDB_GEN_SHIFT;
	e->fn = fn;
	e->tid = mine->tid;
	e->before = before;
	e->t1 = 0;
	e->after = 0;
	return e;
}

/*
 * The following longjmp() ends this invocation and those of the same function that called it: none
 * of them returns.
 */
NEVER void leave_all(entry *e)
{
	uint32_t fn = e->fn;
	uint64_t t = now();

	for (; e >= mine->e && e->fn == fn && !e->t1; e--)
		e->t1 = t;
}

/* Makes a call, and records in the entry of the called function that it has returned. */
#define CALL(call) do { size_t i_ = mine->nr; call; mine->e[i_].after = now(); } while (0)

KEEP static void leaf(uint64_t ns, uint64_t before)
{
	entry *e = enter(F_LEAF, before);

	spin_until(e->t0 + ns * ticks_per_ns);
	e->t1 = now();
}

KEEP static void middle(uint64_t ns, uint64_t before)
{
	entry *e = enter(F_MIDDLE, before);

	for (int i = 0; i < 3; i++)
		CALL(leaf(ns / 3, now()));
	e->t1 = now();
}

KEEP static void recurse(unsigned depth, uint64_t ns, uint64_t before)
{
	entry *e = enter(F_RECURSE, before);

	if (depth)
		CALL(recurse(depth - 1, ns, now()));
	spin_until(now() + ns * ticks_per_ns);
	e->t1 = now();
}

static uint64_t compare_ns;

KEEP static int compare(const void *a, const void *b)
{
	entry *e = enter(F_COMPARE, 0);
	int r = *(const int *)a - *(const int *)b;

	spin_until(e->t0 + compare_ns * ticks_per_ns);
	e->t1 = now();
	return r;
}

KEEP static void sorter(uint64_t before)
{
	entry *e = enter(F_SORTER, before);
	int v[12];

	for (int &x : v)
		x = rnd(1000);
	qsort(v, 12, sizeof(int), compare);
	e->t1 = now();
}

KEEP static void pointed(uint64_t ns, uint64_t before)
{
	entry *e = enter(F_POINTED, before);

	spin_until(e->t0 + ns * ticks_per_ns);
	e->t1 = now();
}

KEEP static void thrower(unsigned depth, uint64_t ns, uint64_t before)
{
	entry *e = enter(F_THROWER, before);

	if (depth)
		thrower(depth - 1, ns, now());
	spin_until(now() + ns * ticks_per_ns);
	leave_all(e);
	throw std::runtime_error("on purpose");
}

KEEP static void catcher(uint64_t ns, uint64_t before)
{
	entry *e = enter(F_CATCHER, before);
	size_t i = mine->nr;

	try {
		thrower(rnd(4), ns, now());
	} catch (const std::exception &) {
		uint64_t t = now();

		/* deeper functions end by an exception, and do not return */
		for (; i < mine->nr; i++)
			mine->e[i].after = t;
	}
	spin_until(now() + ns * ticks_per_ns);
	e->t1 = now();
}

static thread_local jmp_buf env;

KEEP static void jumper(unsigned depth, uint64_t ns, uint64_t before)
{
	entry *e = enter(F_JUMPER, before);

	if (depth)
		jumper(depth - 1, ns, now());
	spin_until(now() + ns * ticks_per_ns);
	leave_all(e);
	longjmp(env, 1);
}

KEEP static void setter(uint64_t ns, uint64_t before)
{
	entry *e = enter(F_SETTER, before);
	volatile size_t i = mine->nr;

	if (!setjmp(env))
		jumper(rnd(4), ns, now());
	for (uint64_t t = now(); i < mine->nr; i = i + 1)
		mine->e[i].after = t;
	spin_until(now() + ns * ticks_per_ns);
	e->t1 = now();
}

typedef void (*spinner)(uint64_t, uint64_t);
static volatile spinner table[] = { leaf, pointed, middle };

/* Draws a time from 300 ns to max_ns; long times are rare. */
NEVER uint64_t some_ns(uint64_t max_ns)
{
	uint64_t ns = 300;

	while (ns < max_ns && rnd(3))
		ns = ns * 3 / 2 + rnd(100);
	return std::min(ns, max_ns);
}

__attribute__((no_instrument_function, noinline)) static void mix(uint64_t until, uint64_t max_ns)
{
	while (now() < until && mine->nr < LOG_MAX - 1000) {
		uint64_t ns = some_ns(max_ns);

		switch (rnd(8)) {
		case 0: case 1:
			CALL(leaf(ns, now()));
			break;
		case 2:
			CALL(recurse(rnd(30), some_ns(20000), now()));
			break;
		case 3:
			compare_ns = some_ns(5000);
			CALL(sorter(now()));
			break;
		case 4: case 5:
			CALL(table[rnd(3)](ns, now()));
			break;
		case 6:
			CALL(catcher(some_ns(50000), now()));
			break;
		case 7:
			CALL(setter(some_ns(50000), now()));
			break;
		}
	}
}

__attribute__((no_instrument_function)) static void session(uint64_t until, uint64_t max_ns, uint64_t seed)
{
	log l;
	total t;

	l.e = (entry *)malloc(LOG_MAX * sizeof(entry));
	l.nr = 0;
	l.tid = syscall(SYS_gettid);
	l.rng = seed * 0x9e3779b97f4a7c15ULL | 1;
	mine = &l;
	t.tid = l.tid;
	t.first_gen = __ldb_thread.gen >> LDB_GEN_SHIFT;
	t.start = now();
	mix(until, max_ns);
	t.end = now();
	t.last_gen = __ldb_thread.gen >> LDB_GEN_SHIFT;
	std::lock_guard<std::mutex> g(out_lock);
	all.insert(all.end(), l.e, l.e + l.nr);
	totals.push_back(t);
	free(l.e);
}

__attribute__((no_instrument_function)) static void calibrate()
{
	timespec a, b;
	uint64_t t = now();

	clock_gettime(CLOCK_MONOTONIC_RAW, &a);
	usleep(20000);
	uint64_t u = now();
	clock_gettime(CLOCK_MONOTONIC_RAW, &b);
	ticks_per_ns = (double)(u - t) / ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec);
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	const char *path = argc > 2 ? argv[2] : "truth.log";

	fenced = !getenv("LDB_TRUTH_UNFENCED");
	monotonic = getenv("LDB_TRUTH_MONOTONIC");
	calibrate();
	uint64_t start = now(), end = start + seconds * 1e9 * ticks_per_ns;

	session(start + (end - start) / 2, 10000000, 1);
	for (unsigned i = 0; now() < end; i++) {
		std::thread t([&, i] {
			session(now() + (2 + i % 7) * 1000000 * ticks_per_ns, 100000, i + 2);
		});
		t.join();
	}

	logfile_header h = { { 'L', 'D', 'B', 'T', 'R', 'U', 'T', 'H' },
		(uint64_t)(ticks_per_ns * 1e9), all.size(), totals.size(),
		{ (uint64_t)leaf, (uint64_t)recurse, (uint64_t)compare, (uint64_t)pointed,
		  (uint64_t)thrower, (uint64_t)catcher, (uint64_t)jumper, (uint64_t)setter,
		  (uint64_t)sorter, (uint64_t)middle } };
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(&h, sizeof(h), 1, f) != 1 ||
	    fwrite(totals.data(), sizeof(total), totals.size(), f) != totals.size() ||
	    fwrite(all.data(), sizeof(entry), all.size(), f) != all.size() || fclose(f)) {
		perror(path);
		return 1;
	}
	printf("%zu invocations, %zu threads, %u dropped\n", all.size(), totals.size(), dropped.load());
	return dropped.load() != 0;
}
