// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One thread sends requests on many connections, with at most one request outstanding on each.
 *
 * Open loop: requests are due at the times of a Poisson process, whatever the server does.  A
 * request for which there is no idle connection is sent when there is one, and its latency counts
 * from when it was due: a server that stalls cannot make the load wait for it (no "coordinated
 * omission").  Closed loop: each connection sends its next request when it has the answer; this
 * finds the peak throughput.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "client.h"

/* The client gives up if there is no answer for this time. */
#define STALL_NS	10000000000ull
#define LATE_NS		100000

struct connection {
	int fd;
	bool writing;		/* waits for room in the socket */
	enum op op;
	uint64_t key;
	uint64_t due;
	char *out, *in;
	size_t out_len, out_pos, in_len;
};

static const struct options *opt;
static struct result *res;
static struct connection conn[MAX_CONNECTIONS];
static int idle[MAX_CONNECTIONS], nr_idle;
static int epoll_fd;
static uint64_t rng_state, next_fill;
static double *zipf_cdf;
static uint64_t measure_from, last_progress;

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* splitmix64 */
static uint64_t rng(void)
{
	uint64_t z = rng_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Returns a random number in (0, 1], whose logarithm is finite. */
static double rng_unit(void)
{
	return (double)((rng() >> 11) + 1) / 9007199254740992.0;
}

static int zipf_init(void)
{
	double sum = 0;

	zipf_cdf = malloc(opt->nr_keys * sizeof(*zipf_cdf));
	if (!zipf_cdf)
		return -1;
	for (uint64_t i = 0; i < opt->nr_keys; i++)
		zipf_cdf[i] = sum += pow((double)(i + 1), -opt->zipf);
	return 0;
}

static uint64_t choose_key(void)
{
	uint64_t low = 0, high = opt->nr_keys - 1;
	double u;

	if (opt->fill)
		return next_fill++;
	if (!zipf_cdf)
		return rng() % opt->nr_keys;
	u = rng_unit() * zipf_cdf[high];
	while (low < high) {
		uint64_t mid = (low + high) / 2;

		if (zipf_cdf[mid] < u)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int watch(struct connection *c, int op, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.u32 = (uint32_t)(c - conn) };

	return epoll_ctl(epoll_fd, op, c->fd, &ev);
}

static int connect_one(struct connection *c)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)opt->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int one = 1;

	c->out = malloc(wire_max());
	c->in = malloc(wire_max());
	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || !c->out || !c->in ||
	    connect(c->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    fcntl(c->fd, F_SETFL, O_NONBLOCK) || watch(c, EPOLL_CTL_ADD, EPOLLIN)) {
		fprintf(stderr, "client: cannot connect to port %d: %s\n", opt->port, strerror(errno));
		return -1;
	}
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

static int flush(struct connection *c)
{
	while (c->out_pos < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_pos, c->out_len - c->out_pos, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			if (c->writing)
				return 0;
			c->writing = true;
			return watch(c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
		}
		if (n < 0) {
			fprintf(stderr, "client: cannot send: %s\n", strerror(errno));
			return -1;
		}
		c->out_pos += (size_t)n;
	}
	if (!c->writing)
		return 0;
	c->writing = false;
	return watch(c, EPOLL_CTL_MOD, EPOLLIN);
}

static int send_request(struct connection *c, uint64_t due, uint64_t now)
{
	uint32_t len = opt->value_min + (uint32_t)(rng() % (opt->value_max - opt->value_min + 1));

	c->op = opt->fill || (int)(rng() % 100) < opt->set_pct ? OP_SET : OP_GET;
	c->key = choose_key();
	c->due = due;
	c->in_len = 0;
	c->out_pos = 0;
	c->out_len = wire_request(c->op, c->key, len, c->out);
	res->nr_sent++;
	if (due >= measure_from && now - due > LATE_NS)
		res->nr_late++;
	return flush(c);
}

static void finish(struct connection *c, enum answer a, uint64_t now)
{
	last_progress = now;
	/* A wrong answer counts at any time, also during the warm-up. */
	if (a == ANSWER_BAD && res->nr_errors++ == 0)
		fprintf(stderr, "client: wrong answer to %s of key %llu: %.*s\n", c->op == OP_SET ? "SET" : "GET",
			(unsigned long long)c->key, (int)(c->in_len < 60 ? c->in_len : 60), c->in);
	if (c->due < measure_from)
		return;
	res->nr_done++;
	if (a == ANSWER_MISS)
		res->nr_misses++;
	hist_add(&res->latency, now - c->due);
}

/* Returns 1 if the connection is idle again, 0 if not yet, -1 if it is broken. */
static int receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, wire_max() - c->in_len, 0);
	enum answer a;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {
		fprintf(stderr, "client: the server closed a connection%s%s\n", n ? ": " : "", n ? strerror(errno) : "");
		return -1;
	}
	c->in_len += (size_t)n;
	a = wire_answer(c->op, c->key, c->in, c->in_len);
	if (a == ANSWER_PART)
		return 0;
	finish(c, a, now_ns());
	return 1;
}

/* Takes an idle connection at random, so that all the server's threads get load. */
static struct connection *take_idle(void)
{
	int i = (int)(rng() % (uint64_t)nr_idle), id = idle[i];

	idle[i] = idle[--nr_idle];
	return &conn[id];
}

/*
 * Sends the requests that are due.  Returns when the next will be due (end: no more may be sent),
 * or 0 after an error.
 */
static uint64_t send_due(uint64_t next, uint64_t end)
{
	uint64_t now = now_ns();

	while (nr_idle && next <= now && next < end) {
		if (opt->fill && next_fill >= opt->nr_keys)
			return end;
		if (opt->max_requests && res->nr_sent >= opt->max_requests)
			return end;
		if (send_request(take_idle(), opt->rate > 0 ? next : now, now))
			return 0;
		if (opt->rate > 0)
			next += (uint64_t)(-log(rng_unit()) * 1e9 / opt->rate);
		now = now_ns();
	}
	/* If there is no idle connection, an answer must come before the next request. */
	return next;
}

static int wait_events(uint64_t next, uint64_t now)
{
	struct epoll_event ev[64];
	struct timespec ts = { 0, 100000000 };
	int n;

	if (nr_idle && next <= now + 100000000)
		ts.tv_nsec = next > now ? (long)(next - now) : 0;
	n = epoll_pwait2(epoll_fd, ev, 64, &ts, NULL);
	for (int i = 0; i < n; i++) {
		struct connection *c = &conn[ev[i].data.u32];
		int got;

		if (ev[i].events & EPOLLOUT && flush(c))
			return -1;
		if (!(ev[i].events & ~(uint32_t)EPOLLOUT))
			continue;
		got = receive(c);
		if (got < 0)
			return -1;
		if (got)
			idle[nr_idle++] = (int)ev[i].data.u32;
	}
	return n < 0 && errno != EINTR ? -1 : 0;
}

static int run(void (*started)(void))
{
	uint64_t begin = now_ns(), end, next = begin, now = begin;

	measure_from = begin + (uint64_t)(opt->warmup * 1e9);
	end = measure_from + (uint64_t)(opt->seconds * 1e9);
	last_progress = begin;
	while (next < end || nr_idle < opt->connections) {
		if (started && now >= measure_from) {
			started();
			started = NULL;
		}
		/* In closed loop no request is due later than now, so the end is checked here. */
		if (next < end)
			next = opt->rate > 0 || now < end ? send_due(next, end) : end;
		if (!next || ((next < end || nr_idle < opt->connections) && wait_events(next, now_ns())))
			return -1;
		now = now_ns();
		if (nr_idle == opt->connections)
			last_progress = now;
		else if (now - last_progress > STALL_NS) {
			fprintf(stderr, "client: no answer for 10 s\n");
			return -1;
		}
	}
	res->seconds = (double)(now - measure_from) / 1e9;
	return 0;
}

int drive(const struct options *o, struct result *r, void (*started)(void))
{
	opt = o;
	res = r;
	rng_state = o->seed;
	if (o->zipf > 0 && zipf_init()) {
		fprintf(stderr, "client: no memory for %llu keys\n", (unsigned long long)o->nr_keys);
		return -1;
	}
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -1;
	for (int i = 0; i < o->connections; i++) {
		if (connect_one(&conn[i]))
			return -1;
		idle[nr_idle++] = i;
	}
	return run(started);
}
