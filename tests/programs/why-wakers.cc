// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program plants causes: requests wait until another thread, "producer", answers.  See
 * why-load.h.  A CAUSE is PRIMITIVE-VARIANT: the call in which requests wait, and why the producer
 * is late.
 *
 *	cond		pthread_cond_wait()
 *	sem		sem_wait()
 *	barrier		pthread_barrier_wait()
 *	join		pthread_join() of a thread that is made for each request
 *	future		std::future::get()
 *	latch		std::latch::wait(), a raw futex
 *	pipe		read() from a pipe
 *	socket		recv() from a socket pair
 *	eventfd		read() from an eventfd
 *	epoll		epoll_wait() for an eventfd
 *	poll		poll() for a pipe
 *	signalfd	read() from a signalfd, for pthread_kill()
 *	uring		io_uring_enter(), for a read from a pipe
 *	all		these in turn, each for one due request; a request's class is its
 *			primitive's
 *
 *	slow		the producer executes produce()
 *	io		the producer writes to the disk in flush(), which produce() calls
 *	preempted	a thread "hog" of real-time priority takes the producer's CPU, the last one,
 *			in produce()
 *
 * With "clean" the producer does this only after it has answered.
 */
#include "why-load.h"
#include "uring.h"
#include <fcntl.h>
#include <future>
#include <latch>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

enum variant { SLOW, IO, PREEMPTED };

static enum variant variant;
static sem_t asked, over, done, go_hog, answered_sem;
static volatile bool is_hit;
static volatile long request;
static volatile double hog_us;
static int disk = -1, pipe_ends[2], socket_ends[2], event, epoll;

/* The producer calls the following functions whether or not a request waits for it. */

NAMED void flush(void)
{
	static char block[4096];
	double until = now_us() + PLANT_US;

	while (now_us() < until) {
		if (pwrite(disk, block, sizeof(block), 0) != sizeof(block) || fdatasync(disk))
			die("the disk");
	}
}

NAMED void crunch(void)
{
	burn(PLANT_US);
}

/*
 * Pins the thread to the last CPU.  If hog and producer were not pinned to the same CPU, the hog
 * would run on an idle one.
 */
static void stay_on_last_cpu(void)
{
	cpu_set_t set, last;

	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	CPU_ZERO(&last);
	for (int cpu = CPU_SETSIZE; cpu-- > 0 && !CPU_COUNT(&last);)
		if (CPU_ISSET(cpu, &set))
			CPU_SET(cpu, &last);
	if (sched_setaffinity(0, sizeof(last), &last))
		die("sched_setaffinity");
}

NAMED void produce(void)
{
	switch (variant) {
	case SLOW:
		burn(PLANT_US);
		break;
	case IO:
		flush();
		break;
	case PREEMPTED:
		burn(100);
		sem_post(&go_hog);
		burn(100);
		break;
	}
	__asm__ volatile("" ::: "memory");
}

static void *hog(void *arg)
{
	struct sched_param param = {};

	prctl(PR_SET_NAME, "hog");
	stay_on_last_cpu();
	param.sched_priority = 20;
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	for (;;) {
		double begin;

		wait_sem(&go_hog);
		begin = now_us();
		crunch();
		hog_us = now_us() - begin;
	}
	return arg;
}

/* The primitives: a request waits, the producer answers. */

struct primitive {
	const char *name;
	void (*prepare)(void), (*wait)(void), (*answer)(void);
};

static pthread_mutex_t answer_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answer_ready = PTHREAD_COND_INITIALIZER;
static bool is_answered;

static void cond_wait(void)
{
	pthread_mutex_lock(&answer_lock);
	while (!is_answered)
		pthread_cond_wait(&answer_ready, &answer_lock);
	is_answered = false;
	pthread_mutex_unlock(&answer_lock);
}

static void cond_answer(void)
{
	pthread_mutex_lock(&answer_lock);
	is_answered = true;
	pthread_cond_signal(&answer_ready);
	pthread_mutex_unlock(&answer_lock);
}

static void semaphore_wait(void)
{
	wait_sem(&answered_sem);
}

static void semaphore_answer(void)
{
	sem_post(&answered_sem);
}

static pthread_barrier_t both;

static void barrier_wait(void)
{
	pthread_barrier_wait(&both);
}

static std::promise<int> *promise;
static std::future<int> result;

static void future_prepare(void)
{
	delete promise;
	promise = new std::promise<int>;
	result = promise->get_future();
}

static void future_wait(void)
{
	result.get();
}

static void future_answer(void)
{
	promise->set_value(1);
}

static std::latch *latch;

static void latch_prepare(void)
{
	delete latch;
	latch = new std::latch(1);
}

static void latch_wait(void)
{
	latch->wait();
}

static void latch_answer(void)
{
	latch->count_down();
}

static void pipe_wait(void)
{
	char c;

	if (read(pipe_ends[0], &c, 1) != 1)
		die("read");
}

static void pipe_answer(void)
{
	if (write(pipe_ends[1], "x", 1) != 1)
		die("write");
}

static void poll_wait(void)
{
	struct pollfd fd = { pipe_ends[0], POLLIN, 0 };

	while (poll(&fd, 1, -1) != 1)
		;
	pipe_wait();
}

static void socket_wait(void)
{
	char c;

	if (recv(socket_ends[0], &c, 1, 0) != 1)
		die("recv");
}

static void socket_answer(void)
{
	if (send(socket_ends[1], "x", 1, 0) != 1)
		die("send");
}

static void event_wait(void)
{
	uint64_t n;

	if (read(event, &n, sizeof(n)) != sizeof(n))
		die("read");
}

static void event_answer(void)
{
	uint64_t n = 1;

	if (write(event, &n, sizeof(n)) != sizeof(n))
		die("write");
}

static void epoll_wait_event(void)
{
	struct epoll_event e;

	while (epoll_wait(epoll, &e, 1, -1) != 1)
		;
	event_wait();
}

static int signals;
static pthread_t requester;
static int requester_stat;
static struct uring ring;

static void signal_wait(void)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != sizeof(info))
		die("read");
}

static void signal_answer(void)
{
	if (pthread_kill(requester, SIGRTMIN))
		die("pthread_kill");
}

static void uring_wait(void)
{
	struct io_uring_sqe sqe = {};
	char c;

	sqe.opcode = IORING_OP_READ;
	sqe.fd = pipe_ends[0];
	sqe.addr = (uintptr_t)&c;
	sqe.len = 1;
	if (uring_do(&ring, &sqe) != 1)
		die("io_uring");
}

static void nothing(void)
{
}

static const struct primitive primitives[] = {
	{ "cond", nothing, cond_wait, cond_answer },
	{ "sem", nothing, semaphore_wait, semaphore_answer },
	{ "barrier", nothing, barrier_wait, barrier_wait },
	{ "join", nothing, nothing, nothing },
	{ "future", future_prepare, future_wait, future_answer },
	{ "latch", latch_prepare, latch_wait, latch_answer },
	{ "pipe", nothing, pipe_wait, pipe_answer },
	{ "socket", nothing, socket_wait, socket_answer },
	{ "eventfd", nothing, event_wait, event_answer },
	{ "epoll", nothing, epoll_wait_event, event_answer },
	{ "poll", nothing, poll_wait, pipe_answer },
	{ "signalfd", nothing, signal_wait, signal_answer },
	{ "uring", nothing, uring_wait, pipe_answer },
};

#define NR_PRIMITIVES	(sizeof(primitives) / sizeof(primitives[0]))

static const struct primitive *primitive = primitives;
static bool has_all;

static void begin_producer(void)
{
	struct sched_param param = {};

	prctl(PR_SET_NAME, "producer");
	if (variant == PREEMPTED)
		stay_on_last_cpu();
	/*
	 * Without this priority the thread would also wait for a CPU each time that the disk has
	 * done something.
	 */
	param.sched_priority = 10;
	if (variant == IO && sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
}

static void *late_work(void *arg)
{
	begin_producer();
	wait_sem(&over);
	produce();
	sem_post(&done);
	return arg;
}

/*
 * Does what the producer does after its answer: in another thread if the end of the thread is the
 * answer.
 */
static void work_later(void)
{
	pthread_t thread;

	if (strcmp(primitive->name, "join"))
		late_work(NULL);
	else if (pthread_create(&thread, NULL, late_work, NULL) || pthread_detach(thread))
		die("pthread_create");
}

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
 * Delays the answer.  The request counts as delayed only if this took more than two thirds of the
 * time since `since`.
 */
static inline __attribute__((always_inline)) void plant(double since)
{
	double begin = now_us(), cpu = own_cpu_us(), took;

	hog_us = 0;
	produce();
	took = variant == SLOW ? own_cpu_us() - cpu : variant == IO ? now_us() - begin : hog_us;
	if (3 * took > 2 * (now_us() - since))
		hit(request);
}

NAMED void work_on_answer(void)
{
	bool has_plant = is_hit;
	double begin = now_us();

	burn(20);
	if (has_plant && planted) {
		do {
			pause_us(200);
		} while (!does_requester_sleep());
		plant(begin);
	}
	primitive->answer();
	if (has_plant && !planted)
		work_later();
}

static void *producer(void *arg)
{
	begin_producer();
	for (;;) {
		wait_sem(&asked);
		work_on_answer();
	}
	return arg;
}

static void *once(void *arg)
{
	begin_producer();
	work_on_answer();
	return arg;
}

NAMED void fetch(void)
{
	if (!strcmp(primitive->name, "join")) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, once, NULL))
			die("pthread_create");
		pthread_join(thread, NULL);
	} else {
		sem_post(&asked);
		primitive->wait();
	}
	__asm__ volatile("" ::: "memory");
}

NAMED void serve(void)
{
	parse();
	fetch();
	reply();
}

static void requests(void)
{
	for (long id = 1; id <= nr_requests; id++) {
		if (has_all)
			primitive = &primitives[id / DUE_EVERY % NR_PRIMITIVES];
		is_hit = is_due(id);
		request = id;
		primitive->prepare();
		ldb_req_start(id, NULL);
		ldb_req_class(id, has_all ? primitive->name : "get");
		serve();
		ldb_req_end(id);
		/* In the clean run the late work delays no request. */
		if (is_hit && !planted) {
			sem_post(&over);
			wait_sem(&done);
		}
		pause_us(20);
	}
}

static void run(void)
{
	if (variant == IO) {
		disk = open(file_arg ? file_arg : "why.tmp", O_RDWR | O_CREAT, 0600);
		if (disk < 0)
			die("why.tmp");
	}
	if (variant == PREEMPTED)
		start_thread(hog);
	if (has_all || strcmp(primitive->name, "join"))
		start_thread(producer);
	/* After this pause ldb knows these threads. */
	pause_us(100000);
	requests();
	if (variant == IO && !file_arg)
		unlink("why.tmp");
}

static void open_ends(void)
{
	struct epoll_event e = {};

	if (pipe(pipe_ends) || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends))
		die("a pair of ends");
	event = eventfd(0, 0);
	epoll = epoll_create1(0);
	e.events = EPOLLIN;
	if (event < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, event, &e))
		die("an event");
}

/* Opens the descriptors that only the serving thread uses: for the signal, or the ring. */
static void open_own(void)
{
	sigset_t set;

	requester = pthread_self();
	requester_stat = open("/proc/thread-self/stat", O_RDONLY);
	if (requester_stat < 0)
		die("/proc/thread-self/stat");
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	signals = signalfd(-1, &set, 0);
	if (signals < 0 || pthread_sigmask(SIG_BLOCK, &set, NULL))
		die("signalfd");
	if ((has_all || !strcmp(primitive->name, "uring")) && uring_open(&ring))
		die("io_uring");
}

/* Sets what PRIMITIVE-VARIANT names; returns NULL if there is no such cause. */
static const char *choose(const char *cause)
{
	static const char *const variants[] = { "slow", "io", "preempted" };
	const char *minus = strchr(cause, '-');
	size_t length = minus ? minus - cause : 0;

	bool is_known = has_all = length == 3 && !strncmp("all", cause, length);

	for (const struct primitive &p : primitives)
		if (strlen(p.name) == length && !strncmp(p.name, cause, length)) {
			primitive = &p;
			is_known = true;
		}
	for (int v = 0; is_known && v < 3; v++)
		if (!strcmp(minus + 1, variants[v])) {
			variant = (enum variant)v;
			return cause;
		}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct cause causes[] = { { argc > 1 ? choose(argv[1]) : NULL, run }, { NULL, NULL } };

	sem_init(&asked, 0, 0);
	sem_init(&over, 0, 0);
	sem_init(&done, 0, 0);
	sem_init(&go_hog, 0, 0);
	sem_init(&answered_sem, 0, 0);
	pthread_barrier_init(&both, NULL, 2);
	open_ends();
	open_own();
	return why_main(argc, argv, causes);
}
