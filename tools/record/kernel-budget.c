// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What interrupts may cost: --kernel-budget.
 *
 * Two events for each interrupt that hits the program are dear where there are many: a
 * program that sends to another one on this machine handles what it sent in a soft
 * interrupt of its own, with each message.  Switches and wake-ups are never left out: of
 * them causes are made.  Page faults are not either: each takes ten times what it costs
 * to tell of it.
 */
#include <stdio.h>
#include <time.h>
#include "cli/error.h"
#include "record/ebpf.h"
#include "record/perf.h"
#include "record/recording.h"

/* What it costs to tell of one interrupt, begin and end: Documentation/overhead.md. */
#define BPF_NS		150
#define PERF_NS		1000
#define LOOK_NS		100000000	/* between two looks */
#define CPU_MIN_NS	100000000	/* of the program, before that is judged */

/* CPU time of all its threads, also of those that have ended; 0: it has ended. */
static uint64_t cpu_time(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void leave_out(struct recording *r, double percent)
{
	const char *what = r->ebpf ? ebpf_leave_out_irqs(r->ebpf) : perf_leave_out_irqs(r->perf);
	double since = recording_tick(r, clock_now(r->clock_id)) / (double)r->session.info.tsc_hz;
	char text[200];

	r->irqs.are_left_out = true;
	snprintf(text, sizeof(text),
		 "%s are left out from %.1f s on, they cost %.1f %% of the program's CPU time (--kernel-budget %g%%)",
		 what, since, percent, r->o->kernel_budget_ppm / 10000.0);
	cli_warn("%s", text);
	kernel_tell(r, text);
}

void kernel_hold_budget(struct recording *r, int64_t now_ns)
{
	uint64_t cpu, nr, ns = r->ebpf ? BPF_NS : PERF_NS;
	double percent;

	if (now_ns < r->irqs.next_ns)
		return;
	r->irqs.next_ns = now_ns + LOOK_NS;
	if (r->irqs.are_left_out || !kernel_has_irqs(r) || !(r->ebpf || r->perf))
		return;
	cpu = cpu_time(r->pid);
	nr = pack_nr_irqs(r->pack);
	if (cpu < r->irqs.cpu_ns + CPU_MIN_NS)
		return;
	percent = 100.0 * (nr - r->irqs.nr) * ns / (cpu - r->irqs.cpu_ns);
	if (percent * 10000 > r->o->kernel_budget_ppm)
		leave_out(r, percent);
	r->irqs.cpu_ns = cpu;
	r->irqs.nr = nr;
}
