// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts CPUs on which the program runs; see sampler.h. */
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include "record/sampler.h"

#define IDLE_NS	200000000	/* a CPU is left alone if the program has not been there for so long */

struct sampler {
	uint64_t period_ns;
	unsigned nr_cpus;
	struct sampled {
		int fd;			/* -1: not opened yet; -2: the kernel did not allow that */
		bool is_on;
		int64_t last_ns;	/* the program was there */
		uint64_t switched_at;
	} cpus[];
};

struct sampler *sampler_alloc(uint64_t period_ns, unsigned nr_cpus)
{
	struct sampler *s = calloc(1, sizeof(*s) + nr_cpus * sizeof(s->cpus[0]));

	if (!s)
		return NULL;
	s->period_ns = period_ns;
	s->nr_cpus = nr_cpus;
	for (unsigned i = 0; i < nr_cpus; i++)
		s->cpus[i].fd = -1;
	return s;
}

void sampler_free(struct sampler *s)
{
	for (unsigned i = 0; s && i < s->nr_cpus; i++)
		if (s->cpus[i].fd >= 0)
			close(s->cpus[i].fd);
	free(s);
}

/* Nobody reads its samples: the interrupt is what it is for. */
static int open_clock(unsigned cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .size = sizeof(attr),
		.sample_period = period_ns,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -2 : fd;
}

static void turn_on(struct sampler *s, unsigned cpu)
{
	struct sampled *c = &s->cpus[cpu];

	if (c->fd == -1)
		c->fd = open_clock(cpu, s->period_ns);
	else if (c->fd >= 0)
		ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
	c->is_on = c->fd >= 0;
}

void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns)
{
	struct sampled *c = &s->cpus[cpu];

	runs |= switched_at != c->switched_at;
	c->switched_at = switched_at;
	if (runs)
		c->last_ns = now_ns;
	if (runs && !c->is_on && c->fd != -2)
		turn_on(s, cpu);
	if (c->is_on && now_ns - c->last_ns > IDLE_NS) {
		ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
		c->is_on = false;
	}
}
