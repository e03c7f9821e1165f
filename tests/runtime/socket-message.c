// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that messages are found wherever reads and writes cut the bytes: each conversation is
 * passed as a whole, byte by byte, and in pieces of every length, and must yield the same messages
 * with the same classes.
 */
#include <stdlib.h>
#include <string.h>
#include "socket/message.h"
#include "tap.h"

static struct seen {
	unsigned nr_begins, nr_ends, nr_traces;
	char classes[256], paths[256];
} seen;

static void append(char *to, size_t room, const char *text, size_t len)
{
	size_t n = strlen(to);

	snprintf(to + n, room - n, "%.*s,", (int)len, text);
}

static void begins(void *arg)
{
	(void)arg;
	seen.nr_begins++;
}

static void class_is(void *arg, const char *text, size_t len)
{
	(void)arg;
	append(seen.classes, sizeof(seen.classes), text, len);
}

static void path_is(void *arg, const char *text, size_t len)
{
	(void)arg;
	append(seen.paths, sizeof(seen.paths), text, len);
}

static void trace_is(void *arg, const unsigned char *trace, const unsigned char *span)
{
	(void)arg;
	seen.nr_traces += trace[0] == 0x4b && trace[15] == 0x36 && span[7] == 0xb7;
}

static void ends(void *arg)
{
	(void)arg;
	seen.nr_ends++;
}

static const struct message_events events = { begins, class_is, path_is, trace_is, ends };

#define GET	"GET /ab?c=d HTTP/1.1\r\nHost: x\r\n\r\n"
#define POST	"POST /p HTTP/1.1\r\nContent-Length: 5\r\n\r\nab\r\nc"
#define CHUNKED	"PUT /q HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nA: b\r\n\r\n"
#define TRACED	"GET / HTTP/1.1\r\nTraceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n"

static const struct conversation {
	const char *name, *bytes;
	enum message_kind kind, was;	/* was: protocol of these answers; 0: they are requests */
	unsigned nr;			/* messages that end */
	const char *classes, *paths;
} conversations[] = {
	{ "HTTP requests in one piece", GET POST CHUNKED GET, MESSAGE_HTTP, 0, 4, "GET,POST,PUT,GET,", "/ab,/p,/q,/ab," },
	{ "an empty line between them", GET "\r\n" GET, MESSAGE_HTTP, 0, 2, "GET,GET,", "/ab,/ab," },
	{ "a W3C trace context", TRACED, MESSAGE_HTTP, 0, 1, "GET,", "/," },
	{ "RESP commands", "*2\r\n$3\r\nGET\r\n$1\r\na\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\r\n*1\r\n*1\r\n$4\r\nPING\r\n",
	  MESSAGE_RESP, 0, 3, "GET,SET,PING,", "" },
	{ "RESP, with a line typed by hand", "*1\r\n$4\r\nPING\r\nGET a\r\n*0\r\n", MESSAGE_RESP, 0, 3, "PING,GET,", "" },
	{ "memcached's commands", "get a b\r\nset a 0 0 5\r\nb\r\nxx\r\nms a 2\r\nxx\r\nmg a v\r\ndelete a noreply\r\n", MESSAGE_MEMCACHED, 0, 5,
	  "get,set,ms,mg,delete,", "" },
	{ "HTTP answers", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 304 N\r\n\r\n"
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n0\r\r\n0\r\n\r\n", MESSAGE_HTTP, MESSAGE_HTTP, 3, "", "" },
	{ "RESP answers", "+OK\r\n$-1\r\n$2\r\n\r\n\r\n*2\r\n:1\r\n*1\r\n$1\r\na\r\n*0\r\n>2\r\n+a\r\n+b\r\n%1\r\n+a\r\n_\r\n-ERR x\r\n",
	  MESSAGE_RESP, MESSAGE_RESP, 7, "", "" },
	{ "memcached's answers", "VALUE a 0 5\r\nEND\r\n\r\nVALUE b 0 1\r\nx\r\nEND\r\nSTORED\r\nVA 3 t\r\nabc\r\nEN\r\nSTAT a b\r\nSTAT b c\r\nEND\r\n",
	  MESSAGE_MEMCACHED, MESSAGE_MEMCACHED, 5, "", "" },
	{ "HTTP/2 is left alone", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", MESSAGE_OTHER, 0, 0, "", "" },
	{ "a binary protocol is left alone", "\x16\x03\x01\x02", MESSAGE_OTHER, 0, 0, "", "" },
	{ "a word that is no command", "hello world\r\n", MESSAGE_OTHER, 0, 0, "", "" },
	{ "RESP that goes wrong", "*2\r\n$3\r\nGET\r\nhello\r\n", MESSAGE_OTHER, 0, 0, "GET,", "" },
};

static struct message start(const struct conversation *c)
{
	seen = (struct seen){ 0 };
	return (struct message){ .is_answer = c->was, .kind = c->was };
}

static bool judge(const struct conversation *c, const struct message *m)
{
	return m->kind == c->kind && seen.nr_ends == c->nr && !strcmp(seen.classes, c->classes) &&
	       !strcmp(seen.paths, c->paths);
}

/*
 * The first read of requests decides which protocol it is, so it has at least one line; of answers
 * the protocol is known.
 */
static size_t first_piece(const struct conversation *c)
{
	const char *nl = strchr(c->bytes, '\n');

	return c->was ? 1 : nl ? (size_t)(nl - c->bytes) + 1 : strlen(c->bytes);
}

static void test(const struct conversation *c)
{
	size_t len = strlen(c->bytes), first = first_piece(c), step;
	struct message m = start(c);

	message_feed(&m, &events, NULL, c->bytes, len);
	ok(judge(c, &m), "%s", c->name);
	if (!judge(c, &m))
		diag("kind %d, %u ends, classes %s, paths %s", m.kind, seen.nr_ends, seen.classes, seen.paths);
	for (step = 1; step < len; step++) {
		m = start(c);
		message_feed(&m, &events, NULL, c->bytes, first);
		for (size_t at = first; at < len; at += step)
			message_feed(&m, &events, NULL, c->bytes + at, at + step < len ? step : len - at);
		if (!judge(c, &m))
			break;
	}
	ok(step >= len, "%s: in pieces of each length", c->name);
	if (step < len)
		diag("in pieces of %zu: kind %d, %u ends, classes %s, paths %s", step, m.kind, seen.nr_ends,
		     seen.classes, seen.paths);
}

static void test_body_by_sendfile(void)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
	struct message m = { .is_answer = true, .kind = MESSAGE_HTTP };

	seen = (struct seen){ 0 };
	message_feed(&m, &events, NULL, head, sizeof(head) - 1);
	message_pass(&m, &events, NULL, 999);
	ok(!seen.nr_ends, "a body by sendfile() is not over before its end");
	message_pass(&m, &events, NULL, 1);
	ok(seen.nr_ends == 1, "... and is over then");
	message_pass(&m, &events, NULL, 1);
	ok(m.kind == MESSAGE_OTHER, "what is sent where a header should be ends the parsing");
}

static void test_until_close(void)
{
	static const char head[] = "HTTP/1.0 200 OK\r\n\r\nabc";
	struct message m = { .is_answer = true, .kind = MESSAGE_HTTP };

	seen = (struct seen){ 0 };
	message_feed(&m, &events, NULL, head, sizeof(head) - 1);
	message_feed(&m, &events, NULL, "HTTP/1.0 200 OK\r\n\r\n", 19);
	ok(!seen.nr_ends, "a body without a length goes on");
	message_close(&m, &events, NULL);
	ok(seen.nr_ends == 1, "... until the connection is closed");
}

static void test_head(void)
{
	static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
	struct message m = { .is_answer = true, .kind = MESSAGE_HTTP, .has_no_body = true };

	seen = (struct seen){ 0 };
	message_feed(&m, &events, NULL, head, sizeof(head) - 1);
	ok(seen.nr_ends == 1, "the answer to HEAD has no body");
}

/* Hostile bytes have no expected result, but must do no harm. */
static void test_noise(void)
{
	static const char *const starts[] = { "GET / HTTP/1.1\r\n", "*3\r\n", "get a\r\n" };
	static const char chars[] = "\r\n\r\n0123456789*$+-:>%|,_ \xff" "aGETVALUEchunked:content-length";
	unsigned i;
	char bytes[200];

	srand(1);
	for (i = 0; i < 200000; i++) {
		struct message m = { 0 }, a = { .is_answer = true, .kind = 1 + i % 3 };

		for (unsigned k = 0; k < sizeof(bytes); k++)
			bytes[k] = chars[rand() % (sizeof(chars) - 1)];
		seen = (struct seen){ 0 };
		message_feed(&m, &events, NULL, starts[i % 3], strlen(starts[i % 3]));
		for (unsigned at = 0, n; at < sizeof(bytes); at += n) {
			n = rand() % 40;
			n = at + n < sizeof(bytes) ? n : sizeof(bytes) - at;
			message_feed(&m, &events, NULL, bytes + at, n);
			message_feed(&a, &events, NULL, bytes + at, n);
		}
		if (m.nr_line > MESSAGE_LINE_MAX || a.nr_line > MESSAGE_LINE_MAX || seen.nr_ends > 500)
			break;
	}
	ok(i == 200000, "200000 hostile conversations did no harm");
}

int main(void)
{
	for (size_t i = 0; i < sizeof(conversations) / sizeof(conversations[0]); i++)
		test(&conversations[i]);
	{
		struct message m = { 0 };

		seen = (struct seen){ 0 };
		message_feed(&m, &events, NULL, TRACED, strlen(TRACED));
		ok(seen.nr_traces == 1, "trace and span are as the header says");
	}
	test_body_by_sendfile();
	test_until_close();
	test_head();
	test_noise();
	return done();
}
