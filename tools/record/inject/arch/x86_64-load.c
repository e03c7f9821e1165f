// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the part of inject/regs.h that is about loading a library. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include "record/inject/regs.h"
#include "record/process/proc.h"

#define CALL_SIZE	2		/* bytes of a syscall instruction */

/* syscall; ret */
static const unsigned char call_bytes[] = { 0x0f, 0x05, 0xc3 };
/* mov $15, %rax; syscall */
static const unsigned char back_bytes[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

const struct inject_code inject_code_call = { call_bytes, sizeof(call_bytes) };
const struct inject_code inject_code_back = { back_bytes, sizeof(back_bytes) };

_Static_assert(offsetof(struct inject_load, function) == 8 && offsetof(struct inject_load, arg) == 16 &&
	       offsetof(struct inject_load, result) == 32 && offsetof(struct inject_load, dlerror) == 40 &&
	       offsetof(struct inject_load, error) == 48, "below");

/*
 * The stack pointer is a multiple of 16 at the beginning, and at the end it points to the signal
 * frame again, which rt_sigreturn needs.
 */
__asm__(".pushsection .rodata\n"
	"inject_load_begin:\n"
	"	endbr64\n"
	"	cld\n"
	"	movq	%rdi, %rbx\n"
	"	call	*(%rbx)\n"
	"	movl	(%rax), %r12d\n"	/* saves errno */
	"	movq	16(%rbx), %rdi\n"
	"	movq	24(%rbx), %rsi\n"
	"	call	*8(%rbx)\n"
	"	movq	%rax, 32(%rbx)\n"
	"	testq	%rax, %rax\n"
	"	jnz	1f\n"
	"	cmpq	$0, 40(%rbx)\n"
	"	jz	1f\n"
	"	call	*40(%rbx)\n"
	"	movq	%rax, 48(%rbx)\n"
	"1:	call	*(%rbx)\n"
	"	movl	%r12d, (%rax)\n"
	"2:	movl	$15, %eax\n"		/* rt_sigreturn */
	"	syscall\n"
	"	jmp	2b\n"			/* in case a tracer skipped the call and has gone */
	"inject_load_end:\n"
	".popsection\n");
extern const char load_begin[] __asm__("inject_load_begin"), load_end[] __asm__("inject_load_end");

struct inject_code inject_code_load(void)
{
	return (struct inject_code){ load_begin, load_end - load_begin };
}

struct inject_where inject_regs_where(const struct inject_regs *r)
{
	return (struct inject_where){ r->user.rip, r->user.rsp, r->user.fs_base };
}

bool inject_regs_returned(pid_t tid, uint64_t code, uint64_t *value)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_EXIT || info.instruction_pointer != code + CALL_SIZE)
		return false;
	*value = info.exit.rval;
	return true;
}

bool inject_regs_begins(pid_t tid)
{
	struct __ptrace_syscall_info info;

	return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof(info), &info) > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

bool inject_regs_delay(pid_t tid)
{
	struct user_regs_struct u;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &u))
		return false;
	u.rax = u.orig_rax;
	u.orig_rax = -1;
	u.rip -= CALL_SIZE;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &u);
}

bool inject_has_shadow_stack(pid_t tid)
{
	FILE *f = proc_open(tid, tid, "status");
	bool has = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		has |= !strncmp(line, "x86_Thread_features:", 20) && strstr(line, "shstk");
	if (f)
		fclose(f);
	return has;
}

bool inject_call_is_outside(long number)
{
	switch (number) {
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_write:
	case SYS_writev:
	case SYS_pwrite64:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendfile:
	case SYS_accept:
	case SYS_accept4:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_sched_yield:
	case SYS_lseek:
	case SYS_fsync:
	case SYS_fdatasync:
		return true;
	default:
		return false;
	}
}

/* In glibc, waits that are not for a lock use FUTEX_WAIT_BITSET. */
bool inject_waits_for_lock(long number, unsigned long second)
{
	return number == SYS_futex && (second & 127) != 9;
}

/* Returns true if the code may end with call rel32, or with one of the forms of ff /2. */
bool inject_ends_with_call(const unsigned char *code)
{
	bool may_be = code[INJECT_CALL_BYTES - 5] == 0xe8;

	for (int i = 0; i < INJECT_CALL_BYTES - 1; i++)
		may_be |= code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2;
	return may_be;
}
