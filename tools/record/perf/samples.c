// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes samples; see samples.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "arch/program.h"
#include "base/array.h"
#include "base/backlog.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "record/names/ksyms.h"
#include "record/perf/private.h"
#include "record/perf/samples.h"

/* smallest ring of each CPU, in bytes: holds a second of samples with their stacks, at 199 Hz */
#define RING_MIN	(512UL << 10)
/* bytes of each CPU's ring, times o->hz: holds half a second of samples with their stacks */
#define RING_SAMPLE	1024
/* size of the cache that says which words on the stack are addresses after a call instruction */
#define RETURNS_MAX	65536

struct samples {
	struct samples_options o;
	struct perf_sampling how;
	struct perf_fds fds;
	struct perf_tids tids;
	struct kernel_clock *clock;
	struct backlog rows;
	struct ksyms *ksyms;
	struct ret {
		uint64_t addr;
		bool follows_call;
	} *rets;
	size_t nr_rets, room_rets;
	struct hash by_addr;
	uint64_t nr, nr_lost, nr_bad;
};

/* A row without its tick, and its time in the kernel's clock. */
struct taken {
	struct ldb_row_sample row;
	uint64_t time;
};

/* Return addresses */

static bool follows_call(const struct samples *s, uint64_t addr)
{
	uint8_t code[PROGRAM_CALL_MAX];
	struct iovec local = { code, sizeof(code) };
	struct iovec remote = { (void *)(uintptr_t)(addr - sizeof(code)), sizeof(code) };

	return process_vm_readv(s->o.pid, &local, 1, &remote, 1, 0) == sizeof(code) &&
	       program_ends_call(code);
}

static bool is_return(struct samples *s, uint64_t addr)
{
	uint64_t hash = hash_mix(0, addr);
	uint32_t n;

	if (!modules_have_records(s->o.modules, addr))
		return false;
	hash_each(&s->by_addr, hash, n)
		if (s->rets[n].addr == addr)
			return s->rets[n].follows_call;
	if (s->nr_rets == RETURNS_MAX ||
	    !array_room(&s->rets, &s->room_rets, s->nr_rets, sizeof(*s->rets)) ||
	    hash_add(&s->by_addr, hash, s->nr_rets))
		return false;
	s->rets[s->nr_rets] = (struct ret){ addr, follows_call(s, addr) };
	return s->rets[s->nr_rets++].follows_call;
}

static uint64_t find_return(struct samples *s, const uint8_t *stack, size_t size)
{
	for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, stack + at, sizeof(word));
		if (is_return(s, word))
			return word;
	}
	return 0;
}

/* Records of perf */

struct body {
	uint64_t ip;
	uint32_t tgid, tid;
	uint64_t time;
};

struct registers {
	uint64_t abi, pc;		/* abi 0: no registers follow */
};

/*
 * Reads the rest of a sample: registers, the size of the stack, the stack, and how much of the
 * stack was copied.  If there are no registers, a sample in the kernel gets no address in the
 * program.
 */
static void read_user(struct samples *s, const uint8_t *at, size_t left, struct ldb_row_sample *row)
{
	struct registers regs = { 0 };
	uint64_t size, read;

	if (left < sizeof(regs.abi))
		return;
	memcpy(&regs.abi, at, sizeof(regs.abi));
	if (!regs.abi || left < sizeof(regs) + sizeof(size))
		return;
	memcpy(&regs, at, sizeof(regs));
	row->pc = regs.pc;
	memcpy(&size, at + sizeof(regs), sizeof(size));
	at += sizeof(regs) + sizeof(size);
	left -= sizeof(regs) + sizeof(size);
	if (!size || size > left || left - size < sizeof(read) || modules_have_records(s->o.modules, row->pc))
		return;
	memcpy(&read, at + size, sizeof(read));
	row->ret = find_return(s, at, read < size ? read : size);
}

static void take_sample(struct samples *s, const struct perf_event_header *record)
{
	const uint8_t *at = (const uint8_t *)(record + 1);
	size_t left = record->size - sizeof(*record);
	bool in_kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	struct ldb_row_sample row = { 0 };
	struct taken *taken;
	struct body body;

	if (left < sizeof(body)) {
		s->nr_bad++;
		return;
	}
	memcpy(&body, at, sizeof(body));
	if ((pid_t)body.tgid != s->tids.tgid)
		return;
	row.tid = perf_tids_shown(&s->tids, body.tid);
	if (!row.tid)
		return;
	if (!in_kernel)
		row.pc = body.ip;
	if (CPU_PERF_PC)
		read_user(s, at + sizeof(body), left - sizeof(body), &row);
	row.kernel = in_kernel ? ksyms_number(s->ksyms, body.ip) : 0;
	taken = backlog_add(&s->rows, body.time);
	*taken = (struct taken){ row, body.time };
}

static void take_record(void *samples, unsigned cpu, const struct perf_event_header *record)
{
	struct samples *s = samples;
	uint64_t lost[2];	/* id, count */

	if (record->type == PERF_RECORD_SAMPLE) {
		take_sample(s, record);
	} else if (record->type == PERF_RECORD_LOST && record->size >= sizeof(*record) + sizeof(lost)) {
		memcpy(lost, record + 1, sizeof(lost));
		s->nr_lost += lost[1];
	}
}

static void deliver(void *samples, void *rows, size_t nr)
{
	struct samples *s = samples;
	struct taken *taken = rows;

	for (size_t i = 0; i < nr; i++) {
		taken[i].row.tick = kernel_clock_tick(s->clock, taken[i].time);
		s->o.row(s->o.arg, LDB_BLK_SAMPLE, &taken[i].row);
	}
	s->nr += nr;
}

static void read_rings(struct samples *s)
{
	perf_rings_read(s->fds.rings, s->fds.nr_rings, take_record, s, &s->nr_bad);
}

void samples_poll(struct samples *s)
{
	uint64_t limit = kernel_clock_sample(s->clock, false);

	read_rings(s);
	backlog_release(&s->rows, limit - PERF_WINDOW_NS);
}

void samples_pause(struct samples *s, bool pause)
{
	if (pause)
		perf_fds_disable(&s->fds, 0, s->fds.nr_fds);
	else
		perf_fds_enable(&s->fds);
}

static void name_function(void *samples, uint32_t number, const char *name)
{
	struct samples *s = samples;

	s->o.row(s->o.arg, LDB_BLK_KSYM, &(struct ldb_row_ksym){ number, name });
}

void samples_finish(struct samples *s)
{
	uint64_t end = kernel_clock_now(s->clock), lost;

	perf_fds_disable(&s->fds, 0, s->fds.nr_fds);
	read_rings(s);
	kernel_clock_sample(s->clock, true);
	backlog_release(&s->rows, end);
	lost = perf_fds_lost(&s->fds);
	s->nr_lost = (lost > s->nr_lost ? lost : s->nr_lost) + s->nr_bad;
	ksyms_name(s->ksyms, name_function, s);
}

struct ksyms *samples_kernel_places(const struct samples *s)
{
	return ksyms_copy(s->ksyms);
}

const char *samples_clock(const struct samples *s)
{
	return s->how.is_cycles ? "cycles" : "cpu-clock";
}

bool samples_are_user_only(const struct samples *s)
{
	return s->how.is_user_only;
}

uint64_t samples_nr(const struct samples *s)
{
	return s->nr;
}

uint64_t samples_lost(const struct samples *s)
{
	return s->nr_lost;
}

void samples_close(struct samples *s)
{
	if (!s)
		return;
	perf_fds_close(&s->fds);
	backlog_exit(&s->rows);
	ksyms_free(s->ksyms);
	kernel_clock_free(s->clock);
	hash_free(&s->by_addr);
	free(s->rets);
	free(s);
}

struct samples *samples_open(const struct samples_options *o, char *why, size_t size)
{
	struct perf_options perf = {
		.pid = o->pid,
		.ring_bytes = max(RING_MIN, RING_SAMPLE * (size_t)o->hz) * sysconf(_SC_NPROCESSORS_ONLN),
	};
	struct samples *s = calloc(1, sizeof(*s));

	snprintf(why, size, "out of memory");
	if (!s)
		return NULL;
	s->o = *o;
	s->how = (struct perf_sampling){ .hz = o->hz, .cycles_hz = o->cycles_hz };
	perf_tids_init(&s->tids, o->pid, PERF_SWITCHES_OWN);
	s->ksyms = ksyms_alloc();
	s->clock = kernel_clock_alloc(o->clock_id, CLOCK_MONOTONIC_RAW, o->t0, o->offset_ns);
	if (s->ksyms && s->clock &&
	    !backlog_init(&s->rows, sizeof(struct taken), BACKLOG_MAX, deliver, s) &&
	    perf_fds_open_samples(&s->fds, &perf, &s->how, o->may_slow, kernel_clock_id(s->clock), why, size))
		return s;
	samples_close(s);
	return NULL;
}
