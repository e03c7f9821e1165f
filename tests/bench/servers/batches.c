// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program sends a load to memcached on this machine, in which light requests meet batches.
 *
 *	batches PORT SECONDS [gets]	stores the keys, then sends requests for SECONDS; with gets,
 *					batches use the command "gets", which distinguishes them
 *
 * One connection sends BATCH requests in one piece, each for BATCH_KEYS keys ("batch:..."), and
 * pauses when it has all answers, until BATCH_EVERY_NS after that batch was sent.  The other
 * connections ask for one key ("page:..."), in turn and one at a time, so that they do not delay
 * each other; every RICH_NTH request asks for RICH_KEYS.  The server's time for a request is
 * proportional to its keys: eight requests of a batch take as long as a rich one, twenty more than
 * twice as long.  So on any machine the slowest requests are those that can wait for twenty
 * requests of a batch.
 *
 * Prints "NAME VALUE" lines.  The exit status is 1 if an answer is wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BATCH		60
#define BATCH_KEYS	800
#define BATCH_EVERY_NS	120000000ull
#define LIGHT		8		/* connections that send light requests */
#define LIGHT_EVERY_NS	1000000ull
#define RICH_NTH	32
#define RICH_KEYS	6400
#define NR_KEYS		2000		/* keys of each kind */
#define VALUE		"0123456789"
#define BUFFER		(4u << 20)

struct connection {
	int fd;
	char *out;
	size_t out_len, out_pos;
	unsigned nr_under_way;		/* requests that are not answered yet */
	unsigned nr_values;		/* number of values that the current answer still lacks */
	unsigned keys;			/* keys of each request */
	char in[1 << 16];
	size_t in_len;
};

static struct connection batch, light[LIGHT];
static unsigned long nr_batches, nr_light, nr_rich;
static const char *batch_command = "get";
static uint64_t seed = 1;

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "batches: %s: %s\n", what, errno ? strerror(errno) : "not as it should be");
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static unsigned any_key(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % NR_KEYS;
}

static void open_connection(struct connection *c, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1, left = 100;

	c->out = malloc(BUFFER);
	if (!c->out)
		fail("memory");
	/* The server may have been started just now. */
	do {
		c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (c->fd >= 0 && !connect(c->fd, (struct sockaddr *)&a, sizeof(a)))
			break;
		close(c->fd);
		usleep(50000);
	} while (--left);
	if (!left)
		fail("connect");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void put(struct connection *c, const char *text)
{
	size_t len = strlen(text);

	if (c->out_len + len > BUFFER)
		fail("a request");
	memcpy(c->out + c->out_len, text, len);
	c->out_len += len;
}

/* Writes "COMMAND KIND:NNNN KIND:NNNN ...", with random keys. */
static void put_get(struct connection *c, const char *command, const char *kind, unsigned keys)
{
	char key[32];

	put(c, command);
	for (unsigned i = 0; i < keys; i++) {
		snprintf(key, sizeof(key), " %s:%04u", kind, any_key());
		put(c, key);
	}
	put(c, "\r\n");
	c->keys = keys;
	c->nr_under_way++;
}

static void flush(struct connection *c)
{
	while (c->out_pos < c->out_len) {
		ssize_t n = send(c->fd, c->out + c->out_pos, c->out_len - c->out_pos,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0)
			fail("send");
		c->out_pos += (size_t)n;
	}
	c->out_len = c->out_pos = 0;
}

static void begin_answers(struct connection *c)
{
	c->nr_values = c->keys;
	flush(c);
}

/* Handles a line of the answer: "VALUE ...", a value, or "END". */
static void on_line(struct connection *c, const char *line)
{
	if (!strncmp(line, "VALUE ", 6))
		return;
	if (!strcmp(line, VALUE)) {
		c->nr_values--;
		return;
	}
	errno = 0;
	if (strcmp(line, "END") || c->nr_values || !c->nr_under_way)
		fail(line);
	c->nr_under_way--;
	c->nr_values = c->keys;
}

static void receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->in + c->in_len, sizeof(c->in) - c->in_len, MSG_DONTWAIT);
	char *line = c->in, *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0)
		fail("recv");
	c->in_len += (size_t)n;
	while ((end = memchr(line, '\n', c->in_len - (size_t)(line - c->in)))) {
		end[end > line ? -1 : 0] = '\0';
		on_line(c, line);
		line = end + 1;
	}
	c->in_len -= (size_t)(line - c->in);
	memmove(c->in, line, c->in_len);
}

static void store(struct connection *c, const char *kind)
{
	char text[128];

	for (unsigned i = 0; i < NR_KEYS; i++) {
		snprintf(text, sizeof(text), "set %s:%04u 0 0 %zu noreply\r\n" VALUE "\r\n", kind, i,
			 strlen(VALUE));
		put(c, text);
	}
	/*
	 * Waits for an answer, because the requests on the other connections must find these keys.
	 */
	put_get(c, "get", "batch", 1);
	begin_answers(c);
	while (c->nr_under_way) {
		flush(c);
		receive(c);
	}
}

static void send_batch(void)
{
	for (unsigned i = 0; i < BATCH; i++)
		put_get(&batch, batch_command, "batch", BATCH_KEYS);
	nr_batches++;
	begin_answers(&batch);
}

static void send_light(struct connection *c)
{
	bool is_rich = nr_light++ % RICH_NTH == RICH_NTH - 1;

	nr_rich += is_rich;
	put_get(c, "get", "page", is_rich ? RICH_KEYS : 1);
	begin_answers(c);
}

static void wait_until(uint64_t due)
{
	struct pollfd fds[LIGHT + 1];
	uint64_t now = now_ns();
	struct timespec left = { 0, due > now ? (long)(due - now) : 0 };

	for (unsigned i = 0; i <= LIGHT; i++) {
		const struct connection *c = i < LIGHT ? &light[i] : &batch;

		fds[i] = (struct pollfd){ c->fd, POLLIN | (c->out_len ? POLLOUT : 0), 0 };
	}
	if (ppoll(fds, LIGHT + 1, &left, NULL) <= 0)
		return;
	for (unsigned i = 0; i <= LIGHT; i++) {
		struct connection *c = i < LIGHT ? &light[i] : &batch;

		if (fds[i].revents & POLLOUT)
			flush(c);
		if (fds[i].revents & ~POLLOUT)
			receive(c);
	}
}

static void drive(uint64_t until)
{
	uint64_t next_light = now_ns(), next_batch = next_light, now = next_light;
	struct connection *c = light;

	for (; now < until || batch.nr_under_way || c->nr_under_way; now = now_ns()) {
		if (now >= next_batch && !batch.nr_under_way && now < until) {
			send_batch();
			next_batch = now + BATCH_EVERY_NS;
		}
		if (now >= next_light && !c->nr_under_way && now < until) {
			c = &light[nr_light % LIGHT];
			send_light(c);
			next_light = now + LIGHT_EVERY_NS;
		}
		wait_until(next_light > now ? next_light : now + LIGHT_EVERY_NS);
	}
}

int main(int argc, char **argv)
{
	bool is_gets = argc == 4 && !strcmp(argv[3], "gets");
	int port = argc == 3 || is_gets ? atoi(argv[1]) : 0;
	double seconds = argc == 3 || is_gets ? atof(argv[2]) : 0;

	if (port <= 0 || port > 65535 || !(seconds > 0 && seconds <= 600)) {
		fprintf(stderr, "usage: batches PORT SECONDS [gets]\n");
		return 2;
	}
	if (is_gets)
		batch_command = "gets";
	prctl(PR_SET_TIMERSLACK, 1UL);
	open_connection(&batch, port);
	for (unsigned i = 0; i < LIGHT; i++)
		open_connection(&light[i], port);
	store(&batch, "batch");
	store(&batch, "page");
	drive(now_ns() + (uint64_t)(seconds * 1e9));
	printf("batches %lu\nlight %lu\nrich %lu\n", nr_batches, nr_light, nr_rich);
	return 0;
}
