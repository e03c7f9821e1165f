// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the sorting window: order, ties, how far a row may be late. */
#include "base/window.h"
#include "trace-sample.h"

struct row {
	int64_t tick;
	uint64_t nr;		/* number in the order of arrival */
	char filler[40];
};

struct played {
	int64_t last_tick;
	uint64_t last_nr, nr, sum, late, wrong;
	int fail_at;
};

static int play(void *arg, const void *windowed)
{
	const struct row *row = windowed;
	struct played *p = arg;

	p->late += p->nr && row->tick < p->last_tick;
	p->wrong += p->nr && row->tick == p->last_tick && row->nr < p->last_nr;
	p->last_tick = row->tick;
	p->last_nr = row->nr;
	p->sum += row->nr;
	return ++p->nr == (uint64_t)p->fail_at ? -7 : 0;
}

/* spread: how far a tick may lie behind; ties: how many rows have the same tick. */
static void run(struct played *p, size_t nr, uint64_t spread, unsigned ties)
{
	struct window w;
	int rc = 0;

	window_init(&w, sizeof(struct row), play, p);
	for (uint64_t i = 0; i < nr && !rc; i++) {
		struct row row = { .nr = i };

		row.tick = (int64_t)(i - (spread ? sample_random() % spread : 0)) / ties;
		rc = window_add(&w, &row, row.tick);
	}
	if (!rc)
		rc = window_finish(&w);
	is_int(rc, p->fail_at ? -7 : 0, "window");
	window_free(&w);
}

static void test(size_t nr, uint64_t spread, unsigned ties, const char *name)
{
	struct played p = { 0 };

	run(&p, nr, spread, ties);
	ok(p.nr == nr && p.sum == nr * (nr - 1) / 2 && !p.late && !p.wrong,
	   "%s: %zu of %zu rows, %zu late, %zu ties swapped", name, (size_t)p.nr, nr,
	   (size_t)p.late, (size_t)p.wrong);
}

int main(void)
{
	struct played p = { .fail_at = 100 }, late = { 0 };

	test(0 + 1, 0, 1, "one row");
	test(500000, 0, 1, "in order");
	test(500000, 0, 10, "in order, with ties");
	test(500000, 100, 1, "nearly in order");
	test(500000, WINDOW_ROWS / 2, 7, "as far behind as half the window, with ties");
	test(1000, 100000, 3, "all in one window");
	run(&p, 500000, 10, 1);
	is_int(p.nr, 100, "an error ends it");
	run(&late, 500000, 3 * WINDOW_ROWS, 1);
	ok(late.nr == 500000 && late.late, "what comes too late is played late, but is played");
	return done();
}
