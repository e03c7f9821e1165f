// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the request API, from the header that a program includes to the record. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <ldb/ldb.h>
#include "runtime/runtime.h"
#include "shim-harness.h"
#include "tap.h"

static const struct ldb_req_rec *last(void)
{
	static const struct ldb_req_rec none;
	unsigned nr = harness_nr();

	return nr ? &harness_rec(nr - 1)->req : &none;
}

static void every_call(void)
{
	ldb_req_start(1, NULL);
	ldb_req_arrived(6, NULL, 1000);
	ldb_req_block(2, NULL);
	ldb_req_end(3);
	ldb_req_end_all();
	ldb_req_class(4, "GET");
	ldb_req_link(5, NULL, NULL);
	ldb_lock_wait(&errno);
	ldb_lock_acquired(&errno);
	ldb_lock_released(&errno);
	ldb_req_note(6, "tenant", "acme");
	ldb_req_note_u64(7, "bytes", 4096);
	ldb_event("miss", 1);
	ldb_record_start();
	ldb_record_stop();
	ldb_record_dump("why");
}

static void without(void)
{
	errno = 4242;
	every_call();
	is_int(harness_nr(), 0, "without the runtime a tag does nothing");
	is_int(ldb_stack_register(&errno, &errno + 1), 0,
	       "without the runtime, the registration of a stack succeeds");
	ldb_stack_unregister(&errno);
	is_int(errno, 4242, "errno is left alone");
	request_fill(1, &__ldb_api);
	request_fill(2, &__ldb_api_2);
	request_fill(3, &__ldb_api_3);
	request_fill(4, &__ldb_api_4);
	every_call();
	is_int(harness_nr(), 0, "without a recording a tag does nothing");
}

/*
 * A table of a later version is not changed, and neither is memory after a table of the first
 * version.
 */
static void versions(void)
{
	void *table[16] = { NULL };
	int behind = 0;

	request_fill(LDB_API_VERSION + 1, table);
	request_fill(0, table);
	for (unsigned i = 0; i < 16; i++)
		behind += !!table[i];
	is_int(behind, 0, "a version it does not know is not filled");
	request_fill(1, table);
	for (unsigned i = 0; i < 16; i++)
		behind += !!table[i];
	is_int(behind, 8, "version 1 has eight functions");
	ok(table[7] && !table[8], "memory behind the table is not changed");
}

static __attribute__((noinline)) void tag_here(int queue)
{
	ldb_req_start(0x1122334455667788, (void *)(long)queue);
}

static void tags(void)
{
	uint64_t begin, site;

	harness_start(LDB_MUTEX_OFF, 0);
	begin = cpu_tsc();
	errno = 4242;
	tag_here(0x5000);
	is_int(errno, 4242, "errno is left alone");
	is_int(last()->type, LDB_EV_REQ_START, "start");
	ok(last()->id == 0x1122334455667788, "its id");
	is_int(last()->queue, 0x5000, "its queue");
	is_int(last()->tid, syscall(SYS_gettid), "its thread");
	ok(last()->tsc >= begin && last()->tsc <= cpu_tsc(), "its time");
	site = last()->payload2;
	ok(site >= (uintptr_t)tag_here && site < (uintptr_t)tag_here + 128, "its site");
	is_int(last()->cont1, LDB_EV_CONT + 1, "the second slot says what it is");
	ldb_req_block(~0ULL, (void *)0x6000);
	ok(last()->type == LDB_EV_REQ_BLOCK && last()->id == ~0ULL && last()->queue == 0x6000,
	   "block");
	ok(last()->payload2, "its site");
	ldb_req_end(7);
	ok(last()->type == LDB_EV_REQ_END && last()->id == 7 && last()->payload2, "end");
	ldb_req_end_all();
	ok(last()->type == LDB_EV_REQ_END_ALL && last()->payload2, "end of all");
	is_int(harness_nr(), 4, "one record each");
	harness_stop();
}

/*
 * Links records as the plugin would: the frame that calls tag_here() is the innermost one, and
 * harness_gen is the generation of the last frame that was entered.
 */
static void frames(void)
{
	struct ldb_frame main_frame = { .gen = 5 * LDB_GEN_ONE | LDB_CANARY };
	uintptr_t below = (uintptr_t)&main_frame - (1 << 20);

	harness_start(LDB_MUTEX_OFF, 0);
	harness_gen = 9 * LDB_GEN_ONE | LDB_CANARY;
	harness_block.top = &main_frame;
	tag_here(0);
	is_int(last()->payload0 | (uint64_t)last()->payload1 << 32, 9 * LDB_GEN_ONE,
	       "the generation of the last frame");
	is_int(last()->nr_later, 5, "four functions were entered after the innermost frame");
	main_frame.gen = 9 * LDB_GEN_ONE | LDB_CANARY;
	tag_here(0);
	is_int(last()->nr_later, 1, "the innermost frame is the one that was entered last");
	harness_block.top = NULL;
	tag_here(0);
	is_int(last()->nr_later, 10, "no frame is left: nine functions were entered");
	harness_block.top = (struct ldb_frame *)below;
	tag_here(0);
	is_int(last()->nr_later, 0, "a record below the stack pointer is not read");
	harness_block.top = (struct ldb_frame *)(thread_self()->stack_hi + 4096);
	tag_here(0);
	is_int(last()->nr_later, 0, "a record of another stack is not read");
	main_frame.gen = 0;
	harness_block.top = &main_frame;
	tag_here(0);
	is_int(last()->nr_later, 0, "a record without a canary is not used");
	harness_block.top = NULL;
	harness_stop();
}

static void arrivals(void)
{
	harness_start(LDB_MUTEX_OFF, 0);
	errno = 4242;
	ldb_req_arrived(8, (void *)0x7000, 123456789012);
	ok(last()->type == LDB_EV_REQ_ARRIVED && last()->id == 8 && last()->queue == 0x7000,
	   "arrived");
	ok(last()->payload2 == 123456789012, "how long ago");
	is_int(last()->cont1, LDB_EV_CONT + 1, "the second slot says what it is");
	is_int(errno, 4242, "errno is left alone");
	ldb_req_arrived(8, NULL, 0);
	ok(!last()->payload2 && !last()->queue, "just now, in no queue");
	ldb_req_arrived(8, NULL, LDB_AGE_MAX_NS);
	is_int(harness_nr(), 3, "a day ago");
	ldb_req_arrived(8, NULL, LDB_AGE_MAX_NS + 1);
	/* the time is in the future, because it is from another clock */
	ldb_req_arrived(8, NULL, -100);
	is_int(harness_nr(), 3, "an impossible age is ignored");
	harness_stop();
}

/* Joins the name as the reader does. */
static const char *class_name(void)
{
	static char name[LDB_CLASS_MAX + 1];

	memcpy(name, &last()->payload0, 4);
	memcpy(name + 4, &last()->queue, 8);
	memcpy(name + 12, &last()->payload1, 4);
	memcpy(name + 16, &last()->payload2, 8);
	return name;
}

static void classes(void)
{
	harness_start(LDB_MUTEX_OFF, 0);
	ldb_req_class(9, "GET");
	ok(last()->type == LDB_EV_REQ_CLASS && last()->id == 9, "class");
	is_str(class_name(), "GET", "a short name");
	ldb_req_class(9, "abcdefghijklmnopqrstuvw");
	is_str(class_name(), "abcdefghijklmnopqrstuvw", "the longest name");
	ldb_req_class(9, "abcdefghijklmnopqrstuvwxyz");
	is_str(class_name(), "abcdefghijklmnopqrstuvw", "a longer one is cut");
	ldb_req_class(9, "");
	is_str(class_name(), "", "an empty one");
	ldb_req_class(9, NULL);
	is_str(class_name(), "", "none");
	harness_stop();
}

static void links(void)
{
	static const unsigned char trace[16] = {
		0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6,
		0xa3, 0xce, 0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36,
	};
	static const unsigned char span[8] = { 0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7 };

	harness_start(LDB_MUTEX_OFF, 0);
	ldb_req_link(11, trace, span);
	ok(last()->type == LDB_EV_REQ_LINK && last()->id == 11, "link");
	ok(last()->queue == 0x4bf92f3577b34da6, "trace id, first half, as its hex digits read");
	ok(last()->payload2 == 0xa3ce929d0e0e4736, "and second half");
	ok(((uint64_t)last()->payload1 << 32 | last()->payload0) == 0x00f067aa0ba902b7, "span id");
	ldb_req_link(11, NULL, NULL);
	ok(!last()->queue && !last()->payload2 && !last()->payload0 && !last()->payload1, "none");
	harness_stop();
}

/* Gathers the payload as the reader does. */
static const char *payload(unsigned nr_slots)
{
	static char bytes[LDB_PAYLOAD(3) + 1];
	const struct ldb_rec *slots = (const void *)last();
	char *to = bytes + 4;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &slots[0].arg2, 4);
	for (unsigned k = 1; k < nr_slots; k++, to += 24) {
		ok(slots[k].type == LDB_EV_CONT + k, "slot %u says what it is", k);
		memcpy(to, &slots[k].tsc, 8);
		memcpy(to + 8, &slots[k].tid, 4);
		memcpy(to + 12, &slots[k].arg, 8);
		memcpy(to + 20, &slots[k].arg2, 4);
	}
	return bytes;
}

static void notes(void)
{
	const char *bytes;
	uint64_t number;

	harness_start(LDB_MUTEX_OFF, 0);
	errno = 4242;
	ldb_req_note(~0ULL, "tenant", "acme");
	ok(last()->type == LDB_EV_REQ_NOTE && last()->id == ~0ULL, "note");
	is_int(last()->tid, syscall(SYS_gettid), "its thread");
	bytes = payload(3);
	is_str(bytes, "tenant", "its key");
	is_str(bytes + LDB_NOTE_KEY_MAX, "acme", "its value");
	ldb_req_note(1, "a-key-of-16-byte", "123e4567-e89b-12d3-a456-426614174000");
	bytes = payload(3);
	ok(!memcmp(bytes, "a-key-of-16-byte", 16), "the longest key");
	is_str(bytes + 16, "123e4567-e89b-12d3-a456-426614174000", "the longest value");
	ldb_req_note(1, "a-key-of-16-bytes!", "123e4567-e89b-12d3-a456-426614174000, and more");
	bytes = payload(3);
	is_str(bytes, "a-key-of-16-byte123e4567-e89b-12d3-a456-426614174000",
	       "longer ones are cut");
	ldb_req_note(1, NULL, NULL);
	bytes = payload(3);
	ok(!bytes[0] && !bytes[16], "none");
	ldb_req_note_u64(2, "bytes", 0x123456789abcdef0);
	ok(last()->type == LDB_EV_REQ_NUMBER && last()->id == 2, "a number");
	bytes = payload(2);
	is_str(bytes, "bytes", "its key");
	memcpy(&number, bytes + 16, 8);
	ok(number == 0x123456789abcdef0, "its value");
	is_int(harness_nr(), 5, "one record each");
	is_int(errno, 4242, "errno is left alone");
	harness_stop();
}

static void events(void)
{
	const struct ldb_rec *slot;
	uint64_t begin;

	harness_start(LDB_MUTEX_OFF, 0);
	begin = cpu_tsc();
	errno = 4242;
	ldb_event("cache miss", -7);
	slot = (const void *)last();
	ok(slot->type == LDB_EV_MARK && (int64_t)slot->arg == -7, "event");
	ok(slot->tsc >= begin && slot->tsc <= cpu_tsc(), "its time");
	is_str(payload(2), "cache miss", "its name");
	ldb_event("abcdefghijklmnopqrstuvwxyz0123456789", INT64_MIN);
	is_str(payload(2), "abcdefghijklmnopqrstuvwxyz01", "a long name is cut");
	ldb_event(NULL, 0);
	is_str(payload(2), "", "none");
	is_int(errno, 4242, "errno is left alone");
	harness_stop();
}

/* Checks that the control thread would send `command` next; 0: that it would send nothing. */
static void next_is(unsigned command, unsigned nr, const char *text, const char *name)
{
	struct ldb_msg_command c;
	bool is_there = command_next(&c);

	ok(is_there == !!command, "%s", name);
	if (is_there && command) {
		is_int(c.command, command, name);
		is_int(c.nr, nr, "the command stands for this number of calls");
		is_str(c.text, text, "the command's reason");
	}
}

static void commands(void)
{
	static const char longest[] = "a reason of sixty-three bytes, which is all that is retained of";

	command_forget();
	next_is(0, 0, "", "a command from before a recording does not concern it");
	errno = 4242;
	ldb_record_stop();
	next_is(LDB_COMMAND_STOP, 1, "", "stop");
	next_is(0, 0, "", "a command is sent only once");
	ldb_record_stop();
	ldb_record_start();
	next_is(LDB_COMMAND_START, 1, "", "the last of several counts");
	next_is(0, 0, "", "no other command is sent");
	ldb_record_stop();
	ldb_record_dump("too slow");
	ldb_record_dump("too slow again");
	ldb_record_dump(NULL);
	next_is(LDB_COMMAND_DUMP, 3, "too slow", "a dump comes before a stop, and stands for all");
	next_is(LDB_COMMAND_STOP, 1, "", "the stop comes after the dump");
	ldb_record_dump(longest);
	next_is(LDB_COMMAND_DUMP, 1, longest, "the longest reason");
	ldb_record_dump("a reason of sixty-three bytes, which is all that is retained of it");
	next_is(LDB_COMMAND_DUMP, 1, longest, "a longer one is cut");
	ldb_record_dump(NULL);
	next_is(LDB_COMMAND_DUMP, 1, "", "none");
	next_is(0, 0, "", "no further command is sent");
	is_int(errno, 4242, "errno is left alone");
}

static void *unknown_thread(void *p)
{
	harness_unregistered = true;
	*(int *)p = syscall(SYS_gettid);
	ldb_req_start(12, NULL);
	return NULL;
}

static void unknown(void)
{
	pthread_t t;
	int tid;

	harness_start(LDB_MUTEX_OFF, 0);
	if (pthread_create(&t, NULL, unknown_thread, &tid))
		bail_out("pthread_create");
	next_table.pthread_join(t, NULL);
	is_int(harness_nr(), 1, "a thread the runtime does not know is recorded");
	is_int(last()->tid, tid, "the record of such a thread has its tid");
	harness_stop();
}

int main(void)
{
	shim_init();
	without();
	versions();
	tags();
	frames();
	arrivals();
	classes();
	links();
	notes();
	events();
	commands();
	unknown();
	return done();
}
