// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests names of system calls, and the words for their descriptors. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/names/calls.h"
#include "record/names/fd.h"
#include "record/names/map.h"
#include "tap.h"

static struct ldb_syscall_rec of_kind(unsigned kind, const char *name)
{
	struct ldb_syscall_rec r = { .kind = kind };
	char bytes[24] = "";

	memcpy(bytes, name, strnlen(name, sizeof(bytes)));
	memcpy(&r.name0, bytes, 8);
	memcpy(&r.name1, bytes + 8, 8);
	memcpy(&r.name2, bytes + 16, 4);
	memcpy(&r.name3, bytes + 20, 4);
	return r;
}

static const char *words(struct ldb_syscall_rec r)
{
	static char text[64];

	calls_descriptor(&r, text, sizeof(text));
	return text;
}

static struct ldb_syscall_rec of_peer(unsigned kind, int family, const char *address, uint16_t port)
{
	struct ldb_syscall_rec r = { .kind = kind };
	uint64_t at[2] = { 0 };

	if (inet_pton(family, address, at) != 1)
		bail_out("inet_pton");
	r.name0 = at[0];
	r.name1 = family == AF_INET6 ? at[1] : htons(port);
	r.name2 = family == AF_INET6 ? htons(port) : 0;
	return r;
}

int main(void);

static void check_words(void)
{
	is_str(words(of_kind(LDB_FD_FILE, "svc.dat")), "svc.dat", "a file");
	is_str(words(of_kind(LDB_FD_FILE, "abcdefghijklmnopqrstuvw")), "abcdefghijklmnopqrstuvw",
	       "a name that just fits");
	is_str(words(of_kind(LDB_FD_FILE, "abcdefghijklmnopqrstuvwxyz")), "abcdefghijklmnopqrstuvwx...",
	       "one that was cut says so");
	is_str(words(of_kind(LDB_FD_PIPE, "")), "a pipe", "a pipe");
	is_str(words(of_kind(LDB_FD_ANON, "[eventfd]")), "eventfd", "an event counter");
	is_str(words(of_kind(LDB_FD_ANON, "")), "", "a thing without a name");
	is_str(words(of_kind(LDB_FD_SOCKET, "")), "a socket", "a socket of another kind");
	is_str(words(of_kind(LDB_FD_UNIX, "")), "a socket", "one of a pair");
	is_str(words(of_kind(LDB_FD_UNIX, "/run/db.sock")), "socket /run/db.sock", "one with a path");
	is_str(words(of_peer(LDB_FD_INET, AF_INET, "10.1.2.3", 5432)), "socket 10.1.2.3:5432", "a peer");
	is_str(words(of_peer(LDB_FD_INET6, AF_INET6, "2001:db8::1", 80)), "socket [2001:db8::1]:80",
	       "one of the new protocol");
}

static void is_named(struct fd_names *names, int fd, const char *name)
{
	fd_names_forget(names);
	is_str(fd_names_get(names, fd), name, name);
	close(fd);
	is_str(fd_names_get(names, fd), name, "it is asked for once");
	fd_names_forget(names);
	is_str(fd_names_get(names, fd), "", "it is closed");
}

/* Names files that this process has open. */
static void check_own(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct fd_names *names = fd_names_alloc(getpid());
	int ends[2], server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t size = sizeof(at);
	char peer[64];

	if (!names || bind(server, (void *)&at, size) || getsockname(server, (void *)&at, &size) ||
	    listen(server, 1) || connect(client, (void *)&at, size) || pipe(ends))
		bail_out("descriptors");
	snprintf(peer, sizeof(peer), "socket 127.0.0.1:%u", ntohs(at.sin_port));
	is_named(names, client, peer);
	close(server);
	is_named(names, ends[0], "a pipe");
	close(ends[1]);
	is_named(names, eventfd(0, 0), "eventfd");
	is_named(names, inotify_init1(0), "inotify");
	is_named(names, memfd_create("svc.dat", 0), "memfd:svc.dat");
	is_named(names, open("/dev/null", O_RDONLY), "null");
	is_str(fd_names_get(names, -1), "", "no descriptor");
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		bail_out("socketpair");
	is_named(names, ends[0], "a socket");
	fd_names_free(names);
}

/* Names files that this process has mapped. */
static void check_mapped(void)
{
	struct map_names *names = map_names_alloc(getpid());
	int fd = memfd_create("data.bin", 0);
	char *none = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p;

	if (!names || fd < 0 || ftruncate(fd, 8192))
		bail_out("a file");
	p = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || none == MAP_FAILED)
		bail_out("mmap");
	is_str(map_names_get(names, (uintptr_t)p), "memfd:data.bin", "the begin of a file");
	is_str(map_names_get(names, (uintptr_t)p + 8191), "memfd:data.bin", "its end");
	is_str(map_names_get(names, (uintptr_t)none), "", "memory of no file");
	is_str(map_names_get(names, 4096), "", "nothing is there");
	is_str(map_names_get(names, (uintptr_t)main), "record-calls", "the program's code");
	map_names_free(names);
	close(fd);
}

int main(void)
{
	uint8_t calls[LDB_CALLS_MAX] = { 0 };
	unsigned nr_unknown = 0;

	calls_describe(calls);
	is_str(calls_name(SYS_fdatasync), "fdatasync", "a name by its number");
	is_str(calls_name(SYS_clock_nanosleep), "clock_nanosleep", "another one");
	is_str(calls_name(LDB_CALLS_MAX), "", "a number that no call has");
	is_str(calls_name(UINT32_MAX - 1), "", "nor that");
	is_str(calls_name(LDB_SYSCALL_NR_FAULT), "page fault", "what is none");
	is_str(calls_name(LDB_SYSCALL_NR_RING(IORING_OP_RECV)), "io_uring_enter: recv", "an operation of a ring");
	is_str(calls_name(LDB_SYSCALL_NR_RING(IORING_OP_SENDMSG_ZC)), "io_uring_enter: sendmsg", "the last that this header has");
	is_str(calls_name(LDB_SYSCALL_NR_RING(150)), "io_uring_enter: an operation", "one that is not known");
	is_int(calls_number("fdatasync"), SYS_fdatasync, "a number by its name");
	is_int(calls_number("no_such_call"), -1, "there is none");
	is_int(calls[SYS_fdatasync], LDB_CALL_HAS_FD, "it has a descriptor");
	is_int(calls[SYS_read], LDB_CALL_HAS_FD | 2, "and a length");
	is_int(calls[SYS_ppoll], 0, "another has neither");
	is_int(calls[SYS_mmap], 1, "one has a length alone");
	for (unsigned nr = 0; nr < LDB_CALLS_MAX; nr++)
		nr_unknown += calls[nr] && !*calls_name(nr);
	is_int(nr_unknown, 0, "what is described has a name");
	check_words();
	check_own();
	check_mapped();
	return done();
}
