// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests which threads the scanners poll: scan/watch.c alone, with threads of which only the entries
 * in the table exist, and a clock that advances by a microsecond with each stamp.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include "scan/scan.h"
#include "tap.h"

#define NR	24
#define US	1000ULL

struct session session;
static struct thread *_Atomic live_table[THREADS_MAX];
struct thread *_Atomic *_Atomic live = live_table;
_Atomic uint32_t nr_live;
_Atomic uint32_t nr_blocks;
intptr_t block_off[LDB_BLOCKS_MAX];
static struct scanner all_scanners[LDB_MAX_SCANNERS];
static struct scan_state all_states[SESSION_THREADS_MAX];

static struct thread threads[NR];
static struct ldb_page pages[NR];
static struct ldb_scan_stats stats[LDB_MAX_SCANNERS];
static unsigned looks[NR];
static bool is_running[NR];	/* each poll finds this thread changed */
/* until when the state of the thread was known when it was polled for the first time */
static uint64_t still_until[NR];
static uint64_t now;

uint64_t session_clock(void)
{
	return now += US;
}

uint64_t session_ticks(uint64_t ns)
{
	return ns;
}

void pace_stamp(struct scanner *s, uint64_t stamp)
{
	s->stamp = stamp;
}

void look(struct scanner *s, struct scan_state *st, uint64_t lo)
{
	unsigned n = st->t - threads;

	(void)s;
	if (!looks[n]++)
		still_until[n] = st->last_ok;
	st->failed = false;
	st->last_ok = lo;
	if (is_running[n])
		st->changed = lo;
}

static void begin(unsigned nr_scanners, unsigned nr)
{
	scanners = all_scanners;
	states = all_states;
	memset(&session, 0, sizeof(session));
	memset(looks, 0, sizeof(looks));
	memset(is_running, 0, sizeof(is_running));
	memset(pages, 0, sizeof(pages));
	memset(stats, 0, sizeof(stats));
	session.clock_id = LDB_CLOCK_MONO;
	session.device = -1;
	session.nr_scanners = nr_scanners;
	session.max_threads = NR;
	atomic_store(&nr_live, nr);
	for (unsigned i = 0; i < nr_scanners; i++) {
		scanners[i].id = i;
		scanners[i].stats = &stats[i];
		scanners[i].stamp = now;
		scanners[i].sharing = false;
		scanners[i].behind = true;	/* as a previous recording may leave it */
		watch_begin(&scanners[i]);
	}
	for (unsigned n = 0; n < nr; n++) {
		threads[n] = (struct thread){ .tid = 100 + n, .slot = n, .state = THREAD_LIVE };
		threads[n].scan = &states[n];
		states[n] = (struct scan_state){
			.t = &threads[n], .page = &pages[n], .place = -1, .reg_blocks = -1,
			.changed = now,
		};
		atomic_store(&live[n], &threads[n]);
	}
}

/* Runs the rounds of one stint, as scanner.c does. */
static void stint(struct scanner *s)
{
	watch_stint(s);
	for (unsigned i = 0; i < s->stint_rounds; i++)
		watch_round(s);
}

static void stints(unsigned nr)
{
	while (nr--)
		for (unsigned i = 0; i < session.nr_scanners; i++)
			stint(&scanners[i]);
}

static unsigned nr_of(unsigned scanner)
{
	unsigned nr = 0;

	for (unsigned n = 0; n < nr_live; n++)
		nr += states[n].scanner == scanner;
	return nr;
}

static void hands_over(void)
{
	begin(2, 6);
	for (unsigned n = 0; n < 6; n++)
		is_running[n] = true;
	stints(400);
	is_int(nr_of(0), 3, "six busy threads, all of one scanner: it keeps half");
	is_int(nr_of(1), 3, "it hands the other three over");
	is_int(stats[0].handed, 3, "threads that are handed over are counted");
	is_int(stats[1].handed, 0, "the other scanner hands none back");
	memset(looks, 0, sizeof(looks));
	stints(4);
	ok(looks[0] && looks[1] && looks[2] && looks[3] && looks[4] && looks[5],
	   "each is still polled");
}

static void keeps(void)
{
	begin(2, 6);
	ok(!scanners[0].behind && !scanners[1].behind, "a scanner that begins is not behind");
	is_running[0] = true;
	for (unsigned n = 0; n < 6; n++)
		states[n].changed = 0;
	stints(400);
	is_int(nr_of(0), 6, "one busy thread among idle ones stays where it is");
	begin(2, 2);
	is_running[0] = is_running[1] = true;
	states[0].settling = states[1].settling = true;
	stints(400);
	is_int(nr_of(0), 2, "a thread whose stack is about to be read is not handed over");
}

static void idle(void)
{
	begin(1, NR);
	is_running[3] = is_running[7] = true;
	stints(400);
	is_int(scanners[0].nr_active, 2, "of many threads those that run are active");
	memset(looks, 0, sizeof(looks));
	stints(20);
	ok(looks[3] >= 20 * scanners[0].stint_rounds && looks[7] == looks[3],
	   "active threads are polled in each round");
	ok(looks[0] > 0 && looks[0] < looks[3] / 10, "threads that do not run are polled rarely");
	is_running[0] = true;
	stints(8);
	is_int(scanners[0].nr_active, 3, "a thread that begins to run becomes active");
}

/* There are more running threads than fit into a round of a few microseconds. */
static void requests_first(void)
{
	unsigned in = 0, out = 0;

	begin(1, NR);
	for (unsigned n = 0; n < NR; n++)
		is_running[n] = true;
	stints(40);
	memset(looks, 0, sizeof(looks));
	stints(48);
	for (unsigned n = 0; n < NR; n++)
		out += looks[n] == looks[0];
	is_int(out, NR, "no thread is in a request: all are polled alike");
	for (unsigned n = 0; n < NR; n += 2)
		atomic_store(&threads[n].in_request, 1);
	stints(40);
	memset(looks, 0, sizeof(looks));
	stints(48);
	for (unsigned n = 0; n < NR; n++)
		*(n % 2 ? &out : &in) += looks[n];
	out -= NR;
	ok(in >= 3 * out && out > 0, "those in a request come first (%u polls), the others wait (%u)",
	   in, out);
}

/* The kernel module says which threads run: k_seq is odd while the thread is on a CPU. */
static void by_the_module(void)
{
	uint64_t came_back, before;

	begin(1, 2);
	session.device = open("/dev/null", O_RDONLY | O_CLOEXEC);
	session.nr_cpus = 0;
	for (unsigned n = 0; n < 2; n++) {
		states[n].reg_blocks = 0;
		pages[n].k_tid = threads[n].tid;
		pages[n].k_seq = 2;
	}
	stints(4);
	is_int(scanners[0].nr_active, 0, "threads that sleep are not active");
	memset(looks, 0, sizeof(looks));
	stints(50);
	is_int(looks[0] + looks[1], 0, "threads that sleep are not polled");
	ok(states[0].last_ok + 20 * US > now, "a thread that sleeps is known to be still");

	came_back = now + 20 * US;
	now += 50 * US;
	pages[0].k_seq = 3;
	pages[0].k_tsc_in = came_back;
	stints(2);
	ok(looks[0] > 0 && !looks[1], "only the thread that runs is polled");
	is_int(still_until[0], came_back, "the thread was still until it came back to a CPU");
	is_int(scanners[0].nr_active, 1, "a thread that came back is active");

	pages[0].k_seq = 4;
	stints(2);
	memset(looks, 0, sizeof(looks));
	stints(20);
	is_int(looks[0], 0, "a thread that sleeps again is not polled");
	before = states[0].last_ok;
	pages[0].k_seq = 7;	/* the thread was on the CPU, left it, and is on it again */
	pages[0].k_tsc_in = now + 20 * US;
	now += 50 * US;
	stints(2);
	ok(looks[0] > 0 && still_until[0] < before + 20 * US,
	   "after a time on the CPU that was missed, the thread was not still until it came back");

	pages[0].k_tid = 4711;
	memset(looks, 0, sizeof(looks));
	pages[0].k_seq = 8;
	stints(20);
	ok(looks[0] >= 20, "a page that belongs to another thread says nothing");
	close(session.device);
}

int main(void)
{
	now = 1000000 * US;
	hands_over();
	keeps();
	idle();
	requests_first();
	by_the_module();
	return done();
}
