/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the parts of the kernel's structures that the programs use.  Only names and types
 * matter: the offset of a field in the running kernel is filled in when the programs are loaded
 * (CO-RE).  A field that some kernels lack is tested with bpf_core_field_exists() where it is used.
 */
#ifndef RECORD_BPF_KERNEL_H
#define RECORD_BPF_KERNEL_H

#include <stdbool.h>
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define __always_inline	inline __attribute__((always_inline))
#define noinline	__attribute__((noinline))

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

enum pid_type {
	PIDTYPE_PID,
	PIDTYPE_TGID,
	PIDTYPE_MAX = 4,
};

struct signal_struct {
	struct {
		int counter;
	} live;
	struct pid *pids[PIDTYPE_MAX];
};

struct thread_info {
	u32 cpu;
};

struct task_struct;

struct rq {
	struct task_struct *curr;
	/* the run queue's clock, updated at each switch, wake-up and tick */
	u64 clock;
	u64 prev_steal_time;	/* ns that the hypervisor has taken, as of the last tick */
	u64 prev_steal_time_rq;	/* the same, as of the last update of clock */
};

struct sched_info {
	/* the time at which the task last came to a CPU, in the run queue's clock */
	u64 last_arrival;
};

struct cfs_rq {
	struct rq *rq;
};

/* The pointer exists only with CONFIG_FAIR_GROUP_SCHED, which is usual. */
struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	struct thread_info thread_info;
	struct sched_entity se;
	struct sched_info sched_info;
	unsigned int __state;
	int on_cpu, on_rq;
	unsigned int flags;
	int pid, tgid;
	int pagefault_disabled;
	struct pid *thread_pid;
	struct signal_struct *signal;
	struct files_struct *files;
	char comm[16];
};

/* Kernels before 5.16 have this field. */
struct task_struct___cpu {
	unsigned int cpu;
};

/* Kernels from 6.2 to 6.14 have this structure. */
struct pcpu_hot {
	int preempt_count;
};

struct irqaction {
	const char *name;
};

struct pt_regs {
	unsigned long ip;
	/* In a system call: its number, its result, its arguments. */
	unsigned long orig_ax, ax, di, si, dx, r10, r8, r9;
};

/* Structures on the way from a descriptor to its file, pipe or socket. */

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct super_block {
	unsigned long s_magic;
};

struct inode {
	unsigned short i_mode;
	struct super_block *i_sb;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
	void *private_data;		/* if the file is a socket: its struct socket */
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct sock_common {
	unsigned short skc_family;
	unsigned short skc_dport;	/* skc_dport and the addresses are in network byte order */
	u32 skc_daddr;
	struct {
		u64 at[2];
	} skc_v6_daddr;
};

struct sock {
	struct sock_common __sk_common;
};

struct socket {
	struct sock *sk;
};

struct sockaddr_un {
	unsigned short sun_family;
	char sun_path[108];
};

struct unix_address {
	int len;
	struct sockaddr_un name[];
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

/* Structures of requests to block devices. */

struct gendisk {
	char disk_name[32];
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	unsigned char bi_status;
	struct bvec_iter bi_iter;
};

struct request {
	struct bio *bio;
};

#pragma clang attribute pop

/* This is the context of the iterator over tasks. */
struct bpf_iter__task {
	void *meta;
	struct task_struct *task;
};

/*
 * This function of the kernel exists since Linux 6.2.  Through the pointer that it returns, a
 * program reads the object by loads, and not by calls of a helper.
 */
extern void *bpf_rdonly_cast(const void *obj, u32 type) __ksym __weak;

/* Bits of preempt_count. */
#define PREEMPT_OFFSET		0x00000001U
#define SOFTIRQ_OFFSET		0x00000100U
#define HARDIRQ_MASK		0x000f0000U

/* Bits of the state of a task. */
#define TASK_INTERRUPTIBLE	0x00000001U
#define TASK_STOPPED_BIT	0x00000004U
#define TASK_TRACED_BIT		0x00000008U
#define TASK_DEADS		0x000000b0U	/* EXIT_DEAD, EXIT_ZOMBIE, TASK_DEAD */
#define TASK_PARKED		0x00000040U
#define TASK_NOLOAD		0x00000400U

/* Bits of task_struct.flags. */
#define TASK_NO_USER		0x00200010U	/* a kernel thread, or a thread of io_uring */
#define TASK_KERNEL		0x00200000U	/* a kernel thread */

/* Values of bio.bi_opf. */
#define BIO_OP_MASK		0xffU
#define BIO_READ		0
#define BIO_WRITE		1
#define BIO_FLUSH		2

/* File types of stat(2), a file system of statfs(2), and address families: these do not change. */
#define MODE_TYPE		0170000
#define MODE_FIFO		0010000
#define MODE_SOCKET		0140000
#define MAGIC_ANON_INODES	0x09041934
#define FAMILY_UNIX		1
#define FAMILY_INET		2
#define FAMILY_INET6		10

static __always_inline u32 task_cpu(struct task_struct *p)
{
	if (bpf_core_field_exists(p->thread_info.cpu))
		return p->thread_info.cpu;
	return ((struct task_struct___cpu *)p)->cpu;
}

static __always_inline bool knows_rq(struct task_struct *p)
{
	return bpf_core_field_exists(p->se.cfs_rq) && bpf_core_field_exists(struct cfs_rq, rq);
}

/*
 * Returns the run queue of p's CPU, even while p sleeps, or is not in the fair scheduling class;
 * NULL if it is not known.
 */
static __always_inline struct rq *task_rq(struct task_struct *p)
{
	return knows_rq(p) ? p->se.cfs_rq->rq : NULL;
}

#endif
