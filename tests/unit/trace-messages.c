// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that traces are joined by the messages of their connections: random connections whose
 * addresses are used again, rows that are lost, and counts of bytes that turn out to be wrong.  The
 * server's request n has the id MADE + n if it was made for the client's request n; so each pair
 * shows whether it is right.
 */
#include <inttypes.h>
#include <linux/ldb.h>
#include <stdlib.h>
#include "trace/join.h"
#include "trace/reader.h"
#include "trace-sample.h"

#define MADE	500000
#define US	1000

struct side {
	struct writer *w;
	uint32_t flags;
	unsigned lost;		/* one row in this number is lost; 0: none */
	uint32_t serial;
	int64_t off;		/* error of the part's clock */
	uint64_t missed;	/* bytes that the part has not counted */
	double drift;		/* drift of the part's clock */
};

struct connection {
	uint64_t client, server;
	uint32_t port;
	uint64_t sent, back;	/* bytes */
	uint64_t scope;
};

static struct writer *begin(const char *name, const char *boot)
{
	struct ldb_file_header h = sample_header;
	struct writer *w;
	char err[256];

	h.t0 = 1000000;
	w = writer_open(sample_path(name), &h, err, sizeof(err));
	if (!w)
		bail_out(err);
	writer_add_meta(w, "boot", boot);
	writer_add_clock(w, &(struct ldb_row_clock){ .tick = 0, .real_ns = 5000000000 });
	writer_add_clock(w, &(struct ldb_row_clock){ .tick = 4000000000, .raw_ns = 4000000000, .real_ns = 9000000000 });
	/* Ids of the second part become those of the program, and a million more. */
	for (uint32_t op = LDB_REQ_OP_START; op <= LDB_REQ_OP_END; op += LDB_REQ_OP_END - LDB_REQ_OP_START)
		writer_add_req(w, &(struct ldb_row_req){ .op = op, .tid = 10, .tick = op, .id = 999999 });
	return w;
}

static void put(struct side *s, const struct connection *c, uint32_t flags, int64_t tick, uint64_t id,
		uint64_t offset, uint32_t bytes)
{
	bool is_client = s->flags & LDB_MESSAGE_F_CLIENT;

	if (s->lost && !(sample_random() % s->lost))
		return;
	writer_add_message(s->w, &(struct ldb_row_message){
		.flags = flags | s->flags, .tid = 10, .tick = tick + s->off + (int64_t)(tick * s->drift), .id = id, .serial = s->serial,
		.offset = offset - s->missed, .bytes = bytes, .scope = c->scope,
		.own_lo = is_client ? c->client : c->server, .own_port = is_client ? c->port : 80,
		.peer_lo = is_client ? c->server : c->client, .peer_port = is_client ? 80 : c->port,
	});
}

/* Sends a question and its answer.  Returns when the answer has come. */
static int64_t ask(struct side *a, struct side *b, struct connection *c, uint64_t n, int64_t at)
{
	uint32_t size = 1 + sample_random() % 300, answer = 1 + sample_random() % 3000;
	int64_t came = at + 5 * US + sample_random() % (50 * US), sent = came + sample_random() % (100 * US);
	int64_t back = sent + 5 * US + sample_random() % (50 * US);

	put(a, c, LDB_MESSAGE_F_SENT, at, n, c->sent, size);
	put(b, c, 0, came, MADE + n, c->sent, 1);
	put(b, c, LDB_MESSAGE_F_SENT, sent, MADE + n, c->back, answer);
	put(a, c, 0, back, n, c->back, 1 + sample_random() % answer);
	c->sent += size;
	c->back += answer;
	return back;
}

static void put_odd(struct side *a, struct side *b, struct connection *c, uint64_t n)
{
	int64_t tick = n % 3 ? INT64_MAX - (int64_t)n : INT64_MIN + (int64_t)n;

	put(a, c, LDB_MESSAGE_F_SENT, tick, n, n % 5 ? n : UINT64_MAX - n, UINT32_MAX);
	put(b, c, 0, -tick, MADE + n, n * 3, 1);
	put(b, c, LDB_MESSAGE_F_SENT, tick, MADE + n, n, UINT32_MAX);
	put(a, c, 0, -tick, n, n, UINT32_MAX);
}

struct found {
	uint64_t nr, right, wrong;
	uint64_t elsewhere, unknown, refused;
	int64_t off;		/* error of the second part's times */
	uint64_t err;
	int64_t end;		/* the time at which the last answer came */
};

static uint64_t number(struct reader *r, const char *key)
{
	const char *text = reader_meta(r, key);

	return text ? strtoull(text, NULL, 10) : 0;
}

static struct found join(void)
{
	char a[256], b[256], err[256];
	const char *const paths[] = { a, b };
	struct found f = { 0 };
	struct reader_rows rows = { .kind = LDB_BLK_ASKED };
	struct reader *r;
	struct cursor *c;

	snprintf(a, sizeof(a), "%s", sample_path("a"));
	snprintf(b, sizeof(b), "%s", sample_path("b"));
	if (trace_join_file(paths, 2, sample_path("joined"), NULL, err, sizeof(err)))
		bail_out(err);
	r = reader_open(sample_path("joined"), err, sizeof(err));
	if (!r)
		bail_out(err);
	f.nr = number(r, "messages");
	f.elsewhere = number(r, "messages_elsewhere");
	f.unknown = number(r, "messages_unknown");
	f.refused = number(r, "messages_refused");
	c = reader_cursor(r, LDB_BLK_ASKED, NULL);
	while (cursor_next(c, &rows) > 0) {
		for (size_t i = 0; i < rows.nr; i++) {
			uint64_t made = rows.asked[i].id % 1000000, by = rows.asked[i].by % 1000000;

			f.right += made == by + MADE;
			f.wrong += made != by + MADE;
		}
	}
	cursor_close(c);
	c = reader_cursor(r, LDB_BLK_PROCESS, NULL);
	if (cursor_next(c, &rows) > 0 && rows.nr == 2) {
		f.off = rows.process[1].start - rows.process[0].start;
		f.err = rows.process[1].clock_err;
	}
	cursor_close(c);
	reader_close(r);
	diag("%" PRIu64 " joined, %" PRIu64 " right, %" PRIu64 " wrong; elsewhere %" PRIu64 ", unknown %" PRIu64
	     ", refused %" PRIu64, f.nr, f.right, f.wrong, f.elsewhere, f.unknown, f.refused);
	return f;
}

struct scene {
	unsigned nr;		/* connections, one after the other */
	unsigned nr_ports;	/* the number of addresses that connections share */
	unsigned questions;	/* messages of each connection; 0: a few */
	bool is_odd;		/* all messages claim to have 4 GiB, and have invalid times */
	unsigned lost;
	int64_t off;
	double drift;
	int64_t pause;		/* between questions */
	const char *boot;	/* the boot of the second part */
	/* one side misses bytes of some connections, and records this at the end */
	bool is_wrong;
};

static struct found play(const struct scene *s)
{
	struct side a = { .w = begin("a", "boot"), .flags = LDB_MESSAGE_F_CLIENT, .lost = s->lost };
	struct side b = { .w = begin("b", s->boot), .lost = s->lost, .off = s->off, .drift = s->drift };
	int64_t at = 1000000;
	uint64_t n = 0;
	struct found f;

	for (unsigned i = 0; i < s->nr; i++) {
		struct connection c = { .client = 7, .server = 9, .port = 1000 + i % s->nr_ports };
		/* the client sends bytes that its runtime does not observe */
		bool is_wrong = s->is_wrong && i % 3 == 0;

		a.serial++;
		b.serial++;
		for (unsigned k = s->questions ?: sample_random() % 10 + 1; k; k--) {
			if (s->is_odd) {
				put_odd(&a, &b, &c, ++n);
				continue;
			}
			at = ask(&a, &b, &c, ++n, at + 1000 + s->pause);
			if (is_wrong && k == 5) {
				put(&a, &c, LDB_MESSAGE_F_RIGHT | LDB_MESSAGE_F_SENT, at, 0, 0, 0);
				a.missed = c.sent / 2;
			}
		}
		put(&a, &c, (is_wrong ? LDB_MESSAGE_F_WRONG : LDB_MESSAGE_F_RIGHT) | LDB_MESSAGE_F_SENT, at, 0, 0, 0);
		/* count of the bytes that it has received */
		put(&a, &c, LDB_MESSAGE_F_RIGHT, at, 0, 0, 0);
		a.missed = 0;
	}
	writer_close(a.w);
	writer_close(b.w);
	f = join();
	f.end = at;
	return f;
}

int main(void)
{
	struct found f = play(&(struct scene){ .nr = 300, .nr_ports = 300, .boot = "boot" });

	ok(f.nr > 1000 && f.right == f.nr && !f.wrong && !f.unknown && !f.elsewhere && !f.refused, "all, and right");
	f = play(&(struct scene){ .nr = 300, .nr_ports = 7, .boot = "boot" });
	ok(f.right > 1000 && !f.wrong && !f.unknown, "addresses that are used again");
	f = play(&(struct scene){ .nr = 300, .nr_ports = 7, .boot = "boot", .lost = 5 });
	ok(f.right > 500 && !f.wrong && f.unknown + f.refused > 50, "rows that are lost make no wrong pair");
	f = play(&(struct scene){ .nr = 300, .nr_ports = 300, .boot = "boot", .is_wrong = true });
	ok(f.right > 500 && !f.wrong && f.unknown > 100, "bytes that were counted wrong");
	f = play(&(struct scene){ .nr = 50, .nr_ports = 50, .boot = "other", .off = 3000000 });
	ok(f.right > 100 && !f.wrong && llabs(f.off + 3000000) <= (int64_t)f.err + 1 && f.err < 50 * US,
	   "another clock, 3 ms apart: right within the error");
	diag("off by %" PRId64 ", said %" PRIu64, f.off + 3000000, f.err);
	f = play(&(struct scene){ .nr = 300, .nr_ports = 7, .boot = "other", .off = 3000000 });
	ok(!f.right && !f.wrong && f.unknown > 1000, "another clock, and addresses that are used again: not known");
	f = play(&(struct scene){ .nr = 1, .nr_ports = 1, .boot = "boot", .questions = 100000 });
	ok(f.nr == 100000 && f.right == f.nr, "many messages of one connection");
	f = play(&(struct scene){ .nr = 2, .nr_ports = 1, .boot = "boot", .questions = 20000, .is_odd = true });
	ok(!f.nr || f.nr < 40000, "impossible rows are read, too");
	f = play(&(struct scene){ .nr = 1, .nr_ports = 1, .boot = "other", .questions = 20000, .is_odd = true });
	ok(f.nr <= 20000, "... of another clock");
	/* In this time the clocks drift by nearly the least time that two messages take. */
	f = play(&(struct scene){ .nr = 50, .nr_ports = 50, .boot = "other", .off = 3000000, .pause = 10000 * US,
				  .drift = 9.0 * US / (250 * 10000.0 * US) });
	diag("wrong by %" PRId64 " at first, by %" PRId64 " at last, said %" PRIu64, f.off + 3000000,
	     f.off + 3000000 + (int64_t)(f.end * 9.0 / (250 * 10000.0)), f.err);
	ok(f.right > 100 && llabs(f.off + 3000000) <= (int64_t)f.err + 1 && f.err < 50 * US &&
	   llabs(f.off + 3000000 + (int64_t)(f.end * 9.0 / (250 * 10000.0))) <= (int64_t)f.err + 1,
	   "another clock, which drifts: right within the error from first to last");
	return done();
}
