// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program plants causes of latency: requests of one process wait for another process,
 * "producer", that it forked.  See why-load.h.  A CAUSE is PRIMITIVE-VARIANT: how requests wait,
 * and why the producer is late.
 *
 *	mutex		pthread_mutex_lock() of a mutex in memory that fork() shares, which the
 *				producer holds
 *	robust		the same with a robust mutex with priority inheritance
 *	mapped		the same with a mutex in a file that both map at different addresses
 *	cond		pthread_cond_wait(), in the same file
 *	sem		sem_wait(), in the same file
 *	futex		a raw futex in the same file
 *	pipe		read() from a pipe
 *	latch		epoll_wait() for a signal that comes by a signalfd (kill())
 *
 *	slow		the producer executes produce()
 *	asleep		the producer sleeps in rest(), which produce() calls
 *	third		the producer waits in ask_third() for a third process, "helper", which
 *			executes help()
 *
 * With "clean" the producer does this only after it has answered.
 */
#include "why-load.h"
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum variant { SLOW, ASLEEP, THIRD };

/* The processes share this struct; if it is in a file, each maps it at an address of its own. */
struct shared {
	pthread_mutex_t lock;
	pthread_cond_t ready;
	sem_t answered;
	unsigned word;
	bool is_answered;
};

static enum variant variant;
static struct shared *inherited, *mapped, *at;	/* at: address of the primitive */
static struct control {
	sem_t asked, held, begun, over, done, go_helper, helped;
	volatile bool is_hit, was_hit, is_end;
} *control;
static int file = -1, pipe_ends[2], signals, epoll, requester_stat;
static pid_t requester, producer, helper;

/* The producer's work, which may delay a request */

NAMED void help(void)
{
	burn(PLANT_US);
}

NAMED void ask_third(void)
{
	sem_post(&control->go_helper);
	wait_sem(&control->helped);
	__asm__ volatile("" ::: "memory");
}

NAMED void rest(void)
{
	pause_us(PLANT_US);
	__asm__ volatile("" ::: "memory");
}

NAMED void produce(void)
{
	switch (variant) {
	case SLOW:
		burn(PLANT_US);
		break;
	case ASLEEP:
		rest();
		break;
	case THIRD:
		ask_third();
		break;
	}
	__asm__ volatile("" ::: "memory");
}

/*
 * The primitives: a request waits, and the producer answers.  The producer may hold a lock
 * meanwhile.
 */

struct primitive {
	const char *name;
	bool is_mapped;
	void (*hold)(void), (*wait)(void), (*answer)(void);
};

static void take(void)
{
	pthread_mutex_lock(&at->lock);
}

static void give(void)
{
	pthread_mutex_unlock(&at->lock);
}

NAMED void enter(void)
{
	pthread_mutex_lock(&at->lock);
	pthread_mutex_unlock(&at->lock);
	__asm__ volatile("" ::: "memory");
}

NAMED void wait_cond(void)
{
	pthread_mutex_lock(&at->lock);
	while (!at->is_answered)
		pthread_cond_wait(&at->ready, &at->lock);
	at->is_answered = false;
	pthread_mutex_unlock(&at->lock);
}

static void answer_cond(void)
{
	pthread_mutex_lock(&at->lock);
	at->is_answered = true;
	pthread_cond_signal(&at->ready);
	pthread_mutex_unlock(&at->lock);
}

NAMED void wait_answered(void)
{
	wait_sem(&at->answered);
	__asm__ volatile("" ::: "memory");
}

static void answer_sem(void)
{
	sem_post(&at->answered);
}

NAMED void wait_word(void)
{
	while (!__atomic_exchange_n(&at->word, 0, __ATOMIC_ACQ_REL))
		syscall(SYS_futex, &at->word, FUTEX_WAIT, 0, NULL);
}

static void answer_word(void)
{
	__atomic_store_n(&at->word, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &at->word, FUTEX_WAKE, 1);
}

NAMED void wait_pipe(void)
{
	char c;

	if (read(pipe_ends[0], &c, 1) != 1)
		die("read");
}

static void answer_pipe(void)
{
	if (write(pipe_ends[1], "x", 1) != 1)
		die("write");
}

NAMED void wait_latch(void)
{
	struct signalfd_siginfo info;
	struct epoll_event e;

	while (epoll_wait(epoll, &e, 1, -1) != 1)
		;
	if (read(signals, &info, sizeof(info)) != sizeof(info))
		die("read");
}

static void answer_latch(void)
{
	if (kill(requester, SIGURG))
		die("kill");
}

static const struct primitive primitives[] = {
	{ "mutex", false, take, enter, give },
	{ "robust", false, take, enter, give },
	{ "mapped", true, take, enter, give },
	{ "cond", true, NULL, wait_cond, answer_cond },
	{ "sem", true, NULL, wait_answered, answer_sem },
	{ "futex", true, NULL, wait_word, answer_word },
	{ "pipe", false, NULL, wait_pipe, answer_pipe },
	{ "latch", false, NULL, wait_latch, answer_latch },
};

static const struct primitive *primitive;

/*
 * Returns true if the thread that serves requests sleeps: then the request waits, on whichever CPU
 * it ran.
 */
static bool does_requester_sleep(void)
{
	char text[64] = "";

	if (pread(requester_stat, text, sizeof(text) - 1, 0) <= 0)
		die("stat");
	return strstr(text, ") S");
}

/*
 * Delays the answer.  Unless this took more than two thirds of the time since `since`, the request
 * does not count as delayed by it.
 */
static inline __attribute__((always_inline)) void plant(double since)
{
	double begin = now_us(), cpu = own_cpu_us(), took;

	produce();
	took = variant == SLOW ? own_cpu_us() - cpu : now_us() - begin;
	control->was_hit = 3 * took > 2 * (now_us() - since);
}

NAMED void work_on_answer(void)
{
	bool has_plant = control->is_hit;
	double begin;

	if (primitive->hold) {
		primitive->hold();
		sem_post(&control->held);
	}
	begin = now_us();
	burn(20);
	if (has_plant && planted) {
		do {
			pause_us(200);
		} while (!does_requester_sleep());
		plant(begin);
	}
	primitive->answer();
	if (has_plant && !planted) {
		wait_sem(&control->over);
		produce();
		sem_post(&control->done);
	}
}

static void produce_all(void)
{
	if (primitive->is_mapped) {
		at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		if (at == MAP_FAILED)
			die("mmap");
		munmap(mapped, sizeof(*mapped));
	}
	for (;;) {
		wait_sem(&control->asked);
		if (control->is_end)
			return;
		work_on_answer();
	}
}

static void help_all(void)
{
	for (;;) {
		wait_sem(&control->go_helper);
		if (control->is_end)
			return;
		help();
		sem_post(&control->helped);
	}
}

static pid_t start(const char *name, void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	run();
	_exit(0);
}

NAMED void serve(void)
{
	parse();
	if (!primitive->hold)
		sem_post(&control->asked);
	primitive->wait();
	reply();
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		bool is_hit = control->is_hit = is_due(id);

		control->was_hit = false;
		if (primitive->hold) {
			sem_post(&control->asked);
			wait_sem(&control->held);
		}
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve();
		ldb_req_end(id);
		if (control->was_hit)
			hit(id);
		/* In the clean run the late work delays no request. */
		if (is_hit && !planted) {
			sem_post(&control->over);
			wait_sem(&control->done);
		}
		pause_us(20);
	}
}

static void init_shared(struct shared *s)
{
	pthread_mutexattr_t attr;
	pthread_condattr_t cond_attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	if (!strcmp(primitive->name, "robust")) {
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	}
	pthread_mutex_init(&s->lock, &attr);
	pthread_condattr_init(&cond_attr);
	pthread_condattr_setpshared(&cond_attr, PTHREAD_PROCESS_SHARED);
	pthread_cond_init(&s->ready, &cond_attr);
	sem_init(&s->answered, 1, 0);
}

static void *map_shared(size_t size, int fd)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);

	if (map == MAP_FAILED)
		die("mmap");
	return map;
}

static void open_all(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	sem_t *sems;
	sigset_t set;

	control = map_shared(sizeof(*control), -1);
	sems = &control->asked;
	for (int i = 0; i < 7; i++)
		sem_init(&sems[i], 1, 0);
	inherited = map_shared(sizeof(*inherited), -1);
	file = memfd_create("across", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, sizeof(*mapped)))
		die("memfd_create");
	mapped = map_shared(sizeof(*mapped), file);
	at = primitive->is_mapped ? mapped : inherited;
	init_shared(at);
	if (pipe(pipe_ends))
		die("pipe");
	requester = getpid();
	requester_stat = open("/proc/self/stat", O_RDONLY);
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	signals = signalfd(-1, &set, 0);
	epoll = epoll_create1(0);
	if (requester_stat < 0 || signals < 0 || sigprocmask(SIG_BLOCK, &set, NULL) ||
	    epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, signals, &e))
		die("a signalfd");
}

static void run(void)
{
	open_all();
	if (variant == THIRD)
		helper = start("helper", help_all);
	producer = start("producer", produce_all);
	/* By the end of this pause the recorders of all processes have begun. */
	pause_us(1000000);
	requests();
	pause_us(20000);
	control->is_end = true;
	sem_post(&control->asked);
	sem_post(&control->go_helper);
	waitpid(producer, NULL, 0);
	if (helper)
		waitpid(helper, NULL, 0);
}

/* Sets what PRIMITIVE-VARIANT names; returns NULL if there is no such cause. */
static const char *choose(const char *cause)
{
	static const char *const variants[] = { "slow", "asleep", "third" };
	const char *minus = strchr(cause, '-');
	size_t length = minus ? minus - cause : 0;

	for (size_t i = 0; i < sizeof(primitives) / sizeof(primitives[0]); i++)
		if (strlen(primitives[i].name) == length && !strncmp(primitives[i].name, cause, length))
			primitive = &primitives[i];
	for (int v = 0; primitive && v < 3; v++)
		if (!strcmp(minus + 1, variants[v])) {
			variant = (enum variant)v;
			return cause;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct cause causes[] = { { argc > 1 ? choose(argv[1]) : NULL, run }, { NULL, NULL } };

	return why_main(argc, argv, causes);
}
