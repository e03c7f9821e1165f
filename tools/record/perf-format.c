// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the tracepoints of this kernel look like: libtraceevent parses their
 * format files once, so that decoding an event is a few loads.
 *
 * The numbers behind prev_state differ from kernel to kernel.  The format's own
 * print function knows them: it is run once for each bit, and its text (S, D,
 * R+ ...) is what counts.
 */
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include "record/perf-private.h"

#define RAW_MAX		4096	/* of an event, for the print function */

static const struct {
	const char *path;
	const char *fields[PERF_FIELDS];	/* a leading '?': may be missing */
} tracepoints[PERF_TP_NR] = {
	[PERF_TP_SWITCH] = { "sched/sched_switch",
		{ "prev_pid", "next_pid", "prev_state", "prev_comm", "next_comm" } },
	[PERF_TP_WAKING] = { "sched/sched_waking", { "pid", "target_cpu", "comm" } },
	[PERF_TP_WAKEUP] = { "sched/sched_wakeup", { "pid", "target_cpu", "comm" } },
	[PERF_TP_WAKEUP_NEW] = { "sched/sched_wakeup_new", { "pid", "target_cpu", "comm" } },
	[PERF_TP_MIGRATE] = { "sched/sched_migrate_task", { "pid", "orig_cpu", "dest_cpu" } },
	[PERF_TP_NEWTASK] = { "task/task_newtask", { "pid", "clone_flags", "comm" } },
	[PERF_TP_FORK] = { "sched/sched_process_fork", { "child_pid" } },
	[PERF_TP_EXEC] = { "sched/sched_process_exec", { "pid", "old_pid" } },
	[PERF_TP_EXIT] = { "sched/sched_process_exit", { "pid", "?group_dead" } },
	[PERF_TP_RENAME] = { "task/task_rename", { "?pid", "newcomm" } },
	[PERF_TP_FUTEX] = { "syscalls/sys_enter_futex", { "uaddr", "op", "val" } },
	[PERF_TP_IRQ_ENTRY] = { "irq/irq_handler_entry", { "irq", "name" } },
	[PERF_TP_IRQ_EXIT] = { "irq/irq_handler_exit", { "irq" } },
	[PERF_TP_SOFTIRQ_ENTRY] = { "irq/softirq_entry", { "vec" } },
	[PERF_TP_SOFTIRQ_EXIT] = { "irq/softirq_exit", { "vec" } },
	[PERF_TP_TIMER_ENTRY] = { "irq_vectors/local_timer_entry", { "vector" } },
	[PERF_TP_TIMER_EXIT] = { "irq_vectors/local_timer_exit", { "vector" } },
};

const char *perf_format_path(enum perf_tracepoint tp)
{
	return tracepoints[tp].path;
}

static bool take_field(struct perf_field *out, const struct tep_format_field *field)
{
	if (!field || field->offset < 0 || field->size <= 0 || field->size > RAW_MAX ||
	    field->offset > RAW_MAX)
		return false;
	out->offset = field->offset;
	out->size = field->size;
	return true;
}

static bool take_fields(struct perf_format *f, enum perf_tracepoint tp, struct tep_event *event)
{
	for (int i = 0; i < PERF_FIELDS && tracepoints[tp].fields[i]; i++) {
		const char *name = tracepoints[tp].fields[i];
		bool optional = *name == '?';

		if (!take_field(&f->fields[i], tep_find_field(event, name + optional)) && !optional)
			return false;
	}
	return take_field(&f->common_flags, tep_find_common_field(event, "common_flags")) &&
	       take_field(&f->common_pid, tep_find_common_field(event, "common_pid"));
}

/* What the kernel's text says for a prev_state: "R+", "S" ...; "" if nothing. */
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

/* libtraceevent does not survive every text that is cut short. */
static bool is_whole(const char *text, size_t size)
{
	const char *print = memmem(text, size, "\nprint fmt: ", 12);

	return size && text[size - 1] == '\n' && print && !memchr(text, '\0', size) &&
	       !strncmp(text, "name: ", 6) && memmem(text, print - text, "\nID: ", 5) &&
	       memmem(text, print - text, "\nformat:\n\tfield:", 16);
}

bool perf_format_parse(struct perf_formats *f, enum perf_tracepoint tp, const char *text,
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
	if (event && event->id > 0 && event->id < 65536 && take_fields(format, tp, event)) {
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
