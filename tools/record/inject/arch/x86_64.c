// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements inject/regs.h.  The signal frame is that of arch/x86/kernel/signal_64.c in Linux. */
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <ldb/control.h>
#include "record/inject/regs.h"

#define CS_64BIT	0x33
#define FLAGS_OFF	(0x400 | 0x100)	/* direction flag and single-step flag */
#define CALL_SIZE	2		/* bytes of a syscall instruction */
/* Results with which the kernel marks an interrupted call before it restarts it; linux/errno.h */
#define ERESTARTSYS	512
#define ERESTARTNOINTR	513
#define ERESTARTNOHAND	514
#define ERESTART_RESTARTBLOCK 516

/* The frame of asm/sigcontext.h, which cannot be included together with sys/ucontext.h. */
#define XSTATE_MAGIC1	0x46505853U
#define XSTATE_MAGIC2	0x46505845U
#define XSTATE_SW	464		/* offset of struct xstate_sw in the FPU's state */
#define UC_FP_XSTATE	1
#define UC_SS		(2 | 4)
/* an invalid flag, so that the alternate stack stays as it is */
#define SS_LEAVE_ALONE	0x40

struct xstate_sw {
	uint32_t magic1, extended_size;
	uint64_t features;
	uint32_t size, padding[7];
};

struct kernel_ucontext {
	unsigned long flags;
	void *link;
	stack_t stack;
	greg_t gregs[23];
	void *fpu;
	uint64_t reserved[8];
	uint64_t mask;
};

struct frame {
	uint64_t return_address;
	struct kernel_ucontext uc;
	char siginfo[128];
};

_Static_assert(offsetof(struct kernel_ucontext, fpu) == 40 + 23 * 8, "sigcontext");
_Static_assert(offsetof(struct kernel_ucontext, mask) == 40 + 256, "sigcontext");

bool inject_regs_get(pid_t tid, struct inject_regs *r)
{
	struct iovec fpu = { r->fpu, sizeof(r->fpu) };

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r->user) ||
	    ptrace(PTRACE_GETSIGMASK, tid, sizeof(r->mask), &r->mask) ||
	    ptrace(PTRACE_GETREGSET, tid, NT_X86_XSTATE, &fpu))
		return false;
	r->fpu_size = fpu.iov_len;
	r->is_redone = false;
	return fpu.iov_len >= 512 + 64 && fpu.iov_len < sizeof(r->fpu);
}

bool inject_regs_put(pid_t tid, const struct inject_regs *r)
{
	struct iovec fpu = { (void *)r->fpu, r->fpu_size };

	/*
	 * The signal mask is restored first: if this process is killed in between, the frame
	 * restores the rest.
	 */
	return !ptrace(PTRACE_SETSIGMASK, tid, sizeof(r->mask), &r->mask) &&
	       !ptrace(PTRACE_SETREGSET, tid, NT_X86_XSTATE, &fpu) &&
	       !ptrace(PTRACE_SETREGS, tid, NULL, &r->user);
}

static bool in_call(const struct user_regs_struct *u)
{
	return (long)u->orig_rax >= 0;
}

/*
 * Returns true if the thread is in a restartable sequence (rseq).  When a thread continues, the
 * kernel decides by its instruction pointer whether to abort the sequence.  The injected code is
 * outside of the sequence, so it would not be aborted.
 */
static bool in_critical_section(pid_t tid, const struct user_regs_struct *u)
{
	struct __ptrace_rseq_configuration c;
	struct {
		uint32_t version, flags;
		uint64_t start, length, abort;
	} cs;
	uint64_t at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof(c), &c) != sizeof(c) ||
	    !c.rseq_abi_pointer || !image_peek(tid, c.rseq_abi_pointer + 8, &at, sizeof(at)) || !at)
		return false;
	if (!image_peek(tid, at, &cs, sizeof(cs)))
		return true;
	return u->rip - cs.start < cs.length;
}

enum inject_place inject_regs_place(pid_t tid, const struct inject_regs *r, bool signal_pending)
{
	const struct user_regs_struct *u = &r->user;

	if (u->cs != CS_64BIT)
		return PLACE_FOREIGN;
	if (in_critical_section(tid, u))
		return PLACE_CRITICAL;
	if (!in_call(u) || (long)u->rax != -EINTR)
		return PLACE_SAFE;
	return signal_pending ? PLACE_SIGNAL : PLACE_REDO;
}

void inject_regs_redo(struct inject_regs *r)
{
	r->is_redone = true;
	r->user.rax = r->user.orig_rax;
	r->user.orig_rax = -1;
	r->user.rip -= CALL_SIZE;
}

/* Sets the registers with which the thread would have continued had it not been stopped. */
static void restart_call(struct user_regs_struct *u)
{
	if (!in_call(u))
		return;
	switch (-(long)u->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
	/* with its whole timeout: the remaining time is not known */
	case ERESTART_RESTARTBLOCK:
		u->rax = u->orig_rax;
		u->rip -= CALL_SIZE;
		break;
	}
}

static void fill_frame(struct frame *f, const struct inject_regs *r, uint64_t fpu_at)
{
	struct user_regs_struct u = r->user;
	greg_t *g = f->uc.gregs;

	restart_call(&u);
	f->uc.flags = UC_FP_XSTATE | UC_SS;
	f->uc.stack.ss_flags = SS_LEAVE_ALONE;
	g[REG_R8] = u.r8;
	g[REG_R9] = u.r9;
	g[REG_R10] = u.r10;
	g[REG_R11] = u.r11;
	g[REG_R12] = u.r12;
	g[REG_R13] = u.r13;
	g[REG_R14] = u.r14;
	g[REG_R15] = u.r15;
	g[REG_RDI] = u.rdi;
	g[REG_RSI] = u.rsi;
	g[REG_RBP] = u.rbp;
	g[REG_RBX] = u.rbx;
	g[REG_RDX] = u.rdx;
	g[REG_RAX] = u.rax;
	g[REG_RCX] = u.rcx;
	g[REG_RSP] = u.rsp;
	g[REG_RIP] = u.rip;
	g[REG_EFL] = u.eflags;
	g[REG_CSGSFS] = (u.cs & 0xffff) | (u.ss & 0xffff) << 48;
	f->uc.fpu = (void *)fpu_at;
	f->uc.mask = r->mask;
}

/*
 * Writes the FPU's state as the kernel does for a signal: with its size, and with a magic number
 * behind it.
 */
static bool write_fpu(pid_t tid, const struct image_id *id, const struct inject_regs *r, uint64_t at)
{
	static char copy[FPU_MAX + 4];
	struct xstate_sw sw = { .magic1 = XSTATE_MAGIC1, .extended_size = r->fpu_size + 4,
				.size = r->fpu_size };
	uint32_t end = XSTATE_MAGIC2;

	memcpy(copy, r->fpu, r->fpu_size);
	memcpy(&sw.features, r->fpu + XSTATE_SW, sizeof(sw.features));
	memcpy(copy + XSTATE_SW, &sw, sizeof(sw));
	memcpy(copy + r->fpu_size, &end, sizeof(end));
	return image_poke(tid, id, at, copy, r->fpu_size + 4);
}

bool inject_regs_enter(pid_t tid, const struct inject_regs *r, const struct inject_call *c)
{
	uint64_t fpu_at = (c->stack + c->stack_size - r->fpu_size - 64) & ~63UL, all = ~0UL;
	/* Above the return address the stack pointer is a multiple of 16. */
	uint64_t at = ((fpu_at - sizeof(struct frame)) & ~15UL) - 8;
	struct user_regs_struct u = r->user;
	struct frame f;

	if (c->stack_size < r->fpu_size + sizeof(f) + 256)
		return false;
	memset(&f, 0, sizeof(f));
	fill_frame(&f, r, fpu_at);
	f.return_address = c->back;
	if (!write_fpu(tid, c->id, r, fpu_at) || !image_poke(tid, c->id, at, &f, sizeof(f)))
		return false;
	u.rip = c->entry;
	u.rsp = c->back ? at : at + sizeof(f.return_address);
	u.orig_rax = -1;
	u.eflags &= ~FLAGS_OFF;
	if (c->is_number)
		u.rax = c->number;
	u.rdi = c->arg[0];
	u.rsi = c->arg[1];
	u.rdx = c->arg[2];
	u.rcx = u.r10 = c->arg[3];
	u.r8 = c->arg[4];
	u.r9 = c->arg[5];
	return !ptrace(PTRACE_SETREGS, tid, NULL, &u) &&
	       !ptrace(PTRACE_SETSIGMASK, tid, sizeof(all), &all);
}

bool inject_regs_leaves(pid_t tid, const struct inject_call *c)
{
	struct user_regs_struct u;

	return !ptrace(PTRACE_GETREGS, tid, NULL, &u) && u.orig_rax == SYS_rt_sigreturn &&
	       u.rsp > c->stack && u.rsp < c->stack + c->stack_size;
}

long inject_regs_number(const struct inject_regs *r)
{
	return r->user.orig_rax;
}

bool inject_regs_skip(pid_t tid)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return false;
	u.orig_rax = -1;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &u);
}

int inject_call_rank(long number)
{
	switch (number) {
	/* The kernel restarts these calls with the remaining timeout. */
	case SYS_futex:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_restart_syscall:
	case SYS_wait4:
	case SYS_waitid:
		return 0;
	/*
	 * The kernel restarts most of these calls.  The others return EINTR before they have done
	 * anything; inject_regs_redo() restarts those.
	 */
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_flock:
		return 2;
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_rt_sigtimedwait:
	case SYS_semop:
	case SYS_semtimedop:
	case SYS_msgrcv:
	case SYS_msgsnd:
	case SYS_io_getevents:
	case SYS_io_uring_enter:
		return 3;
	default:
		return INJECT_NEVER;
	}
}
