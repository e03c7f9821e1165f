// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/syscall.h>
#include "record/names/calls.h"

#define NR_CALLS	(sizeof(names) / sizeof(*names))

/*
 * Names of system calls, by number.  tools/Makefile makes the list for this machine's CPU, which is
 * also the program's.
 */
static const char *const names[] = {
#include "record/names/calls.inc"
};

/* System calls of which a descriptor's file, or another argument than the first, is recorded. */
static const struct {
	const char *name;
	uint8_t how;		/* which other argument is recorded, and LDB_CALL_HAS_FD */
} described[] = {
	{ "read", LDB_CALL_HAS_FD | 2 }, { "pread64", LDB_CALL_HAS_FD | 2 },
	{ "readv", LDB_CALL_HAS_FD | 2 }, { "preadv", LDB_CALL_HAS_FD | 2 },
	{ "preadv2", LDB_CALL_HAS_FD | 2 }, { "readahead", LDB_CALL_HAS_FD | 2 },
	{ "write", LDB_CALL_HAS_FD | 2 }, { "pwrite64", LDB_CALL_HAS_FD | 2 },
	{ "writev", LDB_CALL_HAS_FD | 2 }, { "pwritev", LDB_CALL_HAS_FD | 2 },
	{ "pwritev2", LDB_CALL_HAS_FD | 2 }, { "sendfile", LDB_CALL_HAS_FD | 3 },
	{ "splice", LDB_CALL_HAS_FD | 4 }, { "copy_file_range", LDB_CALL_HAS_FD | 4 },
	{ "fsync", LDB_CALL_HAS_FD }, { "fdatasync", LDB_CALL_HAS_FD }, { "syncfs", LDB_CALL_HAS_FD },
	{ "sync_file_range", LDB_CALL_HAS_FD | 2 }, { "ftruncate", LDB_CALL_HAS_FD | 1 },
	{ "fallocate", LDB_CALL_HAS_FD | 3 }, { "close", LDB_CALL_HAS_FD }, { "fstat", LDB_CALL_HAS_FD },
	{ "getdents64", LDB_CALL_HAS_FD | 2 }, { "lseek", LDB_CALL_HAS_FD | 1 },
	{ "flock", LDB_CALL_HAS_FD | 1 }, { "fcntl", LDB_CALL_HAS_FD | 1 },
	{ "ioctl", LDB_CALL_HAS_FD | 1 }, { "connect", LDB_CALL_HAS_FD },
	{ "accept", LDB_CALL_HAS_FD }, { "accept4", LDB_CALL_HAS_FD },
	{ "recvfrom", LDB_CALL_HAS_FD | 2 }, { "sendto", LDB_CALL_HAS_FD | 2 },
	{ "recvmsg", LDB_CALL_HAS_FD | 2 }, { "sendmsg", LDB_CALL_HAS_FD | 2 },
	{ "recvmmsg", LDB_CALL_HAS_FD | 2 }, { "sendmmsg", LDB_CALL_HAS_FD | 2 },
	{ "shutdown", LDB_CALL_HAS_FD | 1 }, { "epoll_wait", LDB_CALL_HAS_FD | 3 },
	{ "epoll_pwait", LDB_CALL_HAS_FD | 3 }, { "epoll_pwait2", LDB_CALL_HAS_FD },
	{ "epoll_ctl", LDB_CALL_HAS_FD | 2 }, { "io_uring_enter", LDB_CALL_HAS_FD | 2 },
	{ "poll", 2 }, { "futex", 2 }, { "mmap", 1 }, { "munmap", 1 }, { "mprotect", 1 },
	{ "madvise", 1 }, { "mremap", 2 }, { "msync", 1 },
};

/* Names for io_uring_enter(), by the IORING_OP_* of the operation that ended the wait. */
#define RING(name)	"io_uring_enter: " name
static const char *const ring_names[] = {
	RING("nop"), RING("readv"), RING("writev"), RING("fsync"), RING("read"), RING("write"),
	RING("poll"), RING("poll_remove"), RING("sync_file_range"), RING("sendmsg"),
	RING("recvmsg"), RING("timeout"), RING("timeout_remove"), RING("accept"),
	RING("async_cancel"), RING("link_timeout"), RING("connect"), RING("fallocate"),
	RING("openat"), RING("close"), RING("files_update"), RING("statx"), RING("read"),
	RING("write"), RING("fadvise"), RING("madvise"), RING("send"), RING("recv"),
	RING("openat2"), RING("epoll_ctl"), RING("splice"), RING("provide_buffers"),
	RING("remove_buffers"), RING("tee"), RING("shutdown"), RING("renameat"),
	RING("unlinkat"), RING("mkdirat"), RING("symlinkat"), RING("linkat"), RING("msg_ring"),
	RING("fsetxattr"), RING("setxattr"), RING("fgetxattr"), RING("getxattr"),
	RING("socket"), RING("uring_cmd"), RING("send"), RING("sendmsg"), RING("read"),
	RING("waitid"), RING("futex_wait"), RING("futex_wake"), RING("futex_waitv"),
	RING("fixed_fd_install"), RING("ftruncate"), RING("bind"), RING("listen"),
	RING("recv"), RING("epoll_wait"), RING("readv"), RING("writev"), RING("pipe"),
};
#define NR_RING_NAMES	(sizeof(ring_names) / sizeof(*ring_names))

void calls_describe(uint8_t calls[LDB_CALLS_MAX])
{
	for (uint32_t nr = 0; nr < NR_CALLS && nr < LDB_CALLS_MAX; nr++)
		for (unsigned i = 0; names[nr] && i < sizeof(described) / sizeof(*described); i++)
			if (!strcmp(names[nr], described[i].name))
				calls[nr] = described[i].how;
}

const char *calls_name(uint32_t nr)
{
	if (nr == LDB_SYSCALL_NR_FAULT)
		return "page fault";
	if (LDB_SYSCALL_IS_RING(nr))
		return (nr & 0xff) < NR_RING_NAMES ? ring_names[nr & 0xff] : "io_uring_enter: an operation";
	return nr < NR_CALLS && names[nr] ? names[nr] : "";
}

int64_t calls_number(const char *name)
{
	for (uint32_t nr = 0; nr < NR_CALLS; nr++)
		if (names[nr] && !strcmp(names[nr], name))
			return nr;
	return -1;
}

void calls_address(int family, const void *address, uint16_t port, char *text, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "?";

	inet_ntop(family, address, host, sizeof(host));
	snprintf(text, size, family == AF_INET6 ? "socket [%s]:%u" : "socket %s:%u", host, ntohs(port));
}

void calls_descriptor(const struct ldb_syscall_rec *r, char *text, size_t size)
{
	char name[25] = "";
	size_t len;

	/* The parts of the name are not adjacent in the record. */
	memcpy(name, &r->name0, 8);
	memcpy(name + 8, &r->name1, 8);
	memcpy(name + 16, &r->name2, 4);
	memcpy(name + 20, &r->name3, 4);
	len = strlen(name);
	switch (r->kind) {
	case LDB_FD_FILE:
		snprintf(text, size, "%s%s", name, len == 24 ? "..." : "");
		break;
	case LDB_FD_PIPE:
		snprintf(text, size, "a pipe");
		break;
	case LDB_FD_ANON:
		snprintf(text, size, "%s", *name == '[' ? name + 1 : name);
		text[strcspn(text, "]")] = '\0';
		break;
	case LDB_FD_UNIX:
		snprintf(text, size, "%ssocket%s%s%s", *name ? "" : "a ", *name ? " " : "", name,
			 len == 24 ? "..." : "");
		break;
	case LDB_FD_INET:
		calls_address(AF_INET, name, r->name1, text, size);
		break;
	case LDB_FD_INET6:
		calls_address(AF_INET6, name, r->name2, text, size);
		break;
	default:
		snprintf(text, size, "a socket");
	}
}
