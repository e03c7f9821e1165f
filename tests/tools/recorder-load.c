// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fills the rings of a session at a fixed rate with the events of a real recording, over and
 * over, and prints how much this costs the recorder.
 *
 *	recorder-load TRACE MB-PER-SECOND SECONDS MIX	under ldb-record --
 *
 * MIX: "func:60,lock:10,req:20,sched:10", the share of each kind in the bytes.  Times are
 * compressed or stretched to the rate; within a millisecond their distances have the same
 * proportions; generations and request ids continue from one replay to the next.
 *
 * It prints "raw=BYTES events=N ns=WALL cpu_ns=RECORDER rss_kb=RECORDER anon_kb=RECORDER
 * late_ms=WORST". cpu_ns is the CPU time of all threads of the recorder from the first event until
 * it has read the last one.
 */
#include <dirent.h>
#include <inttypes.h>
#include "fake-session.h"
#include "trace/reader.h"

#define BATCH_NS	1000000
#define EVENTS_MAX	(4U << 20)	/* events of a kind in the trace */

struct event {			/* an event; its times are set when it is replayed */
	struct ldb_rec recs[3];
	int64_t tick;		/* times in the trace */
	uint64_t dur;		/* FUNC, LOCK: between start and end */
	unsigned nr;
	unsigned cpu;
};

struct kind {
	const char *name;
	unsigned block;
	unsigned share;		/* share of the bytes, in percent */
	struct event *events;
	size_t nr;
	size_t next;
	uint64_t loop;
	double owed;		/* bytes */
	double bytes;		/* average bytes of an event */
	double scale;		/* factor of the durations */
	uint64_t gen_span, id_span;
};

static struct kind kinds[] = {
	{ .name = "func", .block = LDB_BLK_FUNC }, { .name = "lock", .block = LDB_BLK_LOCK },
	{ .name = "req", .block = LDB_BLK_REQ }, { .name = "sched", .block = LDB_BLK_SCHED },
};
#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t raw_bytes;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The trace -> events */

static uint32_t unc32(uint64_t unc)
{
	return unc < UINT32_MAX ? unc : UINT32_MAX;
}

static void from_func(struct kind *k, struct event *e, const struct ldb_row_func *row)
{
	struct ldb_func_rec f = {
		.tid = row->tid, .type = LDB_EV_FUNC, .flags = row->flags, .pc = row->pc,
		.end_unc = unc32(row->end_unc), .start_unc = unc32(row->start_unc),
		.cont1 = LDB_EV_CONT + 1, .cont2 = LDB_EV_CONT + 2, .depth = row->depth,
		.gen = row->gen, .ret = row->ret, .parent_gen = row->parent_gen,
	};

	memcpy(e->recs, &f, sizeof(f));
	e->nr = 3;
	e->tick = row->end_max;
	e->dur = row->end_max - row->start_max;
	if (row->gen > k->gen_span)
		k->gen_span = row->gen;
}

static void from_lock(struct kind *k, struct event *e, const struct ldb_row_lock *row)
{
	struct ldb_lock_rec l = {
		.tid = row->tid, .flags = row->flags, .lock = row->lock, .owner = row->owner,
		.type = row->op == LDB_LOCK_OP_WAIT ? LDB_EV_LOCK_WAIT : LDB_EV_LOCK_HOLD,
		.cont1 = LDB_EV_CONT + 1, .site_hi = row->site >> 32, .site_lo = row->site,
		.gen = row->gen, .begin = row->begin != row->end,
	};

	memcpy(e->recs, &l, sizeof(l));
	e->nr = 2;
	e->tick = row->end;
	e->dur = row->end - row->begin;
	if (row->gen > k->gen_span)
		k->gen_span = row->gen;
}

static void from_req(struct kind *k, struct event *e, const struct ldb_row_req *row)
{
	struct ldb_req_rec r = {
		.tid = row->tid, .type = 0x300 + row->op, .id = row->id, .queue = row->queue,
		.payload2 = row->site, .cont1 = LDB_EV_CONT + 1,
	};

	memcpy(e->recs, &r, sizeof(r));
	e->nr = 2;
	e->tick = row->tick;
	if (row->id > k->id_span)
		k->id_span = row->id;
}

/* Makes the record, or the two records, that the module would have written for the row. */
static void from_sched(struct kind *k, struct event *e, const struct ldb_row_sched *row)
{
	e->recs[0] = (struct ldb_rec){
		.tid = row->tid, .type = 0x400 + row->op, .flags = row->flags,
		.arg = row->addr ? row->addr : row->value, .arg2 = row->other,
	};
	e->nr = 1;
	e->cpu = row->cpu;
	e->tick = row->tick;
	if (row->op == LDB_SCHED_OP_FUTEX_WAIT) {
		struct ldb_futex_rec f = {
			.tid = row->tid, .type = LDB_EV_FUTEX_WAIT, .flags = row->flags,
			.uaddr = row->addr, .word = row->value, .owner = row->other,
			.cont1 = LDB_EV_CONT + 1,
		};

		memcpy(e->recs, &f, sizeof(f));
		e->nr = 2;
	}
}

static void load_kind(struct reader *r, struct kind *k)
{
	struct cursor *c = reader_cursor(r, k->block, NULL);
	struct reader_rows rows;
	size_t room = 0;

	k->nr = 0;
	while (c && cursor_next(c, &rows) > 0) {
		for (size_t i = 0; i < rows.nr && k->nr < EVENTS_MAX; i++) {
			struct event *e;

			if (k->nr == room) {
				room = room ? room * 2 : 1024;
				k->events = realloc(k->events, room * sizeof(*k->events));
				if (!k->events)
					die("realloc");
			}
			e = &k->events[k->nr++];
			memset(e, 0, sizeof(*e));
			switch (k->block) {
			case LDB_BLK_FUNC:
				from_func(k, e, &rows.func[i]);
				break;
			case LDB_BLK_LOCK:
				from_lock(k, e, &rows.lock[i]);
				break;
			case LDB_BLK_REQ:
				from_req(k, e, &rows.req[i]);
				break;
			case LDB_BLK_SCHED:
				from_sched(k, e, &rows.sched[i]);
			}
			/* the trace does not contain the CPU, so all CPUs are used in turn */
			if (k->block != LDB_BLK_SCHED)
				e->cpu = k->nr / 16;
			e->cpu = e->cpu % info.nr_cpus;
		}
	}
	cursor_close(c);
	if (k->nr < 2) {
		fprintf(stderr, "recorder-load: the trace has no %s events\n", k->name);
		exit(2);
	}
}

static void load(const char *path, char *mix, double bytes_per_second)
{
	struct reader *r;
	char err[512];

	r = reader_open(path, err, sizeof(err));
	if (!r) {
		fprintf(stderr, "recorder-load: %s\n", err);
		exit(2);
	}
	for (char *part = strtok(mix, ","); part; part = strtok(NULL, ",")) {
		for (size_t n = 0; n < NR_KINDS; n++) {
			struct kind *k = &kinds[n];
			size_t length = strlen(k->name);
			double ticks, slots = 0;

			if (strncmp(part, k->name, length) || part[length] != ':')
				continue;
			k->share = atoi(part + length + 1);
			load_kind(r, k);
			for (size_t i = 0; i < k->nr; i++)
				slots += k->events[i].nr;
			k->bytes = slots * sizeof(struct ldb_rec) / k->nr;
			ticks = k->events[k->nr - 1].tick - k->events[0].tick;
			k->scale = ticks > 0 ? k->nr * k->bytes * 100 / (bytes_per_second * k->share) *
					       info.tsc_hz / ticks : 1;
		}
	}
	reader_close(r);
}

/* Replay */

static uint64_t scaled(const struct kind *k, uint64_t ticks)
{
	return ticks * k->scale;
}

static uint32_t scaled32(const struct kind *k, uint32_t unc)
{
	uint64_t v = unc == UINT32_MAX ? unc : scaled(k, unc);

	return v < UINT32_MAX ? v : UINT32_MAX;
}

static void replay(struct kind *k, const struct event *e, uint64_t tick)
{
	struct ldb_rec recs[3];

	raw_bytes += e->nr * sizeof(struct ldb_rec);
	memcpy(recs, e->recs, sizeof(recs));
	recs[0].tsc = tick;
	if (k->block == LDB_BLK_FUNC) {
		struct ldb_func_rec *f = (void *)recs;

		f->start_max = tick - scaled(k, e->dur);
		f->end_unc = scaled32(k, f->end_unc);
		f->start_unc = scaled32(k, f->start_unc);
		f->gen += k->loop * k->gen_span;
		f->parent_gen += f->parent_gen ? k->loop * k->gen_span : 0;
		ring_put(info.nr_cpus, recs, 3, 3);
		return;
	}
	if (k->block == LDB_BLK_LOCK) {
		struct ldb_lock_rec *l = (void *)recs;

		l->begin = l->begin ? tick - scaled(k, e->dur) : 0;
		l->gen += k->loop * k->gen_span;
	} else if (k->block == LDB_BLK_REQ) {
		recs[0].arg += k->loop * k->id_span;
	}
	ring_put(e->cpu, recs, e->nr, e->nr);
}

/*
 * Replays events of this kind, of which `bytes` more bytes are due, at times between `from` and
 * `to`.  Returns their number.
 */
static uint64_t batch(struct kind *k, uint64_t from, uint64_t to, double bytes)
{
	double scale, ticks;
	size_t n, last;

	k->owed += bytes;
	n = k->owed / k->bytes;
	if (!n)
		return 0;
	k->owed -= n * k->bytes;
	if (k->next + n > k->nr) {
		k->next = 0;
		k->loop++;
		if (n > k->nr)
			n = k->nr;
	}
	last = k->next + n - 1;
	ticks = k->events[last].tick - k->events[k->next].tick;
	scale = ticks > 0 ? (to - from) / ticks : 0;
	for (size_t i = k->next; i <= last; i++) {
		double at = (k->events[i].tick - k->events[k->next].tick) * scale;

		/* A recording is only nearly in order. */
		replay(k, &k->events[i], from + (at < 0 ? 0 : at < to - from ? at : to - from - 1));
	}
	k->next = last + 1;
	return n;
}

/* Measuring the recorder from outside */

static uint64_t recorder_cpu_ns(pid_t pid)
{
	uint64_t sum = 0, ns;
	struct dirent *d;
	char path[320];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", pid, d->d_name);
		f = d->d_name[0] != '.' ? fopen(path, "r") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%" SCNu64, &ns) == 1)
			sum += ns;
		fclose(f);
	}
	if (dir)
		closedir(dir);
	return sum;
}

static uint64_t recorder_status(pid_t pid, const char *key)
{
	char path[64], line[256];
	uint64_t kb = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)))
			kb = strtoull(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return kb;
}

int main(int argc, char **argv)
{
	uint64_t begin, t, tick, events = 0, late = 0, cpu, wall;
	double bytes_per_second;
	pid_t recorder;

	if (argc != 5) {
		fprintf(stderr, "usage: recorder-load TRACE MB-PER-SECOND SECONDS MIX\n");
		return 2;
	}
	bytes_per_second = atof(argv[2]) * 1e6;
	open_socket(false);
	attach();
	load(argv[1], argv[4], bytes_per_second);
	recorder = recorder_pid();
	cpu = recorder_cpu_ns(recorder);
	begin = t = now_ns();
	tick = clock_now();
	while (t - begin < strtod(argv[3], NULL) * 1e9) {
		uint64_t now, to;

		t += BATCH_NS;
		now = now_ns();
		if (now < t) {
			struct timespec ts = { 0, t - now };

			nanosleep(&ts, NULL);
		} else if (now - t > late) {
			late = now - t;
		}
		to = clock_now();
		for (size_t n = 0; n < NR_KINDS; n++)
			if (kinds[n].share)
				events += batch(&kinds[n], tick, to,
						bytes_per_second * kinds[n].share / 100 *
							BATCH_NS / 1e9);
		tick = to;
	}
	wall = now_ns() - begin;
	usleep(300000);		/* the recorder empties the rings, and then has nothing to do */
	cpu = recorder_cpu_ns(recorder) - cpu;
	printf("raw=%" PRIu64 " events=%" PRIu64 " ns=%" PRIu64 " cpu_ns=%" PRIu64 " rss_kb=%" PRIu64
	       " anon_kb=%" PRIu64 " late_ms=%" PRIu64 "\n",
	       raw_bytes, events, wall, cpu,
	       recorder_status(recorder, "VmRSS:"), recorder_status(recorder, "RssAnon:"),
	       late / 1000000);
	return 0;
}
