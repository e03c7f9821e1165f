// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests perf without the kernel, first half: format files, records, rings.  Whatever the bytes,
 * nothing outside a record may be read (make SANITIZE=1).
 */
#include <sys/syscall.h>
#include <unistd.h>
#include "arch/cpu.h"
#include "record/names/calls.h"
#include "record/perf/private.h"
#include "tap.h"

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define SWITCH_FIELDS \
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n" \
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n" \
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n" \
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n" \
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"

#define SWITCH_PRINT(state) \
	"print fmt: \"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> " \
	"next_comm=%s next_pid=%d next_prio=%d\", REC->prev_comm, REC->prev_pid, " \
	"REC->prev_prio, " state ", REC->next_comm, REC->next_pid, REC->next_prio\n"

#define REPORT	"(((0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | " \
		"0x00000010 | 0x00000020 | 0x00000040) + 1) << 1)"

/* Format of Linux 4.14 and later. */
static const char switch_now[] = "name: sched_switch\nID: 372\n" COMMON SWITCH_FIELDS SWITCH_PRINT(
	"(REC->prev_state & (" REPORT " - 1)) ? "
	"__print_flags(REC->prev_state & (" REPORT " - 1), \"|\", "
	"{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, "
	"{ 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, "
	"{ 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
	"REC->prev_state & " REPORT " ? \"+\" : \"\"");

/* Format of Linux 4.9, with other numbers. */
static const char switch_4_9[] = "name: sched_switch\nID: 273\n" COMMON SWITCH_FIELDS SWITCH_PRINT(
	"REC->prev_state & (2048-1) ? __print_flags(REC->prev_state & (2048-1), \"|\", "
	"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, "
	"{ 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }, { 1024, \"N\" }) : \"R\", "
	"REC->prev_state & 2048 ? \"+\" : \"\"");

static const char waking[] = "name: sched_waking\nID: 375\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
	"REC->prio, REC->target_cpu\n";

static const char newtask[] = "name: task_newtask\nID: 205\n" COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:40;\tsize:2;\tsigned:1;\n\n"
	"print fmt: \"pid=%d comm=%s clone_flags=%lx oom_score_adj=%hd\", REC->pid, REC->comm, "
	"REC->clone_flags, REC->oom_score_adj\n";

static const char call_enter[] = "name: sys_enter\nID: 522\n" COMMON
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
	"print fmt: \"NR %ld\", REC->id\n";

static const char call_leave[] = "name: sys_exit\nID: 521\n" COMMON
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	"print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";

static const char exit_old[] = "name: sched_process_exit\nID: 369\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio\n";

static struct perf_formats formats;
static struct perf_decoder decoder = { .formats = &formats, .mode = PERF_TRACEPOINTS };

static bool parse(enum perf_tp tp, const char *text)
{
	return perf_format_parse(&formats, tp, text, strlen(text));
}

/* This is a record as the kernel writes it. */
struct record {
	struct perf_event_header header;
	union {
		struct {
			uint64_t ip;
			uint32_t tgid, tid;
			uint64_t time, addr;
			uint32_t raw_size;
			char raw[100];
		} __attribute__((packed)) sample;
		uint32_t words[64];
	};
};

static struct record sample(int id, int flags, int pid, unsigned raw_size)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE } };
	uint16_t type = id;

	r.sample.tgid = 40;
	r.sample.tid = 41;
	r.sample.time = 123456789;
	r.sample.raw_size = raw_size;
	memcpy(r.sample.raw, &type, 2);
	r.sample.raw[2] = flags;
	memcpy(r.sample.raw + 4, &pid, 4);
	r.header.size = sizeof(r.header) + 36 + raw_size;
	return r;
}

static void set32(struct record *r, int offset, uint32_t v)
{
	memcpy(r->sample.raw + offset, &v, 4);
}

static void set64(struct record *r, int offset, uint64_t v)
{
	memcpy(r->sample.raw + offset, &v, 8);
}

static bool decode(const struct record *r, struct perf_event *e)
{
	return perf_decode(&decoder, 3, &r->header, e);
}

static unsigned state_of(uint64_t prev_state)
{
	struct record r = sample(formats.tp[PERF_TP_SWITCH].id, 0, 41, 68);
	struct perf_event e;

	set64(&r, 32, prev_state);
	return decode(&r, &e) ? e.flags : ~0U;
}

static void test_states(void)
{
	static const struct {
		unsigned bits, flags;
		const char *name;
	} now[] = {
		{ 0, LDB_STATE_RUNNING, "R" }, { 0x100, LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT, "R+" },
		{ 1, LDB_STATE_SLEEPING, "S" }, { 2, LDB_STATE_DISK, "D" },
		{ 4, LDB_STATE_STOPPED, "T" }, { 8, LDB_STATE_TRACED, "t" },
		{ 0x10, LDB_STATE_DEAD, "X" }, { 0x20, LDB_STATE_DEAD, "Z" },
		{ 0x40, LDB_STATE_IDLE, "P" }, { 0x80, LDB_STATE_IDLE, "I" },
	};

	ok(parse(PERF_TP_SWITCH, switch_4_9), "sched_switch of Linux 4.9");
	is_int(state_of(2048), LDB_STATE_RUNNING | LDB_SCHED_F_PREEMPT, "R+ there");
	is_int(state_of(16), LDB_STATE_DEAD, "Z there");
	is_int(state_of(512), LDB_STATE_IDLE, "P there");
	ok(parse(PERF_TP_SWITCH, switch_now), "sched_switch of today");
	for (unsigned i = 0; i < sizeof(now) / sizeof(*now); i++)
		is_int(state_of(now[i].bits), now[i].flags, now[i].name);
}

/* This print format cannot be parsed: the states are not known then. */
static const char switch_broken[] = "name: sched_switch\nID: 372\n" COMMON SWITCH_FIELDS
	SWITCH_PRINT("unheard_of(REC->prev_state), \"\"");

/* This format does not say whether a thread was preempted. */
static const char switch_no_plus[] = "name: sched_switch\nID: 372\n" COMMON SWITCH_FIELDS
	SWITCH_PRINT("REC->prev_state ? \"S\" : \"R\", \"\"");

static void test_formats(void)
{
	char *copy = strdup(switch_now);
	unsigned nr = 0;

	ok(!parse(PERF_TP_SWITCH, switch_broken), "states that are not known");
	ok(!parse(PERF_TP_SWITCH, switch_no_plus), "preemption that is not known");

	ok(!parse(PERF_TP_WAKING, switch_now), "a format without a field that is needed");
	is_int(formats.tp[PERF_TP_WAKING].id, 0, "leaves no tracepoint behind");
	ok(!parse(PERF_TP_SWITCH, "name: x\nID: 0\nformat:\n"), "no fields, no number");
	ok(!parse(PERF_TP_SWITCH, ""), "nothing");
	ok(!parse(PERF_TP_SWITCH, "\001\377 rubbish {{{{"), "rubbish");
	for (size_t n = 0; n < strlen(copy); n++)
		nr += perf_format_parse(&formats, PERF_TP_SWITCH, copy, n);
	is_int(nr, 0, "no part of a format is taken for a whole one");
	free(copy);
}

static void test_samples(void)
{
	struct record r = sample(372, 0, 1041, 68);
	struct perf_event e;

	ok(parse(PERF_TP_SWITCH, switch_now) && parse(PERF_TP_WAKING, waking) &&
	   parse(PERF_TP_NEWTASK, newtask) && parse(PERF_TP_CALL_ENTER, call_enter) &&
	   parse(PERF_TP_CALL_LEAVE, call_leave) &&
	   parse(PERF_TP_EXIT, exit_old), "formats");
	strcpy(r.sample.raw + 8, "left");
	memcpy(r.sample.raw + 40, "sixteen bytes ..", 16);
	set32(&r, 24, 1041);
	set32(&r, 56, 77);
	set64(&r, 32, 2);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_SWITCH, "sched_switch");
	ok(e.a == 1041 && e.b == 77 && e.flags == LDB_STATE_DISK, "who, whom, why");
	ok(e.by == 1041 && e.by_tgid == 40 && e.by_tid == 41, "the running thread in both namespaces");
	ok(e.time == 123456789 && e.cpu == 3, "when and where");
	ok(e.names == 3 && !strcmp(e.name_a, "left") && !memcmp(e.name_b, "sixteen bytes ..", 16),
	   "names, also one without a NUL");

	r = sample(375, 0x08, 9, 36);
	set32(&r, 24, 55);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_WAKING && e.a == 55 && e.by == 9 &&
	   e.flags == LDB_SCHED_F_HARDIRQ, "sched_waking in an interrupt");
	r.sample.raw[2] = 0x10;
	ok(decode(&r, &e) && e.flags == LDB_SCHED_F_SOFTIRQ, "sched_waking in a soft interrupt");
	r.sample.raw[2] = 0x05;
	ok(decode(&r, &e) && !e.flags, "sched_waking by a thread, interrupts off");

	r = sample(205, 0, 9, 44);
	set32(&r, 8, 56);
	set64(&r, 32, 0x3d0f00);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_NEW && e.a == 56 && e.value == 1, "a thread is made");
	set64(&r, 32, 0x1200011);
	ok(decode(&r, &e) && e.value == 0, "a process is made");
	r = sample(369, 0, 9, 36);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_EXIT && e.value == 2,
	   "an exit that does not say whether it was the last");
}

static uint8_t how[LDB_CALLS_MAX];

static void test_calls(void)
{
	struct record r = sample(522, 0, 41, 68);
	struct perf_event e;

	set64(&r, 8, SYS_write);
	set64(&r, 16, 3);
	set64(&r, 24, 0x7fff12345678);
	set64(&r, 32, 65536);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_CALL_ENTER && e.value == SYS_write && e.by == 41 &&
	   e.addr == 3 && !e.pc && !e.flags, "a system call begins, of which nothing is asked");
	decoder.how = how;
	ok(decode(&r, &e) && e.addr == 3 && e.pc == 65536 && e.flags == (LDB_CALL_HAS_FD | 2),
	   "its length");
	set64(&r, 8, -1);
	ok(decode(&r, &e) && !e.flags, "a number that is none");
	r = sample(521, 0, 41, 28);
	set64(&r, 8, SYS_write);
	set64(&r, 16, -9);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_CALL_LEAVE && e.value == SYS_write &&
	   (int64_t)e.addr == -9, "it ends");
}

static const char symbols[] =
	"ffffffff81000000 T _stext\n"
	"ffffffff81003000 T ksys_write\n"
	"ffffffff81003100 t vfs_write\n"
	"ffffffff81001000 T " CPU_CALL_PREFIX "fdatasync\n"
	"ffffffff81001040 T schedule\n"
	"ffffffff81004000 T " CPU_FAULT_ENTRY "\n"
	"ffffffff81004040 T the_end\n";

/* A thread leaves its CPU; its registers are those of write(3, ..., 65536). */
static struct record in_call(const uint64_t *chain, size_t nr, bool has_regs)
{
	static const uint8_t order[] = CPU_CALL_ORDER;
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE } };
	uint64_t words[20] = { 0xffffffff81001040, 40 | 41ULL << 32, 123456789, 0, nr };
	size_t at = 5;

	memcpy(&words[at], chain, nr * sizeof(*chain));
	at += nr;
	words[at++] = has_regs ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE;
	if (has_regs) {
		words[at + order[0]] = 3;
		words[at + order[2]] = 65536;
		at += 5;
	}
	r.header.size = sizeof(r.header) + at * sizeof(*words);
	memcpy(r.words, words, at * sizeof(*words));
	return r;
}

static bool is_call(const uint64_t *chain, size_t nr, uint32_t call, uint64_t arg0)
{
	struct record r = in_call(chain, nr, true);
	struct perf_event e;

	return decode(&r, &e) && e.kind == PERF_EVENT_IN_CALL && e.value == call && e.addr == arg0 &&
	       e.by == 41 && e.by_tgid == 40 && e.time == 123456789;
}

static void test_in_call(void)
{
	static const uint64_t deep[] = { 0xffffffff81001041, 0xffffffff81003101, 0xffffffff81001010,
					 0xffffffff81000001 };
	static const uint64_t jumped[] = { 0xffffffff81001041, 0xffffffff81003120, 0xffffffff8100303f };
	static const uint64_t fault[] = { 0xffffffff81001041, 0xffffffff81004020 };
	static const uint64_t none[] = { 0xffffffff81001041, 0xffffffff81003101 };
	FILE *f = fmemopen((char *)symbols, sizeof(symbols) - 1, "r");
	struct record r = in_call(deep, 4, true);
	struct kernel_calls calls;
	struct perf_event e;

	ok(!decode(&r, &e), "a thread leaves its CPU, and the kernel's symbols are not known");
	ok(f && kernel_calls_read(&calls, f), "they are read");
	is_int(calls.nr, 3, "two calls and page faults");
	decoder.calls = &calls;
	ok(is_call(deep, 4, SYS_fdatasync, 3), "the outermost function says which call it is");
	ok(is_call(jumped, 3, SYS_write, 3), "that of write() has jumped into another one");
	ok(is_call(fault, 2, LDB_SYSCALL_NR_FAULT, 0), "a page fault has no arguments");
	r = in_call(none, 2, true);
	ok(!decode(&r, &e), "neither");
	r = in_call(jumped, 3, false);
	ok(decode(&r, &e) && e.value == SYS_write && !e.addr && !e.flags, "no registers");
	r.header.size -= 8;
	ok(!decode(&r, &e), "one that is cut off");
	r = in_call(jumped, 3, true);
	r.words[8] = 1000;
	ok(!decode(&r, &e), "a chain longer than the record");
	rewind(f);
	kernel_calls_free(&calls);
	fclose(f);
	f = fmemopen("0000000000000000 T " CPU_CALL_PREFIX "read\n", 40, "r");
	ok(f && !kernel_calls_read(&calls, f), "symbols whose addresses are hidden");
	fclose(f);
	decoder.calls = NULL;
}

/* Makes an event without raw data; major: with a period. */
static struct record fault(bool major, unsigned misc)
{
	struct record r = { .header = { .type = PERF_RECORD_SAMPLE, .misc = misc } };
	uint64_t words[] = { 0x401000, 40 | 41ULL << 32, 123456789, 0x7f0000001234, 1, 4 };

	if (!major)
		words[4] = 4;
	r.header.size = sizeof(r.header) + sizeof(words) - (major ? 0 : 8);
	memcpy(r.words, words, sizeof(words));
	return r;
}

static void test_faults(void)
{
	struct record r = fault(false, PERF_RECORD_MISC_USER);
	enum perf_mode before = decoder.mode;
	struct perf_event e;

	ok(decode(&r, &e) && e.kind == PERF_EVENT_FAULT && e.flags == LDB_FAULT_ROW_MINOR &&
	   e.addr == 0x7f0000001234 && e.pc == 0x401000 && e.by == 41 && e.by_tgid == 40 &&
	   e.time == 123456789, "a page fault");
	r = fault(true, PERF_RECORD_MISC_KERNEL);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_FAULT && !e.pc &&
	   e.flags == (LDB_FAULT_ROW_MAJOR | LDB_FAULT_F_KERNEL), "one that needed a disk, in the kernel");
	decoder.mode = PERF_SWITCHES_OWN;
	ok(decode(&r, &e) && e.kind == PERF_EVENT_FAULT, "also where there are no tracepoints");
	r = sample(372, 0, 9, 68);
	ok(!decode(&r, &e), "which would not be taken for one");
	decoder.mode = before;
	/* This sample has the same length as that of a major fault. */
	r = sample(372, 0, 9, 12);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_SWITCH, "nor a tracepoint of the same size");
}

static const char irq_entry[] =
	"name: irq_handler_entry\nID: 225\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"irq=%d name=%s\", REC->irq, __get_str(name)\n";

static void test_irqs(void)
{
	struct record r = sample(225, 0, 41, 40);
	struct perf_event e;

	ok(parse(PERF_TP_IRQ_ENTRY, irq_entry), "irq_handler_entry");
	set32(&r, 8, 24);
	set32(&r, 12, 16 | 20 << 16);
	memcpy(r.sample.raw + 16, "virtio0-a-long-name", 20);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_IRQ_ENTER && e.flags == LDB_IRQ_HARD &&
	   e.value == 24 && e.by == 41 && e.names == 3 && !memcmp(e.name_a, "virtio0-a-long-n", 16) &&
	   !strcmp(e.name_b, "ame"), "an interrupt begins");
	set32(&r, 12, 16 | 200 << 16);
	ok(decode(&r, &e) && !e.names, "a name longer than the data");
	set32(&r, 12, 0xffff | 1 << 16);
	ok(decode(&r, &e) && !e.names, "a name behind the data");
}

static void test_bad_samples(void)
{
	struct record r = sample(372, 0, 9, 68);
	struct perf_event e;
	uint64_t before = decoder.nr_bad;

	r.sample.raw_size = 80;
	ok(!decode(&r, &e), "raw data longer than the record");
	r.sample.raw_size = UINT32_MAX;
	ok(!decode(&r, &e), "raw data longer than anything");
	r = sample(999, 0, 9, 36);
	ok(!decode(&r, &e), "a tracepoint that was not asked for");
	r = sample(372, 0, 9, 68);
	r.header.size = 16;
	ok(!decode(&r, &e), "a record cut short");
	is_int(decoder.nr_bad - before, 4, "each is counted");
	r = sample(372, 0, 9, 20);
	ok(decode(&r, &e) && e.a == 0 && e.b == 0 && !e.names, "fields beyond the data are 0");
}

/* Makes bodies of other records, ended by tgid, tid, time. */
static struct record other(unsigned type, unsigned misc, unsigned nr, const uint32_t *words)
{
	struct record r = { .header = { .type = type, .misc = misc } };
	uint64_t time = 987654321;

	memcpy(r.words, words, 4 * nr);
	r.words[nr] = 40;
	r.words[nr + 1] = 41;
	memcpy(&r.words[nr + 2], &time, 8);
	r.header.size = sizeof(r.header) + 4 * nr + 16;
	return r;
}

static void test_switch_records(void)
{
	static const uint32_t other_thread[] = { 70, 71 }, task[] = { 40, 40, 42, 41, 0, 0 },
			      process[] = { 90, 40, 90, 41, 0, 0 }, lost[] = { 5, 0, 12, 0 };
	uint32_t comm[6] = { 40, 42 };
	struct record r = other(PERF_RECORD_LOST, 0, 4, lost);
	struct perf_event e;

	memcpy(comm + 2, "worker", 7);
	decoder.mode = PERF_TRACEPOINTS;
	ok(decode(&r, &e) && e.kind == PERF_EVENT_LOST && e.value == 12, "lost events");
	decoder.mode = PERF_SWITCHES_ALL;
	r = other(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, 2, other_thread);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_SWITCH && e.a == 41 && e.b == 71 &&
	   e.flags == LDB_STATE_SLEEPING && e.time == 987654321, "the machine's switches");
	r = other(PERF_RECORD_SWITCH_CPU_WIDE,
		  PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, 2, other_thread);
	ok(decode(&r, &e) && e.flags == LDB_STATE_RUNNING, "it could have gone on");
	r = other(PERF_RECORD_SWITCH_CPU_WIDE, 0, 2, other_thread);
	ok(!decode(&r, &e), "the other half of the same switch");
	decoder.mode = PERF_SWITCHES_OWN;
	r = other(PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, 0, lost);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_OUT && e.a == 41, "a thread's own: out");
	r = other(PERF_RECORD_SWITCH, 0, 0, lost);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_IN && e.b == 41, "a thread's own: in");
	r = other(PERF_RECORD_FORK, 0, 6, task);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_FORK && e.a == 42 && e.by == 41 && e.value == 1,
	   "a thread is made");
	r = other(PERF_RECORD_FORK, 0, 6, process);
	ok(decode(&r, &e) && e.a == 90 && e.value == 0, "a process is made");
	r = other(PERF_RECORD_EXIT, 0, 6, task);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_EXIT && e.a == 42 && e.value == 2, "an exit");
	r = other(PERF_RECORD_COMM, 0, 4, comm);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_NAME && e.a == 42 && !strcmp(e.name_a, "worker"),
	   "a name");
	r = other(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 4, comm);
	ok(decode(&r, &e) && e.kind == PERF_EVENT_EXEC, "an exec");
	decoder.mode = PERF_TRACEPOINTS;
}

/* The records are at the end of their memory: a read of one byte too many is detected. */
static void test_fuzz(void)
{
	struct perf_event e;
	unsigned nr_good = 0;

	srand(1);
	for (int i = 0; i < 300000; i++) {
		size_t size = 8 + 8 * (rand() % 20);
		char *memory = malloc(size);
		struct perf_event_header *h = (void *)memory;

		for (size_t k = 0; k < size; k++)
			memory[k] = rand() % 4 ? 0 : rand();
		h->type = rand() % 20;
		h->size = size;
		if (size > 40 && rand() % 2) {
			memory[24] = rand() % size;
			memory[25] = memory[26] = memory[27] = 0;
			memcpy(memory + 28, &(uint16_t){ rand() % 2 ? 372 : 205 }, 2);
		}
		decoder.mode = 1 + rand() % 3;
		nr_good += perf_decode(&decoder, 0, h, &e);
		free(memory);
	}
	decoder.mode = PERF_TRACEPOINTS;
	ok(nr_good > 10000, "%u of 300000 random records made sense", nr_good);
}

#define RING_SIZE	4096

static struct perf_ring ring;
static unsigned nr_seen, nr_wrong;

static void ring_setup(void)
{
	size_t page = sysconf(_SC_PAGESIZE);

	ring.page = aligned_alloc(page, page + RING_SIZE);
	memset(ring.page, 0, page + RING_SIZE);
	ring.size = RING_SIZE;
	ring.cpu = 3;
}

static char *ring_data(void)
{
	return (char *)ring.page + sysconf(_SC_PAGESIZE);
}

/* The kernel writes the data first, then the head. */
static bool ring_put(const void *record, size_t size)
{
	const char *p = record;
	uint64_t head = ring.page->data_head;

	if (head + size - ring.page->data_tail > RING_SIZE)
		return false;
	for (size_t i = 0; i < size; i++)
		ring_data()[(head + i) % RING_SIZE] = p[i];
	ring.page->data_head = head + size;
	return true;
}

static void see(void *arg, unsigned cpu, const struct perf_event_header *h)
{
	uint32_t *next = arg;
	const uint32_t *words = (const void *)(h + 1);

	nr_seen++;
	for (size_t i = 0; i < (h->size - sizeof(*h)) / 4; i++)
		nr_wrong += words[i] != *next + i;
	nr_wrong += cpu != 3 || (uintptr_t)h % 8;
	(*next)++;
}

static void test_ring(void)
{
	uint32_t in = 0, out = 0;
	uint64_t bad = 0;
	unsigned fullest = 0;

	srand(3);
	nr_seen = nr_wrong = 0;
	for (int round = 0; round < 5000; round++) {
		struct record r = { .header = { .type = 9 } };

		for (int n = rand() % 30; n; n--) {
			r.header.size = 8 + 8 * (rand() % 25);
			for (int i = 0; i < 50; i++)
				r.words[i] = in + i;
			in += ring_put(&r, r.header.size);
		}
		/* Sometimes the ring fills up. */
		if (rand() % 3) {
			unsigned filled = perf_ring_read(&ring, see, &out, &bad);

			fullest = filled > fullest ? filled : fullest;
		}
	}
	perf_ring_read(&ring, see, &out, &bad);
	is_int(nr_seen, in, "every record comes out, wrapped or not");
	is_int(nr_wrong, 0, "whole, in order, aligned");
	is_int(bad, 0, "none was taken for nonsense");
	ok(fullest > 900, "how full it was: %u/1000", fullest);
	is_int(ring.page->data_tail, ring.page->data_head, "the space is free again");
	is_int(perf_ring_read(&ring, see, &out, &bad), 0, "an empty ring");
}

static void hostile(unsigned size, uint64_t head, const char *name)
{
	struct perf_event_header h = { .type = 9, .size = size };
	uint32_t next = 0;
	uint64_t bad = 0;

	ring.page->data_tail = ring.page->data_head;
	ring_put(&h, sizeof(h));
	if (head)
		ring.page->data_head = head;
	nr_seen = 0;
	perf_ring_read(&ring, see, &next, &bad);
	ok(bad == 1 && !nr_seen && ring.page->data_tail == ring.page->data_head, "%s", name);
}

static void test_hostile_ring(void)
{
	uint64_t head = ring.page->data_head;

	hostile(0, 0, "a record of size 0");
	hostile(4, 0, "smaller than its header");
	hostile(12, 0, "not a multiple of 8");
	hostile(65528, 0, "longer than what is there");
	hostile(8, head + 100000, "a head further than the ring is long");
	hostile(8, 3, "a head before the tail");
	ring.page->data_head = ring.page->data_tail = 13;
	hostile(8, 0, "a ring out of step");
}

int main(void)
{
	calls_describe(how);
	test_states();
	test_formats();
	test_samples();
	test_calls();
	test_in_call();
	test_faults();
	test_irqs();
	test_bad_samples();
	test_switch_records();
	test_fuzz();
	ring_setup();
	test_ring();
	test_hostile_ring();
	free(ring.page);
	return done();
}
