// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what hostile programs can do to /dev/ldb; the generator (fuzz.h) makes them.  First, two
 * users have sessions while a third one runs such programs: each session may have only its own
 * threads.  Then several programs run at a time.
 *
 *	kmod-fuzz [SECONDS]		default LDB_FUZZ_SECONDS, or 10
 *	kmod-fuzz --replay CHAIN [TIMES]	prints one program, and runs it TIMES times
 *						(default 100)
 *
 * LDB_FUZZ_SEED: default is the time.  LDB_FUZZ_COVER=1 lists the code that was reached.  The
 * running programs are printed on the console, so that they are known even after a panic.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "dev.h"
#include "fuzz.h"
#include "tap.h"

#define NR_WORKERS	3
#define UNLOAD_MS	15000

struct fuzz_shared *fuzz;
int fuzz_box[FUZZ_BOXES][2];
static bool as_nobody;
static int console;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* After exec, the descriptors that were left open are tried. */
static int be_child(unsigned int ms)
{
	for (int fd = 3; fd < 12; fd++) {
		struct ldb_session_stats s;

		ioctl(fd, LDB_IOC_STATS, &s);
		ioctl(fd, LDB_IOC_JOIN);
	}
	msleep(ms);
	return 0;
}

/* Chooses a new program, or a retained one that is changed. */
static void choose(struct fuzz_chain *chain, uint64_t *r)
{
	unsigned int nr = __atomic_load_n(&fuzz->nr_corpus, __ATOMIC_ACQUIRE);

	if (nr > FUZZ_CORPUS)
		nr = FUZZ_CORPUS;
	chain->depth = 0;
	if (nr && fuzz_rnd(r) % 4)
		*chain = fuzz->corpus[fuzz_rnd(r) % nr];
	if (chain->depth == FUZZ_DEPTH)
		chain->depth = 0;
	chain->seed[chain->depth++] = fuzz_rnd(r);
}

static void keep(const struct fuzz_chain *chain)
{
	unsigned int n = __atomic_fetch_add(&fuzz->nr_corpus, 1, __ATOMIC_ACQ_REL);

	if (n < FUZZ_CORPUS)
		fuzz->corpus[n] = *chain;
}

static void announce(int worker, const struct fuzz_chain *chain)
{
	char text[FUZZ_DEPTH * 11], line[sizeof(text) + 32];
	int len;

	fuzz->last[worker][fuzz->nr_last[worker]++ % 16] = *chain;
	fuzz_print_chain(text, sizeof(text), chain);
	len = snprintf(line, sizeof(line), "fuzz %d: %s\n", worker, text);
	if (write(console, line, len) != len)
		return;
}

static void run_one(int worker, const struct fuzz_chain *chain)
{
	struct fuzz_program p;

	fuzz_make(&p, chain);
	if (as_nobody)
		p.who = FUZZ_NOBODY;
	announce(worker, chain);
	fuzz_cover_reset();
	fuzz_run(&p, worker);
}

static pid_t start_worker(int worker, uint64_t seed)
{
	uint64_t r = seed * (FUZZ_WORKERS + 1) + worker;
	struct fuzz_chain chain;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fuzz_cover_open();
	while (!fuzz->stop) {
		if (fuzz->hold) {
			msleep(1);
			continue;
		}
		choose(&chain, &r);
		run_one(worker, &chain);
		if (fuzz_cover_brought())
			keep(&chain);
	}
	_exit(0);
}

/* Descriptors that are in sockets keep the module in use. */
static void empty_boxes(void)
{
	char byte;

	for (int i = 0; i < FUZZ_BOXES; i++)
		while (recv(fuzz_box[i][1], &byte, 1, MSG_DONTWAIT) >= 0)
			;
}

/* Returns true if the kernel complained since the last call. */
static bool complained(int kmsg)
{
	static const char *const words[] = {
		"BUG: ", "WARNING: ", "KASAN", "possible ", "INFO: ", "Oops", "ODEBUG", "refcount_t", "suspicious RCU",
		"inconsistent lock",
	};
	char record[8192];
	ssize_t len;

	while ((len = read(kmsg, record, sizeof(record) - 1)) > 0 || errno == EPIPE) {
		if (len <= 0)
			continue;
		record[len] = 0;
		for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (strstr(record, words[i])) {
				diag("%s", record);
				return true;
			}
	}
	return false;
}

static void print_last(void)
{
	char text[FUZZ_DEPTH * 11];

	for (int w = 0; w < NR_WORKERS; w++)
		for (int i = 0; i < 16; i++) {
			unsigned int n = fuzz->nr_last[w] + i;

			fuzz_print_chain(text, sizeof(text), &fuzz->last[w][n % 16]);
			if (*text)
				diag("worker %d ran: kmod-fuzz --replay %s", w, text);
		}
}

static bool all_rest(void)
{
	for (int i = 0; i < FUZZ_WORKERS; i++)
		if (fuzz->running[i])
			return false;
	return true;
}

/* The module's exit races with programs that open the device at the same time. */
static void unload_in_the_middle(void)
{
	fuzz->hold = true;
	for (int i = 0; i < 3000 && !all_rest(); i++)
		msleep(1);
	empty_boxes();
	fuzz->hold = false;
	for (int i = 0; i < 20 && fuzz_unload(); i++)
		msleep(1);
	if (fuzz->gone)
		fuzz_load();
}

static void print_calls(void)
{
	for (unsigned int i = 0; i < fuzz_nr_ops(); i++) {
		char text[400];
		int at = 0;

		for (int e = 1; e < FUZZ_ERRORS && at < (int)sizeof(text) - 32; e++)
			if (fuzz->errors[i][e])
				at += snprintf(text + at, sizeof(text) - at, " %s %u", strerrorname_np(e) ?: "?",
					       fuzz->errors[i][e]);
		text[at] = 0;
		diag("%-12s %6u of %u,%s", fuzz_op(i)->name, fuzz->errors[i][0], fuzz->ran[i], text);
	}
}

/*
 * Prints the calls, and checks that each of those in `sure` succeeded if it was tried a hundred
 * times.  The others need luck: a thread that waits, a mapping that exists.
 */
static void judge_calls(void)
{
	static const char *const sure[] = {
		"open", "create", "join", "reg", "unreg", "clock", "stats", "mmap", "munmap", "write_memory",
		"scribble", "poll", "close", "send", "receive", "take", "thread", "fork", "futex",
	};

	print_calls();
	for (unsigned int i = 0; i < fuzz_nr_ops(); i++)
		for (unsigned int k = 0; k < sizeof(sure) / sizeof(*sure); k++)
			if (!strcmp(sure[k], fuzz_op(i)->name))
				ok(fuzz->errors[i][0] || fuzz->ran[i] < 100, "%s() succeeds", sure[k]);
}

static void report(uint64_t ms)
{
	unsigned int total = fuzz_cover_total();

	diag("%lu programs, %lu calls in %llu s; %lu took too long, %lu times unloaded", fuzz->nr_programs,
	     fuzz->nr_calls, (unsigned long long)ms / 1000, fuzz->nr_timeouts, fuzz->nr_unloads);
	diag("%u retained for %lu pairs of a call and a place or an error", fuzz->nr_corpus, fuzz->nr_new);
	if (total)
		diag("%u of %u places in the module were reached", fuzz->nr_text, total);
	if (getenv("LDB_FUZZ_COVER"))
		fuzz_cover_list();
}

/*
 * Waits until the time is over, or the kernel complains; now and then unloads the module, and
 * prints the numbers so far.
 */
static void watch(int kmsg, uint64_t end)
{
	uint64_t unload = now_ms() + UNLOAD_MS, said = now_ms() + 60000;

	while (now_ms() < end) {
		msleep(100);
		if (complained(kmsg)) {
			print_last();
			return;
		}
		if (now_ms() > unload) {
			unload = now_ms();
			unload_in_the_middle();
			/* Loading takes long in some kernels. */
			unload = now_ms() + UNLOAD_MS + 10 * (now_ms() - unload);
		}
		if (now_ms() > said) {
			diag("%lu programs, %lu calls, %u retained, %u places", fuzz->nr_programs, fuzz->nr_calls,
			     fuzz->nr_corpus, fuzz->nr_text);
			said = now_ms() + 60000;
		}
	}
}

static bool unloads(void)
{
	for (int i = 0; i < 200; i++) {
		empty_boxes();
		if (!dev_unload())
			return true;
		msleep(100);
	}
	return false;
}

static void test_generator(unsigned int seconds, uint64_t seed)
{
	uint64_t begin = now_ms();
	int kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	pid_t pids[NR_WORKERS];

	lseek(kmsg, 0, SEEK_END);
	diag("seed %llu", (unsigned long long)seed);
	for (int i = 0; i < NR_WORKERS; i++)
		pids[i] = start_worker(i, seed);
	watch(kmsg, begin + seconds * 1000);
	fuzz->stop = true;
	for (int i = 0; i < NR_WORKERS; i++)
		waitpid(pids[i], NULL, 0);
	report(now_ms() - begin);
	judge_calls();
	is_int(fuzz->nr_unkillable, 0, "each process could be killed");
	ok(unloads(), "the module unloads");
}

static int replay(const char *text, unsigned int times)
{
	struct fuzz_chain chain;
	struct fuzz_program p;

	if (!fuzz_parse_chain(&chain, text))
		bail_out("not a chain of seeds");
	fuzz_make(&p, &chain);
	fuzz_print(&p);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fuzz_cover_open();
	while (times--)
		run_one(0, &chain);
	print_calls();
	report(0);
	ok(unloads(), "the module unloads");
	return done();
}

static volatile bool stop;

/*
 * The second thread of a normal session: such a session, at the same time as a hostile one, must
 * have its own events, and nothing else.
 */
static void *honest_thread(void *arg)
{
	struct dev *mine = arg;

	dev_reg(mine, gettid_(), 1, 0);
	while (!stop)
		usleep(500);
	return NULL;
}

struct report {
	unsigned events, foreign, names, unhidden, threads, holes;
};

/* Writes to `out` what a user without privileges finds in their own session, and exits. */
static void honest(int out, uid_t uid)
{
	struct report r = {};
	struct events e;
	unsigned tids[2];
	struct dev mine;
	pthread_t t;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (setuid(uid))
		_exit(1);
	dev_self(&mine, NULL);
	dev_reg(&mine, gettid_(), 0, 0);
	pthread_create(&t, NULL, honest_thread, &mine);
	msleep(700);
	stop = true;
	pthread_join(t, NULL);
	tids[0] = gettid_();
	e = dev_events(&mine);
	tids[1] = 0;
	for (size_t i = 0; i < e.nr; i++)
		if (e.v[i].rec.type == LDB_EV_FORK)
			tids[1] = e.v[i].rec.arg2;
	for (size_t i = 0; i < e.nr; i++) {
		const struct ldb_rec *x = &e.v[i].rec;
		bool two = x->type == LDB_EV_SWITCH || x->type == LDB_EV_SWITCH_OUT ||
			   x->type == LDB_EV_WAKING || x->type == LDB_EV_WAKEUP || x->type == LDB_EV_RUNNING;

		r.foreign += x->tid && x->tid != tids[0] && x->tid != tids[1];
		r.foreign += two && x->arg2 && x->arg2 != tids[0] && x->arg2 != tids[1];
		r.names += x->type == LDB_EV_TASK && x->tid != tids[0] && x->tid != tids[1];
		/*
		 * An event may contain the tid of a thread only if the flag says that the thread is
		 * observed.
		 */
		r.unhidden += two && !(x->flags & LDB_SCHED_F_TID) && x->tid;
		r.threads |= (x->tid == tids[0]) | (x->tid == tids[1]) << 1;
	}
	r.events = e.nr;
	r.holes = e.holes;
	if (write(out, &r, sizeof(r)) != sizeof(r))
		_exit(1);
	_exit(0);
}

static void test_two_users(void)
{
	struct report r;
	pid_t pids[3];
	int p[2];

	as_nobody = true;
	pids[2] = start_worker(0, 4711);
	as_nobody = false;
	if (pipe(p))
		bail_out("pipe");
	for (int i = 0; i < 2; i++) {
		pids[i] = fork();
		if (!pids[i])
			honest(p[1], 1000 + i);
	}
	for (int i = 0; i < 2; i++) {
		memset(&r, 0, sizeof(r));
		if (read(p[0], &r, sizeof(r)) != sizeof(r))
			r.events = 0;
		ok(r.events > 100, "user %d: %u events", i, r.events);
		is_int(r.threads, 3, "the events are of the user's threads");
		is_int(r.foreign, 0, "there are no events of others");
		is_int(r.names, 0, "there are no names of others");
		is_int(r.unhidden, 0, "there are no tids of others");
		is_int(r.holes, 0, "the records are whole");
	}
	fuzz->stop = true;
	for (int i = 0; i < 3; i++)
		waitpid(pids[i], NULL, 0);
	fuzz->stop = false;
	close(p[0]);
	close(p[1]);
}

static void open_shared(void)
{
	fuzz = mmap(NULL, sizeof(*fuzz), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fuzz == MAP_FAILED)
		bail_out("no memory");
	for (int i = 0; i < FUZZ_BOXES; i++)
		if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fuzz_box[i]))
			bail_out("socketpair");
	console = open("/dev/ttyS0", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
}

/* Switches off messages about allocations that fail on purpose: they are not complaints. */
static void quiet_failures(void)
{
	static const char *const paths[] = {
		"/sys/kernel/debug/failslab/verbose", "/sys/kernel/debug/fail_page_alloc/verbose",
	};

	for (int i = 0; i < 2; i++) {
		int fd = open(paths[i], O_WRONLY | O_CLOEXEC);

		if (fd >= 0 && write(fd, "0", 1) != 1)
			diag("%s: %s", paths[i], strerror(errno));
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const char *seconds = getenv("LDB_FUZZ_SECONDS"), *seed = getenv("LDB_FUZZ_SEED");

	if (argc > 2 && !strcmp(argv[1], "--child"))
		return be_child(atoi(argv[2]));
	open_shared();
	quiet_failures();
	if (!fuzz_load())
		dev_load("");
	if (argc > 2 && !strcmp(argv[1], "--replay"))
		return replay(argv[2], argc > 3 ? atoi(argv[3]) : 100);
	test_two_users();
	test_generator(atoi(argc > 1 ? argv[1] : seconds ? seconds : "10"),
		       seed ? strtoull(seed, NULL, 10) : (unsigned long long)time(NULL));
	return done();
}
