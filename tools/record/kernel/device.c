// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses sessions of the kernel module through /dev/ldb.  The interface is described in linux/ldb.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include "record/kernel/device.h"
#include "record/names/calls.h"

#define ORDER_MAX	20	/* the largest order of a ring in the module's memory */

/* Explains why the device cannot be opened, and what to do about it. */
static void explain_open(int error, char *why, size_t size)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		snprintf(why, size, "the module is not loaded (insmod ldb.ko)");
		break;
	case EACCES:
	case EPERM:
		snprintf(why, size, LDB_DEVICE " is for members of its group: usermod -aG ldb USER and log in again, or run it as root");
		break;
	default:
		snprintf(why, size, LDB_DEVICE ": %s", strerror(error));
	}
}

/* `bytes` is the size of the session that could not be created; 0: not known. */
static void explain_memory(uint64_t bytes, char *why, size_t size)
{
	struct rlimit limit;

	if (bytes && !getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur < bytes)
		snprintf(why, size, "its buffers take %" PRIu64 " MiB of locked memory, and %" PRIu64
			 " are allowed: ulimit -l %" PRIu64 ", or a smaller --ring-size", (bytes >> 20) + 1,
			 (uint64_t)limit.rlim_cur >> 20, (bytes >> 10) * 102 / 100);
	else
		snprintf(why, size, "there is no memory for its buffers: a smaller --ring-size may help");
}

static void explain_create(int error, const struct device_options *o, uint64_t bytes, char *why,
			   size_t size)
{
	switch (error) {
	case EPERM:
		if (o->pid)
			snprintf(why, size, "--kernel-only needs CAP_PERFMON (run it as root)");
		else
			snprintf(why, size, "it would interrupt isolated CPUs of this machine: run it as root (see arm_isolated in ldb(4))");
		break;
	case ENOMEM:
		explain_memory(bytes, why, size);
		break;
	case EEXIST:
		snprintf(why, size, "the module is recording process %d already", o->pid);
		break;
	case EDQUOT:
		snprintf(why, size, "the module has no room for this session: a smaller --ring-size, or see max_mb and max_sessions in ldb(4)");
		break;
	case ESRCH:
		snprintf(why, size, "process %d has ended", o->pid);
		break;
	default:
		snprintf(why, size, "the module created no session: %s", strerror(error));
	}
}

/*
 * Numbers of threads to try: the limit of locked memory may be too low.  Most of a session is
 * memory for threads, which is allocated only when the threads exist; but all of it counts towards
 * the limit.
 */
static const struct room {
	unsigned threads, scan_order;
} rooms[] = { { SESSION_THREADS, SESSION_SCAN_ORDER }, { 512, 17 }, { 64, 15 } };

static int try_create(int fd, const struct device_options *o, const struct room *room,
		      uint32_t events, struct ldb_create *c)
{
	unsigned order = session_order_for(o->ring_bytes, session_count_cpus());

	*c = (struct ldb_create){
		.size = sizeof(*c), .flags = o->split ? LDB_CREATE_F_SPLIT : 0, .pid = o->pid,
		.events = events, .ring_order = order < ORDER_MAX ? order : ORDER_MAX,
		.scan_ring_order = room->scan_order, .nr_scanners = o->nr_scanners,
		.max_threads = room->threads, .clock_id = o->clock_id,
	};
	return ioctl(fd, LDB_IOC_CREATE, c) ? -errno : 0;
}

/*
 * A module that does not support one of the groups refuses all of them, so the groups of older
 * releases are tried next.
 */
static int create(int fd, const struct device_options *o, struct ldb_create *c)
{
	static const uint32_t known[] = { LDB_GROUP_ALL, LDB_GROUP_THIRD, LDB_GROUP_SECOND, LDB_GROUP_FIRST };
	unsigned i = 0, k = 0;
	int rc;

	for (;;) {
		rc = try_create(fd, o, &rooms[i], o->events & known[k], c);
		if (rc == -EINVAL && k + 1 < sizeof(known) / sizeof(*known))
			k++;
		else if (rc != -ENOMEM || ++i == sizeof(rooms) / sizeof(*rooms))
			return rc;
	}
}

/* If the module does not support this ioctl, it records numbers and first arguments of calls. */
static void describe_calls(int fd, const struct device_options *o)
{
	struct ldb_calls c = { .min_ns = o->call_min_ns };

	calls_describe(c.how);
	ioctl(fd, LDB_IOC_CALLS, &c);
}

/* Maps the session, and the separate rings of kernel events, if any.  Returns 0 or -errno. */
static int map(struct session *s, uint64_t size)
{
	void *rings;

	s->base = mmap(NULL, size, PROT_READ, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
	if (s->base == MAP_FAILED) {
		s->base = NULL;
		return -errno;
	}
	s->size = size;
	/*
	 * No program has joined the session yet, so nobody but the module can have written these
	 * values.
	 */
	memcpy(&s->info, s->base, sizeof(s->info));
	if (!(s->info.flags & LDB_INFO_F_SPLIT))
		return 0;
	rings = mmap(NULL, s->info.nr_cpus * s->info.kernel_ring_stride, PROT_READ,
		     MAP_SHARED | MAP_NORESERVE, s->fd, s->info.kernel_rings_off);
	if (rings == MAP_FAILED) {
		int error = errno;

		munmap(s->base, s->size);
		s->base = NULL;
		return -error;
	}
	session_add_kernel_rings(s, rings, s->info.kernel_ring_stride, s->info.ring_order);
	return 0;
}

bool device_clock(const struct session *s, struct ldb_row_clock *row)
{
	struct ldb_clock_sample c;

	if (!s->is_device || ioctl(s->fd, LDB_IOC_CLOCK, &c))
		return false;
	*row = (struct ldb_row_clock){
		.tick = c.clock, .raw_ns = c.raw_ns, .mono_ns = c.mono_ns, .real_ns = c.real_ns,
		.err = c.err,
	};
	return true;
}

int device_pause(const struct session *s, bool pause)
{
	int missing;

	if (!s->is_device)
		return 0;
	missing = ioctl(s->fd, LDB_IOC_PAUSE, (unsigned long)pause);
	if (missing >= 0)
		return missing;
	return errno == ENOTTY ? 0 : -errno;
}

int device_open(struct session *s, const struct device_options *o, char *why, size_t size)
{
	struct ldb_create c;
	int rc;

	memset(s, 0, sizeof(*s));
	s->fd = open(LDB_DEVICE, O_RDWR | O_CLOEXEC);
	if (s->fd < 0) {
		rc = -errno;
		explain_open(-rc, why, size);
		return rc;
	}
	rc = ioctl(s->fd, LDB_IOC_ABI);
	if (rc != LDB_DEVICE_ABI) {
		snprintf(why, size, "the module that is loaded is of another version: build and load the one of this release");
		rc = -EPROTO;
		goto err_close;
	}
	rc = create(s->fd, o, &c);
	if (rc) {
		explain_create(-rc, o, c.total_size, why, size);
		goto err_close;
	}
	if (c.events & LDB_GROUP_CALL)
		describe_calls(s->fd, o);
	rc = map(s, c.total_size);
	if (rc) {
		snprintf(why, size, "the module's session cannot be mapped: %s", strerror(-rc));
		goto err_close;
	}
	s->is_device = true;
	s->events = c.events;
	return 0;

err_close:
	close(s->fd);
	s->fd = -1;
	return rc;
}
