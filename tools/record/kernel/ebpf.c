// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the BPF programs, sets which threads they record, and adds their rings to the session. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "record/bpf/shared.h"
#include "record/kernel/ebpf.h"
#include "record/kernel/sampler.h"
#include "record/names/calls.h"
#include "record/session/order.h"

#define RING_ORDER_MAX	16	/* the value of a BPF map entry has at most 4 MiB */
#define IRQ_MIN_NS	1000
#define TRACEPOINT	"btf_trace_"
#define LINKS_MAX	32
#define IRQ_NS		150	/* how many ns recording an interrupt costs the program */

_Static_assert(BPF_CPUS_MAX == CPULIST_MAX, "is_deaf");

/* The compiled BPF programs; see tools/Makefile. */
extern const char ebpf_object[], ebpf_object_end[];
asm(".pushsection .rodata\n"
    "	.balign 8\n"
    "	.globl ebpf_object, ebpf_object_end\n"
    "ebpf_object:\n"
    "	.incbin \"" LDB_BPF_OBJECT "\"\n"
    "ebpf_object_end:\n"
    "	.byte 0\n"
    "	.popsection\n");

struct ebpf {
	struct kernel_source source;
	struct bpf_object *object;
	struct {
		struct bpf_link *link;
		bool is_softirq;
	} links[LINKS_MAX];
	unsigned nr_links;
	struct bpf_state *state;	/* the memory that the loaded programs use */
	/* the state of each CPU; also memory of the programs */
	const volatile struct bpf_cpu *cpus;
	unsigned nr_cpus;
	const struct session *session;	/* its last rings are those of the programs */
	uint64_t *was_head, *was_idle_ns;	/* by CPU: previous values */
	struct sampler *sampler;	/* NULL: chains are not read */
	bool is_reading;		/* the offsets of the blocks are known */
	bool is_always;			/* samples are taken even if the scanner runs */
	bool is_paused;
	bool has_left_out_irqs;
	struct readings {
		uint64_t switch_ns, sample_ns, nr_samples;
	} readings;			/* sums over all CPUs as of the last hold_budget() */
};

/* Groups of programs whose tracepoints some kernels lack. */
static const struct group {
	uint32_t bit;
	const char *tracepoints[6], *why;
} groups[] = {
	{ LDB_GROUP_FAULT, { "page_fault_user", "page_fault_kernel" },
	  "this kernel has no tracepoints for page faults" },
	{ LDB_GROUP_IRQ, { "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit",
			   "local_timer_entry", "local_timer_exit" },
	  "this kernel has no tracepoints for interrupts" },
	{ LDB_GROUP_DISK, { "block_bio_queue", "block_bio_complete", "block_rq_complete" },
	  "this kernel has no tracepoints for block devices" },
};

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	return 0;
}

static int print_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* Returns the type of a tracepoint's probe functions; NULL: this kernel has no such tracepoint. */
static const struct btf_type *probe_of(const struct btf *btf, const char *tracepoint)
{
	char name[64];
	int id;

	snprintf(name, sizeof(name), TRACEPOINT "%s", tracepoint);
	id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	if (id < 0)
		return NULL;
	id = btf__type_by_id(btf, id)->type;
	return btf__type_by_id(btf, btf__type_by_id(btf, id)->type);
}

/* Returns the offset of a per-CPU variable; -1: this kernel does not have it. */
static int64_t offset_of_variable(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, name, BTF_KIND_VAR);

	for (unsigned i = 1; id > 0 && i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);
		const struct btf_var_secinfo *var = btf_is_datasec(t) ? btf_var_secinfos(t) : NULL;

		for (unsigned k = 0; var && k < btf_vlen(t); k++)
			if (var[k].type == (unsigned)id)
				return var[k].offset;
	}
	return -1;
}

static int64_t preempt_count_offset(const struct btf *btf)
{
	/*
	 * From 6.2 to 6.14 preempt_count is a member of a structure, which has one of the last two
	 * names.
	 */
	static const char *const names[] = { "__preempt_count", "pcpu_hot", "const_pcpu_hot" };
	int64_t queue = offset_of_variable(btf, "runqueues");

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names) && queue >= 0; i++) {
		int64_t count = offset_of_variable(btf, names[i]);

		if (count >= 0)
			return count - queue;
	}
	return 0;
}

/* These make the system calls of every program slower. */
static const struct group call_group = { 0, { "sys_enter", "sys_exit" },
	"this kernel has no tracepoints for system calls" };

static bool has_all(const struct btf *btf, const struct group *g)
{
	for (unsigned i = 0; i < 6 && g->tracepoints[i]; i++)
		if (!probe_of(btf, g->tracepoints[i]))
			return false;
	return true;
}

static bool is_of(const struct group *g, const char *tracepoint)
{
	for (unsigned i = 0; i < 6 && g->tracepoints[i]; i++)
		if (!strcmp(g->tracepoints[i], tracepoint))
			return true;
	return false;
}

static void leave_out(struct ebpf *e, const struct group *g)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, e->object)
		if (is_of(g, strrchr(bpf_program__section_name(p), '/') + 1))
			bpf_program__set_autoload(p, false);
}

static void explain_group(struct ebpf *e, const struct group *g)
{
	snprintf(e->source.why_not_better, sizeof(e->source.why_not_better), "%s", g->why);
}

static void choose_calls(struct ebpf *e, const struct btf *btf, bool wanted)
{
	bool has_them = wanted && has_all(btf, &call_group);

	if (has_them)
		e->source.events |= LDB_GROUP_CALL_ALL;
	else
		leave_out(e, &call_group);
	if (wanted && !has_them)
		explain_group(e, &call_group);
}

/* If the kernel lacks a tracepoint of a group, the programs of the group are not loaded. */
static void choose_groups(struct ebpf *e, const struct btf *btf, bool has_calls)
{
	e->source.events = LDB_GROUP_SCHED | LDB_GROUP_PROCESS | (has_calls ? LDB_GROUP_CALL : 0);
	for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		const struct group *g = &groups[i];
		/* Disks are recorded together with sleeps in system calls. */
		bool is_wanted = g->bit != LDB_GROUP_DISK || has_calls;

		if (is_wanted && has_all(btf, g)) {
			e->source.events |= g->bit;
			continue;
		}
		if (is_wanted)
			explain_group(e, g);
		leave_out(e, g);
	}
}

/*
 * Returns the programs' configuration, which has a section, and so a map, of its own; NULL: there
 * is none.
 */
static struct bpf_config *config_of(const struct ebpf *e)
{
	struct bpf_map *map = bpf_object__find_map_by_name(e->object, ".rodata.config");
	size_t size = 0;
	void *at = map ? (void *)bpf_map__initial_value(map, &size) : NULL;

	return size == sizeof(struct bpf_config) ? at : NULL;
}

/* Maps a section of the programs' variables. */
static void *map_section(const struct ebpf *e, const char *name, size_t size, int prot)
{
	int fd = bpf_object__find_map_fd_by_name(e->object, name);
	void *at = mmap(NULL, size, prot, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int map_state(struct ebpf *e)
{
	e->state = map_section(e, ".data.state", sizeof(*e->state), PROT_READ | PROT_WRITE);
	if (!e->state)
		return -errno;
	e->source.is_deaf = e->state->is_deaf;
	e->cpus = map_section(e, ".data.cpus", BPF_CPUS_MAX * sizeof(*e->cpus), PROT_READ);
	return e->cpus ? 0 : -errno;
}

static int set_up(struct ebpf *e, const struct ebpf_options *o, unsigned order, unsigned nr_cpus)
{
	struct bpf_map *rings = bpf_object__find_map_by_name(e->object, "rings");
	struct bpf_map *chains = bpf_object__find_map_by_name(e->object, "chains");
	struct bpf_config *config = config_of(e);
	struct btf *btf = btf__load_vmlinux_btf();
	const struct btf_type *probe;
	int ret;

	if (!btf)
		return -ENODATA;
	probe = probe_of(btf, "sched_switch");
	if (!rings || !chains || !config || !probe) {
		btf__free(btf);
		return -ENOTSUP;
	}
	*config = (struct bpf_config){
		.ring_mask = (1ULL << order) - 1, .irq_min_ns = IRQ_MIN_NS, .target = o->pid,
		/* The first argument of a probe is its private data. */
		.has_prev_state = btf_vlen(probe) >= 5,
		.preempt_count_offset = preempt_count_offset(btf),
		.has_frames = o->has_frames, .read_share = readings_share(o->budget_ppm),
		.has_calls = o->has_calls, .call_min_ns = o->call_min_ns,
	};
	calls_describe(config->calls);
	choose_groups(e, btf, o->has_calls);
	choose_calls(e, btf, o->has_all_calls);
	btf__free(btf);
	ret = bpf_map__set_value_size(rings, LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << order));
	if (!ret)
		ret = bpf_map__set_max_entries(chains, o->has_frames ? BPF_CHAINS_MAX : 1);
	return ret ? ret : bpf_map__set_max_entries(rings, nr_cpus);
}

/* Reading the iterator runs its program once for each task. */
static int read_threads(struct ebpf *e)
{
	struct bpf_program *p = bpf_object__find_program_by_name(e->object, "ldb_threads");
	struct bpf_link *link = bpf_program__attach_iter(p, NULL);
	char none[64];
	int fd, ret = 0;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0)
		ret = -errno;
	while (!ret && read(fd, none, sizeof(none)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return ret;
}

static int attach_all(struct ebpf *e)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, e->object) {
		if (!bpf_program__autoload(p) || !strcmp(bpf_program__name(p), "ldb_threads"))
			continue;
		if (e->nr_links == LINKS_MAX)
			return -ENOSPC;
		e->links[e->nr_links].link = bpf_program__attach(p);
		if (!e->links[e->nr_links].link)
			return -errno;
		e->links[e->nr_links].is_softirq = strstr(bpf_program__section_name(p), "/softirq_");
		e->nr_links++;
	}
	return 0;
}

static void watch(struct ebpf *e, int tgid)
{
	order_watch(&e->state->observed_tgid, tgid);
}

/*
 * All programs must begin and end to emit events at the same time, or some would emit events that
 * the others miss; so observed_tgid is set after all were attached.  Existing threads are added
 * after that, when no new thread can be missed any more.
 */
static int begin(struct ebpf *e)
{
	int ret = read_threads(e);

	if (!ret && e->state->found_tgid < 0)
		return -ESRCH;
	if (!ret)
		ret = attach_all(e);
	if (ret)
		return ret;
	watch(e, e->state->found_tgid);
	e->state->is_adding = 1;
	return read_threads(e);
}

static int map_rings(struct ebpf *e, struct session *s, unsigned order)
{
	int fd = bpf_object__find_map_fd_by_name(e->object, "rings");
	uint64_t stride = LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << order);
	void *rings = mmap(NULL, stride * s->info.nr_cpus, PROT_READ, MAP_SHARED, fd, 0);

	if (rings == MAP_FAILED)
		return -errno;
	session_add_kernel_rings(s, rings, stride, order);
	e->session = s;
	e->was_head = calloc(e->nr_cpus, sizeof(*e->was_head));
	e->was_idle_ns = calloc(e->nr_cpus, sizeof(*e->was_idle_ns));
	return e->was_head && e->was_idle_ns ? 0 : -ENOMEM;
}

static void explain(int error, char *why, size_t size)
{
	switch (error) {
	case EPERM:
	case EACCES:
		snprintf(why, size, "needs CAP_BPF and CAP_PERFMON (run it as root)");
		break;
	case ENODATA:
		snprintf(why, size, "this kernel has no type information (CONFIG_DEBUG_INFO_BTF)");
		break;
	case ESRCH:
		snprintf(why, size, "the process has ended");
		break;
	case ENOMEM:
		snprintf(why, size, "there is no memory for its buffers: a smaller --ring-size may help");
		break;
	default:
		snprintf(why, size, "this kernel rejects the BPF programs: %s", strerror(error));
	}
}

/*
 * Must be called before the rings are read: everything that was in the rings at the last call has
 * been read since.
 */
static void make_room(struct ebpf *e)
{
	for (unsigned cpu = 0; cpu < e->nr_cpus && cpu < BPF_CPUS_MAX; cpu++) {
		unsigned ring = e->session->info.nr_rings + cpu;

		*(volatile uint64_t *)&e->state->read_until[cpu] =
			e->was_head[cpu] + (1ULL << session_ring_order(e->session, ring)) / 2;
		e->was_head[cpu] = order_ring_head(session_ring(e->session, ring));
	}
}

static unsigned poll(struct kernel_source *s)
{
	struct ebpf *e = (struct ebpf *)s;
	int64_t now_ns = clock_mono_ns();

	make_room(e);
	if (e->is_paused)
		return 0;
	for (unsigned cpu = 0; e->is_reading && cpu < e->nr_cpus; cpu++)
		sampler_follow(e->sampler, cpu, e->cpus[cpu].current, e->cpus[cpu].switched_at, now_ns);
	return 0;
}

/* Returns how many runs the kernel has skipped, because a program interrupted itself. */
static uint64_t count_missed(const struct ebpf *e)
{
	struct bpf_program *p;
	uint64_t sum = 0;

	bpf_object__for_each_program(p, e->object) {
		struct bpf_prog_info info = { 0 };
		__u32 size = sizeof(info);

		if (bpf_program__autoload(p) &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
			sum += info.recursion_misses;
	}
	return sum;
}

static const char *leave_out_irqs(struct kernel_source *s)
{
	struct ebpf *e = (struct ebpf *)s;

	for (unsigned i = 0; i < e->nr_links; i++) {
		if (!e->links[i].is_softirq)
			continue;
		bpf_link__destroy(e->links[i].link);
		e->links[i--] = e->links[--e->nr_links];
	}
	e->has_left_out_irqs = true;
	return "soft interrupts";
}

static void detach_all(struct ebpf *e)
{
	while (e->nr_links)
		bpf_link__destroy(e->links[--e->nr_links].link);
}

static void sample(struct ebpf *e, unsigned cpu, bool wanted)
{
	wanted = sampler_choose(e->sampler, cpu, wanted);
	if (cpu < BPF_CPUS_MAX)
		e->state->is_sampled[cpu] = wanted;
}

static void choose_samples(struct ebpf *e, const struct kernel_costs *costs)
{
	for (unsigned cpu = 0; cpu < e->nr_cpus; cpu++) {
		uint64_t idle_ns = e->cpus[cpu].idle_ns - e->was_idle_ns[cpu];

		e->was_idle_ns[cpu] += idle_ns;
		sample(e, cpu, e->is_always || (costs->is_scanner_away &&
						idle_ns < costs->wall_ns / READINGS_IDLE_PART));
	}
}

static void hold_budget(struct kernel_source *s, const struct kernel_costs *costs)
{
	struct ebpf *e = (struct ebpf *)s;
	struct readings now = { 0 }, before = e->readings;

	for (unsigned cpu = 0; cpu < e->nr_cpus; cpu++) {
		now.switch_ns += e->cpus[cpu].switch_ns;
		now.sample_ns += e->cpus[cpu].sample_ns;
		now.nr_samples += e->cpus[cpu].nr_samples;
	}
	e->readings = now;
	if (!e->sampler || e->is_paused)
		return;
	choose_samples(e, costs);
	sampler_hold(e->sampler, s, costs, &(struct sampler_spent){
		.switches_ns = now.switch_ns - before.switch_ns,
		.samples_ns = now.sample_ns - before.sample_ns,
		.nr_samples = now.nr_samples - before.nr_samples, .entry_ns = IRQ_NS,
	});
}

/*
 * Resets what the programs know of threads and CPUs, which is obsolete after a pause; what they
 * know of chains remains valid.
 */
static int forget_all(struct ebpf *e)
{
	struct bpf_map *variables = bpf_object__find_map_by_name(e->object, ".bss");
	struct bpf_map *cpus = bpf_object__find_map_by_name(e->object, ".data.cpus");
	struct bpf_map *nests = bpf_object__find_map_by_name(e->object, "nests");
	size_t size = 0, cpus_size = 0, nr_cpus = libbpf_num_possible_cpus();
	void *at = variables ? (void *)bpf_map__initial_value(variables, &size) : NULL;
	struct bpf_cpu *cpu = cpus ? (void *)bpf_map__initial_value(cpus, &cpus_size) : NULL;
	void *nest = nests ? calloc(nr_cpus, (bpf_map__value_size(nests) + 7) / 8 * 8) : NULL;
	int ret = at && cpu && nest ? 0 : -ENOTSUP;

	if (!ret) {
		memset(at, 0, size);
		for (unsigned i = 0; i < cpus_size / sizeof(*cpu); i++) {
			cpu[i].nr_waiting = cpu[i].nr_arrived = 0;
			cpu[i].current = cpu[i].has_switched = cpu[i].is_idle = 0;
		}
		ret = bpf_map_update_elem(bpf_map__fd(nests), &(uint32_t){ 0 }, nest, BPF_ANY) ? -errno : 0;
	}
	free(nest);
	return ret;
}

/* Begins to interrupt all CPUs.  hold_budget() then decides which ones go on being interrupted. */
static void begin_samples(struct ebpf *e)
{
	sampler_begin(e->sampler, clock_mono_ns());
	for (unsigned cpu = 0; cpu < e->nr_cpus && cpu < BPF_CPUS_MAX; cpu++)
		e->state->is_sampled[cpu] = true;
}

static int pause_ebpf(struct kernel_source *s, bool pause)
{
	struct ebpf *e = (struct ebpf *)s;
	int ret;

	if (pause) {
		e->is_paused = true;
		watch(e, -1);
		if (e->sampler)
			sampler_stop(e->sampler);
		detach_all(e);
		return 0;
	}
	ret = forget_all(e);
	e->state->is_adding = 0;
	e->state->found_tgid = -1;
	ret = ret ? ret : begin(e);
	if (!ret && e->has_left_out_irqs)
		leave_out_irqs(s);
	e->is_paused = ret;
	if (ret)
		detach_all(e);
	else if (e->is_reading)
		begin_samples(e);
	return ret;
}

/* Events in the rings remain there and can be read. */
static void finish(struct kernel_source *s)
{
	struct ebpf *e = (struct ebpf *)s;

	watch(e, -1);
	e->is_reading = false;
	if (e->sampler)
		sampler_stop(e->sampler);
	detach_all(e);
	kernel_clock_sample(s->clock, true);
	s->nr_lost = e->state->nr_unwritten + count_missed(e);
}

/*
 * If there are more blocks than the programs can read, none is read: frames would be missing in
 * between.
 */
static void set_blocks(struct kernel_source *s, const int64_t *offsets, unsigned nr)
{
	struct ebpf *e = (struct ebpf *)s;

	if (nr > BPF_BLOCKS_MAX)
		nr = 0;
	for (unsigned i = 0; i < nr; i++)
		e->state->block_offset[i] = offsets[i];
	make_room(e);
	order_blocks(&e->state->nr_blocks, nr);
	if (nr && e->sampler && !e->is_reading && !e->is_paused)
		begin_samples(e);
	e->is_reading = nr && e->sampler;
}

static void close_ebpf(struct kernel_source *s)
{
	struct ebpf *e = (struct ebpf *)s;

	sampler_free(e->sampler);
	free(e->was_head);
	free(e->was_idle_ns);
	detach_all(e);
	if (e->state)
		munmap(e->state, sizeof(*e->state));
	if (e->cpus)
		munmap((void *)e->cpus, BPF_CPUS_MAX * sizeof(*e->cpus));
	bpf_object__close(e->object);
	kernel_clock_free(s->clock);
	free(e);
}

static const struct kernel_source_ops ops = {
	.poll = poll, .pause = pause_ebpf, .finish = finish, .leave_out_irqs = leave_out_irqs,
	.hold_budget = hold_budget, .set_blocks = set_blocks, .close = close_ebpf,
	.irq_ns = IRQ_NS,
};

struct kernel_source *ebpf_open(struct session *s, const struct ebpf_options *o, char *why,
				size_t size)
{
	unsigned order = session_order_for(o->ring_bytes, s->info.nr_cpus);
	struct ebpf *e = calloc(1, sizeof(*e));
	int ret = -ENOMEM;

	if (!e)
		goto err;
	if (order > RING_ORDER_MAX)
		order = RING_ORDER_MAX;
	e->source.ops = &ops;
	e->nr_cpus = s->info.nr_cpus;
	e->is_always = o->has_samples;
	libbpf_set_print(o->verbose ? print_warnings : print_nothing);
	/* sampler_alloc() measures a cost: this thread must still have its normal priority. */
	if (o->has_frames)
		e->sampler = sampler_alloc(o->budget_ppm, o->has_samples ? 0 : READINGS_ENOUGH_NS, e->nr_cpus);
	e->source.clock = kernel_clock_alloc(o->clock_id, CLOCK_MONOTONIC, o->t0, o->offset_ns);
	e->object = bpf_object__open_mem(ebpf_object, ebpf_object_end - ebpf_object, NULL);
	if (!e->source.clock || !e->object)
		goto err;
	ret = set_up(e, o, order, s->info.nr_cpus);
	if (ret)
		goto err;
	ret = bpf_object__load(e->object);
	if (ret)
		goto err;
	ret = map_state(e);
	if (!ret)
		ret = begin(e);
	if (!ret)
		ret = map_rings(e, s, order);
	if (!ret)
		return &e->source;
err:
	explain(-ret, why, size);
	if (e)
		close_ebpf(&e->source);
	return NULL;
}
