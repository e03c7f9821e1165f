// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program replaces the runtime: it speaks the control protocol and fills a session
 * with events whose number is known, or with garbage.
 *
 *	fake-runtime MODE [ARG]		under ldb-record --
 *	fake-runtime -l MODE [ARG]	listens, for ldb-record -p
 *
 * modes[] at the end lists the modes.  It prints what it wrote as "NAME=NUMBER".
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include "fake-session.h"
#include "random.h"

static void func_event(struct ldb_rec *recs, uint32_t tid, uint64_t n)
{
	struct ldb_func_rec f = {
		.end_max = clock_now(), .tid = tid, .type = LDB_EV_FUNC, .pc = 0x401000 + n % 64 * 16,
		.end_unc = 7, .start_unc = n % 100 ? 9 : UINT32_MAX, .cont1 = LDB_EV_CONT + 1,
		.depth = n % 5, .gen = n << 16, .ret = 0x402000, .cont2 = LDB_EV_CONT + 2,
	};

	f.start_max = f.end_max - 100 - n % 1000;
	memcpy(recs, &f, sizeof(f));
}

/* Modes */

struct writer {
	pthread_t thread;
	unsigned ring;
	uint64_t nr;
};

static void *write_funcs(void *arg)
{
	struct writer *w = arg;
	struct ldb_rec recs[3];

	for (uint64_t i = 0; i < w->nr; i++) {
		func_event(recs, 1000 + w->ring, i);
		ring_put(w->ring, recs, 3, 3);
	}
	return NULL;
}

/* Writes ARG function events by each of two threads into each of two rings. */
static void mode_funcs(uint64_t nr)
{
	struct writer w[4];

	attach();
	for (int i = 0; i < 4; i++) {
		w[i] = (struct writer){ .ring = i / 2 ? info.nr_cpus : 0, .nr = nr };
		pthread_create(&w[i].thread, NULL, write_funcs, &w[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(w[i].thread, NULL);
	printf("funcs=%" PRIu64 "\nrecords=%" PRIu64 "\n", nr * 4, nr * 12);
}

/* Notes: a string that fills its field, a number, and an event; each byte must be in its place. */
static void notes(uint64_t now)
{
	struct ldb_rec recs[3] = {
		{ .tsc = now + 30, .tid = 5, .type = LDB_EV_REQ_NOTE, .arg = 77 },
		{ .type = LDB_EV_CONT + 1 }, { .type = LDB_EV_CONT + 2 },
	};

	memcpy(&recs[0].arg2, "tena", 4);
	memcpy(&recs[1].tsc, "nt-with-", 8);
	memcpy(&recs[1].tid, "16by", 4);
	memcpy(&recs[1].arg, "123e4567", 8);
	memcpy(&recs[1].arg2, "-e89", 4);
	memcpy(&recs[2].tsc, "b-12d3-a", 8);
	memcpy(&recs[2].tid, "456-", 4);
	memcpy(&recs[2].arg, "42661417", 8);
	memcpy(&recs[2].arg2, "4000", 4);
	ring_put(0, recs, 3, 3);
	recs[0] = (struct ldb_rec){ .tsc = now + 31, .tid = 5, .type = LDB_EV_REQ_NUMBER, .arg = 77 };
	recs[1] = (struct ldb_rec){ .tsc = 65537, .type = LDB_EV_CONT + 1 };
	memcpy(&recs[0].arg2, "byte", 4);
	memcpy(&recs[1].tsc, "s\0\0\0\0\0\0", 8);
	recs[1].arg = 65537;
	ring_put(0, recs, 2, 2);
	recs[0] = (struct ldb_rec){ .tsc = now + 32, .tid = 5, .type = LDB_EV_MARK, .arg = -7 };
	recs[1] = (struct ldb_rec){ .type = LDB_EV_CONT + 1 };
	memcpy(&recs[0].arg2, "cach", 4);
	memcpy(&recs[1].tsc, "e miss\0", 8);
	ring_put(0, recs, 2, 2);
}

/* Writes each kind of event once, a thread with counters, and a stack with open functions. */
static void mode_kinds(uint64_t nr)
{
	struct ldb_page *p;
	struct ldb_stack *s;
	struct ldb_lock_rec lock = {
		.tid = 5, .type = LDB_EV_LOCK_WAIT, .flags = LDB_LOCK_MUTEX, .lock = 0xabc0,
		.owner = 6, .cont1 = LDB_EV_CONT + 1, .site_hi = 0x7f12, .site_lo = 0x345678,
		.gen = 3 << 16,
	};
	struct ldb_req_rec req = {
		.tid = 5, .type = LDB_EV_REQ_START, .id = 77, .queue = 0x9990, .payload2 = 0x4011,
		.cont1 = LDB_EV_CONT + 1,
	};
	struct ldb_rec r, recs[3];
	uint64_t now;

	attach();
	now = clock_now();
	p = page_of(3);
	p->tid = 5;
	p->start_tsc = now;
	p->made = 1000;
	p->seen = 10;
	p->last_look_tsc = now + 600;
	strcpy(p->name, "worker");
	p->state = LDB_PAGE_LIVE;
	s = (void *)(base + info.stacks_off + 3 * info.stack_stride);
	for (unsigned i = 0; i < 2; i++)
		s->frame[i] = (struct ldb_stack_frame){
			.gen = (50 + i) << 16, .pc = 0x401000 + i * 16, .ret = 0x402000,
			.start_min = now + 100 * i, .start_max = now + 100 * i + 30,
			.last_seen = now + 300,
		};
	s->depth = 2;
	r = (struct ldb_rec){ .tsc = now, .tid = 5, .type = LDB_EV_THREAD_START, .arg = 0x4010, .arg2 = 4 };
	ring_put(0, &r, 1, 1);
	func_event(recs, 5, 1);
	ring_put(info.nr_cpus, recs, 3, 3);
	lock.begin = now + 10;
	lock.end = now + 50;
	memcpy(recs, &lock, sizeof(lock));
	ring_put(0, recs, 2, 2);
	/* This event is out of order, in another ring, so that the recorder must sort. */
	req.type = LDB_EV_REQ_END;
	req.tsc = now + 90;
	memcpy(recs, &req, sizeof(req));
	ring_put(0, recs, 2, 2);
	req.type = LDB_EV_REQ_START;
	req.tsc = now + 20;
	memcpy(recs, &req, sizeof(req));
	ring_put(info.nr_cpus > 1, recs, 2, 2);
	req = (struct ldb_req_rec){ .tsc = now, .tid = 5, .type = LDB_EV_REQ_CLASS, .id = 77,
				    .cont1 = LDB_EV_CONT + 1 };
	memcpy(&req.payload0, "GET ", 4);
	memcpy(&req.queue, "/index.h", 8);
	memcpy(&req.payload1, "tml ", 4);
	memcpy(&req.payload2, "HTTP/1\0", 8);
	memcpy(recs, &req, sizeof(req));
	ring_put(0, recs, 2, 2);
	req = (struct ldb_req_rec){ .tsc = now, .tid = 5, .type = LDB_EV_REQ_LINK, .id = 77,
				    .queue = 0x1122334455667788, .payload2 = 0x99aabbccddeeff00,
				    .payload0 = 0x55667788, .payload1 = 0x11223344,
				    .cont1 = LDB_EV_CONT + 1 };
	memcpy(recs, &req, sizeof(req));
	ring_put(0, recs, 2, 2);
	notes(now);
	r = (struct ldb_rec){ .tsc = now + 500, .type = LDB_EV_GAP, .arg = now + 400 };
	ring_put(info.nr_cpus, &r, 1, 1);
	p = page_of(4);
	*p = (struct ldb_page){ .tid = 8, .start_tsc = now + 1, .exit_tsc = now + 700, .made = 3,
				.name = "short" };
	p->state = LDB_PAGE_EXITED;
	r = (struct ldb_rec){ .tsc = now + 700, .tid = 8, .type = LDB_EV_THREAD_EXIT, .arg = 4 };
	ring_put(0, &r, 1, 1);
	((struct ldb_info *)base)->unobserved_events = 12;
	((struct ldb_info *)base)->scan[0].looks = 4711;
	if (nr)
		detach_or_gone();
}

/* Records are reserved and never written, between complete ones. */
static void mode_holes(uint64_t nr)
{
	struct ldb_rec recs[3];

	attach();
	for (uint64_t i = 0; i < nr; i++) {
		func_event(recs, 1, i);
		ring_put(0, recs, 3, 3);
		/* of each three slots, none, one or two are written */
		ring_put(0, recs, 3, i % 3);
	}
	printf("funcs=%" PRIu64 "\nlost=%" PRIu64 "\n", nr, nr * 3);
}

/* A writer is preempted in the middle for ARG ms. */
static void mode_late(uint64_t ms)
{
	struct ldb_rec recs[3];
	struct ldb_ring_hdr *h;
	struct ldb_rec *slots;
	uint64_t idx;

	attach();
	h = ring_of(0);
	slots = (struct ldb_rec *)((char *)h + LDB_RING_HDR_SIZE);
	idx = __atomic_fetch_add(&h->head, 3, __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < 100; i++) {
		func_event(recs, 1, i);
		ring_put(0, recs, 3, 3);
	}
	usleep(ms * 1000);
	func_event(recs, 2, 4711);
	for (int k = 2; k >= 0; k--) {	/* the first slot is written last */
		recs[k].commit = (uint32_t)(idx + k + 1) ^ ldb_rec_hash(&recs[k]);
		slots[(idx + k) & ring_mask(0)] = recs[k];
	}
	puts("funcs=101");
}

/*
 * Writes random bytes everywhere for ARG seconds, and records, nine of ten with the right check
 * word.
 */
static void mode_garbage(uint64_t seconds)
{
	uint64_t until;

	attach();
	random_state += getpid();
	until = clock_now() + seconds * info.tsc_hz;
	while (clock_now() < until) {
		for (int i = 0; i < 200; i++) {
			unsigned ring = rnd() % info.nr_rings;
			struct ldb_ring_hdr *h = ring_of(ring);
			struct ldb_rec *slots = (struct ldb_rec *)((char *)h + LDB_RING_HDR_SIZE);
			uint64_t idx = h->head + rnd() % 8;
			struct ldb_rec r = {
				.tsc = rnd() % 4 ? clock_now() + rnd() % 100 : rnd(),
				.tid = rnd() % 3 ? rnd() % 10 : rnd(),
				.flags = rnd(), .arg = rnd() % 2 ? rnd() : rnd() % 5000,
				.arg2 = rnd(),
			};
			static const uint16_t types[] = {
				0x101, 0x102, 0x110, 0x111, 0x201, 0x202, 0x301, 0x302, 0x303,
				0x304, 0x305, 0x306, 0xe01, 0xe02, 0xe03, 0xf01, 0, 0x777,
			};

			r.type = types[rnd() % (sizeof(types) / sizeof(types[0]))];
			r.commit = (uint32_t)(idx + 1) ^ ldb_rec_hash(&r);
			if (rnd() % 10 == 0)
				r.commit = rnd();
			slots[idx & ring_mask(ring)] = r;
			if (rnd() % 3 == 0)
				__atomic_fetch_add(&h->head, rnd() % 4, __ATOMIC_RELAXED);
			if (rnd() % 500 == 0)
				__atomic_store_n(&h->head, rnd() % 3 ? rnd() : rnd() % 100000,
						 __ATOMIC_RELAXED);
		}
		for (int i = 0; i < 50; i++) {
			uint64_t *page = (void *)page_of(rnd() % info.max_threads);
			uint64_t *stack = (void *)(base + info.stacks_off +
						   rnd() % info.max_threads * info.stack_stride);

			page[rnd() % 64] = rnd() % 2 ? rnd() : rnd() % 3;
			((struct ldb_page *)page)->state = 1 + rnd() % 3;
			stack[rnd() % (info.stack_stride / 8)] = rnd();
			stack[0] = rnd() % 2 ? rnd() : rnd() % 1100;
			((uint64_t *)base)[rnd() % 512] = rnd();
		}
	}
	puts("garbage");
}

/*
 * Writes much while the recorder is stopped: ARG functions into the scanner's ring, and twice as
 * many events of requests alternately into the rings of two CPUs.
 */
static void mode_flood(uint64_t nr)
{
	struct ldb_req_rec req = {
		.tid = 5, .queue = 0x9990, .payload2 = 0x4011, .cont1 = LDB_EV_CONT + 1,
	};
	pid_t recorder;
	struct ldb_rec recs[3];

	attach();
	recorder = recorder_pid();
	if (kill(recorder, SIGSTOP))
		die("kill");
	for (uint64_t i = 0; i < nr; i++) {
		func_event(recs, 1, i);
		ring_put(info.nr_cpus, recs, 3, 3);
		for (unsigned half = 0; half < 2; half++) {
			req.type = half ? LDB_EV_REQ_END : LDB_EV_REQ_START;
			req.id = i;
			req.tsc = clock_now();
			memcpy(recs, &req, sizeof(req));
			ring_put(info.nr_cpus > 1 ? half : 0, recs, 2, 2);
		}
	}
	if (kill(recorder, SIGCONT))
		die("kill");
	printf("slots=%" PRIu64 "\n", nr * 7);
	fflush(stdout);
}

/* Does what mode_flood() does, then prints how much private memory the recorder has. */
static void mode_memory(uint64_t nr)
{
	char path[64], line[256];
	FILE *f;

	mode_flood(nr);
	usleep(300000);
	snprintf(path, sizeof(path), "/proc/%d/status", recorder_pid());
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "RssAnon:", 8))
			printf("anon_kb=%ld\n", atol(line + 8));
}

/* Writes until another process ends it, or the recorder sends a message or ends. */
static void mode_forever(uint64_t nr)
{
	struct ldb_rec recs[3];

	attach();
	puts("attached");
	fflush(stdout);
	for (uint64_t i = 0;; i++) {
		struct pollfd p = { .fd = sock, .events = POLLIN };

		func_event(recs, 1, i);
		ring_put(0, recs, 3, 3);
		if (i % 64 == 0 && poll(&p, 1, 0) > 0)
			break;
		if (nr && i % nr == 0)
			usleep(1000);
	}
	detach_or_gone();
	sleep(1);
	exit(5);
}

static void mode_kill(uint64_t nr)
{
	struct ldb_rec recs[3];

	attach();
	for (uint64_t i = 0; i < nr; i++) {
		func_event(recs, 1, i);
		ring_put(0, recs, 3, 3);
	}
	kill(getpid(), SIGKILL);
}

static void mode_mute(uint64_t unused)
{
	receive(NULL);
}

static void mode_stuck(uint64_t unused)
{
	attach();
	puts("attached");
	fflush(stdout);
	receive(NULL);		/* the message is DETACH, which is never answered */
	pause();
}

static void mode_version(uint64_t version)
{
	send_hello(version, LDB_SESSION_ABI, 1);
	receive(NULL);
}

static void mode_bare(uint64_t unused)
{
	send_hello(LDB_CONTROL_VERSION, LDB_SESSION_ABI, 0);
	receive(NULL);
}

static void mode_refuse(uint64_t unused)
{
	struct ldb_msg_text t = { .text = "another ldb-record is recording this program\x1b[31m" };

	send_msg(&t, LDB_MSG_ERROR, sizeof(t));
	receive(NULL);
}

static void mode_nonsense(uint64_t what)
{
	char buf[5000];

	memset(buf, 'A', sizeof(buf));
	if (what == 0)
		send(sock, buf, sizeof(buf), MSG_NOSIGNAL);
	else if (what == 1)
		send(sock, buf, 1, MSG_NOSIGNAL);
	else if (what == 2)
		send_msg(buf, LDB_MSG_MODULE, 16);
	else if (what == 3)
		send_msg(buf, LDB_MSG_DETACHED, sizeof(struct ldb_msg));
	else if (what == 4) {
		attach();
		/* the text contains no NUL */
		send_msg(buf, LDB_MSG_MODULE, sizeof(struct ldb_msg_module));
		memset(buf, 'A', sizeof(buf));
		send_msg(buf, LDB_MSG_UNLOADED, sizeof(struct ldb_msg_unloaded));
		memset(buf, 'A', sizeof(buf));
		send_msg(buf, LDB_MSG_TEXT, sizeof(struct ldb_msg_text));
		return;
	} else {
		close(sock);
		return;
	}
	receive(NULL);
}

/* Reports modules without a build-id at the paths of FAKE_PATHS, which blanks separate. */
static void mode_paths(uint64_t unused)
{
	const char *at = getenv("FAKE_PATHS");
	uint64_t start = 0x600000;

	attach();
	for (size_t n; at && *at; at += n + strspn(at + n, " "), start += 0x100000) {
		struct ldb_msg_module m = { .start = start, .end = start + 0x100000 };

		n = strcspn(at, " ");
		snprintf(m.path, sizeof(m.path), "%.*s", (int)n, at);
		send_msg(&m, LDB_MSG_MODULE, sizeof(m));
	}
	/* The recorder cannot open the process's root when the process has ended. */
	detach_or_gone();
}

static const struct {
	const char *name;
	void (*run)(uint64_t arg);
} modes[] = {
	{ "funcs", mode_funcs }, { "kinds", mode_kinds }, { "holes", mode_holes },
	{ "late", mode_late }, { "garbage", mode_garbage }, { "forever", mode_forever },
	{ "kill", mode_kill }, { "mute", mode_mute }, { "stuck", mode_stuck },
	{ "version", mode_version }, { "bare", mode_bare }, { "refuse", mode_refuse },
	{ "nonsense", mode_nonsense }, { "flood", mode_flood }, { "memory", mode_memory },
	{ "paths", mode_paths },
};

int main(int argc, char **argv)
{
	bool listens = argc > 1 && !strcmp(argv[1], "-l");

	argv += listens;
	argc -= listens;
	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name))
			continue;
		open_socket(listens);
		modes[i].run(argc > 2 ? strtoull(argv[2], NULL, 0) : 0);
		return 0;
	}
	fprintf(stderr, "fake-runtime: no such mode\n");
	return 2;
}
