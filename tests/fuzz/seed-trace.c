// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes seeds for the trace reader: seed-trace FOLDER [TRACE...]
 *
 * From each of the given traces, and from traces of a few random rows of every kind that refer to
 * each other, it makes recipes (trace-recipe.h) of up to 16 KiB: one for each of the first eight
 * values of LOOK_* in trace.c.
 */
#include <zstd.h>
#include "trace-sample.h"
#include "trace-recipe.h"

#define RECIPE_MAX	(16U << 10)
#define NR_LOOKS	8

static uint8_t recipe[RECIPE_MAX];
static size_t nr_bytes;

static bool put(const void *data, size_t size)
{
	if (size > sizeof(recipe) - nr_bytes)
		return false;
	memcpy(recipe + nr_bytes, data, size);
	nr_bytes += size;
	return true;
}

static void put_block(const struct ldb_block_header *h, const uint8_t *payload)
{
	static uint8_t raw[65535];
	uint8_t head[2] = { h->kind, BLOCK_COLUMNS };
	size_t before = nr_bytes, size = ZSTD_decompress(raw, sizeof(raw), payload, h->bytes);
	uint16_t rows = h->rows, bytes = size;

	if (size != h->raw_bytes || h->rows > UINT16_MAX || h->kind == LDB_BLK_INDEX)
		return;
	if (!put(head, 2) || !put(&rows, 2) || !put(&bytes, 2) || !put(raw, size))
		nr_bytes = before;
}

static void put_blocks(const uint8_t *file, size_t size)
{
	size_t at = sizeof(struct ldb_file_header);
	struct ldb_block_header h;

	for (; at + sizeof(h) <= size; at += sizeof(h) + h.bytes) {
		memcpy(&h, file + at, sizeof(h));
		if (h.magic != LDB_BLOCK_MAGIC || h.bytes > size - at - sizeof(h))
			break;
		put_block(&h, file + at + sizeof(h));
	}
}

static void make(const char *folder, const char *name, const char *trace)
{
	size_t size;
	uint8_t *file = sample_load(trace, &size);

	for (unsigned look = 0; look < NR_LOOKS; look++) {
		uint8_t head[2] = { look, 0 };
		char path[4096];

		nr_bytes = 0;
		put(head, 2);
		put_blocks(file, size);
		snprintf(path, sizeof(path), "%s/%s-%u", folder, name, look);
		sample_store(path, recipe, nr_bytes);
	}
	free(file);
}

/* The rows have few threads, requests and locks, so that they refer to each other. */
static void narrow(unsigned kind, union sample_row *r, int64_t tick)
{
	uint64_t x = sample_random();

	switch (kind) {
	case LDB_BLK_FUNC:
		r->func = (struct ldb_row_func){
			.tid = 1 + x % 3, .pc = 0x1000 + (x >> 8) % 16, .ret = 0x2000,
			.gen = (1 + (x >> 16) % 8) << 16, .depth = (x >> 24) % 3,
			.start_max = tick, .end_max = tick + (x >> 32) % 500,
		};
		break;
	case LDB_BLK_LOCK:
		r->lock = (struct ldb_row_lock){
			.op = 1 + x % 2, .flags = 1, .tid = 1 + (x >> 8) % 3, .owner = (x >> 16) % 4,
			.lock = 0x500, .begin = tick, .end = tick + (x >> 32) % 300, .site = 0x2000,
		};
		break;
	case LDB_BLK_REQ:
		r->req = (struct ldb_row_req){
			.op = 1 + x % 4, .tid = 1 + (x >> 8) % 3, .tick = tick, .id = 1 + (x >> 16) % 4,
			.queue = (x >> 24) % 2,
		};
		break;
	case LDB_BLK_THREAD:
		r->thread.tid = 1 + x % 3;
		r->thread.start = 0;
		r->thread.end = 10000;
		break;
	case LDB_BLK_SCHED:
		r->sched = (struct ldb_row_sched){
			.op = 1 + x % 6, .flags = (x >> 8) % 0x800, .cpu = (x >> 20) % 2,
			.tid = (x >> 24) % 4, .other = (x >> 32) % 4, .tick = tick,
		};
		break;
	case LDB_BLK_FAULT:
	case LDB_BLK_IRQ:
		r->irq.tid = 1 + x % 3;
		break;
	case LDB_BLK_SCHEDSTAT:
		r->schedstat = (struct ldb_row_schedstat){
			.flags = x & (LDB_SCHEDSTAT_F_ON_CPU | 0xf), .tid = 1 + (x >> 8) % 3, .tick = tick,
			.unc = (x >> 16) % 4, .ran = tick - (x >> 20) % 64, .run_ns = tick / 2,
			.wait_ns = tick / 4, .nr_runs = tick / 100,
		};
		break;
	case LDB_BLK_NOTE:
		r->note = (struct ldb_row_note){
			.flags = x & 1, .tid = 1 + (x >> 8) % 3, .tick = tick, .id = (x >> 16) % 8,
			.number = x & 1 ? x >> 32 : 0, .key = x & 2 ? "tenant" : "bytes",
			.text = x & 1 ? "" : x & 4 ? "acme" : "other",
		};
		break;
	case LDB_BLK_EVENT:
		r->event = (struct ldb_row_event){
			.tid = 1 + (x >> 8) % 3, .tick = tick, .value = (int64_t)x >> 40, .name = "miss",
		};
		break;
	case LDB_BLK_DISK:
		r->disk = (struct ldb_row_disk){
			.flags = 1 + (x & 1), .tid = 1 + (x >> 8) % 3, .start = tick,
			.end = tick + (x >> 32) % 300, .bytes = 4096, .device = "vda",
		};
		break;
	case LDB_BLK_FLOW_API:
		r->flow_api = (struct ldb_row_flow_api){
			.id = 1 + x % 4, .flags = (x >> 8) % 32, .caller = 0x1000, .target = 0x2000,
			.name = x & 1 ? "read" : "deflate",
		};
		break;
	case LDB_BLK_FLOW:
		r->flow = (struct ldb_row_flow){
			.tid = 1 + x % 3, .api = 1 + (x >> 8) % 4, .tick = tick, .calls = tick / 10,
			.timed = tick / 20, .sum = tick / 2, .shared = tick / 4, .min = 1, .max = 200,
		};
		break;
	case LDB_BLK_FLOW_HIST:
		r->flow_hist = (struct ldb_row_flow_hist){
			.tid = 1 + x % 3, .api = 1 + (x >> 8) % 4, .tick = tick,
			.bucket = (x >> 16) % LDB_FLOW_BUCKETS, .count = 1 + (x >> 32) % 9,
		};
		break;
	case LDB_BLK_FLOW_CALL:
		r->flow_call = (struct ldb_row_flow_call){
			.flags = x & 3, .tid = 1 + (x >> 8) % 3, .start = tick,
			.end = tick + (x >> 32) % 300, .api = 1 + (x >> 16) % 4,
		};
		break;
	case LDB_BLK_SYSCALL:
		r->syscall = (struct ldb_row_syscall){
			.flags = (x & 1) * LDB_SYSCALL_F_SLEEP, .tid = 1 + (x >> 8) % 3, .start = tick,
			.end = tick + (x >> 32) % 300, .result = (int)x, .name = "read", .file = "a pipe",
		};
		break;
	}
}

static void make_random(const char *folder, unsigned nr_rows)
{
	const char *path = sample_path("seed");
	struct sample_strings s;
	union sample_row r;
	char err[256], name[32];
	struct writer *w = writer_open(path, &sample_header, err, sizeof(err));

	if (!w)
		bail_out(err);
	for (unsigned i = 0; i < nr_rows; i++) {
		for (size_t k = 0; k < SAMPLE_KINDS; k++) {
			/* Long strings only make a seed long. */
			sample_row(sample_kinds[k], &r, &s, i * 100);
			s.b[8] = '\0';
			narrow(sample_kinds[k], &r, i * 100);
			sample_write(w, sample_kinds[k], &r);
		}
	}
	if (writer_close(w))
		bail_out("writer_close");
	snprintf(name, sizeof(name), "rows-%u", nr_rows);
	make(folder, name, path);
	unlink(path);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		bail_out("usage: seed-trace FOLDER [TRACE...]");
	make_random(argv[1], 2);
	make_random(argv[1], 12);
	for (int i = 2; i < argc; i++) {
		char name[32];

		snprintf(name, sizeof(name), "trace-%d", i - 1);
		make(argv[1], name, argv[i]);
	}
	return 0;
}
