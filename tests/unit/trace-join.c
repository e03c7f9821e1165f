// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that traces of several processes become one: times, addresses, threads, requests, gaps,
 * losses and damage; and that one trace alone stays as it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include "trace/columns.h"
#include "trace/join.h"
#include "trace-sample.h"

#define HZ	1000000000

static struct writer *begin(const char *name, uint64_t t0, uint32_t pid, const char *boot)
{
	struct ldb_file_header h = {
		.clock_id = LDB_CLOCK_TSC, .clock_hz = HZ, .t0 = t0, .realtime_ns = 1000000 + (int64_t)t0,
	};
	char err[256], text[16];
	struct writer *w = writer_open(sample_path(name), &h, err, sizeof(err));

	if (!w)
		bail_out(err);
	snprintf(text, sizeof(text), "%u", pid);
	writer_add_meta(w, "pid", text);
	writer_add_meta(w, "host", "here");
	writer_add_meta(w, "boot", boot);
	writer_add_meta(w, "process", name);
	writer_add_meta(w, "flows_no_slot", "3");
	writer_add_meta(w, "lock_threshold_ns", pid == 10 ? "100" : "900");
	writer_add_meta(w, "ids_lost", pid == 10 ? "0" : "2");
	writer_add_meta(w, "ids_err_ns", pid == 10 ? "300" : "70");
	writer_add_meta(w, "kernel_irqs", "1");
	writer_add_meta(w, "flight_suppressed", "1 by --max-size, 2 by a full disk");
	if (pid == 10)
		writer_add_meta(w, "kernel_faults", "1");
	writer_add_meta(w, "end", "exit:0");
	writer_add_module(w, &(struct ldb_row_module){
		.start = 0x10000, .end = 0x20000, .bias = 0xf000, .end_tick = INT64_MAX,
		.build_id = "abcd", .path = "/bin/server" });
	writer_add_module(w, &(struct ldb_row_module){
		.start = 0x30000 + pid, .end = 0x40000, .bias = 0, .end_tick = INT64_MAX,
		.build_id = "ef", .path = "/lib/other.so" });
	writer_add_thread(w, &(struct ldb_row_thread){ .tid = pid, .end = 5000, .name = "main" });
	writer_add_thread(w, &(struct ldb_row_thread){ .tid = pid + 1, .end = 5000, .name = "second" });
	return w;
}

/* Makes a worker's recording: calls, a lock, and requests 7 and 8, of which 8 stays open. */
static void fill(struct writer *w, uint32_t pid)
{
	for (int i = 0; i < 100; i++)
		writer_add_func(w, &(struct ldb_row_func){
			.tid = pid, .pc = 0x10010, .ret = 0x30500, .gen = i, .start_max = i * 10,
			.end_max = i * 10 + 5, .start_unc = 3, .end_unc = 2 });
	writer_add_lock(w, &(struct ldb_row_lock){
		.op = LDB_LOCK_OP_WAIT, .tid = pid, .lock = 0x18000, .begin = 20, .end = 40, .site = 0x10020 });
	for (uint64_t id = 7; id <= 8; id++)
		writer_add_req(w, &(struct ldb_row_req){
			.op = LDB_REQ_OP_START, .tid = pid, .tick = 100 * id, .id = id, .site = 0x10030 });
	writer_add_req(w, &(struct ldb_row_req){ .op = LDB_REQ_OP_END, .tid = pid, .tick = 1000, .id = 7 });
	writer_add_reqname(w, &(struct ldb_row_reqname){ .tick = 700, .id = 7, .trace_hi = pid,
							   .trace_lo = 2, .span = pid, .name = "" });
	writer_add_gap(w, &(struct ldb_row_gap){ .tid = 0, .begin = 50, .end = 60 });
	writer_add_lost(w, &(struct ldb_row_lost){ .tick = 5, .count = 4, .what = LDB_LOST_OVERRUN });
	writer_add_scan(w, &(struct ldb_row_scan){ .scanner = 0, .rounds = 100, .paused = pid });
	writer_add_scan(w, &(struct ldb_row_scan){ .scanner = 0, .rounds = 1000, .paused = pid });
}

static struct reader *join(const char *const *names, size_t nr)
{
	static char paths[4][256];
	const char *list[4];
	struct reader *r;
	char err[256];

	for (size_t i = 0; i < nr; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s", sample_path(names[i]));
		list[i] = paths[i];
	}
	if (trace_join_file(list, nr, sample_path("joined"), NULL, err, sizeof(err)))
		bail_out(err);
	r = reader_open(sample_path("joined"), err, sizeof(err));
	if (!r)
		bail_out(err);
	return r;
}

#define JOIN(...)	join((const char *const []){ __VA_ARGS__ }, \
			     sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))

static struct cursor *cursors[LDB_BLK_PROCESS + 1];

/* Closes a reader, and first the cursors that read from it. */
static void close_all(struct reader *r)
{
	for (size_t i = 0; i <= LDB_BLK_PROCESS; i++) {
		cursor_close(cursors[i]);
		cursors[i] = NULL;
	}
	reader_close(r);
}

/* Returns all rows of a kind, which are few and have no strings that matter. */
static struct reader_rows all(struct reader *r, unsigned kind)
{
	struct reader_rows rows = { .kind = kind };

	cursor_close(cursors[kind]);
	cursors[kind] = reader_cursor(r, kind, NULL);
	cursor_next(cursors[kind], &rows);
	return rows;
}

static uint64_t of(uint32_t number, uint64_t addr)
{
	return (uint64_t)number << LDB_ADDRESS_BITS | addr;
}

static bool has_meta(struct reader *r, const char *key, const char *value)
{
	const char *is = reader_meta(r, key);

	if (!value || !is)
		return value == is;
	if (!strcmp(is, value))
		return true;
	diag("%s is %s", key, is);
	return false;
}

static void test_times(struct reader *r)
{
	struct reader_rows rows = all(r, LDB_BLK_FUNC);
	bool is_sorted = rows.nr == 200, is_exact = rows.nr == 200;

	for (size_t i = 0; i < rows.nr; i++) {
		const struct ldb_row_func *f = &rows.func[i];

		is_sorted &= !i || f[-1].end_max <= f->end_max;
		is_exact &= f->start_max == (int64_t)f->gen * 10 + (f->tid == 20 ? 400 : 0) &&
			    f->end_max == f->start_max + 5 && f->start_unc == 3 && f->end_unc == 2;
	}
	ok(is_sorted, "calls of both processes are in order of time");
	ok(is_exact, "their ticks are those of one clock");
	ok(reader_header(r)->t0 == 1000 && reader_header(r)->realtime_ns == 1001000,
	   "which begins with the first recording");
}

static void test_addresses(struct reader *r)
{
	struct reader_rows rows = all(r, LDB_BLK_FUNC);
	bool is_shared = rows.nr > 0, is_own = rows.nr > 0;

	for (size_t i = 0; i < rows.nr; i++) {
		is_shared &= rows.func[i].pc == 0x10010;
		is_own &= rows.func[i].ret == of(rows.func[i].tid == 20, 0x30500);
	}
	ok(is_shared, "code of both at the same place is one");
	ok(is_own, "code at different places is two");
	rows = all(r, LDB_BLK_LOCK);
	ok(rows.nr == 2 && rows.lock[0].lock == of(0, 0x18000) && rows.lock[1].lock == of(1, 0x18000),
	   "a lock of each at one address is two");
	ok(rows.lock[0].site == 0x10020 && rows.lock[1].site == 0x10020, "... but locked at one place");
	rows = all(r, LDB_BLK_MODULE);
	ok(rows.nr == 4 && rows.module[2].bias == of(1, 0xf000) && rows.module[2].start == of(1, 0x10000),
	   "each has its modules");
}

static void test_requests(struct reader *r)
{
	const struct ldb_row_reqtab *rows;
	struct reader_rows links = all(r, LDB_BLK_REQNAME);
	size_t nr;

	if (reader_requests(r, &rows, &nr))
		bail_out("requests");
	ok(nr == 4 && rows[0].id == 7 && rows[1].id == 8 && rows[2].id == 1007 && rows[3].id == 1008,
	   "requests of both are different ones");
	ok(nr == 4 && rows[2].start == 1100 && rows[2].complete && !rows[3].complete,
	   "those of the second, too, end or do not");
	ok(nr == 4 && rows[1].end == 5000 && rows[3].end == 5400,
	   "an open one lasts until its process ends");
	ok(links.nr == 2 && links.reqname[1].id == 1007 && links.reqname[1].trace_lo == 2 &&
	   links.reqname[1].span == 20, "links are as they were");
}

static void test_wholes(struct reader *r)
{
	struct reader_rows rows = all(r, LDB_BLK_PROCESS);
	uint64_t lost = 0;

	ok(rows.nr == 2 && rows.process[1].number == 1 && rows.process[1].pid == 20 &&
	   rows.process[1].start == 400 && rows.process[1].end == 5400 &&
	   rows.process[1].id_base == 1000 && !strcmp(rows.process[1].name, "b") &&
	   !strcmp(rows.process[1].ended, "exit:0") && !rows.process[1].flags, "each process has a row");
	rows = all(r, LDB_BLK_THREAD);
	ok(rows.nr == 4 && rows.thread[3].pid == 20 && rows.thread[0].pid == 10 &&
	   rows.thread[3].flags & LDB_THREAD_F_EXITED, "threads have processes, and end with them");
	rows = all(r, LDB_BLK_GAP);
	ok(rows.nr == 4 && rows.gap[0].tid && rows.gap[3].tid && rows.gap[3].begin == 450,
	   "a gap of all threads is one of those of its process");
	rows = all(r, LDB_BLK_LOST);
	for (size_t i = 0; i < rows.nr; i++)
		lost += rows.lost[i].count;
	ok(lost == 8, "losses add up");
	rows = all(r, LDB_BLK_SCAN);
	ok(rows.nr == 1 && rows.scan[0].rounds == 2000 && rows.scan[0].paused == 20,
	   "so does what the scanners did");
	ok(has_meta(r, "ids_lost", "2") && has_meta(r, "ids_err_ns", "300"), "what was lost of the ids of any of them");
	ok(has_meta(r, "flows_no_slot", "6") && has_meta(r, "lock_threshold_ns", "900") &&
	   has_meta(r, "pid", "10") && has_meta(r, "kernel_irqs", "1") &&
	   has_meta(r, "kernel_faults", NULL), "and what is known of the recordings");
	ok(has_meta(r, "flight_suppressed", "b (pid 20): 1 by --max-size, 2 by a full disk"),
	   "each process has a row with the triggers that made no dump");
	ok(!reader_check(r) && !reader_is_damaged(r), "the result is whole");
}

static void test_two(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 1400, 20, "boot");
	struct reader *r;

	fill(a, 10);
	fill(b, 20);
	writer_close(a);
	writer_close(b);
	r = JOIN("a", "b");
	test_times(r);
	test_addresses(r);
	test_requests(r);
	test_wholes(r);
	close_all(r);
}

/* Joining the result with a third trace must give the same as joining all three. */
static void test_again(void)
{
	const struct ldb_row_reqtab *reqs;
	struct reader_rows rows;
	struct writer *c = begin("c", 900, 30, "boot");
	struct reader *r;
	size_t nr;

	fill(c, 30);
	writer_close(c);
	r = JOIN("joined", "c");
	rows = all(r, LDB_BLK_PROCESS);
	ok(rows.nr == 3 && rows.process[1].pid == 20 && rows.process[1].number == 1 &&
	   rows.process[1].id_base == 1000 && rows.process[1].start == 500 &&
	   rows.process[2].number == 2 && rows.process[2].id_base == 10000, "a joined trace can be joined");
	rows = all(r, LDB_BLK_LOCK);
	ok(rows.nr == 3 && rows.lock[0].lock == of(2, 0x18000) && rows.lock[1].lock == of(0, 0x18000) &&
	   rows.lock[2].lock == of(1, 0x18000), "its addresses stay apart");
	rows = all(r, LDB_BLK_FUNC);
	ok(rows.nr == 300 && rows.func[0].tid == 30 && rows.func[0].pc == 0x10010,
	   "its code is shared");
	if (reader_requests(r, &reqs, &nr))
		bail_out("requests");
	ok(nr == 6 && reqs[2].id == 1007 && reqs[3].end == 5500 && reqs[4].id == 10007,
	   "its requests, too");
	close_all(r);
}

static void test_other_host(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 70000, 10, "other boot");
	struct reader_rows rows;
	struct reader *r;

	writer_add_clock(a, &(struct ldb_row_clock){ .tick = 0, .raw_ns = 0, .real_ns = 5000000 });
	writer_add_clock(a, &(struct ldb_row_clock){ .tick = 1000000, .raw_ns = 1000000, .real_ns = 6000000 });
	writer_add_clock(b, &(struct ldb_row_clock){ .tick = 0, .raw_ns = 0, .real_ns = 5003000 });
	writer_add_clock(b, &(struct ldb_row_clock){ .tick = 600000, .raw_ns = 1000000, .real_ns = 6003000 });
	fill(a, 10);
	fill(b, 11);
	writer_close(a);
	writer_close(b);
	r = JOIN("a", "b");
	rows = all(r, LDB_BLK_PROCESS);
	ok(rows.nr == 2 && rows.process[1].start == 3000 && rows.process[1].flags == LDB_PROCESS_F_CLOCK &&
	   rows.process[1].clock_err == UINT64_MAX && !rows.process[0].flags,
	   "of another machine the time of day is compared, and how right that is, is not known");
	ok(rows.process[1].pid == (1U << LDB_TID_BITS) + 10, "its threads are its own");
	rows = all(r, LDB_BLK_LOCK);
	ok(rows.nr == 2 && rows.lock[1].begin == 3033 && rows.lock[1].end == 3067 &&
	   rows.lock[1].tid == (1U << LDB_TID_BITS) + 11, "a clock of another rate is converted");
	rows = all(r, LDB_BLK_CLOCK);
	ok(rows.nr == 2, "and only one clock remains");
	close_all(r);
}

/* Adds a recording with a pause. */
static void add_paused(const char *name, uint32_t pid, const char *boot, int64_t end)
{
	struct writer *w = begin(name, 1000, pid, boot);

	fill(w, pid);
	writer_add_lost(w, &(struct ldb_row_lost){ .tick = end, .count = 100, .what = LDB_LEFT_PAUSE });
	writer_close(w);
}

/* Returns the process of which there is a pause that ended at this time; 0: none. */
static uint32_t whose_pause(struct reader *r, int64_t end)
{
	struct reader_rows rows = all(r, LDB_BLK_LOST);

	for (size_t i = 0; i < rows.nr; i++)
		if (rows.lost[i].what == LDB_LEFT_PAUSE && rows.lost[i].tick == end)
			return rows.lost[i].ring;
	return 0;
}

static void test_pauses(void)
{
	uint32_t elsewhere = (1U << LDB_TID_BITS) + 10;
	struct reader *r;

	add_paused("a", 10, "boot", 300);
	add_paused("b", 20, "boot", 400);
	r = JOIN("a", "b");
	ok(whose_pause(r, 300) == 10 && whose_pause(r, 400) == 20, "pauses are those of their processes");
	close_all(r);
	add_paused("c", 10, "other boot", 500);
	r = JOIN("joined", "c");
	ok(whose_pause(r, 300) == 10 && whose_pause(r, 400) == 20 && whose_pause(r, 500) == elsewhere,
	   "also when they are joined again, with one of another machine");
	close_all(r);
}

static void add_request(struct writer *w, uint64_t id, int64_t start, int64_t end)
{
	writer_add_req(w, &(struct ldb_row_req){ .op = LDB_REQ_OP_START, .tid = 10, .tick = start, .id = id });
	writer_add_reqname(w, &(struct ldb_row_reqname){
		.tick = start, .id = id, .trace_hi = 77, .trace_lo = id % 100, .name = "" });
	writer_add_req(w, &(struct ldb_row_req){ .op = LDB_REQ_OP_END, .tid = 10, .tick = end, .id = id });
}

/*
 * The other machine's time of day is 3 ms ahead.  Its requests are inside of the requests that
 * asked for them, but not in their middle.
 */
static void test_links(void)
{
	struct writer *a = begin("a", 0, 10, "boot"), *b = begin("b", 0, 10, "other boot");
	struct reader_rows rows;
	struct reader *r;
	int64_t off, err;

	writer_add_clock(a, &(struct ldb_row_clock){ .tick = 0, .raw_ns = 0, .real_ns = 5000000000 });
	writer_add_clock(a, &(struct ldb_row_clock){ .tick = 1000000000, .raw_ns = 1000000000, .real_ns = 6000000000 });
	writer_add_clock(b, &(struct ldb_row_clock){ .tick = 0, .raw_ns = 0, .real_ns = 5003000000 });
	writer_add_clock(b, &(struct ldb_row_clock){ .tick = 1000000000, .raw_ns = 1000000000, .real_ns = 6003000000 });
	for (int i = 1; i <= 50; i++) {
		int64_t start = i * 1000000, asks = 20000 + sample_random() % 100000;

		add_request(a, i, start, start + 500000);
		add_request(b, 100 + i, start + asks, start + 480000 - sample_random() % 100000);
	}
	writer_close(a);
	writer_close(b);
	r = JOIN("a", "b");
	rows = all(r, LDB_BLK_PROCESS);
	off = rows.process[1].start;
	err = rows.process[1].clock_err;
	diag("off by %" PRId64 " ns, said: %" PRId64, off, err);
	ok(rows.process[1].flags == LDB_PROCESS_F_CLOCK && llabs(off) <= err,
	   "requests of both bound how far two clocks are apart: the error is within what is said");
	ok(err < 40000, "which is little");
	close_all(r);
}

static void test_namespaces(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 1000, 10, "boot");
	struct reader_rows rows;
	struct reader *r;

	fill(a, 10);
	fill(b, 10);
	writer_close(a);
	writer_close(b);
	r = JOIN("a", "b");
	rows = all(r, LDB_BLK_THREAD);
	ok(rows.nr == 4 && rows.thread[3].tid == (1U << LDB_TID_BITS) + 11,
	   "two threads of one number at one time are two");
	close_all(r);
}

static void add_switch(struct writer *w, int64_t tick, uint32_t from, uint32_t to, uint32_t flags,
		       uint64_t gen)
{
	writer_add_sched(w, &(struct ldb_row_sched){
		.op = LDB_SCHED_OP_SWITCH, .tick = tick, .tid = from, .other = to, .flags = flags,
		.gen = gen, .addr = gen ? 0x18000 : 0 });
}

static void test_sched(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 1000, 20, "boot");
	struct reader_rows rows;
	struct reader *r;

	for (int i = 0; i < 1000; i++) {
		add_switch(a, i * 20000, 10, 20, LDB_SCHED_F_TID | LDB_SCHED_F_PREEMPT, 77);
		add_switch(b, i * 20000 + 30, 10, 20, LDB_SCHED_F_OTHER, 0);
		add_switch(b, i * 20000 + 8000, 20, 10, LDB_SCHED_F_TID, 78);
		add_switch(a, i * 20000 + 8050, 20, 10, LDB_SCHED_F_OTHER, 0);
	}
	writer_add_task(a, &(struct ldb_row_task){ .tid = 20, .name = "stranger" });
	writer_add_task(b, &(struct ldb_row_task){ .tid = 20, .name = "own", .flags = LDB_SCHED_F_TID });
	writer_close(a);
	writer_close(b);
	r = JOIN("a", "b");
	rows = all(r, LDB_BLK_SCHED);
	ok(rows.nr == 2000 && rows.sched[0].flags == (LDB_SCHED_F_TID | LDB_SCHED_F_OTHER | LDB_SCHED_F_PREEMPT) &&
	   rows.sched[0].gen == 77 && rows.sched[1].gen == 78 && rows.sched[1].addr == of(1, 0x18000),
	   "a switch between two processes is one, with what both know");
	rows = all(r, LDB_BLK_TASK);
	ok(rows.nr == 1 && rows.task[0].flags, "what strangers knew of a thread is left out");
	close_all(r);
}

static void damage(const char *name, off_t at)
{
	int fd = open(sample_path(name), O_RDWR);

	if (fd < 0 || pwrite(fd, "XXXX", 4, at) != 4)
		bail_out("damage");
	close(fd);
}

static void test_damage(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 1400, 20, "boot");
	struct reader_rows rows;
	struct reader *r;
	char text[512];

	fill(a, 10);
	fill(b, 20);
	writer_close(a);
	writer_close(b);
	damage("b", 56 + 70);	/* the first block: META */
	if (truncate(sample_path("a"), 2000))
		bail_out("truncate");
	r = JOIN("a", "b");
	ok(reader_is_damaged(r), "what is made of damaged traces is damaged");
	reader_damage_text(r, text, sizeof(text));
	ok(strstr(text, "a (pid 10)") && strstr(text, "without being closed") && strstr(text, "1 block"),
	   "and says which part, and how");
	diag("%s", text);
	rows = all(r, LDB_BLK_LOST);
	ok(rows.nr && rows.lost[rows.nr - 1].what == LDB_LOST_DISK && rows.lost[rows.nr - 1].count >= 1,
	   "rows that cannot be read count as lost");
	close_all(r);
}

static unsigned count_damage(const struct reader *r)
{
	const struct ldb_row_meta *rows;
	unsigned n = 0;
	size_t nr;

	rows = reader_metas(r, &nr);
	for (size_t i = 0; i < nr; i++)
		n += !strcmp(rows[i].key, "damage");
	return n;
}

/* The joined file itself is not damaged, although its parts are. */
static void test_joined_damage(void)
{
	const char *paths[] = { sample_path("a"), sample_path("b") };
	char err[256] = "";
	struct writer *w;
	struct reader *r;
	unsigned nr;

	ok(!trace_join_file(paths, 2, sample_path("both"), NULL, err, sizeof(err)), "joined to a file");
	w = writer_reopen(sample_path("both"), err, sizeof(err));
	ok(w != NULL, "which can be added to: %s", err);
	if (w) {
		writer_add_meta(w, "children", "1");
		is_int(writer_close(w), 0, "it is closed");
	}
	r = reader_open(sample_path("both"), err, sizeof(err));
	nr = count_damage(r);
	ok(nr == 2 && !strcmp(reader_meta(r, "children"), "1"), "it has both, and what was added");
	close_all(r);
	r = JOIN("both");
	is_int(count_damage(r), nr, "joined again it says the damage once");
	close_all(r);
}

static void map_shared(struct writer *w, const char *const *texts)
{
	for (; *texts; texts++)
		writer_add_meta(w, "shared_memory", *texts);
}

static void wait_at(struct writer *w, uint32_t tid, int64_t begin, uint64_t lock)
{
	writer_add_lock(w, &(struct ldb_row_lock){
		.op = LDB_LOCK_OP_WAIT, .tid = tid, .lock = lock, .begin = begin, .end = begin + 5,
		.site = 0x10020 });
}

/* Returns the lock for which a thread began to wait at this time. */
static uint64_t lock_of(struct reader *r, uint32_t tid, int64_t begin)
{
	struct reader_rows rows = all(r, LDB_BLK_LOCK);

	for (size_t i = 0; i < rows.nr; i++)
		if (rows.lock[i].tid == tid && rows.lock[i].begin == begin)
			return rows.lock[i].lock;
	return 0;
}

/*
 * The first process had files 5 and 6 at one place, one after the other, and its mapping of file 7
 * grew.  The other two processes have each file at a different address.
 */
static void test_shared(void)
{
	struct writer *a = begin("a", 1000, 10, "boot"), *b = begin("b", 1000, 20, "boot"),
		      *c = begin("c", 1000, 30, "boot");
	struct reader *r;

	map_shared(a, (const char *[]){ "50000 51000 0:1 5 0", "50000 51000 0:1 6 0", "80000 81000 0:1 7 0",
					"80000 82000 0:1 7 0", NULL });
	map_shared(b, (const char *[]){ "60000 61000 0:1 5 0", "70000 71000 0:1 6 0", "90000 91000 0:1 7 0",
					"90000 92000 0:1 7 0", NULL });
	map_shared(c, (const char *[]){ "a0000 a1000 0:1 5 0", NULL });
	wait_at(a, 10, 100, 0x80010);
	wait_at(b, 20, 200, 0x60010);
	wait_at(b, 20, 300, 0x70010);
	wait_at(b, 20, 400, 0x90010);
	wait_at(b, 20, 500, 0x91010);
	wait_at(c, 30, 600, 0xa0010);
	writer_close(a);
	writer_close(b);
	writer_close(c);
	r = JOIN("a", "b", "c");
	is_int(lock_of(r, 20, 200), of(1, 0x60010), "memory whose place another process used again is not that place");
	is_int(lock_of(r, 20, 300), of(1, 0x70010), "so two locks do not become one");
	is_int(lock_of(r, 30, 600), of(1, 0x60010), "but others share it");
	is_int(lock_of(r, 20, 400), lock_of(r, 10, 100), "a mapping that grew is the same one");
	is_int(lock_of(r, 20, 500), lock_of(r, 10, 100) + 0x1000, "and so is the part by which it grew");
	close_all(r);
}

static bool stop_at_once(void *arg, uint64_t done, uint64_t all)
{
	++*(unsigned *)arg;
	return false;
}

static void test_interrupt(void)
{
	const char *paths[] = { sample_path("a"), sample_path("b") };
	unsigned nr = 0;
	struct join_options o = { .progress = stop_at_once, .arg = &nr };
	char err[256] = "";

	is_int(trace_join_file(paths, 2, sample_path("never"), &o, err, sizeof(err)), -EINTR, "joining can be stopped");
	is_int(nr, 1, "at the first block");
	ok(access(sample_path("never"), F_OK), "and no file is left");
}

static bool is_same_row(const struct schema *s, const char *a, const char *b)
{
	for (unsigned i = 0; i < s->nr_columns; i++) {
		const struct schema_column *c = &s->columns[i];
		const char *x, *y;

		memcpy(&x, a + c->offset, sizeof(x));
		memcpy(&y, b + c->offset, sizeof(y));
		if (c->coding == COLUMN_S ? strcmp(x, y) : memcmp(a + c->offset, b + c->offset, c->size))
			return false;
	}
	return true;
}

static bool has_same_rows(struct reader *a, struct reader *b, unsigned kind)
{
	struct cursor *ca = reader_cursor(a, kind, NULL), *cb = reader_cursor(b, kind, NULL);
	const struct schema *s = schema_find(kind);
	struct reader_rows ra = { 0 }, rb = { 0 };
	size_t i = 0, k = 0;
	bool is_same = true;

	for (; is_same; i++, k++) {
		if (i == ra.nr) {
			i = 0;
			ra.nr = cursor_next(ca, &ra) > 0 ? ra.nr : 0;
		}
		if (k == rb.nr) {
			k = 0;
			rb.nr = cursor_next(cb, &rb) > 0 ? rb.nr : 0;
		}
		if (!ra.nr || !rb.nr)
			break;
		is_same = is_same_row(s, (const char *)ra.rows + i * s->row_bytes,
				      (const char *)rb.rows + k * s->row_bytes);
	}
	if (!is_same || ra.nr != rb.nr)
		diag("%s: row %zu differs", s->name, i);
	is_same &= ra.nr == rb.nr;
	cursor_close(ca);
	cursor_close(cb);
	return is_same;
}

static void test_one(void)
{
	static const unsigned kinds[] = {
		LDB_BLK_CLOCK, LDB_BLK_THREAD, LDB_BLK_FUNC, LDB_BLK_LOCK, LDB_BLK_REQ, LDB_BLK_REQNAME,
		LDB_BLK_NOTE, LDB_BLK_EVENT, LDB_BLK_MESSAGE, LDB_BLK_ASKED, LDB_BLK_GAP, LDB_BLK_LOST, LDB_BLK_SCHED, LDB_BLK_TASK,
		LDB_BLK_FAULT, LDB_BLK_IRQ, LDB_BLK_SYSCALL, LDB_BLK_SCHEDSTAT, LDB_BLK_DISK,
	};
	struct reader *before, *after;
	bool is_same = true;
	char err[256];

	sample_file(sample_path("one"), 100000, 7000, true);
	before = reader_open(sample_path("one"), err, sizeof(err));
	after = JOIN("one");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		is_same &= has_same_rows(before, after, kinds[i]);
	ok(is_same, "one trace alone stays as it is, whatever it has");
	reader_close(before);
	reader_close(after);
}

int main(void)
{
	test_two();
	test_again();
	test_other_host();
	test_pauses();
	test_links();
	test_namespaces();
	test_sched();
	test_shared();
	test_damage();
	test_joined_damage();
	test_interrupt();
	test_one();
	return done();
}
