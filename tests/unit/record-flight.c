// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the parts of the flight recorder: the ring of blocks, requests that are followed, triggers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/ldb.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "record/flight/file.h"
#include "record/flight/notes.h"
#include "record/flight/requests.h"
#include "record/flight/ring.h"
#include "record/flight/triggers.h"
#include "random.h"
#include "tap.h"

#define RING_BYTES	65536
#define BLOCKS		20000

/* A block's header has the tick of its last row; the rest is its number, repeated. */
static size_t make_block(char *block, uint64_t number)
{
	struct ldb_block_header h = { .t_min = number, .t_max = number };
	size_t size = sizeof(h) + rnd() % 3000;

	memset(block, (int)number, size);
	memcpy(block, &h, sizeof(h));
	return size;
}

static bool is_block(const char *block, size_t size, uint64_t number)
{
	struct ldb_block_header h;

	memcpy(&h, block, sizeof(h));
	for (size_t i = sizeof(h); i < size; i++)
		if (block[i] != (char)number)
			return false;
	return h.t_max == (int64_t)number;
}

/* All blocks that the ring claims to have must be unchanged. */
static bool is_right(struct flight_ring *r)
{
	void *buffer = NULL;
	size_t room = 0;
	bool right = flight_ring_first(r) == 0 || flight_ring_read(r, flight_ring_first(r) - 1, &buffer, &room) == 0;

	for (uint64_t n = flight_ring_first(r); right && n < flight_ring_next(r); n++) {
		ssize_t size = flight_ring_read(r, n, &buffer, &room);

		right = size > 0 && is_block(buffer, size, n);
	}
	free(buffer);
	return right;
}

static void test_ring(const char *file)
{
	char err[256], block[8192];
	struct flight_ring *r = flight_ring_open(file, RING_BYTES, err, sizeof(err));
	bool right = r, fits = true;

	for (uint64_t n = 0; right && n < BLOCKS; n++) {
		right = !flight_ring_add(r, block, make_block(block, n), n, n);
		fits &= flight_ring_bytes(r) <= RING_BYTES;
		/* Blocks are also dropped by their age. */
		if (n % 97 == 0)
			flight_ring_expire(r, n - rnd() % 30);
		if (n % 61 == 0)
			right &= is_right(r);
	}
	ok(right, "what a ring has is as it was%s", file ? ", in a file" : "");
	ok(fits, "never more than its size");
	ok(r && flight_ring_first(r) > BLOCKS - 100, "old blocks are dropped");
	is_int(flight_ring_cut(r), flight_ring_first(r) - 1, "and it is known up to which tick");
	ok(flight_ring_add(r, block, RING_BYTES + 1, 0, 0) < 0, "a block that is too large is refused");
	flight_ring_expire(r, BLOCKS);
	is_int(flight_ring_bytes(r), 0, "all can be dropped");
	flight_ring_close(r);
	if (file)
		ok(access(file, F_OK), "the file is gone");
}

/* Requests */

static struct flight_request last;
static unsigned nr_ended;
static char last_name[64];

static void on_end(void *arg, const struct flight_request *r)
{
	last = *r;
	snprintf(last_name, sizeof(last_name), "%s", r->name);
	nr_ended++;
}

static void tag(struct flight_requests *f, unsigned op, uint32_t tid, uint64_t id, int64_t tick)
{
	flight_requests_add(f, &(struct ldb_row_req){ .op = op, .tid = tid, .id = id, .tick = tick }, 1);
}

static unsigned nr_rows;
static int64_t first_tick;
static char warning[128];

static void on_row(void *arg, unsigned kind, const void *row)
{
	const struct ldb_row_req *q = row;
	const struct ldb_row_meta *meta = row;

	if (kind == LDB_BLK_META && !strcmp(meta->key, "warning"))
		snprintf(warning, sizeof(warning), "%s", meta->value);
	if (kind != LDB_BLK_REQ)
		return;
	if (!nr_rows++)
		first_tick = q->tick;
}

static void test_requests(void)
{
	struct flight_requests *f = flight_requests_alloc(1000, on_end, NULL);

	flight_requests_name(f, &(struct ldb_row_reqname){ .id = 7, .tick = 5, .name = "GET" }, 1);
	tag(f, LDB_REQ_OP_START, 1, 7, 10);
	tag(f, LDB_REQ_OP_END, 1, 7, 30);
	ok(nr_ended == 1 && last.start == 10 && last.end == 30, "a request lasts from START to END");
	is_str(last_name, "GET", "and has its class");
	/* The name of the next request is read before the end of this one. */
	tag(f, LDB_REQ_OP_START, 1, 7, 40);
	flight_requests_name(f, &(struct ldb_row_reqname){ .id = 7, .tick = 60, .name = "SET" }, 1);
	tag(f, LDB_REQ_OP_END, 1, 7, 50);
	is_str(last_name, "GET", "a later name is not its own");
	tag(f, LDB_REQ_OP_START, 1, 7, 61);
	tag(f, LDB_REQ_OP_END, 1, 7, 70);
	is_str(last_name, "SET", "but that of the next one");
	/* Two threads work on it, and it waits in a queue. */
	nr_ended = 0;
	tag(f, LDB_REQ_OP_START, 1, 8, 100);
	tag(f, LDB_REQ_OP_START, 2, 8, 110);
	tag(f, LDB_REQ_OP_END, 1, 8, 120);
	tag(f, LDB_REQ_OP_BLOCK, 2, 8, 130);
	is_int(nr_ended, 0, "it has not ended while it is on a thread or in a queue");
	tag(f, LDB_REQ_OP_START, 3, 8, 140);
	tag(f, LDB_REQ_OP_END_ALL, 3, 0, 150);
	ok(nr_ended == 1 && last.start == 100 && last.end == 150, "END_ALL ends it");
	/* Requests that began long ago. */
	tag(f, LDB_REQ_OP_START, 1, 9, 200);
	tag(f, LDB_REQ_OP_START, 2, 10, 210);
	tag(f, LDB_REQ_OP_END, 2, 10, 5000);
	is_int(flight_requests_each(f, 4000, on_row, NULL), 2, "one that is open, and a long one that ended since");
	ok(nr_rows == 2 && first_tick == 200, "keep their beginnings");
	nr_rows = 0;
	is_int(flight_requests_each(f, 6000, on_row, NULL), 1, "a long one that ended before does not");
	nr_ended = 0;
	tag(f, LDB_REQ_OP_START, 1, 11, 6900);
	flight_requests_add(f, &(struct ldb_row_req){
		.op = LDB_REQ_OP_CUT, .tick = 6950, .id = 11, .queue = 11,
	}, 1);
	tag(f, LDB_REQ_OP_END, 1, 11, 6960);
	is_int(nr_ended, 0, "one that was cut has no known end");
	is_int(flight_requests_each(f, 6000, on_row, NULL), 1, "the others are open");
	tag(f, LDB_REQ_OP_CUT, 0, 0, 7000);
	tag(f, LDB_REQ_OP_END, 1, 9, 7100);
	is_int(nr_ended, 0, "what was open at a pause has no known end");
	ok(!*warning, "none was forgotten");
	for (uint64_t id = 100; id < 100100; id++)
		tag(f, LDB_REQ_OP_START, id % 1000, id, id);
	flight_requests_each(f, 0, on_row, NULL);
	ok(atoi(warning) > 0 && strstr(warning, " open requests were forgotten"), "requests that never end are forgotten");
	flight_requests_free(f);
}

/* Triggers */

static unsigned nr_met;
static char met[512];

static void on_met(void *arg, const char *why)
{
	nr_met++;
	snprintf(met, sizeof(met), "%s", why);
}

static void test_triggers(void)
{
	static const char *const right[] = { "request>5ms", "class:a>b>1us", "p99>1s", "p99.9:GET>2ms", "lock>10ms",
					     "stall>100ms", "signal:USR1", "signal:USR2", "crash", "end" };
	static const char *const wrong[] = { "request", "request>", "request>fast", "class:>1ms", "p0>1ms", "p100>1ms",
					     "p99", "p99x>1ms", "signal:KILL", "crash>1ms", "", ">1ms", "never" };
	static const char *const used[] = { "class:GET>10us", "p90>10us", "lock>5us", "signal:USR1", "crash" };
	struct flight_triggers *t = flight_triggers_alloc(used, 5, on_met, NULL);
	struct flight_request r = { .id = 1, .start = 0, .end = 20000, .name = "GET" };
	struct ldb_row_lock lock = { .op = LDB_LOCK_OP_WAIT, .begin = 0, .end = 5001 };

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++)
		ok(!flight_triggers_check(right[i]), "a trigger: %s", right[i]);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		ok(flight_triggers_check(wrong[i]), "none: '%s'", wrong[i]);
	flight_triggers_clock(t, 1);
	flight_triggers_request(t, &r);
	is_int(nr_met, 1, "a request over its limit");
	ok(strstr(met, "class:GET>10us") && strstr(met, "20.0 us"), "says which: %s", met);
	r.name = "SET";
	flight_triggers_request(t, &r);
	r.end = 10000;
	r.name = "GET";
	flight_triggers_request(t, &r);
	is_int(nr_met, 1, "not of another class, and not at the limit");
	flight_triggers_locks(t, &lock, 1);
	is_int(nr_met, 2, "a lock");
	lock.op = LDB_LOCK_OP_HOLD;
	flight_triggers_locks(t, &lock, 1);
	is_int(nr_met, 2, "a hold is no wait");
	/* 2 of 3 were over the limit, but 3 requests have no p90. */
	flight_triggers_second(t);
	is_int(nr_met, 2, "few requests have no percentile");
	for (int i = 0; i < 20; i++)
		flight_triggers_request(t, &r);
	flight_triggers_second(t);
	is_int(nr_met, 2, "2 of 23 are not over p90");
	r.end = 20000;
	r.name = "SET";
	flight_triggers_request(t, &r);
	flight_triggers_second(t);
	is_int(nr_met, 3, "3 of 24 are");
	flight_triggers_second(t);
	is_int(nr_met, 3, "only crossing the limit counts");
	flight_triggers_signal(t, SIGUSR2);
	flight_triggers_end(t, "exit:1");
	is_int(nr_met, 3, "another signal, another end");
	flight_triggers_signal(t, SIGUSR1);
	flight_triggers_end(t, "signal:11");
	is_int(nr_met, 5, "the signal, the crash");
	flight_triggers_free(t);
}

static void calls(struct flight_triggers *t, int64_t start, int64_t end)
{
	flight_triggers_calls(t, &(struct ldb_row_syscall){ .tid = 1, .start = start, .end = end, .name = "epoll_wait" }, 1);
}

static void test_stalls(void)
{
	static const char *const used[] = { "stall>100ns" };
	struct flight_triggers *t = flight_triggers_alloc(used, 1, on_met, NULL);

	nr_met = 0;
	flight_triggers_clock(t, 1);
	calls(t, 0, 50);
	calls(t, 100, 200);
	flight_triggers_pass(t);
	/* The thread works on requests, and rows of requests come before rows of calls. */
	for (int64_t tick = 250; tick < 1000; tick += 90)
		flight_triggers_starts(t, &(struct ldb_row_req){ .op = LDB_REQ_OP_START, .tid = 1, .tick = tick }, 1);
	calls(t, 1000, 2000);
	flight_triggers_pass(t);
	is_int(nr_met, 0, "a loop that waits or works on requests is no stall");
	calls(t, 2101, 2200);
	flight_triggers_pass(t);
	is_int(nr_met, 1, "one that does neither is");
	flight_triggers_free(t);
}

static void sleeps(struct flight_triggers *t, int64_t at, int64_t woken)
{
	struct ldb_row_syscall call = { .tid = 1, .start = at, .end = at, .name = "poll", .flags = LDB_SYSCALL_F_SLEEP };
	struct ldb_row_sched other = { .tick = woken - 1, .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER, .other = 2 };
	struct ldb_row_sched in = { .tick = woken, .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER, .other = 1 };

	flight_triggers_calls(t, &call, 1);
	flight_triggers_sched(t, &other, 1);
	flight_triggers_sched(t, &in, 1);
	flight_triggers_pass(t);
}

static bool is_even(void *arg, uint32_t tid)
{
	return tid % 2 == 0;
}

/*
 * Usually only sleeps in system calls are recorded, with the time at which the thread left its CPU.
 */
static void test_sleeps(void)
{
	static const char *const used[] = { "stall>100ns" };
	struct flight_triggers *t = flight_triggers_alloc(used, 1, on_met, NULL);

	nr_met = 0;
	flight_triggers_clock(t, 1);
	sleeps(t, 0, 1000);
	sleeps(t, 1200, 5000);
	is_int(nr_met, 0, "of the first turn it is not known when it began");
	sleeps(t, 5090, 9000);
	is_int(nr_met, 0, "a sleep is no stall, however long");
	sleeps(t, 9101, 9200);
	is_int(nr_met, 1, "what comes between two is one");
	/* With all calls, the row of the whole call comes as well, later. */
	calls(t, 9100, 9210);
	flight_triggers_pass(t);
	sleeps(t, 9305, 9400);
	is_int(nr_met, 1, "a call lasts until it has returned");
	flight_triggers_on_thread(t, is_even, NULL);
	flight_triggers_free(t);

	t = flight_triggers_alloc(used, 1, on_met, NULL);
	nr_met = 0;
	flight_triggers_clock(t, 1);
	flight_triggers_on_thread(t, is_even, NULL);
	for (int64_t tick = 1000; tick < 10000; tick += 1000)
		sleeps(t, tick, tick + 10);
	is_int(nr_met, 0, "threads that are not the program's have no event loops");
	flight_triggers_free(t);
}

/* Threads come and go for weeks: the tables must not fill. */
static void test_weeks(void)
{
	static const char *const used[] = { "stall>100ns" };
	struct flight_requests *f = flight_requests_alloc(1000, on_end, NULL);
	struct flight_triggers *t = flight_triggers_alloc(used, 1, on_met, NULL);
	uint32_t tid;

	nr_ended = nr_met = 0;
	for (tid = 1; tid <= 200000; tid++) {
		tag(f, LDB_REQ_OP_START, tid, 1, tid * 10);
		tag(f, LDB_REQ_OP_END_ALL, tid, 0, tid * 10 + 5);
	}
	is_int(nr_ended, 200000, "END_ALL ends the requests of 200,000 threads");
	flight_triggers_clock(t, 1);
	for (tid = 1; tid <= 20000; tid++) {
		struct ldb_row_syscall row = { .tid = tid, .start = tid * 10, .end = tid * 10 + 5, .name = "poll" };

		flight_triggers_calls(t, &row, 1);
		flight_triggers_pass(t);
	}
	flight_triggers_calls(t, &(struct ldb_row_syscall){ .tid = --tid, .start = 900000, .end = 900001, .name = "poll" }, 1);
	flight_triggers_pass(t);
	is_int(nr_met, 1, "the last one of 20,000 loops is one, too");
	flight_triggers_free(t);
	flight_requests_free(f);
}

static void test_changes(void)
{
	static const char *const used[] = { "request>1ms" };
	struct flight_triggers *t = flight_triggers_alloc(used, 1, on_met, NULL);
	struct flight_request request = { .start = 0, .end = 20000, .name = "GET x" };
	char text[512];

	flight_triggers_clock(t, 1);
	nr_met = 0;
	flight_triggers_request(t, &request);
	is_int(nr_met, 0, "not met");
	ok(!flight_triggers_add(t, "class:GET x>10us"), "one is added");
	flight_triggers_request(t, &request);
	is_int(nr_met, 1, "which is met, with the clock of the others");
	ok(flight_triggers_add(t, "class:GET x>10us"), "not twice");
	ok(flight_triggers_add(t, "request>fast"), "what is none is refused");
	ok(flight_triggers_add(t, "signal:USR1"), "and a signal that the recorder would not get");
	is_str(flight_triggers_print(t, text, sizeof(text)), "request>1ms  class:GET x>10us", "all of them");
	ok(!flight_triggers_remove(t, "request>1ms"), "one is removed");
	ok(flight_triggers_remove(t, "request>1ms"), "once");
	flight_triggers_request(t, &request);
	is_int(nr_met, 2, "the other stays");
	for (unsigned i = 1; i <= 100; i++) {
		snprintf(text, sizeof(text), "request>%us", i);
		flight_triggers_add(t, text);
	}
	ok(flight_triggers_add(t, "end"), "there are not more than 64");
	ok(!flight_triggers_remove(t, "all"), "all are removed");
	is_str(flight_triggers_print(t, text, sizeof(text)), "", "none is left");
	flight_triggers_free(t);
	t = flight_triggers_alloc((const char *const[]){ "signal:USR1" }, 1, on_met, NULL);
	ok(t && !flight_triggers_remove(t, "signal:USR1") && !flight_triggers_add(t, "signal:USR1"),
	   "a signal that was one from the beginning is one again");
	ok(t && flight_triggers_add(t, "signal:USR2"), "but no other");
	flight_triggers_free(t);
}

/* Notes */

static unsigned nr_notes;
static int64_t last_note;

static void on_note(void *arg, unsigned kind, const void *row)
{
	const struct ldb_row_note *n = row;

	nr_notes += kind == LDB_BLK_NOTE && !strcmp(n->key, "tenant");
	last_note = n->tick;
}

static void note(struct flight_notes *f, uint64_t id, int64_t tick)
{
	char key[] = "tenant", text[] = "7";
	struct ldb_row_note row = { .id = id, .tick = tick, .key = key, .text = text };

	flight_notes_add(f, &row, 1);
	memset(key, 'x', sizeof(key) - 1);
}

static void test_notes(void)
{
	struct flight_notes *f = flight_notes_alloc();

	note(f, 1, 10);
	note(f, 1, 20);
	note(f, 2, 30);
	flight_notes_each(f, 20, on_note, NULL);
	is_int(nr_notes, 2, "notes up to a tick");
	flight_notes_forget(f, 1);
	nr_notes = 0;
	flight_notes_each(f, 1000, on_note, NULL);
	is_int(nr_notes, 1, "those of requests that are over are forgotten");
	for (int64_t i = 0; i < 100000; i++)
		note(f, 100 + i, i);
	nr_notes = 0;
	flight_notes_each(f, INT64_MAX, on_note, NULL);
	ok(nr_notes == 16384 && last_note == 99999, "of many, the last ones are there, in their order");
	flight_notes_free(f);
}

/* Files */

/* path at which another file appears while names are looked up; NULL: none */
static const char *put_at;
static const char *remove_at;	/* this file is removed after the next exchange; NULL: none */

/* Replaces the C library's function, to simulate a user who is faster than the recorder. */
int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
	int rc = syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);

	if (!rc && remove_at && flags & RENAME_EXCHANGE) {
		unlink(remove_at);
		remove_at = NULL;
	}
	return rc;
}

static uint64_t append(const char *path, const char *name, pid_t pid)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	ssize_t n = fd < 0 ? 0 : write(fd, "names", 5);

	close(fd);
	if (put_at)
		unlink(put_at);
	fd = put_at && pid ? open(put_at, O_WRONLY | O_CREAT, 0600) : -1;
	if (fd >= 0)
		close(fd);
	return n;
}

static uint64_t add_none(const char *path, const char *name, pid_t pid)
{
	return 0;
}

static int64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -errno : (int64_t)st.st_size;
}

static unsigned nr_files(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned nr = 0;

	while (d && readdir(d))
		nr++;
	closedir(d);
	return nr - 2;
}

/* Makes a dump without names; returns its size. */
static int64_t publish(struct flight_file *f, const char *name, char *path)
{
	struct ldb_file_header header = { .clock_id = 1, .clock_hz = 1000000000 };
	char err[256];

	if (flight_file_open(f, name, &header, err, sizeof(err)) || flight_file_close(f))
		return -1;
	return flight_file_publish(f, path, PATH_MAX);
}

static void test_names(const char *dir)
{
	struct flight_file f, held;
	char name[64], path[PATH_MAX], moved[PATH_MAX + 8];
	int64_t size;
	int fd;

	snprintf(name, sizeof(name), "%s/n", dir);
	size = publish(&f, name, path);
	ok(size > 0 && size_of(path) == size, "a dump is there before it has names: %s", path);
	fd = open(path, O_RDONLY);
	held = f;
	is_int(flight_file_name(&f, append, 0, path, NULL), size + 5, "it gets names");
	is_int(size_of(path), size + 5, "in its own file");
	is_int(lseek(fd, 0, SEEK_END), size, "who had it open reads what it was");
	close(fd);
	is_int(nr_files(dir), 1, "there is no other file");
	is_str(held.own, "n.1", "its name in the folder");
	unlink(path);

	size = publish(&f, name, path);
	is_int(flight_file_name(&f, add_none, 0, path, NULL), size, "without names it stays as it is");
	is_int(size_of(path), size, "as it is");
	is_int(nr_files(dir), 1, "and no copy stays");
	unlink(path);

	publish(&f, name, path);
	snprintf(moved, sizeof(moved), "%s.moved", path);
	rename(path, moved);
	is_int(flight_file_name(&f, append, 0, path, NULL), size, "one that the user has moved");
	is_int(size_of(path), -ENOENT, "does not come back");
	is_int(size_of(moved), size, "and is as it was");
	is_int(nr_files(dir), 1, "and no copy stays");
	unlink(moved);

	publish(&f, name, path);
	put_at = path;
	is_int(flight_file_name(&f, append, 1, path, NULL), size, "one that the user has replaced");
	put_at = NULL;
	is_int(size_of(path), 0, "by his own file, which stays");
	is_int(nr_files(dir), 1, "and no copy stays");
	unlink(path);

	publish(&f, name, path);
	put_at = remove_at = path;
	is_int(flight_file_name(&f, append, 1, path, NULL), size, "one that he has replaced, and removes meanwhile");
	put_at = NULL;
	ok(!remove_at, "there was an exchange");
	is_int(size_of(path), 0, "his own file stays");
	is_int(nr_files(dir), 1, "and no copy stays");
	unlink(path);
}

static void test_files(void)
{
	char err[256], path[PATH_MAX], dir[] = "/tmp/ldb-flight.XXXXXX", name[64];
	struct ldb_file_header header = { .clock_id = 1, .clock_hz = 1000000000 };
	struct flight_files files;
	struct flight_file a, b;

	if (!mkdtemp(dir))
		exit(1);
	snprintf(name, sizeof(name), "%s/x", dir);
	is_int(flight_file_open(&a, name, &header, err, sizeof(err)), 0, "a dump begins");
	is_int(flight_file_open(&b, name, &header, err, sizeof(err)), 0, "and another one");
	flight_file_clean(name);
	flight_file_count(name, &files);
	is_int(files.nr, 0, "they have no names yet");
	is_int(flight_file_close(&b), 0, "closed");
	ok(flight_file_publish(&b, path, sizeof(path)) > 0, "done first: %s", path);
	is_str(path + strlen(dir), "/x.1", "the first");
	is_int(flight_file_close(&a), 0, "closed");
	ok(flight_file_publish(&a, path, sizeof(path)) > 0, "done");
	is_str(path + strlen(dir), "/x.2", "nothing is replaced, and what is being written was not removed");
	flight_file_name(&a, NULL, 0, path, NULL);
	flight_file_name(&b, NULL, 0, path, NULL);
	flight_file_count(name, &files);
	ok(files.nr == 2 && files.last == 2 && files.bytes > 0, "they are counted");
	unlink(path);
	path[strlen(path) - 1] = '1';
	unlink(path);
	test_names(dir);
	is_int(rmdir(dir), 0, "nothing else is left");
}

int main(void)
{
	test_ring(NULL);
	test_ring("ring-of-record-flight");
	test_requests();
	test_triggers();
	test_stalls();
	test_sleeps();
	test_weeks();
	test_changes();
	test_notes();
	test_files();
	return done();
}
