// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "record/bpf/shared.h"
#include "record/kernel/device-chains.h"
#include "record/kernel/sampler.h"
#include "record/session/order.h"

/* cost of entering and leaving the kernel in an interrupt, without that of reading frames */
#define IRQ_NS		100

struct device_chains {
	struct kernel_source source;
	const struct session *session;
	struct ldb_chains now, before;
	struct sampler *sampler;
	bool is_always, is_paused;
	/* all 0, because the module delivers the events of every CPU */
	uint8_t is_deaf[CPULIST_MAX];
};

static bool control(struct device_chains *d)
{
	return !ioctl(d->session->fd, LDB_IOC_CHAINS, &d->now);
}

static uint64_t ns(const struct device_chains *d, uint64_t ticks)
{
	return (unsigned __int128)ticks * 1000000000 / d->session->info.tsc_hz;
}

static unsigned poll(struct kernel_source *s)
{
	struct device_chains *d = (struct device_chains *)s;
	int64_t now_ns = clock_mono_ns();

	if (!d->now.nr_blocks || d->is_paused)
		return 0;
	control(d);
	for (unsigned cpu = 0; cpu < d->session->info.nr_cpus; cpu++) {
		const struct ldb_ring_hdr *ring = session_kernel_ring(d->session, cpu);

		sampler_follow(d->sampler, cpu, *(const volatile uint32_t *)&ring->k_tid, order_ring_head(ring), now_ns);
	}
	return 0;
}

/* Begins to interrupt all CPUs; hold_budget() then decides whether that goes on. */
static void begin_samples(struct device_chains *d)
{
	d->now.tick_ns = 0;
	sampler_begin(d->sampler, clock_mono_ns());
}

static void set_blocks(struct kernel_source *s, const int64_t *offsets, unsigned nr)
{
	struct device_chains *d = (struct device_chains *)s;
	bool is_first = !d->now.nr_blocks;

	/*
	 * If there are more blocks than the module can read, none is read: frames would be missing
	 * in between.
	 */
	d->now.nr_blocks = nr > LDB_CHAIN_BLOCKS_MAX ? 0 : nr;
	memcpy(d->now.offset, offsets, d->now.nr_blocks * sizeof(*offsets));
	if (is_first && d->now.nr_blocks && !d->is_paused)
		begin_samples(d);
	control(d);
}

static void hold_budget(struct kernel_source *s, const struct kernel_costs *costs)
{
	struct device_chains *d = (struct device_chains *)s;
	bool is_busy = ns(d, d->now.idle - d->before.idle) < costs->wall_ns / READINGS_IDLE_PART;
	bool wanted = d->is_always || (costs->is_scanner_away && is_busy);

	/* The decision is the same for all CPUs. */
	for (unsigned cpu = 0; cpu < d->session->info.nr_cpus && !d->is_paused; cpu++)
		d->now.tick_ns = sampler_choose(d->sampler, cpu, wanted) ? 0 : READINGS_TICK_NS;
	sampler_hold(d->sampler, s, costs, &(struct sampler_spent){
		.switches_ns = ns(d, d->now.switches - d->before.switches),
		.samples_ns = ns(d, d->now.samples - d->before.samples),
		.nr_samples = d->now.nr_samples - d->before.nr_samples, .entry_ns = IRQ_NS,
	});
	d->before = d->now;
}

/* A pause of the module stops its readings, but not the timers that trigger them. */
static int pause_readings(struct kernel_source *s, bool pause)
{
	struct device_chains *d = (struct device_chains *)s;

	d->is_paused = pause;
	if (pause)
		sampler_stop(d->sampler);
	else if (d->now.nr_blocks)
		begin_samples(d);
	return 0;
}

static void finish(struct kernel_source *s)
{
	struct device_chains *d = (struct device_chains *)s;

	sampler_stop(d->sampler);
	d->now.nr_blocks = 0;
	control(d);
}

static const char *leave_out_irqs(struct kernel_source *s)
{
	return "none";	/* this source records no interrupts */
}

static void close_chains(struct kernel_source *s)
{
	struct device_chains *d = (struct device_chains *)s;

	sampler_free(d->sampler);
	free(d);
}

static const struct kernel_source_ops ops = {
	.poll = poll, .pause = pause_readings, .finish = finish, .leave_out_irqs = leave_out_irqs, .hold_budget = hold_budget,
	.set_blocks = set_blocks, .close = close_chains,
};

struct kernel_source *device_chains_open(const struct session *s, uint32_t budget_ppm, bool is_always)
{
	struct device_chains *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	*d = (struct device_chains){
		.source = { .ops = &ops }, .session = s, .is_always = is_always,
		.now = { .share = readings_share(budget_ppm), .tick_ns = READINGS_TICK_NS },
	};
	d->source.is_deaf = d->is_deaf;
	if (!control(d)) {
		free(d);
		return NULL;
	}
	d->before = d->now;
	d->sampler = sampler_alloc(budget_ppm, is_always ? 0 : READINGS_ENOUGH_NS, s->info.nr_cpus);
	if (d->sampler)
		return &d->source;
	free(d);
	return NULL;
}
