/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records system calls of the program's threads.  A call in which a thread sleeps is recorded when
 * the thread leaves its CPU, which costs other programs nothing.  Other calls, and the durations of
 * all calls, need the tracepoints of all system calls, which slow down every program a little; they
 * are attached only if the user requests them.
 *
 * The name of the file behind a descriptor is read in the kernel during the call, because later the
 * same number may refer to another file.
 */
#ifndef RECORD_BPF_CALLS_H
#define RECORD_BPF_CALLS_H

#include "arch/cpu.h"
#include "who.h"

struct call {
	u64 begin, end;
	u64 result, arg0, arg;
	u32 nr, flags, nr_short;
	u32 kind;		/* enum ldb_fd_kind; 0: there is no open descriptor */
	union {
		char text[32];	/* the record has only 24 bytes of the text */
		u64 words[4];
	} name;
};

static __always_inline void name_unix(struct call *c, struct sock *sk)
{
	struct unix_address *addr = NULL;
	struct sock *peer = NULL;

	c->kind = LDB_FD_UNIX;
	if (!bpf_core_field_exists(struct unix_address, name))
		return;
	/* A connection has the path of the server's socket, which is this socket or its peer. */
	bpf_core_read(&addr, sizeof(addr), &((struct unix_sock *)sk)->addr);
	bpf_core_read(&peer, sizeof(peer), &((struct unix_sock *)sk)->peer);
	if (!addr && peer)
		bpf_core_read(&addr, sizeof(addr), &((struct unix_sock *)peer)->addr);
	if (addr)
		bpf_probe_read_kernel_str(c->name.text, 25, addr->name[0].sun_path);
}

static __always_inline void name_socket(struct call *c, struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);
	u16 port = BPF_CORE_READ(sk, __sk_common.skc_dport);

	c->kind = LDB_FD_SOCKET;
	if (family == FAMILY_UNIX) {
		name_unix(c, sk);
	} else if (family == FAMILY_INET && port) {
		c->kind = LDB_FD_INET;
		c->name.words[0] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
		c->name.words[1] = port;
	} else if (family == FAMILY_INET6 && port &&
		   bpf_core_field_exists(struct sock_common, skc_v6_daddr)) {
		c->kind = LDB_FD_INET6;
		bpf_core_read(&c->name, 16, &sk->__sk_common.skc_v6_daddr);
		c->name.words[2] = port;
	}
}

static __always_inline void name_file(struct call *c, struct file *file)
{
	u32 type = BPF_CORE_READ(file, f_inode, i_mode) & MODE_TYPE;

	if (type == MODE_SOCKET) {
		name_socket(c, file);
		return;
	}
	bpf_probe_read_kernel_str(c->name.text, 25, BPF_CORE_READ(file, f_path.dentry, d_name.name));
	c->kind = LDB_FD_FILE;
	/* A pipe without a name was made by pipe(). */
	if (type == MODE_FIFO && !c->name.text[0])
		c->kind = LDB_FD_PIPE;
	else if (BPF_CORE_READ(file, f_inode, i_sb, s_magic) == MAGIC_ANON_INODES)
		c->kind = LDB_FD_ANON;
}

static __always_inline void name_descriptor(struct call *c, struct task_struct *p)
{
	struct fdtable *table = BPF_CORE_READ(p, files, fdt);
	struct file *file = NULL, **files;
	u32 fd = c->arg0;

	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return;
	files = BPF_CORE_READ(table, fd);
	if (files)
		bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	if (file)
		name_file(c, file);
}

static __always_inline u64 argument(struct pt_regs *regs, u32 which)
{
	u64 value = 0;

	if (which == 1)
		bpf_core_read(&value, sizeof(value), &REGS_ARG1(regs));
	else if (which == 2)
		bpf_core_read(&value, sizeof(value), &REGS_ARG2(regs));
	else if (which == 3)
		bpf_core_read(&value, sizeof(value), &REGS_ARG3(regs));
	else if (which == 4)
		bpf_core_read(&value, sizeof(value), &REGS_ARG4(regs));
	return value;
}

/*
 * Reads what is recorded of the system call that p executes.  Returns false if p executes none.
 */
static __always_inline bool read_call(struct call *c, struct task_struct *p)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(p);
	u8 how;

	bpf_core_read(&c->nr, sizeof(c->nr), &REGS_CALL(regs));
	if ((int)c->nr < 0)
		return false;
	how = config.calls[c->nr & (LDB_CALLS_MAX - 1)];
	c->flags |= LDB_SYSCALL_ARG(how);
	bpf_core_read(&c->arg0, sizeof(c->arg0), &REGS_ARG0(regs));
	c->arg = argument(regs, LDB_SYSCALL_ARG(how));
	if (!(c->flags & LDB_SYSCALL_F_SLEEP))
		bpf_core_read(&c->result, sizeof(c->result), &REGS_RESULT(regs));
	if (how & LDB_CALL_HAS_FD)
		name_descriptor(c, p);
	return true;
}

static __always_inline void write_call(const struct call *c, u32 tid)
{
	u32 nr = c->kind ? 3 : 2;
	char *ring = this_ring();
	u64 idx;

	if (!ring)
		return;
	idx = reserve(ring, nr);
	put(ring, idx, c->end, tid, c->kind ? LDB_EV_SYSCALL_FD : LDB_EV_SYSCALL, c->flags, c->begin,
	    c->nr);
	put(ring, idx + 1, c->result, c->arg, LDB_EV_CONT + 1, c->nr_short, c->arg0, c->arg >> 32);
	if (c->kind)
		put(ring, idx + 2, c->name.words[0], c->name.words[2], LDB_EV_CONT + 2, c->kind,
		    c->name.words[1], c->name.words[2] >> 32);
}

/* Emits the system call that p executes.  m is the state of p, or NULL. */
static noinline void emit_call(struct task_struct *p, struct member *m, u64 begin, u64 end,
			       u32 flags)
{
	struct call c = { .begin = begin, .end = end, .flags = flags };

	if (!read_call(&c, p))
		return;
	if (m && !(flags & LDB_SYSCALL_F_SLEEP))
		c.nr_short = m->nr_short_calls;
	write_call(&c, member_tid(p, m));
}

/*
 * Emits the page fault in which p sleeps, if there is one: the registers are then those of the
 * instruction that faulted last.
 */
static noinline void emit_fault_sleep(struct task_struct *p, struct member *m, u64 now)
{
	struct call c = { .begin = now, .end = now, .nr = LDB_SYSCALL_NR_FAULT,
			  .flags = LDB_SYSCALL_F_SLEEP };
	struct pt_regs *regs = (void *)bpf_task_pt_regs(p);
	long call = 0;
	u64 pc = 0;

	if (!m || !m->fault_pc)
		return;
	bpf_core_read(&call, sizeof(call), &REGS_CALL(regs));
	bpf_core_read(&pc, sizeof(pc), &REGS_PC(regs));
	if (call >= 0 || pc != m->fault_pc)
		return;
	c.arg0 = m->fault_addr;
	write_call(&c, member_tid(p, m));
}

/* Called when p leaves its CPU to sleep. */
static __always_inline void sleeps_in_call(struct task_struct *p, struct member *m, u64 now)
{
	if (!config.has_calls || p->flags & TASK_NO_USER)
		return;
	emit_fault_sleep(p, m, now);
	emit_call(p, m, now, now, LDB_SYSCALL_F_SLEEP);
}

SEC("tp_btf/sys_enter")
int ldb_sys_enter(u64 *ctx __attribute__((unused)))
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct member *m;

	if (!is_observed(p))
		return 0;
	m = member_of(p);
	if (m)
		m->called_at = now_ns();
	return 0;
}

SEC("tp_btf/sys_exit")
int ldb_sys_exit(u64 *ctx __attribute__((unused)))
{
	struct task_struct *p = bpf_get_current_task_btf();
	struct member *m;
	u64 begin, now;

	if (!is_observed(p))
		return 0;
	m = member_of(p);
	begin = m ? m->called_at : 0;
	if (!begin)
		return 0;
	m->called_at = 0;
	now = now_ns();
	if (now - begin >= config.call_min_ns) {
		emit_call(p, m, begin, now, 0);
		m->nr_short_calls = 0;
	} else if (m->nr_short_calls < 0xffff) {
		m->nr_short_calls++;
	}
	return 0;
}

#endif
