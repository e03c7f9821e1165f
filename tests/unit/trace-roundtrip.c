// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that the reader returns the same rows as were passed to the writer: every kind, every
 * value, over many blocks; filters; the clock; the request table.
 */
#include <inttypes.h>
#include "trace-sample.h"
#include "trace/crc32c.h"

/* Rows contain pointers: strings are compared as such, the rest as bytes. */
static bool same(unsigned kind, const union sample_row *a, const void *got)
{
	union sample_row b;
	size_t size;

	memset(&b, 0, sizeof(b));
	switch (kind) {
#define CASE(KIND, name) \
	case LDB_BLK_##KIND: \
		size = sizeof(b.name); \
		b.name = *(const struct ldb_row_##name *)got; \
		break
	CASE(META, meta);
	CASE(CLOCK, clock);
	CASE(MODULE, module);
	CASE(THREAD, thread);
	CASE(FUNC, func);
	CASE(LOCK, lock);
	CASE(REQ, req);
	CASE(REQNAME, reqname);
	CASE(NOTE, note);
	CASE(EVENT, event);
	CASE(MESSAGE, message);
	CASE(ASKED, asked);
	CASE(GAP, gap);
	CASE(LOST, lost);
	CASE(SCAN, scan);
	CASE(SCHED, sched);
	CASE(TASK, task);
	CASE(FAULT, fault);
	CASE(IRQ, irq);
	CASE(SYSCALL, syscall);
	CASE(SCHEDSTAT, schedstat);
	CASE(FILE, file);
	CASE(SYMBOL, symbol);
	CASE(SAMPLE, sample);
	CASE(KSYM, ksym);
	CASE(DISK, disk);
	CASE(CALL, call);
	CASE(FLOW_API, flow_api);
	CASE(FLOW, flow);
	CASE(FLOW_HIST, flow_hist);
	CASE(FLOW_CALL, flow_call);
	default:
		return false;
	}
#define STRING(name, field) \
	do { \
		if (strcmp(a->name.field, b.name.field)) \
			return false; \
		b.name.field = a->name.field; \
	} while (0)
	if (kind == LDB_BLK_META) {
		STRING(meta, key);
		STRING(meta, value);
	} else if (kind == LDB_BLK_MODULE) {
		STRING(module, build_id);
		STRING(module, path);
	} else if (kind == LDB_BLK_THREAD) {
		STRING(thread, name);
	} else if (kind == LDB_BLK_REQNAME) {
		STRING(reqname, name);
	} else if (kind == LDB_BLK_NOTE) {
		STRING(note, key);
		STRING(note, text);
	} else if (kind == LDB_BLK_EVENT) {
		STRING(event, name);
	} else if (kind == LDB_BLK_TASK) {
		STRING(task, name);
	} else if (kind == LDB_BLK_IRQ) {
		STRING(irq, name);
	} else if (kind == LDB_BLK_SYSCALL) {
		STRING(syscall, name);
		STRING(syscall, file);
	} else if (kind == LDB_BLK_DISK) {
		STRING(disk, device);
	} else if (kind == LDB_BLK_FLOW_API) {
		STRING(flow_api, name);
	} else if (kind == LDB_BLK_KSYM) {
		STRING(ksym, name);
	} else if (kind == LDB_BLK_FILE) {
		STRING(file, build_id);
		STRING(file, path);
	} else if (kind == LDB_BLK_SYMBOL) {
		STRING(symbol, raw);
		STRING(symbol, source);
		STRING(symbol, func_source);
	} else if (kind == LDB_BLK_CALL) {
		STRING(call, caller);
		STRING(call, callee);
	}
	/* Padding between fields is not part of a row. */
	if (kind == LDB_BLK_FUNC)
		return a->func.flags == b.func.flags && a->func.tid == b.func.tid &&
		       a->func.pc == b.func.pc && a->func.ret == b.func.ret &&
		       a->func.gen == b.func.gen && a->func.parent_gen == b.func.parent_gen &&
		       a->func.depth == b.func.depth && a->func.start_max == b.func.start_max &&
		       a->func.end_max == b.func.end_max &&
		       a->func.start_unc == b.func.start_unc && a->func.end_unc == b.func.end_unc;
	if (kind == LDB_BLK_LOCK)
		return a->lock.op == b.lock.op && a->lock.flags == b.lock.flags &&
		       a->lock.tid == b.lock.tid && a->lock.lock == b.lock.lock &&
		       a->lock.owner == b.lock.owner && a->lock.begin == b.lock.begin &&
		       a->lock.end == b.lock.end && a->lock.gen == b.lock.gen &&
		       a->lock.site == b.lock.site;
	if (kind == LDB_BLK_LOST)
		return a->lost.tick == b.lost.tick && a->lost.ring == b.lost.ring &&
		       a->lost.count == b.lost.count && a->lost.what == b.lost.what;
	if (kind == LDB_BLK_GAP)
		return a->gap.tid == b.gap.tid && a->gap.begin == b.gap.begin &&
		       a->gap.end == b.gap.end;
	if (kind == LDB_BLK_MODULE)
		return a->module.flags == b.module.flags && a->module.tick == b.module.tick &&
		       a->module.end_tick == b.module.end_tick &&
		       a->module.start == b.module.start && a->module.end == b.module.end &&
		       a->module.bias == b.module.bias;
	if (kind == LDB_BLK_THREAD)
		return a->thread.tid == b.thread.tid && a->thread.flags == b.thread.flags &&
		       a->thread.start == b.thread.start && a->thread.end == b.thread.end &&
		       a->thread.made == b.thread.made && a->thread.seen == b.thread.seen &&
		       a->thread.scans == b.thread.scans &&
		       a->thread.invalid == b.thread.invalid &&
		       a->thread.foreign == b.thread.foreign &&
		       a->thread.too_deep == b.thread.too_deep &&
		       a->thread.disorder == b.thread.disorder && a->thread.gap == b.thread.gap &&
		       a->thread.start_routine == b.thread.start_routine &&
		       a->thread.creator == b.thread.creator &&
		       a->thread.below_threshold == b.thread.below_threshold;
	if (kind == LDB_BLK_SCHED)
		return a->sched.op == b.sched.op && a->sched.flags == b.sched.flags &&
		       a->sched.cpu == b.sched.cpu && a->sched.tid == b.sched.tid &&
		       a->sched.other == b.sched.other && a->sched.value == b.sched.value &&
		       a->sched.tick == b.sched.tick && a->sched.addr == b.sched.addr &&
		       a->sched.gen == b.sched.gen && a->sched.pc == b.sched.pc;
	if (kind == LDB_BLK_TASK)
		return a->task.tid == b.task.tid && a->task.pid == b.task.pid &&
		       a->task.flags == b.task.flags && a->task.tick == b.task.tick;
	if (kind == LDB_BLK_EVENT)
		return a->event.tid == b.event.tid && a->event.tick == b.event.tick &&
		       a->event.value == b.event.value;
	if (kind == LDB_BLK_SYMBOL)
		return a->symbol.file == b.symbol.file && a->symbol.ask == b.symbol.ask &&
		       a->symbol.flags == b.symbol.flags && a->symbol.addr == b.symbol.addr &&
		       a->symbol.offset == b.symbol.offset && a->symbol.line == b.symbol.line &&
		       a->symbol.func_line == b.symbol.func_line;
	if (kind == LDB_BLK_KSYM)
		return a->ksym.id == b.ksym.id;
	if (kind == LDB_BLK_CALL)
		return a->call.file == b.call.file;
	if (kind == LDB_BLK_SCAN)
		return !memcmp((const char *)&a->scan + 8, (const char *)&b.scan + 8,
			       sizeof(a->scan) - 8) && a->scan.scanner == b.scan.scanner;
	return !memcmp(a, &b, size);
}

static size_t row_size(unsigned kind)
{
	switch (kind) {
	case LDB_BLK_META: return sizeof(struct ldb_row_meta);
	case LDB_BLK_CLOCK: return sizeof(struct ldb_row_clock);
	case LDB_BLK_MODULE: return sizeof(struct ldb_row_module);
	case LDB_BLK_THREAD: return sizeof(struct ldb_row_thread);
	case LDB_BLK_FUNC: return sizeof(struct ldb_row_func);
	case LDB_BLK_LOCK: return sizeof(struct ldb_row_lock);
	case LDB_BLK_REQ: return sizeof(struct ldb_row_req);
	case LDB_BLK_REQNAME: return sizeof(struct ldb_row_reqname);
	case LDB_BLK_NOTE: return sizeof(struct ldb_row_note);
	case LDB_BLK_MESSAGE: return sizeof(struct ldb_row_message);
	case LDB_BLK_ASKED: return sizeof(struct ldb_row_asked);
	case LDB_BLK_EVENT: return sizeof(struct ldb_row_event);
	case LDB_BLK_GAP: return sizeof(struct ldb_row_gap);
	case LDB_BLK_LOST: return sizeof(struct ldb_row_lost);
	case LDB_BLK_SCHED: return sizeof(struct ldb_row_sched);
	case LDB_BLK_TASK: return sizeof(struct ldb_row_task);
	case LDB_BLK_FAULT: return sizeof(struct ldb_row_fault);
	case LDB_BLK_IRQ: return sizeof(struct ldb_row_irq);
	case LDB_BLK_SYSCALL: return sizeof(struct ldb_row_syscall);
	case LDB_BLK_SCHEDSTAT: return sizeof(struct ldb_row_schedstat);
	case LDB_BLK_SAMPLE: return sizeof(struct ldb_row_sample);
	case LDB_BLK_KSYM: return sizeof(struct ldb_row_ksym);
	case LDB_BLK_DISK: return sizeof(struct ldb_row_disk);
	case LDB_BLK_FILE: return sizeof(struct ldb_row_file);
	case LDB_BLK_SYMBOL: return sizeof(struct ldb_row_symbol);
	case LDB_BLK_CALL: return sizeof(struct ldb_row_call);
	case LDB_BLK_FLOW_API: return sizeof(struct ldb_row_flow_api);
	case LDB_BLK_FLOW: return sizeof(struct ldb_row_flow);
	case LDB_BLK_FLOW_HIST: return sizeof(struct ldb_row_flow_hist);
	case LDB_BLK_FLOW_CALL: return sizeof(struct ldb_row_flow_call);
	default: return sizeof(struct ldb_row_scan);
	}
}

/* Kinds come one at a time, so that the same seed makes the same rows again. */
static void test_kind(unsigned kind, size_t nr, size_t flush_every)
{
	const char *path = sample_path("roundtrip");
	struct sample_strings s;
	struct reader_rows rows;
	union sample_row r;
	struct reader *reader;
	struct writer *w;
	struct cursor *c;
	size_t got = 0, wrong = 0;
	char err[256];

	w = writer_open(path, &sample_header, err, sizeof(err));
	sample_state = 42 + kind;
	for (size_t i = 0; i < nr; i++) {
		sample_row(kind, &r, &s, i * 100);
		wrong += !!sample_write(w, kind, &r);
		if (i % flush_every == flush_every - 1)
			writer_flush(w);
	}
	wrong += !!writer_close(w);
	reader = reader_open(path, err, sizeof(err));
	if (!reader)
		bail_out(err);
	sample_state = 42 + kind;
	c = reader_cursor(reader, kind, NULL);
	while (cursor_next(c, &rows) > 0) {
		const char *row = rows.rows;

		for (size_t i = 0; i < rows.nr; i++, row += row_size(kind)) {
			sample_row(kind, &r, &s, got++ * 100);
			wrong += !same(kind, &r, row);
		}
	}
	cursor_close(c);
	ok(got == nr && !wrong && !reader_is_damaged(reader),
	   "kind %u: %zu rows come back as they were (%zu, %zu wrong)", kind, nr, got, wrong);
	reader_close(reader);
}

static size_t count_kind(struct reader *r, unsigned kind)
{
	struct cursor *c = reader_cursor(r, kind, NULL);
	struct reader_rows rows;
	size_t nr = 0;

	while (cursor_next(c, &rows) > 0)
		nr += rows.nr;
	cursor_close(c);
	return nr;
}

/*
 * A closed file can be continued.  A damaged file, or a file that is not a trace, is refused and
 * not changed.
 */
static void test_reopen(void)
{
	const char *path = sample_path("reopened"), *copy = sample_path("cut");
	struct ldb_row_symbol row = { .file = 1, .raw = "f", .source = "", .func_source = "" };
	size_t size, size_after, before[SAMPLE_KINDS], requests, requests_after, wrong = 0;
	const struct ldb_row_reqtab *table;
	uint8_t *bytes, *after;
	struct reader *r;
	struct writer *w;
	char err[256];
	int64_t end;

	sample_file(path, 3000, 1000, true);
	r = reader_open(path, err, sizeof(err));
	end = reader_end_tick(r);
	for (size_t k = 0; k < SAMPLE_KINDS; k++)
		before[k] = count_kind(r, sample_kinds[k]);
	reader_requests(r, &table, &requests);
	reader_close(r);
	w = writer_reopen(path, err, sizeof(err));
	ok(w && !writer_add_symbol(w, &row) && !writer_close(w), "a closed trace goes on");
	r = reader_open(path, err, sizeof(err));
	for (size_t k = 0; k < SAMPLE_KINDS; k++)
		wrong += count_kind(r, sample_kinds[k]) != before[k] + (sample_kinds[k] == LDB_BLK_SYMBOL);
	reader_requests(r, &table, &requests_after);
	ok(!wrong && requests_after == requests && reader_end_tick(r) == end && !reader_is_damaged(r),
	   "with all that was in it, its request table and its end");
	reader_close(r);

	bytes = sample_load(path, &size);
	sample_store(copy, bytes, size - 10);
	ok(!writer_reopen(copy, err, sizeof(err)), "not without a footer: %s", err);
	after = sample_load(copy, &size_after);
	ok(size_after == size - 10 && !memcmp(after, bytes, size_after), "and it is as before");
	free(after);
	free(bytes);
	sample_store(copy, (const uint8_t *)"no trace", 8);
	ok(!writer_reopen(copy, err, sizeof(err)), "nor what is not a trace: %s", err);
}

static void test_crc(void)
{
	ok(crc32c(0, "123456789", 9) == 0xe3069283, "CRC32C check value");
	ok(crc32c(crc32c(0, "1234", 4), "56789", 5) == 0xe3069283, "CRC32C in two pieces");
}

/*
 * Reads the same data as rows and as columns, both all columns and some of them; values include
 * ones of long varints.
 */
static void test_columns(void)
{
	const char *path = sample_path("columns");
	struct reader_filter f = READER_FILTER_ALL;
	struct reader_funcs funcs;
	struct reader_rows rows;
	struct sample_strings s;
	struct cursor *a, *b;
	union sample_row r;
	struct reader *reader;
	struct writer *w;
	char err[256];

	w = writer_open(path, &sample_header, err, sizeof(err));
	for (int64_t i = 0; i < 150000; i++) {
		sample_row(LDB_BLK_FUNC, &r, &s, i);
		/* The first block has plain numbers. */
		if (i < LDB_BLOCK_ROWS)
			r.func = (struct ldb_row_func){
				.tid = 1 + i % 3, .pc = i * 16 % 999, .ret = i % 77, .gen = i << 16,
				.start_max = i * 10, .end_max = i * 10 + i % 7000, .start_unc = i % 300,
				.flags = i % 4,
			};
		writer_add_func(w, &r.func);
	}
	if (writer_close(w))
		bail_out("writer_close");
	reader = reader_open(path, err, sizeof(err));
	for (unsigned filtered = 0; filtered < 4; filtered++) {
		size_t nr = 0, wrong = 0, i = 0;

		f.t_min = filtered & 1 ? 100000 : INT64_MIN;
		f.t_max = filtered & 2 ? 500000 : INT64_MAX;
		a = reader_cursor(reader, LDB_BLK_FUNC, &f);
		b = reader_cursor(reader, LDB_BLK_FUNC, &f);
		rows.nr = 0;
		while (cursor_next_funcs(b, true, &funcs) > 0) {
			for (size_t k = 0; k < funcs.nr; k++, i++) {
				if (i == rows.nr) {
					i = 0;
					if (cursor_next(a, &rows) != 1)
						bail_out("fewer rows than columns");
				}
				const struct ldb_row_func *row = &rows.func[i];

				wrong += row->flags != funcs.flags[k] || row->pc != funcs.pc[k] ||
					 row->ret != funcs.ret[k] || row->tid != funcs.tid[k] ||
					 row->start_max != (int64_t)funcs.start_max[k] ||
					 row->start_unc != funcs.start_unc[k] ||
					 row->end_max != (int64_t)funcs.end_max[k] ||
					 row->end_unc != funcs.end_unc[k];
				wrong += row->end_max < f.t_min ||
					 (row->start_unc < 1000 && row->start_max > 0 &&
					  row->start_max - (int64_t)row->start_unc > f.t_max);
			}
			nr += funcs.nr;
		}
		ok(!wrong && nr && i == rows.nr && cursor_next(a, &rows) == 0,
		   "rows and columns are the same: %zu%s", nr, filtered ? " of some" : "");
		ok(filtered < 3 || nr > 40000, "there are some");
		cursor_close(a);
		cursor_close(b);
	}
	reader_close(reader);
}

/* There are many blocks, so that the next ones are decoded while one is used. */
static void test_order(void)
{
	enum { NR = 20 * LDB_BLOCK_ROWS + 1000 };
	const char *path = sample_path("order");
	struct ldb_row_gap want[100];
	size_t nr = 0, wrong = 0, blocks = 0;
	struct reader_rows rows;
	struct reader *reader;
	struct cursor *c;
	struct writer *w;
	char err[256];

	w = writer_open(path, &sample_header, err, sizeof(err));
	for (int64_t i = 0; i < NR; i++)
		writer_add_gap(w, &(struct ldb_row_gap){ .tid = 1, .begin = i, .end = i + i % 9 });
	if (writer_close(w))
		bail_out("writer_close");
	reader = reader_open(path, err, sizeof(err));
	c = reader_cursor(reader, LDB_BLK_GAP, NULL);
	while (cursor_next(c, &rows) > 0) {
		memcpy(want, rows.gap, sizeof(want));
		if (blocks++ % 3 == 0)
			usleep(3000);	/* time in which other threads might read too far ahead */
		wrong += memcmp(want, rows.gap, sizeof(want)) != 0;
		for (size_t i = 0; i < rows.nr; i++, nr++)
			wrong += rows.gap[i].begin != (int64_t)nr ||
				 rows.gap[i].end != (int64_t)(nr + nr % 9);
	}
	ok(nr == NR && !wrong, "%zu rows in order, %zu wrong", nr, wrong);
	cursor_close(c);
	/* This cursor is closed long before the end. */
	c = reader_cursor(reader, LDB_BLK_GAP, NULL);
	ok(cursor_next(c, &rows) == 1 && rows.gap->begin == 0, "the first ones, and no more");
	cursor_close(c);
	reader_close(reader);
}

static int count_rows(void *arg, struct cursor *c)
{
	struct reader_rows rows;
	size_t *nr = arg;

	while (cursor_next(c, &rows) > 0)
		*nr += rows.nr;
	return 0;
}

static void test_filter(void)
{
	const char *path = sample_path("filter");
	struct reader_filter f = READER_FILTER_ALL;
	size_t nr = 0, wrong = 0, parts[3] = { 0 };
	struct reader_rows rows;
	struct reader *reader;
	struct cursor *c;
	struct writer *w;
	char err[256];

	w = writer_open(path, &sample_header, err, sizeof(err));
	for (int64_t i = 0; i < 200000; i++) {
		struct ldb_row_func row = {
			.tid = 1 + i % 3, .start_max = i * 10, .end_max = i * 10 + 5 + i % 7,
			.start_unc = 2, .end_unc = 1, .gen = i << 16,
		};
		struct ldb_row_req req = {
			.op = i % 1000 ? LDB_REQ_OP_START : LDB_REQ_OP_END_ALL, .tid = 1,
			.tick = i, .id = i % 1000 ? i : 0,
		};

		writer_add_func(w, &row);
		writer_add_req(w, &req);
	}
	writer_close(w);
	reader = reader_open(path, err, sizeof(err));
	f.t_min = 1000000;
	f.t_max = 1000999;
	f.id_min = f.id_max = 2;
	f.min_dur = 7;
	c = reader_cursor(reader, LDB_BLK_FUNC, &f);
	while (cursor_next(c, &rows) > 0) {
		for (size_t i = 0; i < rows.nr; i++) {
			const struct ldb_row_func *x = &rows.func[i];

			nr++;
			wrong += x->tid != 2 || x->end_max - x->start_max < 7 ||
				 x->end_max < f.t_min || x->start_max - 2 > f.t_max;
		}
	}
	cursor_close(c);
	{
		size_t want = 0;

		for (int64_t i = 0; i < 200000; i++)
			want += 1 + i % 3 == 2 && 5 + i % 7 >= 7 && i * 10 + 5 + i % 7 >= f.t_min &&
				i * 10 - 2 <= f.t_max;
		ok(!wrong && nr == want, "window, thread and duration: %zu rows, want %zu", nr, want);
	}
	f = (struct reader_filter)READER_FILTER_ALL;
	f.id_min = f.id_max = 4711;
	c = reader_cursor(reader, LDB_BLK_REQ, &f);
	nr = 0;
	wrong = 0;
	while (cursor_next(c, &rows) > 0) {
		nr += rows.nr;
		for (size_t i = 0; i < rows.nr; i++)
			wrong += rows.req[i].id != 4711 && rows.req[i].op != LDB_REQ_OP_END_ALL;
	}
	cursor_close(c);
	ok(nr == 201 && !wrong, "one request and every END_ALL: %zu rows", nr);
	ok(!reader_share(reader, LDB_BLK_FUNC, NULL, 3, count_rows,
			 (void *[]){ &parts[0], &parts[1], &parts[2] }) &&
	   parts[0] + parts[1] + parts[2] == 200000, "three threads together read the whole: %zu",
	   parts[0] + parts[1] + parts[2]);
	reader_close(reader);
}

/* Reads ranges of a tenth of a block, forwards and backwards; returns a checksum of the rows. */
static uint64_t read_ranges(struct reader *r, size_t *nr)
{
	struct reader_filter f = READER_FILTER_ALL;
	uint64_t sum = 0;

	*nr = 0;
	for (int64_t n = 0; n < 200; n++) {
		unsigned kind = n % 2 ? LDB_BLK_FUNC : LDB_BLK_IRQ;
		struct reader_rows rows;
		struct cursor *c;

		f.t_min = n / 4 * 40009 + n % 7 * 300000;
		f.t_max = f.t_min + 65536;
		c = reader_cursor(r, kind, &f);
		while (cursor_next(c, &rows) > 0) {
			*nr += rows.nr;
			for (size_t i = 0; i < rows.nr; i++)
				sum = sum * 31 + (kind == LDB_BLK_FUNC ? rows.func[i].gen :
						  (uint64_t)rows.irq[i].start + rows.irq[i].name[4]);
		}
		cursor_close(c);
	}
	return sum;
}

/* Retains the rows of 7 ranges; all: of all 200. */
static int retain_ranges(struct reader *r, bool all)
{
	static const unsigned kinds[] = { LDB_BLK_FUNC, LDB_BLK_IRQ };
	struct reader_range ranges[200];
	int ret = 0;

	for (int64_t n = 0; n < 200; n++) {
		ranges[n].from = n / 4 * 40009 + n % 7 * 300000;
		ranges[n].to = ranges[n].from + 65536;
	}
	for (int i = 0; i < 2 && !ret; i++)
		ret = reader_retain(r, kinds[i], ranges, all ? 200 : 7);
	return ret;
}

static size_t count_funcs(struct reader *r, int64_t from, int64_t to)
{
	struct reader_filter f = { .t_min = from, .t_max = to, .id_max = UINT64_MAX };
	struct reader_rows rows;
	struct cursor *c = reader_cursor(r, LDB_BLK_FUNC, &f);
	size_t nr = 0;

	while (cursor_next(c, &rows) > 0)
		nr += rows.nr;
	cursor_close(c);
	return nr;
}

/* A range is added when the rows of a narrower one are retained. */
static void test_retain_also(struct reader *r)
{
	struct reader_range narrow = { 1000000, 1010000 }, wide = { 900000, 1100000 };
	size_t nr_narrow, nr_wide, plain = count_funcs(r, wide.from, wide.to);

	if (reader_retain(r, LDB_BLK_FUNC, &narrow, 1))
		return;
	nr_narrow = count_funcs(r, narrow.from, narrow.to);
	if (reader_retain_also(r, LDB_BLK_FUNC, &wide))
		return;
	nr_wide = count_funcs(r, wide.from, wide.to);
	ok(nr_narrow > 0 && nr_narrow < plain && nr_wide == plain,
	   "a range that is added has all of its rows: %zu, want %zu", nr_wide, plain);
	is_int(count_funcs(r, narrow.from, narrow.to), nr_narrow, "and the earlier range, too");
	reader_retain_end(r);
}

static void test_retain(void)
{
	const char *path = sample_path("retain");
	uint64_t plain, retained = 0;
	size_t nr_plain, nr_retained;
	struct reader *reader;
	struct writer *w;
	char err[256];

	w = writer_open(path, &sample_header, err, sizeof(err));
	for (int64_t i = 0; i < 300000; i++) {
		char name[] = { 'i', 'r', 'q', '-', '0' + i % 10, '\0' };
		struct ldb_row_func row = {
			.tid = 1, .start_max = i * 10, .end_max = i * 10 + 5, .gen = i << 16,
		};
		struct ldb_row_irq irq = {
			.tid = 1, .start = i * 10, .end = i * 10 + 3, .name = name,
		};

		writer_add_func(w, &row);
		writer_add_irq(w, &irq);
	}
	writer_close(w);
	reader = reader_open(path, err, sizeof(err));
	plain = read_ranges(reader, &nr_plain);
	for (int all = 0; all < 2; all++) {
		retained = nr_retained = 0;
		if (!retain_ranges(reader, all))
			retained = read_ranges(reader, &nr_retained);
		ok(nr_plain > 100000 && retained == plain && nr_retained == nr_plain,
		   "with %s ranges retained the same rows come: %zu, %zu", all ? "all" : "few",
		   nr_plain, nr_retained);
	}
	ok(reader_retains(reader), "rows are retained");
	reader_retain_end(reader);
	ok(read_ranges(reader, &nr_retained) == plain, "and with none again");
	test_retain_also(reader);
	reader_close(reader);
}

static void test_clock(void)
{
	const char *path = sample_path("clock");
	struct ldb_file_header h = sample_header;
	struct reader *r;
	struct writer *w;
	char err[256];

	h.clock_hz = 3000000000;	/* nominal; measured: 3000300000 */
	w = writer_open(path, &h, err, sizeof(err));
	for (int64_t s = 0; s < 100; s++) {
		struct ldb_row_clock row = { .tick = 50 + s * 3000300000, .raw_ns = 7 + s * 1000000000 };

		writer_add_clock(w, &row);
	}
	writer_close(w);
	r = reader_open(path, err, sizeof(err));
	is_int(reader_ns(r, 0), 0, "tick 0 is 0 ns");
	is_int(reader_ns(r, 3000300000), 1000000000, "a second by the clock table");
	is_int(reader_ns(r, 3000300000LL * 86400), 86400000000000, "a day, to the nanosecond");
	is_int(reader_ns(r, -3000300000), -1000000000, "a second before the start");
	is_int(reader_ns(r, INT64_MAX) > 0, 1, "no overflow");
	is_int(reader_tick(r, 1000000000), 3000300000, "and back");
	reader_close(r);

	w = writer_open(path, &h, err, sizeof(err));
	writer_close(w);
	r = reader_open(path, err, sizeof(err));
	is_int(reader_ns(r, 3000000000), 1000000000, "without clock rows the nominal rate counts");
	ok(!reader_is_damaged(r), "an empty trace is not damaged");
	reader_close(r);
}

static void add_req(struct writer *w, int op, uint32_t tid, int64_t tick, uint64_t id)
{
	struct ldb_row_req row = { .op = op, .tid = tid, .tick = tick, .id = id };

	writer_add_req(w, &row);
}

static void check_requests(const char *path, const char *what)
{
	static const struct ldb_row_reqtab want[] = {
		/* handed over through a queue */
		{ .id = 1, .start = 10, .end = 60, .nr_segments = 2, .complete = 1 },
		/* ended by END_ALL */
		{ .id = 2, .start = 20, .end = 90, .nr_segments = 1, .complete = 1 },
		{ .id = 3, .start = 30, .end = 90, .nr_segments = 1, .complete = 1 },
		/* blocked, never taken up */
		{ .id = 4, .start = 35, .end = 200, .nr_segments = 1 },
		/* an id used twice */
		{ .id = 5, .start = 95, .end = 99, .nr_segments = 1, .complete = 1 },
		{ .id = 5, .start = 120, .end = 130, .nr_segments = 1, .complete = 1 },
		/* came by BLOCK of another thread */
		{ .id = 6, .start = 140, .end = 150, .nr_segments = 1, .complete = 1 },
		/* arrived before it was tagged */
		{ .id = 8, .start = 115, .end = 170, .nr_segments = 1, .complete = 1 },
		/* the arrival is impossibly early, and ignored */
		{ .id = 9, .start = 180, .end = 190, .nr_segments = 1, .complete = 1 },
	};
	const struct ldb_row_reqtab *rows;
	struct reader *r;
	char err[256];
	size_t nr;

	r = reader_open(path, err, sizeof(err));
	if (!r)
		bail_out(err);
	if (reader_requests(r, &rows, &nr))
		bail_out("reader_requests");
	ok(nr == 9 && !memcmp(rows, want, sizeof(want)), "request table, %s", what);
	for (size_t i = 0; i < nr; i++)
		diag("%" PRIu64 ": %" PRId64 " %" PRId64 " segments %u complete %u", rows[i].id,
		     rows[i].start, rows[i].end, rows[i].nr_segments, rows[i].complete);
	reader_close(r);
}

static void test_requests(void)
{
	const char *path = sample_path("requests"), *copy = sample_path("requests-cut");
	struct writer *w;
	uint8_t *bytes;
	char err[256];
	size_t size;

	w = writer_open(path, &sample_header, err, sizeof(err));
	add_req(w, LDB_REQ_OP_BLOCK, 1, 35, 4);		/* out of order: the writer sorts */
	add_req(w, LDB_REQ_OP_START, 1, 10, 1);
	add_req(w, LDB_REQ_OP_START, 2, 20, 2);
	add_req(w, LDB_REQ_OP_START, 2, 30, 3);
	add_req(w, LDB_REQ_OP_START, 1, 36, 4);
	add_req(w, LDB_REQ_OP_BLOCK, 1, 37, 4);
	add_req(w, LDB_REQ_OP_BLOCK, 1, 40, 1);
	add_req(w, LDB_REQ_OP_START, 3, 50, 1);
	writer_flush(w);
	add_req(w, LDB_REQ_OP_END, 3, 60, 1);
	add_req(w, LDB_REQ_OP_END, 3, 61, 1);		/* twice */
	/* an END_ALL of a thread without requests */
	add_req(w, LDB_REQ_OP_END_ALL, 9, 62, 0);
	add_req(w, LDB_REQ_OP_END_ALL, 2, 90, 0);
	add_req(w, LDB_REQ_OP_START, 2, 95, 5);
	add_req(w, LDB_REQ_OP_END, 2, 99, 5);
	add_req(w, LDB_REQ_OP_START, 2, 120, 5);
	add_req(w, LDB_REQ_OP_END, 2, 130, 5);
	add_req(w, LDB_REQ_OP_BLOCK, 7, 140, 6);
	add_req(w, LDB_REQ_OP_START, 2, 145, 6);
	add_req(w, LDB_REQ_OP_END, 2, 150, 6);
	writer_add_req(w, &(struct ldb_row_req){
		.op = LDB_REQ_OP_ARRIVED, .tid = 2, .tick = 160, .id = 8, .site = 45 });
	add_req(w, LDB_REQ_OP_START, 2, 161, 8);
	add_req(w, LDB_REQ_OP_END, 2, 170, 8);
	writer_add_req(w, &(struct ldb_row_req){
		.op = LDB_REQ_OP_ARRIVED, .tid = 2, .tick = 180, .id = 9, .site = UINT64_MAX });
	add_req(w, LDB_REQ_OP_START, 2, 181, 9);
	add_req(w, LDB_REQ_OP_END, 2, 190, 9);
	add_req(w, LDB_REQ_OP_END, 2, 200, 77);		/* never started; the last event */
	writer_close(w);
	check_requests(path, "from the file");
	bytes = sample_load(path, &size);
	sample_store(copy, bytes, size - 10);
	free(bytes);
	check_requests(copy, "made anew where the file was cut");
}

static void test_old(void)
{
	const char *path = sample_path("twice"), *old = sample_path("twice.old");
	struct stat st;

	sample_file(path, 1, 1, true);
	sample_file(path, 2, 1, true);
	ok(!stat(old, &st), "the file before is kept as .old");
}

/*
 * Buckets of FLOW_HIST: each length is in one, they are in order, and there are four for each power
 * of two.
 */
static void test_flow_buckets(void)
{
	bool found = true, starts = true;

	for (unsigned b = 0; b < LDB_FLOW_BUCKETS; b++) {
		uint64_t from = flow_bucket_start(b);
		uint64_t to = b + 1 < LDB_FLOW_BUCKETS ? flow_bucket_start(b + 1) - 1 : UINT64_MAX;

		starts &= to >= from && (from < 4 || (to - from + 1) * 4 <= from);
		found &= flow_bucket(from) == b && flow_bucket(to) == b;
	}
	ok(starts, "buckets of calls' lengths are at most a quarter of their start wide");
	ok(found, "each length is in the bucket between whose bounds it is");
	ok(flow_bucket(1000) == 35 && flow_bucket_start(35) == 896, "1000 ticks are in 896..1023");
}

int main(void)
{
	test_crc();
	test_flow_buckets();
	for (size_t k = 0; k < SAMPLE_KINDS; k++) {
		bool strings = sample_kinds[k] == LDB_BLK_META || sample_kinds[k] == LDB_BLK_MODULE ||
			       sample_kinds[k] == LDB_BLK_FILE || sample_kinds[k] == LDB_BLK_SYMBOL ||
			       sample_kinds[k] == LDB_BLK_CALL;

		test_kind(sample_kinds[k], 1, 1);
		test_kind(sample_kinds[k], strings ? 20000 : 150000, 50001);
	}
	test_filter();
	test_columns();
	test_order();
	test_retain();
	test_clock();
	test_requests();
	test_old();
	test_reopen();
	return done();
}
