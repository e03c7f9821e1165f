/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal declarations of ldb.ko, whose interface is uapi/linux/ldb.h.
 *
 * A session belongs to an open file.  It is bound to the thread group that joined it, or that was
 * named when the session was created.  From then on each thread of the group has a struct
 * ldb_thread, which is found by its task_struct; such threads are called observed.  A registered
 * thread also has a page.
 *
 * Locks, outermost first:
 *
 *	ldb_file.pausing	one file's session: pause, resume; may be held for seconds
 *	ldb_file.lock		one file's session: create, join, register
 *	ldb_arm_mutex		which probes are registered; may be held for seconds
 *	ldb_sessions_mutex	the list of bound sessions, and the accounts of users
 *	ldb_session.settings	the choice between the fast and the slow probe of switches
 *	ldb_threads_lock	raw, also taken inside the scheduler's locks: the table of
 *				threads, and which of them has which page
 *
 * The probes run with preemption disabled.  They take no lock but ldb_threads_lock, and that only
 * when a thread is created, exits, or calls exec().  Objects are freed an RCU grace period after the
 * probes can no longer find them.
 */
#ifndef LDB_INTERNAL_H
#define LDB_INTERNAL_H

#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/local.h>
#include <linux/ldb.h>
#include "compat.h"
#include "order.h"
#include "seq.h"

#define LDB_DURATION_MAX	(86400ULL * NSEC_PER_SEC)	/* far from 2^64 ticks */
#define LDB_THREAD_BITS		12	/* log2 of the buckets of the table of threads */
#define LDB_SEEN_BITS		9	/* log2: names of other tasks, written recently */
#define LDB_FLIGHT_BITS		11	/* log2: requests to block devices in progress */
#define LDB_SEEN_IRQ_BITS	6	/* log2: names of interrupts that a CPU wrote recently */

/* The compiler plugin defines these (ldb/abi.h). */
#define LDB_CANARY		0x4c44
#define LDB_GEN_ONE		0x10000
struct ldb_user_block {		/* a block of a thread, in its thread-local memory */
	u64	top;		/* the innermost frame's record, or 0 */
	u64	gen;
};

struct ldb_user_frame {
	u64	prev, gen, pc, ret;
};

/*
 * One CPU in one session.  Only this CPU writes the fields, except `waiting` and `arrived`
 * (wait.h).
 */
struct ldb_session_cpu {
	/* slots for the kernel's events, behind the ring's header */
	struct ldb_rec	*slots;
	u32		mask;		/* index mask of the ring */
	struct ldb_session *s;
	local_t		left;		/* slots until another quarter of the ring is full */
	local_t		quarters;	/* how many quarters have been filled */
	local_t		hidden, unreadable;
	/* observed threads that wait for this CPU; protected by the run queue's lock */
	int		waiting;
	atomic_t	arrived;	/* observed threads that migrated here while they waited */
	u64		seen_irqs[1 << LDB_SEEN_IRQ_BITS];
	/* when a thread of the session left this CPU to the idle task; else 0 */
	u64		idle_since;
	/*
	 * chain.c: `passes` is the session's when it was last read here; the other two are where the
	 * ring's head was when a change of it was noticed the last two times; the recorder has read
	 * everything before `read`
	 */
	u32		passes;
	u64		read, is_being_read;
	struct ldb_chain_costs {
		u64	switches, samples, nr_samples, idle;
	} costs;
};

/* A bio in progress: see disk.c. */
struct ldb_flight {
	void	*bio;			/* NULL: free */
	u64	begin;
	u32	tid, flags, bytes;
	char	name[16];
};

struct ldb_account;

struct ldb_session {
	/* These members, except dead, are constant while the probes can find the session. */
	struct ldb_session_cpu __percpu *cpu;
	u32		clock;		/* enum ldb_clock */
	bool		sees_others;	/* the creator has CAP_PERFMON */
	bool		dead;
	u32		all_events;	/* LDB_GROUP_* */
	u64		irq_min;	/* ticks: shorter interrupts are only counted */
	/*
	 * The following members may be set while the probes read them; any mixture of old and new
	 * values is valid.
	 */
	/*
	 * Context switches use the fast probe: SCHED events are recorded, the clock is the TSC,
	 * and no chains are read.
	 */
	bool		fast;
	u32		events;		/* LDB_GROUP_* recorded now; in a pause: at most PROCESS */
	u64		call_min;	/* ticks: shorter system calls are only counted */
	u8		calls[LDB_CALLS_MAX]; /* ldb_calls.how */
	/* chain.c sets nr_blocks last */
	struct ldb_chain_config {
		u32	nr_blocks, share;
		s64	offset[LDB_CHAIN_BLOCKS_MAX];
		u64	tick, saved, took_max, all_after;	/* ticks of the session's clock */
	} chains;
	struct mutex	settings;	/* protects fast */
	u32		passes;		/* number of LDB_IOC_CHAINS calls by the recorder */
	struct pid_namespace *ns;	/* the namespace of the tids; NULL: the initial one */
	struct mm_struct *mm;		/* memory of the program that joined; held by mmgrab() */
	/* identifies the thread group; its reference is held through task */
	struct signal_struct *signal;
	struct task_struct *task;
	u32		tgid;		/* number of the thread group in the initial namespace */

	/* The session's memory; memory.c describes when each page is allocated. */
	struct page	**pages;
	unsigned long	nr_pages;
	unsigned long	first_page;	/* index of the first thread page */
	unsigned long	ro_from;	/* no mapping can write the pages from here on */
	struct mm_struct *creator;	/* held by mmgrab() */
	const struct cred *cred;	/* the creator's credentials */
	struct ldb_info	info;		/* private copy of the info page */

	struct ldb_thread **slots;	/* the thread of each page; under ldb_threads_lock */
	u32		nr_registered;
	struct list_head threads;	/* ldb_threads_lock */
	bool		over;		/* no thread may be added; ldb_threads_lock */
	unsigned long	ended;		/* bit 0: the last thread has exited */

	struct irq_work	wake;
	wait_queue_head_t wait;
	unsigned long	ready;		/* bit 0: poll() returns POLLIN */

	/* entry in ldb_bound; read under RCU, written under ldb_sessions_mutex */
	struct list_head bound;

	/* limits.c */
	struct ldb_account *account;
	struct user_struct *user;
	unsigned long	nr_locked, nr_pinned; /* pages charged to user, and to creator */
	bool		leaving;

	struct rcu_work	free;
	struct ldb_flight flights[1 << LDB_FLIGHT_BITS];
	u64		seen[1 << LDB_SEEN_BITS]; /* hashes of names; races are harmless */
};

enum ldb_wait {
	LDB_WAIT_NOT,		/* the thread sleeps or runs */
	LDB_WAIT_COUNTED,	/* it is counted in `waiting` of its CPU */
	LDB_WAIT_ARRIVED,	/* it is counted in `arrived` of its CPU */
};

struct ldb_thread {
	struct hlist_node node;		/* entry in the table of threads; ldb_threads_lock */
	struct task_struct *task;	/* valid until its last switch */
	struct ldb_session *s;
	struct ldb_page	*page;		/* NULL: not registered; ldb_threads_lock */
	/* if there is a page: address of the thread's struct ldb_user_block, or 0 */
	u64		tls;
	/* if there is a page: the number to put into the low 16 bits of gen */
	u32		block;
	u32		page_nr;	/* number of the page + 1; 0: not registered */
	u32		tid;		/* as the program sees it */
	/* says whether the thread is on a CPU, as ldb_page.k_seq: see seq.h */
	u32		seq;
	u32		wait;		/* enum ldb_wait; protected by the lock of its run queue */
	/*
	 * number of short interrupts since the last interrupt that was recorded; written by the
	 * CPU on which the thread runs
	 */
	local_t		nr_short;
	u64		tsc_in, tsc_out; /* written by the probe of switches and by refresh() */
	/*
	 * The thread itself writes and reads the rest, up to `list`; ldb_threads_forget_calls() also
	 * writes called_at.
	 */
	/* code address and accessed address of its last page fault */
	u64		fault_pc, fault_addr;
	u64		called_at;	/* when its current system call began; 0: not known */
	u32		nr_short_calls;
	struct ldb_chain_seen {
		/*
		 * The next times at which the budgets allow reading the frames at a switch (paid),
		 * and at a sample (samples_paid).
		 */
		u64	paid, samples_paid;
		u64	next_all;	/* when all frames are to be emitted again */
		struct {
			u64 gen;	/* frames up to this generation have been emitted */
			/* generation of the innermost frame at the last reading; 0: none */
			u64 top;
		} seen[LDB_CHAIN_BLOCKS_MAX];
	} chain;
	struct list_head list;		/* entry in ldb_session.threads; ldb_threads_lock */
	struct llist_node dead;
	struct rcu_head	rcu;
};

/*
 * The state of a CPU, which the CPU writes at switches and in refresh(); for the counts see wait.h.
 */
struct ldb_cpu {
	int		gen;		/* `thread` is valid only if this equals ldb_hot.gen */
	int		waiting;	/* the sum over all sessions; may be too large */
	struct ldb_thread *thread;	/* the running task's, or NULL */
	struct task_struct *curr;	/* the running task; NULL: not known */
	atomic_t	arrived;	/* the second count of waiting threads, see wait.h */
};
DECLARE_PER_CPU_ALIGNED(struct ldb_cpu, ldb_cpu);

/* A cache line that each switch on the machine reads and that is rarely written. */
struct ldb_hot {
	atomic_t	gen;		/* counts changes that may make ldb_cpu.thread invalid */
	u64		filter;		/* bit n: the tgid of an observed group is n modulo 64 */
} ____cacheline_aligned;
extern struct ldb_hot ldb_hot;

extern struct hlist_head ldb_threads[1 << LDB_THREAD_BITS];
extern raw_spinlock_t ldb_threads_lock;
extern struct list_head ldb_bound;	/* sessions; ldb_sessions_mutex */
extern struct mutex ldb_arm_mutex, ldb_sessions_mutex;
extern struct workqueue_struct *ldb_wq;

/* param.c */
extern unsigned int ldb_max_mb, ldb_mlock_kb, ldb_max_sessions, ldb_max_user_sessions;
extern unsigned int ldb_max_user_rate, ldb_disarm_delay_ms, ldb_irq_min_ns;
extern bool ldb_arm_isolated, ldb_force_tsc;

struct ldb_file {
	struct mutex	pausing;	/* held during a pause or resume; taken before `lock` */
	struct mutex	lock;		/* held by CREATE, JOIN, REG, UNREG; at a resume's end */
	struct ldb_session *s;		/* set once; read without `lock` by ldb_order_session() */
};

/* session.c */
int ldb_session_create(struct ldb_file *f, struct ldb_create __user *arg);
int ldb_session_join(struct ldb_session *s);
void ldb_session_release(struct ldb_session *s);
long ldb_session_pause(struct ldb_session *s, bool pause);
void ldb_session_introduce(struct ldb_session *s);
int ldb_session_calls(struct ldb_session *s, const struct ldb_calls __user *arg);
void ldb_session_stats(struct ldb_session *s, struct ldb_session_stats *out);

/* limits.c */
int ldb_limits_enter(struct ldb_session *s);
int ldb_limits_charge(struct ldb_session *s, unsigned long nr_pages);
void ldb_limits_leaving(struct ldb_session *s);
void ldb_limits_leave(struct ldb_session *s);
void ldb_limits_exit(void);

/* memory.c */
int ldb_memory_create(struct ldb_session *s, const struct ldb_create *c);
void ldb_memory_free(struct ldb_session *s);
struct ldb_page *ldb_memory_thread_page(struct ldb_session *s, u32 slot);
int ldb_memory_mmap(struct ldb_session *s, struct vm_area_struct *vma);

/* thread.c */
int ldb_threads_init(void);
void ldb_threads_exit(void);
int ldb_thread_add(struct ldb_session *s, struct task_struct *p, u32 seq);
void ldb_thread_remove(struct ldb_thread *t);
void ldb_threads_remove_all(struct ldb_session *s);
void ldb_thread_detach_self(struct ldb_thread *t);
void ldb_thread_settle(struct ldb_thread *t);
void ldb_threads_refresh(struct ldb_session *s);
int ldb_thread_register(struct ldb_session *s, struct ldb_reg *reg);
int ldb_thread_unregister(struct ldb_session *s, u32 tid);
void ldb_threads_forget_calls(struct ldb_session *s);

/* probes.c */
int ldb_probes_init(void);
void ldb_probes_exit(void);
u32 ldb_probes_available(void);
int ldb_probes_get(u32 *events);
void ldb_probes_put(u32 events);

/* switch.c */
void ldb_probe_switch(void *unused, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state);

/* chain.c */
struct ldb_frame_seen;
bool ldb_chain_leaves(struct ldb_thread *t, struct ldb_session_cpu *sc, u64 now,
		      struct ldb_frame_seen *innermost);
void ldb_chain_at_tick(struct ldb_thread *t);
int ldb_session_chains(struct ldb_session *s, struct ldb_chains __user *arg);
void ldb_chain_choose_probe(struct ldb_session *s);

/* call.c */
void ldb_call_sleeps(struct ldb_thread *t, u64 at);

/* futex.c */
void ldb_futex_init(void);
void ldb_futex_exit(void);
int ldb_futex_arm(void);
void ldb_futex_disarm(void);
bool ldb_futex_usable(void);
bool ldb_futex_delivers(void);

/* traced.c */
void ldb_traced(void);

/* irq.c */
void ldb_irq_forget(void);

/* clock.c */
u32 ldb_clock_choose(u32 wanted);
u64 ldb_clock_hz(u32 clock);
void ldb_clock_measure(u32 clock, struct ldb_clock_sample *sample);

static __always_inline bool ldb_wants(const struct ldb_session *s, u32 group)
{
	return READ_ONCE(s->events) & group;
}

static __always_inline bool ldb_filter_passes(const struct task_struct *p)
{
	return READ_ONCE(ldb_hot.filter) >> (p->tgid & 63) & 1;
}

/* The caller has disabled preemption, or holds ldb_threads_lock. */
static __always_inline struct ldb_thread *ldb_thread_find(const struct task_struct *p)
{
	struct ldb_thread *t;

	hlist_for_each_entry_rcu_notrace(t, &ldb_threads[hash_ptr(p, LDB_THREAD_BITS)], node)
		if (t->task == p)
			return t;
	return NULL;
}

static __always_inline struct ldb_thread *ldb_observed(const struct task_struct *p)
{
	return likely(!ldb_filter_passes(p)) ? NULL : ldb_thread_find(p);
}

/*
 * Pairs with ldb_gen_bump(): searches after this load find at least the changes that were made
 * before the generation got the returned value.
 */
static __always_inline int ldb_gen(void)
{
	return ldb_order_gen(&ldb_hot.gen);
}

static inline void ldb_gen_bump(void)
{
	ldb_order_gen_bump(&ldb_hot.gen);
}

/* Returns the struct ldb_thread of current, or NULL if it is not observed. */
static __always_inline struct ldb_thread *ldb_observed_current(void)
{
	if (unlikely(this_cpu_read(ldb_cpu.gen) != ldb_gen()))
		return ldb_observed(current);
	return this_cpu_read(ldb_cpu.thread);
}

static __always_inline struct ldb_ring_hdr *ldb_ring(const struct ldb_session_cpu *sc)
{
	return (void *)sc->slots - LDB_RING_HDR_SIZE;
}

static inline long ldb_quarter(const struct ldb_session_cpu *sc)
{
	return (sc->mask + 1) / 4;
}

static inline u32 ldb_tid_of(const struct ldb_session *s, struct task_struct *p)
{
	return s->ns ? task_pid_nr_ns(p, s->ns) : p->pid;
}

#endif /* LDB_INTERNAL_H */
