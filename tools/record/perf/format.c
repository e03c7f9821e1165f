// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the layout of this kernel's tracepoints.  libtraceevent parses their format files once, so
 * that decoding an event needs only a few loads.
 *
 * The bits of prev_state differ between kernels.  The format's own print function knows them, so it
 * is called once for each bit, and its text (S, D, R+ ...) is interpreted.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include "record/perf/private.h"

#define RAW_MAX		4096	/* bytes of an event for the print function */

const struct perf_tracepoint perf_tracepoints[PERF_TP_NR] = {
	[PERF_TP_SWITCH] = { "sched/sched_switch", PERF_EVENT_SWITCH, .fields = {
		{ "prev_pid", INTO_A }, { "next_pid", INTO_B }, { "prev_state", INTO_STATE },
		{ "prev_comm", INTO_NAME_A }, { "next_comm", INTO_NAME_B } } },
	[PERF_TP_WAKING] = { "sched/sched_waking", PERF_EVENT_WAKING, .fields = {
		{ "pid", INTO_A }, { "target_cpu", INTO_VALUE }, { "comm", INTO_NAME_A } } },
	[PERF_TP_WAKEUP] = { "sched/sched_wakeup", PERF_EVENT_WAKEUP, .fields = {
		{ "pid", INTO_A }, { "target_cpu", INTO_VALUE }, { "comm", INTO_NAME_A } } },
	[PERF_TP_WAKEUP_NEW] = { "sched/sched_wakeup_new", PERF_EVENT_WAKEUP,
		.flags = LDB_SCHED_F_NEW, .fields = {
		{ "pid", INTO_A }, { "target_cpu", INTO_VALUE }, { "comm", INTO_NAME_A } } },
	[PERF_TP_MIGRATE] = { "sched/sched_migrate_task", PERF_EVENT_MIGRATE, .fields = {
		{ "pid", INTO_A }, { "orig_cpu", INTO_ADDR }, { "dest_cpu", INTO_VALUE } } },
	[PERF_TP_NEWTASK] = { "task/task_newtask", PERF_EVENT_NEW, .fields = {
		{ "pid", INTO_A }, { "clone_flags", INTO_CLONE }, { "comm", INTO_NAME_A } } },
	[PERF_TP_FORK] = { "sched/sched_process_fork", PERF_EVENT_FORK, .value = 2, .fields = {
		{ "child_pid", INTO_A } } },
	[PERF_TP_EXEC] = { "sched/sched_process_exec", PERF_EVENT_EXEC, .fields = {
		{ "pid", INTO_A }, { "old_pid", INTO_B } } },
	[PERF_TP_EXIT] = { "sched/sched_process_exit", PERF_EVENT_EXIT, .value = 2, .fields = {
		{ "pid", INTO_A }, { "?group_dead", INTO_VALUE } } },
	[PERF_TP_RENAME] = { "task/task_rename", PERF_EVENT_NAME, .may_be_missing = true,
		.fields = { { "?pid", INTO_A }, { "newcomm", INTO_NAME_A } } },
	[PERF_TP_CALL_ENTER] = { "raw_syscalls/sys_enter", PERF_EVENT_CALL_ENTER,
		.scope = PERF_OF_CALLS, .may_be_missing = true, .fields = {
		{ "id", INTO_CALL }, { "args", INTO_ARGS } } },
	[PERF_TP_CALL_LEAVE] = { "raw_syscalls/sys_exit", PERF_EVENT_CALL_LEAVE,
		.scope = PERF_OF_CALLS, .may_be_missing = true, .fields = {
		{ "id", INTO_VALUE }, { "ret", INTO_ADDR } } },
#define IRQ(path, kind, irq, ...)							\
	{ path, kind, .flags = irq, .scope = PERF_OF_IRQS, .may_be_missing = true,	\
	  .fields = { __VA_ARGS__ } }
	[PERF_TP_IRQ_ENTRY] = IRQ("irq/irq_handler_entry", PERF_EVENT_IRQ_ENTER, LDB_IRQ_HARD,
		{ "irq", INTO_VALUE }, { "name", INTO_IRQ_NAME }),
	[PERF_TP_IRQ_EXIT] = IRQ("irq/irq_handler_exit", PERF_EVENT_IRQ_LEAVE, LDB_IRQ_HARD,
		{ "irq", INTO_VALUE }),
	[PERF_TP_SOFTIRQ_ENTRY] = IRQ("irq/softirq_entry", PERF_EVENT_IRQ_ENTER, LDB_IRQ_SOFT,
		{ "vec", INTO_VALUE }),
	[PERF_TP_SOFTIRQ_EXIT] = IRQ("irq/softirq_exit", PERF_EVENT_IRQ_LEAVE, LDB_IRQ_SOFT,
		{ "vec", INTO_VALUE }),
	[PERF_TP_TIMER_ENTRY] = IRQ("irq_vectors/local_timer_entry", PERF_EVENT_IRQ_ENTER,
		LDB_IRQ_LOCAL_TIMER, { "vector", INTO_VALUE }),
	[PERF_TP_TIMER_EXIT] = IRQ("irq_vectors/local_timer_exit", PERF_EVENT_IRQ_LEAVE,
		LDB_IRQ_LOCAL_TIMER, { "vector", INTO_VALUE }),
#undef IRQ
#define DISK(path, kind, ...)								\
	{ path, kind, .scope = PERF_OF_DISKS, .may_be_missing = true, .fields = { __VA_ARGS__ } }
	[PERF_TP_DISK_INSERT] = DISK("block/block_rq_insert", PERF_EVENT_DISK_INSERT,
		{ "dev", INTO_B }, { "sector", INTO_ADDR }, { "bytes", INTO_VALUE },
		{ "rwbs", INTO_DISK_OP }),
	[PERF_TP_DISK_ISSUE] = DISK("block/block_rq_issue", PERF_EVENT_DISK_ISSUE,
		{ "dev", INTO_B }, { "sector", INTO_ADDR }, { "bytes", INTO_VALUE },
		{ "rwbs", INTO_DISK_OP }),
	[PERF_TP_DISK_END] = DISK("block/block_rq_complete", PERF_EVENT_DISK_END,
		{ "dev", INTO_B }, { "sector", INTO_ADDR }, { "error", INTO_A }),
#undef DISK
};

static bool copy_field(struct perf_field *out, const struct tep_format_field *field)
{
	if (!field || field->offset < 0 || field->size <= 0 || field->size > RAW_MAX ||
	    field->offset > RAW_MAX)
		return false;
	out->offset = field->offset;
	out->size = field->size;
	return true;
}

static bool find_fields(struct perf_format *f, enum perf_tp tp, struct tep_event *event)
{
	const struct perf_tracepoint *t = &perf_tracepoints[tp];

	for (int i = 0; i < PERF_FIELDS && t->fields[i].name; i++) {
		const char *name = t->fields[i].name;
		bool optional = *name == '?';

		if (!copy_field(&f->fields[i], tep_find_field(event, name + optional)) && !optional)
			return false;
	}
	return copy_field(&f->common_flags, tep_find_common_field(event, "common_flags")) &&
	       copy_field(&f->common_pid, tep_find_common_field(event, "common_pid"));
}

/* Returns the kernel's text for a value of prev_state, such as "R+" or "S"; "": it printed none. */
static void state_text(struct tep_event *event, const struct perf_format *f, uint64_t state,
		       char *text, size_t size)
{
	const struct perf_field *field = &f->fields[2];
	char raw[RAW_MAX + 8] = "";
	struct tep_record record = { .data = raw, .size = RAW_MAX };
	unsigned short id = f->id;
	struct trace_seq s;
	const char *found;

	*text = '\0';
	if (field->size > 8)
		return;
	memcpy(raw, &id, sizeof(id));
	memcpy(raw + field->offset, &state, field->size);
	trace_seq_init(&s);
	tep_print_event(event->tep, &s, &record, "%s", TEP_PRINT_INFO);
	trace_seq_terminate(&s);
	found = s.buffer ? strstr(s.buffer, "prev_state=") : NULL;
	if (found) {
		size_t n = strcspn(found += strlen("prev_state="), " ");

		n = n < size ? n : size - 1;
		memcpy(text, found, n);
		text[n] = '\0';
	}
	trace_seq_destroy(&s);
}

static uint8_t state_of_letter(char letter)
{
	switch (letter) {
	case 'R': return LDB_STATE_RUNNING;
	case 'D': return LDB_STATE_DISK;
	case 'T': return LDB_STATE_STOPPED;
	case 't': return LDB_STATE_TRACED;
	case 'X': case 'Z': case 'x': return LDB_STATE_DEAD;
	case 'I': case 'P': return LDB_STATE_IDLE;
	default: return LDB_STATE_SLEEPING;
	}
}

static bool learn_states(struct perf_formats *f, struct tep_event *event)
{
	char text[32];

	f->preempt_bit = 0;
	for (int bit = 0; bit < 16; bit++) {
		state_text(event, &f->tp[PERF_TP_SWITCH], 1ULL << bit, text, sizeof(text));
		if (!strcmp(text, "R+"))
			f->preempt_bit = 1U << bit;
		else if (!*text || text[1])
			return false;
		f->state_of_bit[bit] = state_of_letter(*text);
	}
	return f->preempt_bit;
}

/* Returns true if the text is complete: some truncated texts crash libtraceevent. */
static bool is_whole(const char *text, size_t size)
{
	const char *print = memmem(text, size, "\nprint fmt: ", 12);

	return size && text[size - 1] == '\n' && print && !memchr(text, '\0', size) &&
	       !strncmp(text, "name: ", 6) && memmem(text, print - text, "\nID: ", 5) &&
	       memmem(text, print - text, "\nformat:\n\tfield:", 16);
}

bool perf_format_parse(struct perf_formats *f, enum perf_tp tp, const char *text,
		       size_t size)
{
	struct perf_format *format = &f->tp[tp];
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	bool good = false;

	memset(format, 0, sizeof(*format));
	if (!is_whole(text, size) || !tep) {
		tep_free(tep);
		return false;
	}
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, sizeof(long));
	if (!tep_parse_event(tep, text, size, "ldb"))
		event = tep_get_first_event(tep);
	if (event && event->id > 0 && event->id < 65536 && find_fields(format, tp, event)) {
		format->id = event->id;
		good = tp != PERF_TP_SWITCH || learn_states(f, event);
	}
	if (!good)
		format->id = 0;
	tep_free(tep);
	return good;
}

int64_t perf_field_read(const struct perf_field *field, const void *data, size_t size)
{
	const char *p = (const char *)data + field->offset;
	int64_t v8;
	int32_t v4;
	int16_t v2;

	if (!field->size || field->offset > size || field->size > size - field->offset)
		return 0;
	switch (field->size) {
	case 1: return *(const uint8_t *)p;
	case 2: memcpy(&v2, p, 2); return v2;
	case 4: memcpy(&v4, p, 4); return v4;
	case 8: memcpy(&v8, p, 8); return v8;
	default: return 0;
	}
}
