// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests a process that dies while the scanner writes that invocations have ended: wherever the
 * scanner was, each invocation must have one row, and be counted once.
 */
#include <string.h>
#include <ldb/abi.h>
#include "recording-sample.h"

#define DEPTH	4
#define GEN(i)	((i) * LDB_GEN_ONE)

/* Makes a stack of DEPTH open invocations with generations 1 .. DEPTH. */
static void begin(const char *path)
{
	struct ldb_page *p;
	struct ldb_stack *s;

	recording_begin(path);
	p = (struct ldb_page *)session_page(&session, SLOT);
	p->tid = TID;
	p->start_tsc = 1000;
	p->made = DEPTH;
	p->state = LDB_PAGE_LIVE;
	s = (struct ldb_stack *)session_stack(&session, SLOT);
	for (unsigned i = 0; i < DEPTH; i++)
		s->frame[i] = (struct ldb_stack_frame){
			.gen = GEN(i + 1), .pc = 0x1000 + i, .start_min = 1000, .start_max = 1100,
			.last_seen = 2000,
		};
	s->depth = DEPTH;
}

/*
 * Writes what the scanner writes when an invocation has ended; write, count: these steps are done.
 */
static void ends(unsigned gen, uint64_t seen, bool write, bool count)
{
	struct ldb_page *p = (struct ldb_page *)session_page(&session, SLOT);
	struct ldb_func_rec f = {
		.end_max = 3000, .tid = TID, .type = LDB_EV_FUNC, .pc = 0x1000 + gen - 1,
		.start_max = 1100, .cont1 = LDB_EV_CONT + 1, .depth = gen - 1, .gen = GEN(gen),
		.cont2 = LDB_EV_CONT + 2, .parent_gen = GEN(gen - 1),
	};
	struct ldb_rec recs[3];

	memcpy(recs, &f, sizeof(f));
	p->ending_gen = GEN(gen);
	p->ending_seen = seen;
	if (write)
		pack_event(pack, 1, recs);
	if (count)
		p->seen = seen;
}

static void check(const char *path, unsigned nr_open, const char *where)
{
	unsigned rows[DEPTH + 1] = { 0 }, open = 0;
	uint64_t parent = 0, seen = 0;
	struct threads_total total;
	struct reader_rows in;
	struct reader *r = recording_end(path, &total);
	struct cursor *c;

	for (c = reader_cursor(r, LDB_BLK_FUNC, NULL); c && cursor_next(c, &in) > 0;)
		for (size_t i = 0; i < in.nr; i++) {
			if (in.func[i].gen / LDB_GEN_ONE <= DEPTH)
				rows[in.func[i].gen / LDB_GEN_ONE]++;
			open += in.func[i].flags & LDB_FUNC_F_OPEN;
			parent |= in.func[i].gen - in.func[i].parent_gen != LDB_GEN_ONE;
		}
	cursor_close(c);
	for (c = reader_cursor(r, LDB_BLK_THREAD, NULL); c && cursor_next(c, &in) > 0;)
		for (size_t i = 0; i < in.nr; i++)
			seen = in.thread[i].seen;
	cursor_close(c);
	reader_close(r);
	ok(rows[1] == 1 && rows[2] == 1 && rows[3] == 1 && rows[4] == 1, where);
	is_int(open, nr_open, "those that had not ended are open");
	is_int(seen, DEPTH, "each counts once");
	ok(!parent, "and has its caller");
}

int main(void)
{
	const char *path = sample_path("ending.data");

	begin(path);
	check(path, 4, "nothing ends");

	begin(path);
	ends(4, 1, false, false);
	check(path, 4, "killed before its row is written");

	begin(path);
	ends(4, 1, true, false);
	check(path, 3, "killed before it is counted");

	begin(path);
	ends(4, 1, true, true);
	check(path, 3, "killed when it is counted");

	begin(path);
	ends(4, 1, true, true);
	ends(3, 2, false, false);
	check(path, 3, "the second, before its row is written");

	begin(path);
	ends(4, 1, true, true);
	ends(3, 1, false, false);	/* ending_seen still belongs to the previous invocation */
	check(path, 3, "the second, sooner");

	begin(path);
	ends(4, 1, true, true);
	ends(3, 2, true, false);
	check(path, 2, "the second, before it is counted");

	return done();
}
