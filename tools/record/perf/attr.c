// SPDX-License-Identifier: GPL-2.0-or-later
/* Fills in the perf_event_attr of each kind of event. */
#include <string.h>
#include "arch/cpu.h"
#include "record/perf/private.h"

static void attr_init(struct perf_event_attr *attr, const struct perf_asked *asked)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr->sample_id_all = 1;
	attr->read_format = PERF_FORMAT_LOST;
	attr->use_clockid = 1;
	attr->clockid = asked->clock;
	attr->watermark = 1;
	attr->wakeup_watermark = asked->ring_size / 4;
	attr->disabled = 1;
}

void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_asked *asked, int id)
{
	attr_init(attr, asked);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = id;
	attr->sample_period = 1;
	/* Page faults, which are in the same rings, have these fields, too; see decode.c. */
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW;
}

void perf_attr_thread(struct perf_event_attr *attr)
{
	attr->inherit = 1;
	attr->inherit_thread = 1;
	attr->disabled = 0;
}

void perf_attr_switches(struct perf_event_attr *attr, const struct perf_asked *asked)
{
	attr_init(attr, asked);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->context_switch = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	if (asked->mode == PERF_SWITCHES_OWN)
		perf_attr_thread(attr);
}

void perf_attr_faults(struct perf_event_attr *attr, const struct perf_asked *asked, bool major)
{
	attr_init(attr, asked);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_RAW |
			     (major ? PERF_SAMPLE_PERIOD : 0);
	attr->exclude_kernel = asked->user_only;
	attr->exclude_hv = 1;
	perf_attr_thread(attr);
}

void perf_attr_calls(struct perf_event_attr *attr, const struct perf_asked *asked)
{
	attr_init(attr, asked);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
			     PERF_SAMPLE_REGS_USER;
	attr->sample_regs_user = CPU_CALL_REGS;
	attr->exclude_callchain_user = 1;
	attr->exclude_hv = 1;
	perf_attr_thread(attr);
}

void perf_attr_samples(struct perf_event_attr *attr, const struct perf_asked *asked)
{
	const struct perf_sampling *how = asked->sampling;

	attr_init(attr, asked);
	attr->type = how->is_cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	attr->config = how->is_cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK;
	attr->sample_period = (how->is_cycles ? how->cycles_hz : 1000000000) / how->hz;
	attr->sample_type |= PERF_SAMPLE_IP;
	if (CPU_PERF_PC) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = CPU_PERF_PC;
		attr->sample_stack_user = PERF_SAMPLE_STACK;
	}
	attr->exclude_kernel = asked->user_only;
	attr->exclude_hv = attr->exclude_idle = 1;
	if (how->is_of_threads)
		perf_attr_thread(attr);
}
