// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records calls of the kernel's futex functions, which ftrace intercepts at their entry.
 *
 * Filters are set when the module is loaded and freed when it is unloaded: if a filter is set again
 * after it was freed, some kernels use freed memory.  All functions share one struct ftrace_ops,
 * because unregistering each one takes a long grace period.  One of the functions, ldb_traced(),
 * belongs to the module, which calls it to find out whether calls are traced.
 */
#include <linux/ftrace.h>
#include <linux/sched/task_stack.h>
#include <linux/futex.h>
#include <linux/kallsyms.h>
#include <linux/uaccess.h>
#include <asm/syscall.h>
#include "event.h"

#define WAITV_MAX	8	/* addresses of one futex_waitv() that are recorded */

enum kind { WAIT, WAKE, LOCK_PI, UNLOCK_PI, WAIT_MULTIPLE, REQUEUE, WAKE_OP, WAIT_REQUEUE_PI };

struct function {
	const char	*name;
	unsigned long	ip;	/* stored at its first call */
};

static struct function functions[] = {
	[WAIT]			= { "futex_wait" },
	[WAKE]			= { "futex_wake" },
	[LOCK_PI]		= { "futex_lock_pi" },
	[UNLOCK_PI]		= { "futex_unlock_pi" },
	[WAIT_MULTIPLE]		= { "futex_wait_multiple" },
	[REQUEUE]		= { "futex_requeue" },
	[WAKE_OP]		= { "futex_wake_op" },
	[WAIT_REQUEUE_PI]	= { "futex_wait_requeue_pi" },
};

static bool usable;	/* constant after init: there are functions to trace */
static bool traced;

/* Returns the index of the function at ip, or -1. */
static noinline int learn_address(unsigned long ip)
{
	char name[KSYM_SYMBOL_LEN];
	unsigned int i;

	sprint_symbol_no_offset(name, ip);
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (strcmp(name, functions[i].name))
			continue;
		WRITE_ONCE(functions[i].ip, ip);
		return i;
	}
	return -1;
}

static __always_inline int kind_of(unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		if (READ_ONCE(functions[i].ip) == ip)
			return i;
	return learn_address(ip);
}

/* Reads the futex word, and the word after the next one, where glibc stores a mutex's owner. */
static __always_inline bool read_words(u64 uaddr, u32 *word, u32 *owner)
{
	const u32 __user *p = (void __user *)uaddr;
	bool ok = false;

	ldb_nofault_begin();
	if (user_access_begin(p, 3 * sizeof(*p))) {
		unsafe_get_user(*word, p, fault);
		unsafe_get_user(*owner, p + 2, fault);
		ok = true;
fault:
		user_access_end();
	}
	ldb_nofault_end();
	return ok;
}

static __always_inline void emit_wait(struct ldb_thread *t, u32 op, u64 uaddr, u32 value, u64 now)
{
	struct ldb_session *s = t->s;
	struct ldb_session_cpu *sc = ldb_this_cpu(s);
	u32 word = 0, owner = 0, flags = op;
	u64 idx;

	if (likely(read_words(uaddr, &word, &owner))) {
		flags |= LDB_FUTEX_F_WORDS;
	} else {
		word = 0;
		owner = 0;
	}
	idx = ldb_reserve(sc, 2);
	ldb_put(sc, idx, now, t->tid, LDB_EV_FUTEX_WAIT, flags, uaddr, value);
	ldb_put(sc, idx + 1, 0, word, LDB_EV_CONT + 1, 0, 0, owner);
	if (ldb_written(sc, 2))
		ldb_ring_quarter(sc);
}

static __always_inline void emit_wake(struct ldb_thread *t, u32 op, u64 uaddr, u32 nr, u64 now)
{
	ldb_emit(ldb_this_cpu(t->s), now, t->tid, LDB_EV_FUTEX_WAKE, op, uaddr, nr);
}

/*
 * Records a futex_waitv().  The layout of futex_wait_multiple()'s array is private to the kernel, so
 * the program's array is read again; its address is still in the registers of the system call.
 */
static noinline void emit_waitv(struct ldb_thread *t, u64 now)
{
	const struct futex_waitv __user *v;
	unsigned long args[6];
	struct futex_waitv w[WAITV_MAX];
	unsigned int i, nr;

	syscall_get_arguments(current, task_pt_regs(current), args);
	v = (void __user *)args[0];
	nr = min_t(unsigned long, args[1], WAITV_MAX);
	ldb_nofault_begin();
	if (__copy_from_user_inatomic(w, v, access_ok(v, nr * sizeof(*w)) ? nr * sizeof(*w) : 0))
		nr = 0;
	ldb_nofault_end();
	if (!access_ok(v, nr * sizeof(*w)))
		return;
	for (i = 0; i < nr; i++)
		emit_wait(t, LDB_FUTEX_WAITV, w[i].uaddr, w[i].val, now);
}

/* Returns true if ip is at the entry of ldb_traced(), which may begin with endbr. */
static __always_inline bool is_own(unsigned long ip)
{
	return ip - (unsigned long)ldb_traced < 16;
}

static noinline void entered_slow(struct ldb_thread *t, unsigned long ip, struct ftrace_regs *fregs)
{
	u64 uaddr = ldb_ftrace_arg(fregs, 0), now;

	if (unlikely(is_own(ip))) {
		WRITE_ONCE(traced, true);
		return;
	}
	now = ldb_clock_now(t->s->clock);
	switch (kind_of(ip)) {
	case WAIT:
		emit_wait(t, LDB_FUTEX_PLAIN, uaddr, ldb_ftrace_arg(fregs, 2), now);
		break;
	case WAKE:
		emit_wake(t, LDB_FUTEX_PLAIN, uaddr, ldb_ftrace_arg(fregs, 2), now);
		break;
	case LOCK_PI:
		emit_wait(t, LDB_FUTEX_PI, uaddr, 0, now);
		break;
	case UNLOCK_PI:
		emit_wake(t, LDB_FUTEX_PI, uaddr, 1, now);
		break;
	case WAIT_MULTIPLE:
		emit_waitv(t, now);
		break;
	case REQUEUE:
		emit_wake(t, LDB_FUTEX_REQUEUE, uaddr,
			  ldb_ftrace_arg(fregs, LDB_FUTEX_REQUEUE_NR_WAKE), now);
		break;
	case WAKE_OP:
		emit_wake(t, LDB_FUTEX_WAKE_OP, uaddr, ldb_ftrace_arg(fregs, 3), now);
		break;
	case WAIT_REQUEUE_PI:
		emit_wait(t, LDB_FUTEX_REQUEUE, uaddr, ldb_ftrace_arg(fregs, 2), now);
		break;
	}
}

/* Handles the two most frequent functions inline if the clock is the TSC. */
static __always_inline void entered_usual(struct ldb_thread *t, unsigned long ip,
					  struct ftrace_regs *fregs)
{
	u64 uaddr = ldb_ftrace_arg(fregs, 0);

	if (likely(t->s->clock == LDB_CLOCK_TSC)) {
		if (ip == READ_ONCE(functions[WAIT].ip)) {
			emit_wait(t, LDB_FUTEX_PLAIN, uaddr, ldb_ftrace_arg(fregs, 2),
				  ldb_clock_tsc());
			return;
		}
		if (ip == READ_ONCE(functions[WAKE].ip)) {
			emit_wake(t, LDB_FUTEX_PLAIN, uaddr, ldb_ftrace_arg(fregs, 2),
				  ldb_clock_tsc());
			return;
		}
	}
	entered_slow(t, ip, fregs);
}

static void notrace entered(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			    struct ftrace_regs *fregs)
{
	struct ldb_thread *t;

	preempt_disable_notrace();
	t = ldb_observed_current();
	if (unlikely(t) && ldb_wants(t->s, LDB_GROUP_FUTEX))
		entered_usual(t, ip, fregs);
	else if (unlikely(is_own(ip)))
		WRITE_ONCE(traced, true);
	preempt_enable_notrace();
}

static struct ftrace_ops ops = {
	.func = entered,
};

static bool add_filter(const char *name)
{
	return !ftrace_set_filter(&ops, (unsigned char *)name, strlen(name), 0);
}

void ldb_futex_init(void)
{
	unsigned int i;

	if (!LDB_HAVE_FTRACE_ARGS) {
		pr_info("ldb: this kernel's ftrace gives no arguments: no futex events\n");
		return;
	}
	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		if (!add_filter(functions[i].name))
			pr_info("ldb: cannot trace %s(): its futex events will be missing\n",
				functions[i].name);
		else
			usable = true;	/* an empty filter would mean all functions */
	}
	if (usable && !add_filter("ldb_traced")) {
		pr_info("ldb: cannot trace its own function: no futex events\n");
		usable = false;
	}
}

void ldb_futex_exit(void)
{
	if (LDB_HAVE_FTRACE_ARGS)
		ftrace_free_filter(&ops);
}

bool ldb_futex_usable(void)
{
	return usable;
}

/* This succeeds even while ftrace is switched off. */
int ldb_futex_arm(void)
{
	return register_ftrace_function(&ops);
}

void ldb_futex_disarm(void)
{
	unregister_ftrace_function(&ops);
}

/* Returns true if calls are traced now.  Called after ldb_futex_arm(), with ldb_arm_mutex held. */
bool ldb_futex_delivers(void)
{
	WRITE_ONCE(traced, false);
	ldb_traced();
	return READ_ONCE(traced);
}
