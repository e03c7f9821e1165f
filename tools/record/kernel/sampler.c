// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupts CPUs on which the program runs; see sampler.h. */
#include <stdlib.h>
#include <time.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/perf_event.h>
#include "base/minmax.h"
#include "base/sort.h"
#include "record/kernel/sampler.h"
#include "record/kernel/source.h"

/* a CPU is left out when the program has not run on it for this time */
#define IDLE_NS		200000000
/* a CPU is left out after this many consecutive decisions not to interrupt it */
#define UNWANTED_MAX	3
#define PERIOD_MIN_NS	100000
#define PERIOD_MAX_NS	1000000000
#define LEAST_PART	4		/* samples get at least 1/4 of the budget */
#define READING_NS	1500		/* assumed cost of a reading until it is measured */

struct sampler {
	uint32_t budget_ppm;
	uint64_t least_ns;
	uint64_t interrupt_ns;	/* cost of an interrupt */
	uint64_t period_ns;
	unsigned nr_cpus;
	struct sampled {
		int fd;			/* -1: not opened yet; -2: the kernel has refused */
		bool is_on, is_wanted;
		/* number of consecutive decisions not to interrupt this CPU */
		unsigned nr_unwanted;
		int64_t last_ns;	/* the time at which the program was on this CPU last */
		uint64_t switched_at;
	} cpus[];
};

/* Opens a perf counter for its interrupts; its samples are not read. */
static int open_clock(int tid, int cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .size = sizeof(attr),
		.sample_period = period_ns,
	};

	return syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * Parameters for measuring the cost of an interrupt: a loop takes more CPU time while it is
 * interrupted.  Rounds with interrupts and without alternate, because the speed of a CPU changes
 * with the load of its SMT sibling.  Each pair of rounds gives a cost; the upper quartile of these
 * is used.  A program loses more than the loop, whose code and data stay in the caches, so half of
 * the result is added.  If the kernel measures the CPU time of threads only in ticks, measuring is
 * impossible.
 */
#define ROUNDS		15
#define ROUND_NS	300000
#define ROUND_PERIOD_NS	20000
#define STEPS_FIRST	100000ULL
#define STEPS_MAX	(STEPS_FIRST * 50)
#define PRICE_NS	10000	/* assumed if measuring is impossible */
#define PRICE_MIN_NS	1000
#define CACHES_PART	2

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint64_t loop_ns(uint64_t steps)
{
	uint64_t begin = cpu_ns();

	for (; steps; steps--)
		__asm__ volatile("" : "+r"(steps));
	return cpu_ns() - begin;
}

/*
 * Stores the cost of each interrupt for the loop, in CPU time; negative if the loop was faster with
 * interrupts.  Returns false if the clock did not advance.
 */
static bool measure_once(int fd, uint64_t steps, int64_t *price)
{
	int64_t free_ns = loop_ns(steps), ns;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	ns = loop_ns(steps);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	if (ns <= 0 || free_ns <= 0)
		return false;
	*price = (ns - free_ns) * ROUND_PERIOD_NS / ns;
	return true;
}

COMPARE_NUMBERS(by_value, int64_t)

/* Returns false if measuring is impossible. */
static bool measure_rounds(int fd, int64_t prices[ROUNDS])
{
	uint64_t ns = loop_ns(STEPS_FIRST), steps = min(STEPS_FIRST * ROUND_NS / (ns + 1), STEPS_MAX);

	for (int i = 0; i < ROUNDS; i++)
		if (!measure_once(fd, steps, &prices[i]))
			return false;
	sort_by(prices, ROUNDS, by_value);
	return true;
}

static uint64_t measure_interrupt(void)
{
	int fd = open_clock(0, -1, ROUND_PERIOD_NS);
	int64_t prices[ROUNDS];
	uint64_t ns;
	bool ok;

	if (fd < 0)
		return PRICE_NS;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	ok = measure_rounds(fd, prices);
	close(fd);
	if (!ok)
		return PRICE_NS;
	if (prices[ROUNDS * 3 / 4] < PRICE_MIN_NS)
		return PRICE_MIN_NS;
	ns = prices[ROUNDS * 3 / 4];
	return ns + ns / CACHES_PART;
}

/* Rate */

uint64_t sampler_period_ns(uint32_t budget_ppm, uint64_t others_ppm, uint64_t price_ns)
{
	uint64_t left = budget_ppm > others_ppm ? budget_ppm - others_ppm : 0, ns;

	if (left < budget_ppm / LEAST_PART + 1)
		left = budget_ppm / LEAST_PART + 1;
	ns = price_ns * 1000000 / left;
	return ns < PERIOD_MIN_NS ? PERIOD_MIN_NS : ns > PERIOD_MAX_NS ? PERIOD_MAX_NS : ns;
}

/*
 * Adapts the interval: of cpu_ns of the program's CPU time, polls and readings at switches have
 * used others_ns; reading chains in a sample takes reading_ns, 0: not known.  Returns the interval.
 */
static uint64_t adapt(struct sampler *s, uint64_t cpu_ns, uint64_t others_ns, uint64_t reading_ns)
{
	uint64_t others_ppm = others_ns < cpu_ns ? others_ns * 1000000 / cpu_ns : 1000000;
	uint64_t price_ns = s->interrupt_ns + (reading_ns ?: READING_NS);
	uint64_t ns = max(s->least_ns, sampler_period_ns(s->budget_ppm, others_ppm, price_ns));

	if (ns < s->period_ns + s->period_ns / 8 && ns > s->period_ns - s->period_ns / 8)
		return s->period_ns;
	s->period_ns = ns;
	for (unsigned i = 0; i < s->nr_cpus; i++)
		if (s->cpus[i].fd >= 0)
			ioctl(s->cpus[i].fd, PERF_EVENT_IOC_PERIOD, &ns);
	return ns;
}

void sampler_hold(struct sampler *s, struct kernel_source *source, const struct kernel_costs *costs,
		  const struct sampler_spent *spent)
{
	uint64_t nr = spent->nr_samples;

	source->sample_ns = adapt(s, costs->cpu_ns, costs->polls_ns + spent->switches_ns,
				  nr ? spent->entry_ns + spent->samples_ns / nr : 0);
	source->interrupt_ns = s->interrupt_ns;
}

/*
 * At first samples get the whole budget.  If no CPU is free, the scanner does not run, so its polls
 * cost nothing, and the recorder may not be able to adapt the interval for a while.  Otherwise the
 * recorder adapts the interval after a tenth of a second.
 */
struct sampler *sampler_alloc(uint32_t budget_ppm, uint64_t least_ns, unsigned nr_cpus)
{
	struct sampler *s = calloc(1, sizeof(*s) + nr_cpus * sizeof(s->cpus[0]));

	if (!s)
		return NULL;
	s->budget_ppm = budget_ppm;
	s->least_ns = least_ns;
	s->interrupt_ns = measure_interrupt();
	s->period_ns = max(least_ns, sampler_period_ns(budget_ppm, 0, s->interrupt_ns + READING_NS));
	s->nr_cpus = nr_cpus;
	for (unsigned i = 0; i < nr_cpus; i++)
		s->cpus[i].fd = -1;
	return s;
}

void sampler_stop(struct sampler *s)
{
	for (unsigned i = 0; i < s->nr_cpus; i++) {
		if (s->cpus[i].fd >= 0)
			close(s->cpus[i].fd);
		s->cpus[i] = (struct sampled){ .fd = -1 };
	}
}

void sampler_free(struct sampler *s)
{
	if (s)
		sampler_stop(s);
	free(s);
}

static void turn_off(struct sampled *c)
{
	if (c->is_on)
		ioctl(c->fd, PERF_EVENT_IOC_DISABLE, 0);
	c->is_on = false;
}

bool sampler_choose(struct sampler *s, unsigned cpu, bool wanted)
{
	struct sampled *c = &s->cpus[cpu];

	c->nr_unwanted = wanted ? 0 : c->nr_unwanted + 1;
	if (wanted)
		c->is_wanted = true;
	if (c->nr_unwanted < UNWANTED_MAX)
		return c->is_wanted;
	c->is_wanted = false;
	turn_off(c);
	return false;
}

static void turn_on(struct sampler *s, unsigned cpu)
{
	struct sampled *c = &s->cpus[cpu];

	if (c->fd == -1) {
		c->fd = open_clock(-1, cpu, s->period_ns);
		c->fd = c->fd < 0 ? -2 : c->fd;
	} else if (c->fd >= 0) {
		ioctl(c->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	c->is_on = c->fd >= 0;
}

void sampler_begin(struct sampler *s, int64_t now_ns)
{
	for (unsigned i = 0; i < s->nr_cpus; i++) {
		sampler_choose(s, i, true);
		sampler_follow(s, i, true, s->cpus[i].switched_at, now_ns);
	}
}

void sampler_follow(struct sampler *s, unsigned cpu, bool runs, uint64_t switched_at, int64_t now_ns)
{
	struct sampled *c = &s->cpus[cpu];

	runs |= switched_at != c->switched_at;
	c->switched_at = switched_at;
	if (runs)
		c->last_ns = now_ns;
	if (runs && c->is_wanted && !c->is_on && c->fd != -2)
		turn_on(s, cpu);
	if (now_ns - c->last_ns > IDLE_NS)
		turn_off(c);
}
