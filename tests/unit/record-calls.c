// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests names of system calls, and the words for their descriptors. */
#include <arpa/inet.h>
#include <string.h>
#include <sys/syscall.h>

#include "record/calls.h"
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

int main(void)
{
	uint8_t calls[BPF_CALLS_MAX] = { 0 };
	unsigned nr_unknown = 0;

	calls_describe(calls);
	is_str(calls_name(SYS_fdatasync), "fdatasync", "a name by its number");
	is_str(calls_name(SYS_clock_nanosleep), "clock_nanosleep", "another one");
	is_str(calls_name(BPF_CALLS_MAX), "", "a number that no call has");
	is_str(calls_name(UINT32_MAX), "", "nor that");
	is_int(calls[SYS_fdatasync], BPF_CALL_HAS_FD, "it has a descriptor");
	is_int(calls[SYS_read], BPF_CALL_HAS_FD | 2, "and a length");
	is_int(calls[SYS_ppoll], 0, "another has neither");
	is_int(calls[SYS_mmap], 1, "one has a length alone");
	for (unsigned nr = 0; nr < BPF_CALLS_MAX; nr++)
		nr_unknown += calls[nr] && !*calls_name(nr);
	is_int(nr_unknown, 0, "what is described has a name");
	check_words();
	return done();
}
