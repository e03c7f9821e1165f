/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs that replace the runtime share this file: the control protocol, and the memory of a
 * session with its rings.  A program includes it once.
 */
#ifndef TESTS_FAKE_SESSION_H
#define TESTS_FAKE_SESSION_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <linux/ldb.h>
#include <ldb/control.h>

static int sock = -1;
static char *base;
static struct ldb_info info;
static void die(const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
	exit(99);
}

static inline uint64_t clock_now(void)
{
	struct timespec ts;

	if (info.clock_id == LDB_CLOCK_TSC)
		return __builtin_ia32_rdtsc();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Protocol */

static void send_msg(void *m, unsigned type, unsigned size)
{
	((struct ldb_msg *)m)->type = type;
	((struct ldb_msg *)m)->size = size;
	if (send(sock, m, size, MSG_NOSIGNAL) != (ssize_t)size && errno != EPIPE &&
	    errno != ECONNRESET)
		die("send");
}

static void send_hello(unsigned version, unsigned abi, unsigned nr_instrumented)
{
	struct ldb_msg_hello h = {
		.version = version, .abi = abi, .pid = getpid(),
		.nr_instrumented = nr_instrumented, .release = "fake",
	};

	send_msg(&h, LDB_MSG_HELLO, sizeof(h));
}

/*
 * Returns the type of the message; 0: the other end is gone.  *fd is the descriptor that was sent,
 * or -1.
 */
static unsigned receive(int *fd)
{
	union {
		struct ldb_msg m;
		char room[4096];
	} buf;
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { &buf, sizeof(buf) };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	if (fd)
		*fd = -1;
	if (recvmsg(sock, &msg, 0) <= 0)
		return 0;
	if (fd && msg.msg_controllen && control.h.cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(&control.h), sizeof(int));
	return buf.m.type;
}

static void name_address(struct sockaddr_un *sa, socklen_t *size, const char *name)
{
	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	strcpy(sa->sun_path + 1, name);
	*size = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
}

/*
 * Reads /proc/self/environ, because the real runtime, which is loaded, too, has removed the
 * variable from environ.
 */
static const char *first_env(const char *name)
{
	static char text[65536];
	FILE *f = fopen("/proc/self/environ", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0, length = strlen(name);

	if (f)
		fclose(f);
	for (size_t i = 0; i < n; i += strlen(text + i) + 1)
		if (!strncmp(text + i, name, length) && text[i + length] == '=')
			return text + i + length + 1;
	return NULL;
}

static void open_socket(bool listens)
{
	struct sockaddr_un sa;
	socklen_t size;
	struct stat st;
	char name[64];

	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (!listens) {
		const char *recorder = first_env(LDB_ENV_RECORD);

		if (!recorder) {
			fprintf(stderr, "%s: no %s in the environment\n",
				program_invocation_short_name, LDB_ENV_RECORD);
			exit(98);
		}
		name_address(&sa, &size, recorder);
		if (connect(sock, (struct sockaddr *)&sa, size))
			die("connect");
		return;
	}
	if (stat("/proc/self/ns/pid", &st))
		die("/proc/self/ns/pid");
	snprintf(name, sizeof(name), LDB_CONTROL_NAME, (unsigned long long)st.st_ino, getpid());
	name_address(&sa, &size, name);
	if (bind(sock, (struct sockaddr *)&sa, size) || listen(sock, 1))
		die("listen");
	puts("listening");
	fflush(stdout);
	sock = accept4(sock, NULL, NULL, SOCK_CLOEXEC);
	if (sock < 0)
		die("accept");
}

static void map_session(int fd)
{
	struct ldb_info *i = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);

	if (i == MAP_FAILED)
		die("mmap");
	info = *i;
	if (info.magic != LDB_INFO_MAGIC || info.abi != LDB_SESSION_ABI ||
	    !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		die("the session is not as it should be");
	base = mmap(NULL, info.total_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		die("mmap");
}

/* Exchanges the messages from HELLO to READY, correctly. */
static void attach(void)
{
	struct ldb_msg_attached a = { .nr_threads = 1 };
	struct ldb_msg_module m = {
		.flags = LDB_MODULE_F_INSTRUMENTED, .start = 0x400000, .end = 0x500000,
		.build_id_size = 4, .build_id = { 0xde, 0xad, 0xbe, 0xef }, .path = "/fake/module",
	};
	struct ldb_msg ready;
	int fd;

	send_hello(LDB_CONTROL_VERSION, LDB_SESSION_ABI, 1);
	if (receive(&fd) != LDB_MSG_ATTACH || fd < 0)
		die("no ATTACH");
	map_session(fd);
	close(fd);
	send_msg(&a, LDB_MSG_ATTACHED, sizeof(a));
	send_msg(&m, LDB_MSG_MODULE, sizeof(m));
	send_msg(&ready, LDB_MSG_READY, sizeof(ready));
}

static inline pid_t recorder_pid(void)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		die("SO_PEERCRED");
	return peer.pid;
}

/* Session */

static inline struct ldb_page *page_of(unsigned slot)
{
	return (void *)(base + info.pages_off + slot * info.page_stride);
}

static inline struct ldb_ring_hdr *ring_of(unsigned ring)
{
	if (ring < info.nr_cpus)
		return (void *)(base + info.rings_off + ring * info.ring_stride);
	return (void *)(base + info.scan_rings_off + (ring - info.nr_cpus) * info.scan_ring_stride);
}

static inline uint64_t ring_mask(unsigned ring)
{
	return (1ULL << (ring < info.nr_cpus ? info.ring_order : info.scan_ring_order)) - 1;
}

static inline void ring_put(unsigned ring, struct ldb_rec *recs, unsigned n, unsigned commit)
{
	struct ldb_ring_hdr *h = ring_of(ring);
	uint64_t idx = __atomic_fetch_add(&h->head, n, __ATOMIC_RELAXED);
	struct ldb_rec *slots = (struct ldb_rec *)((char *)h + LDB_RING_HDR_SIZE);

	for (unsigned k = 0; k < commit; k++) {
		struct ldb_rec *s = &slots[(idx + k) & ring_mask(ring)];
		struct ldb_rec r = recs[k];

		s->tsc = r.tsc;
		s->tid = r.tid;
		s->type = r.type;
		s->flags = r.flags;
		s->arg = r.arg;
		s->arg2 = r.arg2;
		__atomic_store_n(&s->commit, (uint32_t)(idx + k + 1) ^ ldb_rec_hash(&r),
				 __ATOMIC_RELEASE);
	}
}

static inline void detach_or_gone(void)
{
	struct ldb_msg m;
	unsigned type;

	while ((type = receive(NULL)) && type != LDB_MSG_DETACH)
		;
	if (type)
		send_msg(&m, LDB_MSG_DETACHED, sizeof(m));
	receive(NULL);
}

#endif
