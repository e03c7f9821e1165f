// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests rows that are held back and merged: all rows must be emitted, once, in order, and not too
 * early.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/backlog.h"
#include "random.h"
#include "tap.h"

struct row {
	int64_t tick;
	uint64_t seq;
	uint64_t pad[5];
};

static struct {
	uint64_t nr, disorder, too_late, wrong;
	int64_t last, until;
	uint64_t last_seq;
	uint8_t *seen;
} out;

static void take(void *arg, void *rows, size_t nr)
{
	const struct row *r = rows;

	(void)arg;
	for (; nr; nr--, r++) {
		out.disorder += r->tick < out.last || (r->tick == out.last && r->seq < out.last_seq);
		out.too_late += r->tick > out.until;
		out.wrong += out.seen[r->seq] || r->pad[4] != ~r->seq;
		out.seen[r->seq] = 1;
		out.last = r->tick;
		out.last_seq = r->seq;
		out.nr++;
	}
}

static void put(struct backlog *w, int64_t tick, uint64_t seq)
{
	struct row *r = backlog_add(w, tick);

	*r = (struct row){ .tick = tick, .seq = seq, .pad[4] = ~seq };
}

static void begin_limited(struct backlog *w, size_t max, size_t limit)
{
	free(out.seen);
	memset(&out, 0, sizeof(out));
	out.seen = calloc(max, 1);
	out.last = INT64_MIN;
	if (!out.seen || backlog_init(w, sizeof(struct row), limit, take, NULL))
		bail_out("out of memory");
}

static void begin(struct backlog *w, size_t max)
{
	begin_limited(w, max, BACKLOG_MAX);
}

static void end(struct backlog *w, uint64_t nr, const char *name)
{
	out.until = INT64_MAX;
	backlog_release(w, INT64_MAX);
	backlog_exit(w);
	diag("%s", name);
	is_int(out.nr, nr, "every row leaves, once");
	is_int(out.wrong, 0, "as it came");
	is_int(out.disorder, 0, "in order, rows of one tick as they came");
	is_int(out.too_late, 0, "and not before it may");
}

/* The sources have different rates, each in order except for single rows, and are read in turn. */
static void test_sources(unsigned nr_sources, unsigned late_one_in, const char *name)
{
	uint64_t seq = 0;
	struct backlog w;

	begin(&w, 200 * 64 * 500);
	for (int64_t pass = 1; pass <= 200; pass++) {
		for (unsigned s = 0; s < nr_sources; s++) {
			unsigned nr = rnd() % 500;

			for (unsigned i = 0; i < nr; i++) {
				int64_t tick = pass * 1000 + i * 1000 / nr;

				if (late_one_in && rnd() % late_one_in == 0)
					tick -= rnd() % 900;
				put(&w, tick, seq++);
			}
		}
		out.until = pass * 1000;
		backlog_release(&w, out.until);
	}
	end(&w, seq, name);
}

static void test_random(void)
{
	struct backlog w;

	begin(&w, 20000);
	for (unsigned i = 0; i < 20000; i++)
		put(&w, rnd() % 3000, i);
	end(&w, 20000, "in no order");
}

static void test_backward(void)
{
	struct backlog w;

	begin(&w, 20000);
	for (unsigned i = 0; i < 20000; i++)
		put(&w, -(int64_t)i, i);
	end(&w, 20000, "backward");
}

/* A source whose rows are all in the future may cause disorder, but no growth of memory. */
static void test_full(void)
{
	struct backlog w;

	begin(&w, BACKLOG_MAX * 3);
	out.until = INT64_MAX;
	for (uint64_t i = 0; i < BACKLOG_MAX * 3; i++) {
		put(&w, INT64_MAX - i % 7, i);
		if (i % 16384 == 0)
			backlog_release(&w, 0);
	}
	ok(w.room <= BACKLOG_MAX, "there is room for no more than the limit");
	is_int(out.nr, BACKLOG_MAX * 2, "what is beyond has left");
	backlog_release(&w, INT64_MAX);
	is_int(out.nr, BACKLOG_MAX * 3, "nothing is lost");
	is_int(out.wrong, 0, "or there twice");
	backlog_exit(&w);
}

static void test_unlimited(void)
{
	struct backlog w;

	begin_limited(&w, BACKLOG_MAX * 3, SIZE_MAX);
	for (uint64_t i = 0; i < BACKLOG_MAX * 3; i++)
		put(&w, BACKLOG_MAX - i % 7, i);
	is_int(out.nr, 0, "without a limit none leaves before it may");
	end(&w, BACKLOG_MAX * 3, "as many as one likes");
}

int main(void)
{
	test_sources(1, 0, "one source");
	test_sources(2, 0, "two sources");
	test_sources(7, 50, "seven sources, some rows late");
	test_sources(64, 3, "many, many late");
	test_random();
	test_backward();
	test_full();
	test_unlimited();
	free(out.seen);
	return done();
}
