/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes random rows of every kind, for the tests of the trace file.  The same seed gives the
 * same rows, so that the rows that are read can be compared.
 */
#ifndef UNIT_TRACE_SAMPLE_H
#define UNIT_TRACE_SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/ldb.h>
#include "trace/reader.h"
#include "trace/writer.h"
#include "tap.h"

static uint64_t sample_state = 1;

TAP_FN uint64_t sample_random(void)
{
	sample_state ^= sample_state << 13;
	sample_state ^= sample_state >> 7;
	sample_state ^= sample_state << 17;
	return sample_state * 0x2545f4914f6cdd1dULL;
}

/* Draws small, middling, huge, and extreme values. */
TAP_FN uint64_t sample_value(void)
{
	static const uint64_t edges[] = {
		0, 1, 127, 128, UINT32_MAX, (uint64_t)UINT32_MAX + 1, INT64_MAX,
		(uint64_t)INT64_MAX + 1, UINT64_MAX,
	};
	uint64_t r = sample_random();

	if (r % 8 == 0)
		return edges[(r >> 8) % (sizeof(edges) / sizeof(edges[0]))];
	return sample_random() >> (r >> 32) % 64;
}

TAP_FN const char *sample_string(char *buf, size_t max)
{
	size_t n = sample_random() % max;

	for (size_t i = 0; i < n; i++)
		buf[i] = 1 + sample_random() % 255;
	buf[n] = '\0';
	return buf;
}

struct sample_strings {
	char a[80], b[2000], c[80];
};

union sample_row {
	struct ldb_row_meta meta;
	struct ldb_row_clock clock;
	struct ldb_row_module module;
	struct ldb_row_thread thread;
	struct ldb_row_func func;
	struct ldb_row_lock lock;
	struct ldb_row_req req;
	struct ldb_row_reqname reqname;
	struct ldb_row_note note;
	struct ldb_row_event event;
	struct ldb_row_message message;
	struct ldb_row_asked asked;
	struct ldb_row_gap gap;
	struct ldb_row_lost lost;
	struct ldb_row_scan scan;
	struct ldb_row_sched sched;
	struct ldb_row_task task;
	struct ldb_row_fault fault;
	struct ldb_row_irq irq;
	struct ldb_row_syscall syscall;
	struct ldb_row_schedstat schedstat;
	struct ldb_row_sample sample;
	struct ldb_row_ksym ksym;
	struct ldb_row_disk disk;
	struct ldb_row_file file;
	struct ldb_row_symbol symbol;
	struct ldb_row_call call;
	struct ldb_row_flow_api flow_api;
	struct ldb_row_flow flow;
	struct ldb_row_flow_hist flow_hist;
	struct ldb_row_flow_call flow_call;
};

/* tick: REQ rows are sorted by the writer, so they are made sorted here. */
TAP_FN void sample_row(unsigned kind, union sample_row *r, struct sample_strings *s, int64_t tick)
{
	memset(r, 0, sizeof(*r));
	switch (kind) {
	case LDB_BLK_META:
		r->meta.key = sample_string(s->a, sizeof(s->a));
		r->meta.value = sample_string(s->b, sizeof(s->b));
		break;
	case LDB_BLK_CLOCK:
		r->clock = (struct ldb_row_clock){
			.tick = tick, .raw_ns = tick, .mono_ns = sample_value(),
			.real_ns = sample_value(), .err = sample_value(),
		};
		break;
	case LDB_BLK_MODULE:
		r->module = (struct ldb_row_module){
			.flags = sample_value(), .tick = sample_value(),
			.end_tick = sample_value(), .start = sample_value(),
			.end = sample_value(), .bias = sample_value(),
			.build_id = sample_string(s->a, sizeof(s->a)),
			.path = sample_string(s->b, sizeof(s->b)),
		};
		break;
	case LDB_BLK_THREAD:
		r->thread = (struct ldb_row_thread){
			.tid = sample_value(), .flags = sample_value(), .start = sample_value(),
			.end = sample_value(), .made = sample_value(), .seen = sample_value(),
			.scans = sample_value(), .invalid = sample_value(),
			.foreign = sample_value(), .too_deep = sample_value(),
			.disorder = sample_value(), .gap = sample_value(),
			.start_routine = sample_value(), .creator = sample_value(),
			.name = sample_string(s->a, 16), .below_threshold = sample_value(),
		};
		break;
	case LDB_BLK_FUNC:
		r->func = (struct ldb_row_func){
			.flags = sample_value(), .tid = sample_value(), .pc = sample_value(),
			.ret = sample_value(), .gen = sample_value(),
			.parent_gen = sample_value(), .depth = sample_value(),
			.start_max = sample_value(), .end_max = sample_value(),
			.start_unc = sample_value(), .end_unc = sample_value(),
		};
		break;
	case LDB_BLK_LOCK:
		r->lock = (struct ldb_row_lock){
			.op = sample_value(), .flags = sample_value(), .tid = sample_value(),
			.lock = sample_value(), .owner = sample_value(), .begin = sample_value(),
			.end = sample_value(), .gen = sample_value(), .site = sample_value(),
			.nr_later = sample_value(),
		};
		break;
	case LDB_BLK_REQ:
		r->req = (struct ldb_row_req){
			.op = sample_value(), .tid = sample_value(), .tick = tick,
			.id = sample_value(), .queue = sample_value(), .site = sample_value(),
			.gen = sample_value(), .nr_later = sample_value(),
		};
		break;
	case LDB_BLK_REQNAME:
		r->reqname = (struct ldb_row_reqname){
			.tick = sample_value(), .id = sample_value(), .trace_hi = sample_value(),
			.trace_lo = sample_value(), .span = sample_value(),
			.name = sample_string(s->a, 24),
		};
		break;
	case LDB_BLK_NOTE:
		r->note = (struct ldb_row_note){
			.flags = sample_value(), .tid = sample_value(), .tick = sample_value(),
			.id = sample_value(), .number = sample_value(),
			.key = sample_string(s->a, 17), .text = sample_string(s->b, 37),
		};
		break;
	case LDB_BLK_MESSAGE:
		r->message = (struct ldb_row_message){
			.flags = sample_value(), .tid = sample_value(), .tick = sample_value(),
			.id = sample_value(), .serial = sample_value(), .offset = sample_value(),
			.bytes = sample_value(), .own_hi = sample_value(), .own_lo = sample_value(),
			.peer_hi = sample_value(), .peer_lo = sample_value(), .own_port = sample_value(),
			.peer_port = sample_value(), .scope = sample_value(),
		};
		break;
	case LDB_BLK_ASKED:
		r->asked = (struct ldb_row_asked){
			.tick = sample_value(), .id = sample_value(), .asked = sample_value(), .by = sample_value(),
		};
		break;
	case LDB_BLK_EVENT:
		r->event = (struct ldb_row_event){
			.tid = sample_value(), .tick = sample_value(), .value = sample_value(),
			.name = sample_string(s->a, 29),
		};
		break;
	case LDB_BLK_GAP:
		r->gap = (struct ldb_row_gap){
			.tid = sample_value(), .begin = sample_value(), .end = sample_value(),
		};
		break;
	case LDB_BLK_LOST:
		r->lost = (struct ldb_row_lost){
			.tick = sample_value(), .ring = sample_value(), .count = sample_value(),
			.what = sample_value(),
		};
		break;
	case LDB_BLK_SCAN:
		r->scan = (struct ldb_row_scan){
			.scanner = sample_value(), .rounds = sample_value(),
			.looks = sample_value(), .changes = sample_value(),
			.scans = sample_value(), .invalid = sample_value(),
			.frames = sample_value(), .gaps = sample_value(), .gap = sample_value(),
			.busy = sample_value(), .paused = sample_value(),
		};
		break;
	case LDB_BLK_SCHED:
		r->sched = (struct ldb_row_sched){
			.op = sample_value(), .flags = sample_value(), .cpu = sample_value(),
			.tid = sample_value(), .other = sample_value(), .value = sample_value(),
			.tick = tick, .addr = sample_value(), .gen = sample_value(),
			.pc = sample_value(),
		};
		break;
	case LDB_BLK_TASK:
		r->task = (struct ldb_row_task){
			.tid = sample_value(), .pid = sample_value(), .flags = sample_value(),
			.tick = tick, .name = sample_string(s->a, 16),
		};
		break;
	case LDB_BLK_FAULT:
		r->fault = (struct ldb_row_fault){
			.flags = sample_value(), .tid = sample_value(), .tick = tick,
			.addr = sample_value(), .pc = sample_value(),
		};
		break;
	case LDB_BLK_IRQ:
		r->irq = (struct ldb_row_irq){
			.kind = sample_value(), .flags = sample_value(), .cpu = sample_value(),
			.nr = sample_value(), .tid = sample_value(), .nr_short = sample_value(),
			.start = sample_value(), .end = sample_value(),
			.name = sample_string(s->a, 24),
		};
		break;
	case LDB_BLK_SYSCALL:
		r->syscall = (struct ldb_row_syscall){
			.flags = sample_value(), .nr = sample_value(), .tid = sample_value(),
			.nr_short = sample_value(), .start = sample_value(), .end = sample_value(),
			.result = sample_value(), .arg0 = sample_value(), .arg = sample_value(),
			.name = sample_string(s->a, 24), .file = sample_string(s->b, 24),
		};
		break;
	case LDB_BLK_SCHEDSTAT:
		r->schedstat = (struct ldb_row_schedstat){
			.flags = sample_value(), .tid = sample_value(), .tick = sample_value(),
			.unc = sample_value(), .ran = sample_value(), .run_ns = sample_value(),
			.wait_ns = sample_value(), .nr_runs = sample_value(),
			.nr_sleeps = sample_value(),
		};
		break;
	case LDB_BLK_SAMPLE:
		r->sample = (struct ldb_row_sample){
			.kernel = sample_value(), .tid = sample_value(), .tick = tick,
			.pc = sample_value(), .ret = sample_value(),
		};
		break;
	case LDB_BLK_KSYM:
		r->ksym = (struct ldb_row_ksym){
			.id = sample_value(), .name = sample_string(s->a, 24),
		};
		break;
	case LDB_BLK_FLOW_API:
		r->flow_api = (struct ldb_row_flow_api){
			.id = sample_value(), .flags = sample_value(), .tick = sample_value(),
			.caller = sample_value(), .target = sample_value(),
			.name = sample_string(s->a, 24),
		};
		break;
	case LDB_BLK_FLOW:
		r->flow = (struct ldb_row_flow){
			.tid = sample_value(), .api = sample_value(), .tick = sample_value(),
			.calls = sample_value(), .timed = sample_value(), .sum = sample_value(),
			.shared = sample_value(), .min = sample_value(), .max = sample_value(),
			.back = sample_value(),
		};
		break;
	case LDB_BLK_FLOW_HIST:
		r->flow_hist = (struct ldb_row_flow_hist){
			.tid = sample_value(), .api = sample_value(), .tick = sample_value(),
			.bucket = sample_value(), .count = sample_value(),
		};
		break;
	case LDB_BLK_FLOW_CALL:
		r->flow_call = (struct ldb_row_flow_call){
			.flags = sample_value(), .tid = sample_value(), .start = sample_value(),
			.end = sample_value(), .api = sample_value(), .gen = sample_value(),
			.site = sample_value(), .nr_later = sample_value(),
		};
		break;
	case LDB_BLK_DISK:
		r->disk = (struct ldb_row_disk){
			.flags = sample_value(), .tid = sample_value(), .start = sample_value(),
			.end = sample_value(), .bytes = sample_value(), .device = sample_string(s->a, 24),
		};
		break;
	case LDB_BLK_FILE:
		r->file = (struct ldb_row_file){
			.id = sample_value(), .flags = sample_value(),
			.build_id = sample_string(s->a, sizeof(s->a)),
			.path = sample_string(s->b, sizeof(s->b)),
		};
		break;
	case LDB_BLK_SYMBOL:
		r->symbol = (struct ldb_row_symbol){
			.file = sample_value(), .ask = sample_value(), .flags = sample_value(),
			.addr = sample_value(), .offset = sample_value(), .line = sample_value(),
			.func_line = sample_value(), .raw = sample_string(s->a, sizeof(s->a)),
			.source = sample_string(s->b, sizeof(s->b)),
			.func_source = sample_string(s->c, sizeof(s->c)),
		};
		break;
	case LDB_BLK_CALL:
		r->call = (struct ldb_row_call){
			.file = sample_value(), .caller = sample_string(s->a, sizeof(s->a)),
			.callee = sample_string(s->b, sizeof(s->b)),
		};
		break;
	}
}

TAP_FN int sample_write(struct writer *w, unsigned kind, const union sample_row *r)
{
	switch (kind) {
	case LDB_BLK_META:
		return writer_add_meta(w, r->meta.key, r->meta.value);
	case LDB_BLK_CLOCK:
		return writer_add_clock(w, &r->clock);
	case LDB_BLK_MODULE:
		return writer_add_module(w, &r->module);
	case LDB_BLK_THREAD:
		return writer_add_thread(w, &r->thread);
	case LDB_BLK_FUNC:
		return writer_add_func(w, &r->func);
	case LDB_BLK_LOCK:
		return writer_add_lock(w, &r->lock);
	case LDB_BLK_REQ:
		return writer_add_req(w, &r->req);
	case LDB_BLK_REQNAME:
		return writer_add_reqname(w, &r->reqname);
	case LDB_BLK_NOTE:
		return writer_add_note(w, &r->note);
	case LDB_BLK_MESSAGE:
		return writer_add_message(w, &r->message);
	case LDB_BLK_ASKED:
		return writer_add_asked(w, &r->asked);
	case LDB_BLK_EVENT:
		return writer_add_event(w, &r->event);
	case LDB_BLK_GAP:
		return writer_add_gap(w, &r->gap);
	case LDB_BLK_LOST:
		return writer_add_lost(w, &r->lost);
	case LDB_BLK_SCHED:
		return writer_add_sched(w, &r->sched);
	case LDB_BLK_TASK:
		return writer_add_task(w, &r->task);
	case LDB_BLK_FAULT:
		return writer_add_fault(w, &r->fault);
	case LDB_BLK_IRQ:
		return writer_add_irq(w, &r->irq);
	case LDB_BLK_SYSCALL:
		return writer_add_syscall(w, &r->syscall);
	case LDB_BLK_SCHEDSTAT:
		return writer_add_schedstat(w, &r->schedstat);
	case LDB_BLK_SAMPLE:
		return writer_add_sample(w, &r->sample);
	case LDB_BLK_KSYM:
		return writer_add_ksym(w, &r->ksym);
	case LDB_BLK_FLOW_API:
		return writer_add_flow_api(w, &r->flow_api);
	case LDB_BLK_FLOW:
		return writer_add_flow(w, &r->flow);
	case LDB_BLK_FLOW_HIST:
		return writer_add_flow_hist(w, &r->flow_hist);
	case LDB_BLK_FLOW_CALL:
		return writer_add_flow_call(w, &r->flow_call);
	case LDB_BLK_DISK:
		return writer_add_disk(w, &r->disk);
	case LDB_BLK_FILE:
		return writer_add_file(w, &r->file);
	case LDB_BLK_SYMBOL:
		return writer_add_symbol(w, &r->symbol);
	case LDB_BLK_CALL:
		return writer_add_call(w, &r->call);
	default:
		return writer_add_scan(w, &r->scan);
	}
}

static const unsigned sample_kinds[] = {
	LDB_BLK_META, LDB_BLK_CLOCK, LDB_BLK_MODULE, LDB_BLK_THREAD, LDB_BLK_FUNC, LDB_BLK_LOCK,
	LDB_BLK_REQ, LDB_BLK_REQNAME, LDB_BLK_NOTE, LDB_BLK_EVENT, LDB_BLK_GAP, LDB_BLK_LOST, LDB_BLK_SCAN,
	LDB_BLK_MESSAGE, LDB_BLK_ASKED,
	LDB_BLK_SCHED, LDB_BLK_TASK, LDB_BLK_FAULT, LDB_BLK_IRQ, LDB_BLK_SYSCALL,
	LDB_BLK_SCHEDSTAT, LDB_BLK_SAMPLE, LDB_BLK_KSYM, LDB_BLK_DISK, LDB_BLK_FILE,
	LDB_BLK_SYMBOL, LDB_BLK_CALL, LDB_BLK_FLOW_API, LDB_BLK_FLOW, LDB_BLK_FLOW_HIST,
	LDB_BLK_FLOW_CALL,
};
#define SAMPLE_KINDS	(sizeof(sample_kinds) / sizeof(sample_kinds[0]))

static const struct ldb_file_header sample_header = {
	.clock_id = LDB_CLOCK_TSC, .t0 = 1000, .clock_hz = 1000000000, .realtime_ns = 5,
};

static char sample_dir[] = "/tmp/ldb-unit.XXXXXX";
static pid_t sample_owner;

/* When a child exits, it does not remove the folder of its parent. */
TAP_FN void sample_cleanup(void)
{
	char command[300];

	if (getpid() != sample_owner)
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", sample_dir);
	if (system(command))
		diag("cannot remove %s", sample_dir);
}

/* Returns a path in a folder of this test's own, which is removed when the test exits. */
TAP_FN const char *sample_path(const char *name)
{
	static char path[4][256];
	static unsigned n;

	if (!sample_owner) {
		if (!mkdtemp(sample_dir))
			bail_out("mkdtemp");
		sample_owner = getpid();
		atexit(sample_cleanup);
	}
	n = (n + 1) % 4;
	snprintf(path[n], sizeof(path[n]), "%s/%s", sample_dir, name);
	return path[n];
}

/* Writes nr rows of each kind, kinds in turn, and flushes sometimes. */
TAP_FN void sample_file(const char *path, size_t nr, size_t flush_every, bool close)
{
	char err[256];
	struct writer *w = writer_open(path, &sample_header, err, sizeof(err));
	struct sample_strings s;
	union sample_row r;

	if (!w)
		bail_out(err);
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < SAMPLE_KINDS; k++) {
			sample_row(sample_kinds[k], &r, &s, i * 100);
			sample_write(w, sample_kinds[k], &r);
		}
		if (i % flush_every == flush_every - 1)
			writer_flush(w);
	}
	if (close && writer_close(w))
		bail_out("writer_close");
	/*
	 * Otherwise the writer is leaked on purpose: the file is then as if the recorder had been
	 * killed.
	 */
}

/* Returns the content of a file; *size is set. */
TAP_FN uint8_t *sample_load(const char *path, size_t *size)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	uint8_t *buf;

	if (!f || fstat(fileno(f), &st))
		bail_out("cannot open the sample");
	buf = malloc(st.st_size + 1);
	*size = fread(buf, 1, st.st_size, f);
	fclose(f);
	return buf;
}

TAP_FN void sample_store(const char *path, const uint8_t *buf, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(buf, 1, size, f) != size || fclose(f))
		bail_out("cannot write the sample");
}

#endif
