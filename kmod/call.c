// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records system calls of observed threads.  A call in which a thread sleeps is recorded when the
 * thread leaves its CPU, which costs other programs nothing.  With LDB_GROUP_CALL_ALL, calls that
 * last long enough are recorded as well, by the tracepoints of all calls, which make the calls of
 * every program slower.
 *
 * The module determines what a descriptor refers to while the call is in progress.  It takes no lock
 * and no reference, because the probe runs inside the scheduler.  Preemption is off, so RCU does not
 * free files, inodes and names meanwhile.  The data of a socket has no such protection: it is copied
 * by accesses that may fail, and used only if the descriptor still refers to the same file
 * afterwards, because then the file, and its socket, existed all the time.
 */
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/magic.h>
#include <linux/net.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>
#include <net/af_unix.h>
#include <net/inet_sock.h>
#include <asm/syscall.h>
#include "event.h"
#include "probes.h"

#define NAME_BYTES	24

struct descriptor {
	u32	kind;			/* enum ldb_fd_kind; 0: none */
	union {
		char text[NAME_BYTES];
		u64 words[NAME_BYTES / 8];
	} name;
};

/* Copies a member of a structure that may have been freed.  False if it cannot be read. */
#define READ_CAREFULLY(to, from) \
	(!copy_from_kernel_nofault(&(to), &(from), sizeof(to)))

/* Copies a name, and zeroes the bytes after its end, so that they disclose nothing. */
static void copy_text(struct descriptor *d, const void *from)
{
	size_t n;

	if (copy_from_kernel_nofault(d->name.text, from, NAME_BYTES))
		d->name.text[0] = '\0';
	n = strnlen(d->name.text, NAME_BYTES);
	memset(d->name.text + n, 0, NAME_BYTES - n);
}

/* Usually only the server's socket of a connection is bound to a path: this socket, or its peer. */
static void name_unix(struct descriptor *d, struct sock *sk)
{
	struct unix_sock *u = (struct unix_sock *)sk;
	struct unix_address *addr = NULL;
	struct sock *peer = NULL;

	d->kind = LDB_FD_UNIX;
	if (!READ_CAREFULLY(addr, u->addr) || !READ_CAREFULLY(peer, u->peer))
		return;
	if (!addr && peer && !READ_CAREFULLY(addr, ((struct unix_sock *)peer)->addr))
		return;
	if (addr)
		copy_text(d, addr->name[0].sun_path);
}

static void name_inet(struct descriptor *d, struct sock *sk, u32 family, u16 port)
{
	struct in6_addr in6;
	__be32 in;

	if (family == AF_INET && READ_CAREFULLY(in, sk->sk_daddr)) {
		d->kind = LDB_FD_INET;
		d->name.words[0] = (__force u32)in;
		d->name.words[1] = port;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (family == AF_INET6 && READ_CAREFULLY(in6, sk->sk_v6_daddr)) {
		d->kind = LDB_FD_INET6;
		memcpy(d->name.words, &in6, sizeof(in6));
		d->name.words[2] = port;
	}
#endif
}

static void name_socket(struct descriptor *d, struct inode *inode)
{
	struct sock *sk = READ_ONCE(SOCKET_I(inode)->sk);
	unsigned short family;
	__be16 port;

	d->kind = LDB_FD_SOCKET;
	if (!sk || !READ_CAREFULLY(family, sk->sk_family) || !READ_CAREFULLY(port, sk->sk_dport))
		return;
	if (family == AF_UNIX)
		name_unix(d, sk);
	else if (port)
		name_inet(d, sk, family, (__force u16)port);
}

static void name_file(struct descriptor *d, struct file *file)
{
	struct inode *inode = READ_ONCE(file->f_inode);
	struct dentry *dentry = READ_ONCE(file->f_path.dentry);

	if (!inode || !dentry)
		return;
	if (S_ISSOCK(inode->i_mode)) {
		name_socket(d, inode);
		return;
	}
	d->kind = LDB_FD_FILE;
	copy_text(d, READ_ONCE(dentry->d_name.name));
	/* A pipe that pipe() made has no name. */
	if (S_ISFIFO(inode->i_mode) && !d->name.text[0])
		d->kind = LDB_FD_PIPE;
	else if (inode->i_sb->s_magic == ANON_INODE_FS_MAGIC)
		d->kind = LDB_FD_ANON;
}

static void name_descriptor(struct descriptor *d, u64 fd)
{
	struct files_struct *files = current->files;
	struct file *file = files && fd <= INT_MAX ? files_lookup_fd_raw(files, fd) : NULL;

	if (!file)
		return;
	name_file(d, file);
	if (files_lookup_fd_raw(files, fd) != file)
		*d = (struct descriptor){};
}

/*
 * Returns true if current is in a 64-bit system call.  Kernel threads make none, even if they
 * belong to the program's thread group.
 */
static bool is_in_call(long nr)
{
	return nr >= 0 && !in_compat_syscall() && !(current->flags & LDB_PF_NO_USER);
}

static noinline void emit_call(struct ldb_thread *t, u64 begin, u64 end, u32 flags, long result,
			       u32 nr_short)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(t->s);
	struct pt_regs *regs = task_pt_regs(current);
	long nr = syscall_get_nr(current, regs);
	struct descriptor d = {};
	unsigned long args[6];
	u64 idx, arg;
	u32 how, n;

	if (!is_in_call(nr))
		return;
	how = READ_ONCE(t->s->calls[nr & (LDB_CALLS_MAX - 1)]);
	syscall_get_arguments(current, regs, args);
	arg = LDB_SYSCALL_ARG(how) ? args[min_t(u32, LDB_SYSCALL_ARG(how), 5)] : 0;
	if (how & LDB_CALL_HAS_FD)
		name_descriptor(&d, args[0]);
	n = d.kind ? 3 : 2;
	idx = ldb_reserve(sc, n);
	ldb_put(sc, idx, end, t->tid, d.kind ? LDB_EV_SYSCALL_FD : LDB_EV_SYSCALL,
		flags | LDB_SYSCALL_ARG(how), begin, nr);
	ldb_put(sc, idx + 1, result, arg, LDB_EV_CONT + 1, nr_short, args[0], arg >> 32);
	if (d.kind)
		ldb_put(sc, idx + 2, d.name.words[0], d.name.words[2], LDB_EV_CONT + 2, d.kind,
			d.name.words[1], d.name.words[2] >> 32);
	if (ldb_written(sc, n))
		ldb_ring_quarter(sc);
}

/* Returns true if page faults are recorded and the thread is at the instruction of its last one. */
static bool is_in_fault(const struct ldb_thread *t)
{
	return ldb_wants(t->s, LDB_GROUP_FAULT) && t->fault_pc &&
	       t->fault_pc == instruction_pointer(task_pt_regs(current));
}

static void emit_fault_sleep(struct ldb_thread *t, u64 at)
{
	struct ldb_session_cpu *sc = ldb_this_cpu(t->s);
	u64 idx = ldb_reserve(sc, 2);

	ldb_put(sc, idx, at, t->tid, LDB_EV_SYSCALL, LDB_SYSCALL_F_SLEEP, at, LDB_SYSCALL_NR_FAULT);
	ldb_put(sc, idx + 1, 0, 0, LDB_EV_CONT + 1, 0, t->fault_addr, 0);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

/* Called when current, the observed thread t, leaves its CPU to sleep; `at` is the time. */
noinline void ldb_call_sleeps(struct ldb_thread *t, u64 at)
{
	if (syscall_get_nr(current, task_pt_regs(current)) >= 0)
		emit_call(t, at, at, LDB_SYSCALL_F_SLEEP, 0, 0);
	else if (is_in_fault(t))
		emit_fault_sleep(t, at);
}

static __always_inline struct ldb_thread *calling_thread(void)
{
	struct ldb_thread *t = ldb_observed_current();

	return unlikely(t) && ldb_wants(t->s, LDB_GROUP_CALL_ALL) ? t : NULL;
}

void ldb_probe_sys_enter(void *unused, struct pt_regs *regs, long nr)
{
	struct ldb_thread *t;

	preempt_disable_notrace();
	t = calling_thread();
	if (t)
		WRITE_ONCE(t->called_at, ldb_clock_now(t->s->clock));
	preempt_enable_notrace();
}

static void leaves(struct ldb_thread *t, long result)
{
	u64 begin = READ_ONCE(t->called_at), now = ldb_clock_now(t->s->clock);

	if (!begin)
		return;
	WRITE_ONCE(t->called_at, 0);
	if (now - begin < READ_ONCE(t->s->call_min)) {
		t->nr_short_calls += t->nr_short_calls < U16_MAX;
		return;
	}
	emit_call(t, begin, now, 0, result, t->nr_short_calls);
	t->nr_short_calls = 0;
}

void ldb_probe_sys_exit(void *unused, struct pt_regs *regs, long result)
{
	struct ldb_thread *t;

	preempt_disable_notrace();
	t = calling_thread();
	if (t)
		leaves(t, result);
	preempt_enable_notrace();
}
