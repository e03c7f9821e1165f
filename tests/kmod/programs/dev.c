// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>
#include "dev.h"
#include "tap.h"

/* Sets the module's parameters as if it had been loaded with them. */
static void set_params(const char *params)
{
	char *copy = strdup(params), *next = copy, *one, path[128];

	while ((one = strsep(&next, " "))) {
		char *value = strchr(one, '=');
		int fd;

		if (!value)
			continue;
		*value++ = 0;
		snprintf(path, sizeof(path), "/sys/module/ldb/parameters/%s", one);
		fd = open(path, O_WRONLY);
		if (fd < 0 || write(fd, value, strlen(value)) < 0)
			diag("%s: %s", path, strerror(errno));
		close(fd);
	}
	free(copy);
}

static void load(const char *params, const char *all)
{
	const char *ko = getenv("LDB_KO");
	int fd;

	if (!ko) {
		if (access(LDB_DEVICE, F_OK))
			skip_all("no module: set LDB_KO");
		return;
	}
	fd = open(ko, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && syscall(SYS_finit_module, fd, all, 0)) {
		if (errno == EEXIST)
			set_params(params);
		else
			fd = -1;
	}
	if (fd < 0) {
		diag("%s: %s", ko, strerror(errno));
		bail_out("the module cannot be loaded");
	}
	close(fd);
}

void dev_load(const char *params)
{
	char all[512];

	snprintf(all, sizeof(all), "mode=0666 max_user_rate=0 mlock_kb=4194304 %s", params);
	load(params, all);
}

void dev_load_strict(const char *params)
{
	load(params, params);
}

int dev_unload(void)
{
	return syscall(SYS_delete_module, "ldb", O_NONBLOCK) ? -errno : 0;
}

unsigned dev_clock;

struct ldb_create dev_default(void)
{
	return (struct ldb_create){
		.size = sizeof(struct ldb_create), .events = LDB_GROUP_ALL, .ring_order = 15,
		.scan_ring_order = 8, .max_threads = 64,
		.clock_id = dev_clock,
	};
}

int dev_ioctl(int fd, unsigned long cmd, void *arg)
{
	int rc = ioctl(fd, cmd, arg);

	return rc < 0 ? -errno : rc;
}

int dev_open(struct dev *d, const struct ldb_create *c)
{
	int rc;

	memset(d, 0, sizeof(*d));
	d->c = c ? *c : dev_default();
	d->fd = open(LDB_DEVICE, O_RDWR | O_CLOEXEC);
	if (d->fd < 0)
		return -errno;
	rc = dev_ioctl(d->fd, LDB_IOC_CREATE, &d->c);
	if (rc < 0)
		close(d->fd);
	return rc;
}

int dev_map(struct dev *d)
{
	d->base = mmap(NULL, d->c.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd, 0);
	if (d->base == MAP_FAILED) {
		d->base = NULL;
		return -errno;
	}
	memcpy(&d->info, d->base, sizeof(d->info));
	if (!(d->info.flags & LDB_INFO_F_SPLIT))
		return 0;
	d->kernel_rings = mmap(NULL, d->info.nr_cpus * d->info.kernel_ring_stride, PROT_READ,
			       MAP_SHARED, d->fd, d->info.kernel_rings_off);
	if (d->kernel_rings != MAP_FAILED)
		return 0;
	d->kernel_rings = NULL;
	return -errno;
}

void dev_close(struct dev *d)
{
	if (d->base)
		munmap(d->base, d->c.total_size);
	if (d->kernel_rings)
		munmap(d->kernel_rings, d->info.nr_cpus * d->info.kernel_ring_stride);
	close(d->fd);
	d->base = NULL;
	d->kernel_rings = NULL;
	d->fd = -1;
}

void dev_self(struct dev *d, const struct ldb_create *c)
{
	int rc = dev_open(d, c);

	if (!rc)
		rc = dev_map(d);
	if (!rc)
		rc = dev_ioctl(d->fd, LDB_IOC_JOIN, NULL);
	if (rc < 0) {
		diag("%s", strerror(-rc));
		bail_out("no session");
	}
}

int dev_reg(struct dev *d, unsigned tid, unsigned slot, uint64_t tls)
{
	struct ldb_reg r = { .tid = tid, .slot = slot, .block = slot, .tls = tls };

	return dev_ioctl(d->fd, LDB_IOC_REG, &r);
}

struct ldb_page *dev_page(const struct dev *d, unsigned slot)
{
	return (void *)(d->base + d->info.pages_off + slot * d->info.page_stride);
}

struct ldb_ring_hdr *dev_ring(const struct dev *d, unsigned cpu)
{
	if (d->kernel_rings)
		return (void *)(d->kernel_rings + cpu * d->info.kernel_ring_stride);
	return (void *)(d->base + d->info.rings_off + cpu * d->info.ring_stride);
}

struct ldb_session_stats dev_stats(const struct dev *d)
{
	struct ldb_session_stats s = {};

	if (dev_ioctl(d->fd, LDB_IOC_STATS, &s))
		diag("stats: %s", strerror(errno));
	return s;
}

/* Copies a slot; returns true if it is committed. */
static bool read_slot(const struct ldb_ring_hdr *ring, unsigned order, uint64_t idx,
		      struct ldb_rec *out)
{
	const volatile struct ldb_rec *slot = (const void *)((const char *)ring + LDB_RING_HDR_SIZE);
	uint32_t commit;

	slot += idx & ((1ULL << order) - 1);
	commit = __atomic_load_n(&slot->commit, __ATOMIC_ACQUIRE);
	memcpy(out, (const void *)slot, sizeof(*out));
	return (commit ^ ldb_rec_hash(out)) == (uint32_t)(idx + 1);
}

static void add(struct events *e, const struct event *event)
{
	if (!(e->nr & (e->nr + 1))) {
		e->v = realloc(e->v, (e->nr * 2 + 2) * sizeof(*e->v));
		if (!e->v)
			bail_out("no memory");
	}
	e->v[e->nr++] = *event;
}

static void read_ring(const struct dev *d, unsigned n, struct events *e)
{
	const struct ldb_ring_hdr *ring = dev_ring(d, n);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t size = 1ULL << d->c.ring_order, idx = head > size ? head - size : 0;

	e->lost += idx;
	for (; idx < head; idx++) {
		struct event event = { .ring = n, .idx = idx };

		if (!read_slot(ring, d->c.ring_order, idx, &event.rec)) {
			e->holes++;
			continue;
		}
		if (event.rec.type >= LDB_EV_CONT && event.rec.type < LDB_EV_LOST)
			continue;	/* a third slot, or the rest of an overwritten event */
		if (idx + 1 < head && read_slot(ring, d->c.ring_order, idx + 1, &event.cont) &&
		    event.cont.type == LDB_EV_CONT + 1)
			idx++;
		else
			memset(&event.cont, 0, sizeof(event.cont));
		add(e, &event);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->rec.tsc != y->rec.tsc)
		return x->rec.tsc < y->rec.tsc ? -1 : 1;
	if (x->ring != y->ring)
		return x->ring < y->ring ? -1 : 1;
	return x->idx < y->idx ? -1 : x->idx > y->idx;
}

struct events dev_events(const struct dev *d)
{
	struct events e = {};

	for (unsigned n = 0; n < d->info.nr_cpus; n++)
		read_ring(d, n, &e);
	if (e.nr)
		qsort(e.v, e.nr, sizeof(*e.v), by_time);
	return e;
}

void events_free(struct events *e)
{
	free(e->v);
	memset(e, 0, sizeof(*e));
}

const char *event_name(unsigned type)
{
	switch (type) {
	case LDB_EV_SWITCH: return "SWITCH";
	case LDB_EV_SWITCH_OUT: return "SWITCH_OUT";
	case LDB_EV_RUNNING: return "RUNNING";
	case LDB_EV_WAKING: return "WAKING";
	case LDB_EV_WAKEUP: return "WAKEUP";
	case LDB_EV_MIGRATE: return "MIGRATE";
	case LDB_EV_FUTEX_WAIT: return "FUTEX_WAIT";
	case LDB_EV_FUTEX_WAKE: return "FUTEX_WAKE";
	case LDB_EV_FORK: return "FORK";
	case LDB_EV_EXEC: return "EXEC";
	case LDB_EV_EXIT: return "EXIT";
	case LDB_EV_TASK: return "TASK";
	case LDB_EV_FAULT: return "FAULT";
	case LDB_EV_IRQ: return "IRQ";
	case LDB_EV_IRQ_NAME: return "IRQ_NAME";
	default: return "?";
	}
}

void event_print(const struct event *e)
{
	diag("%llu cpu %u %-10s tid %u other %u flags %x arg %llx | %llx %llx", e->rec.tsc, e->ring,
	     event_name(e->rec.type), e->rec.tid, e->rec.arg2, e->rec.flags, e->rec.arg, e->cont.tsc,
	     e->cont.arg);
}

unsigned gettid_(void)
{
	return syscall(SYS_gettid);
}

uint64_t dev_now(const struct dev *d)
{
	struct timespec ts;

	if (d->c.clock_id == LDB_CLOCK_TSC) {
		_mm_lfence();
		return __rdtsc();
	}
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

void pin(unsigned cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		diag("cannot run on CPU %u: %s", cpu, strerror(errno));
}

unsigned nr_cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

void msleep(unsigned ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}
