/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contains the stubs through which intercepted calls go.  flows/flows.h explains them.
 *
 * A slot of a module's linkage table holds the address of an entry stub.  Only r11 and the flags
 * are free in a stub: arguments are in registers and on the stack, rax has the number of vector
 * registers, r10 a nested function's frame.  Vector registers are only saved and restored, and x87
 * registers are not used.
 *
 * A call that is timed leaves its return address in a struct flow_slot, and the function returns to
 * the slot's own stub, with the same stack pointer as without the stub.  Calls and returns stay
 * paired, so the CPU predicts them.  The unwinder finds the return address by the stub's CFI: the
 * stub's lea says where its slot is.
 *
 * The frame of such a stub has no size.  Unwinders distinguish frames by their CFA, so a stub's CFA
 * must differ from that of its caller: it is 7 bytes above the stack pointer.  If the function
 * jumps to another timed function, two stubs have the same stack pointer; the CFA of the second is
 * 6 bytes above it, and so on.
 */
#include "flows/layout.h"

	.hidden	flow_page, flow_entries, flow_slots, flow_self
	.hidden	flow_first_c, flow_refill_c, flow_left_c, flow_return_c

	/*
	 * This section is after all other code, so that the other code and .plt share a few pages,
	 * which each program touches.
	 */
	.section ldb_flow_stubs,"ax",@progbits

/*
 * The stubs of entries.
 */
	.balign	64
	.globl	flow_entry_stubs
	.hidden	flow_entry_stubs
	.type	flow_entry_stubs, @function
flow_entry_stubs:
	.cfi_startproc
	.set	i, 0
	.rept	FLOW_ENTRIES
	endbr64
	movl	$i, %r11d
	.byte	0xe9			/* jmp flow_common, always in 5 bytes */
	.long	flow_common - . - 4
	.byte	0x90
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	flow_entry_stubs, . - flow_entry_stubs

	.balign	64
	.type	flow_common, @function
flow_common:
	.cfi_startproc
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rax, 0
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rdx, 0
	movq	flow_page(%rip), %rax		/* address of the sums; 0: no calls are counted */
	shlq	$FLOW_E_SHIFT, %r11
	addq	flow_entries(%rip), %r11
	testq	%rax, %rax
	jz	1f
	movq	flow_self@gottpoff(%rip), %rdx
	addq	%fs:FLOW_SELF_OFF(%rdx), %rax
	movl	FLOW_E_CELL(%r11), %edx
	testl	%edx, %edx
	jz	flow_first
2:	shll	$4, %edx
	incq	LDB_FLOW_CELLS_OFF(%rax, %rdx, 4)
	decl	FLOW_T_LEFT(%rax, %rdx)
	js	flow_timed
1:	.cfi_remember_state
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdx
	popq	%rax
	.cfi_adjust_cfa_offset -8
	.cfi_restore rax
	jmp	*FLOW_E_TARGET(%r11)

	.balign	16
flow_timed:
	.cfi_restore_state
	testb	$FLOW_E_NEVER, FLOW_E_FLAGS(%r11)
	jnz	3f
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rcx, 0
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rdi, 0
	addq	%rax, %rdx			/* the state */
4:	movq	flow_self@gottpoff(%rip), %rdi
	/* a signal handler may take the same slot here, but frees it before it returns */
	movq	%fs:FLOW_SELF_FREE(%rdi), %rcx
	testq	%rcx, %rcx
	jz	flow_refill
	cmpq	$0, FLOW_S_SP(%rcx)
	jne	flow_refill			/* the slot is in use, so the list is damaged */
	movq	FLOW_S_NEXT(%rcx), %rax
	movq	%rax, %fs:FLOW_SELF_FREE(%rdi)
	movl	FLOW_T_SKIPPED(%rdx), %eax
	movl	%eax, FLOW_S_SKIPPED(%rcx)
	movl	FLOW_T_STRIDE(%rdx), %eax
	movl	%eax, FLOW_T_LEFT(%rdx)
	movl	%eax, FLOW_T_SKIPPED(%rdx)
	movq	%r11, FLOW_S_ENTRY(%rcx)
	movq	32(%rsp), %rax
	movq	%rax, FLOW_S_RET(%rcx)
	leaq	flow_slot_stubs(%rip), %rdx
	subq	%rdx, %rax
	cmpq	$FLOW_STUB * FLOW_SLOTS, %rax
	jb	flow_jumped
	movq	%fs:FLOW_SELF_TOP(%rdi), %rax
	leaq	40(%rsp), %rdx
	testq	%rax, %rax
	jz	5f
	cmpq	%rdx, FLOW_S_SP(%rax)
	jbe	flow_left			/* the top call may have ended without a return */
5:	movq	%rax, FLOW_S_UP(%rcx)
	pushq	FLOW_S_STUB(%rcx)
	.cfi_adjust_cfa_offset 8
	movq	FLOW_E_TARGET(%r11), %r11
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, FLOW_S_START(%rcx)
	leaq	48(%rsp), %rdx
	movq	%rdx, FLOW_S_SP(%rcx)		/* after the start: see copy_open() */
	movq	%rcx, %fs:FLOW_SELF_TOP(%rdi)
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	.cfi_remember_state
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdi
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rcx
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdx
	popq	%rax
	.cfi_adjust_cfa_offset -8
	.cfi_restore rax
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	*-48(%rsp)			/* in the red zone, safe from signal handlers */

3:	/* never timed */
	.cfi_restore_state
	.cfi_adjust_cfa_offset -16
	.cfi_restore rdi
	.cfi_restore rcx
	movl	$0x7fffffff, FLOW_T_LEFT(%rax, %rdx)
	jmp	1b

flow_jumped:
	/*
	 * the caller has a stub with the same stack pointer, and jumps to the function: use that
	 * stub's CFA offset - 1
	 */
	.cfi_adjust_cfa_offset 16
	.cfi_rel_offset rcx, 8
	.cfi_rel_offset rdi, 0
	shrq	$4, %rax
	shlq	$FLOW_S_SHIFT, %rax
	leaq	flow_slots(%rip), %rdx
	movb	FLOW_S_CFA(%rdx, %rax), %al
	subb	$1, %al
	jz	6f
	movb	%al, FLOW_S_CFA(%rcx)
	movq	%fs:FLOW_SELF_TOP(%rdi), %rax
	jmp	5b
6:	/* too many stubs have this stack pointer: the call is not timed, and the slot is freed */
	movq	%fs:FLOW_SELF_FREE(%rdi), %rax
	movq	%rax, FLOW_S_NEXT(%rcx)
	movq	%rcx, %fs:FLOW_SELF_FREE(%rdi)
7:	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.cfi_restore rdi
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	.cfi_restore rcx
	jmp	1b
	.cfi_endproc
	.size	flow_common, . - flow_common

/* Saves all registers that may contain arguments.  Before, the stack pointer is 8 modulo 16. */
	.macro	SAVE_ALL
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	subq	$128, %rsp
	andq	$-16, %rsp
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	movups	%xmm2, 32(%rsp)
	movups	%xmm3, 48(%rsp)
	movups	%xmm4, 64(%rsp)
	movups	%xmm5, 80(%rsp)
	movups	%xmm6, 96(%rsp)
	movups	%xmm7, 112(%rsp)
	.endm

	.macro	RESTORE_ALL
	movups	(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	movups	32(%rsp), %xmm2
	movups	48(%rsp), %xmm3
	movups	64(%rsp), %xmm4
	movups	80(%rsp), %xmm5
	movups	96(%rsp), %xmm6
	movups	112(%rsp), %xmm7
	leaq	-72(%rbp), %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa_register rsp
	.cfi_adjust_cfa_offset -8
	.cfi_restore rbp
	.endm

/*
 * The first call of an API: assigns a cell to it.  rax: the region, r11: the entry; rax and rdx are
 * on the stack.
 */
	.type	flow_first, @function
flow_first:
	.cfi_startproc
	.cfi_def_cfa_offset 24
	.cfi_rel_offset rax, 8
	.cfi_rel_offset rdx, 0
	SAVE_ALL
	movq	%r11, %rdi
	call	flow_first_c
	RESTORE_ALL
	movl	FLOW_E_CELL(%r11), %edx
	testl	%edx, %edx
	jnz	2b
	jmp	1b				/* never taken: a cell was assigned */
	.cfi_endproc
	.size	flow_first, . - flow_first

/*
 * Gets free slots for the thread.  r11: the entry, rdx: the state; four registers are on the stack.
 */
	.type	flow_refill, @function
flow_refill:
	.cfi_startproc
	.cfi_def_cfa_offset 40
	.cfi_rel_offset rax, 24
	.cfi_rel_offset rdx, 16
	.cfi_rel_offset rcx, 8
	.cfi_rel_offset rdi, 0
	leaq	40(%rsp), %rax
	SAVE_ALL
	movq	%rax, %rdi
	movq	%rdx, %rsi
	call	flow_refill_c
	movq	%rax, -8(%rbp)
	RESTORE_ALL
	testl	%eax, %eax
	jnz	4b
	jmp	7b
	.cfi_endproc
	.size	flow_refill, . - flow_refill

/*
 * Finds the innermost timed call that has not ended.  rdx: the caller's stack pointer, rcx: the
 * slot; four registers are on the stack.
 */
	.type	flow_left, @function
flow_left:
	.cfi_startproc
	.cfi_def_cfa_offset 40
	.cfi_rel_offset rax, 24
	.cfi_rel_offset rdx, 16
	.cfi_rel_offset rcx, 8
	.cfi_rel_offset rdi, 0
	SAVE_ALL
	movq	%rdx, %rdi
	call	flow_left_c
	movq	%rax, -8(%rbp)
	RESTORE_ALL
	jmp	5b
	.cfi_endproc
	.size	flow_left, . - flow_left

/*
 * The stubs of slots: each calls the function, which returns to the stub.  DW_OP_breg16 is the code
 * address of this frame.  With & ~15 it is the address of the stub, whose lea instruction has its
 * displacement at byte 6 and ends at byte 10.  Only DWARF operations that valgrind supports are
 * used.
 */
#define SLOT_OF_PC	0x80, 0x00, 0x09, 0xf0, 0x1a, 0x23, 0x0a, \
			0x80, 0x00, 0x09, 0xf0, 0x1a, 0x23, 0x06, 0x06, 0x0d, 0xff, 0xff, 0xff, 0x7f, 0x1a, 0x22

	.balign	64
	.globl	flow_slot_stubs
	.hidden	flow_slot_stubs
	.type	flow_slot_stubs, @function
flow_slot_stubs:
	.cfi_startproc simple
	/* CFA: rsp + the low bits at slot + FLOW_S_CFA, which is 1 to 7 */
	.cfi_escape 0x0f, 30, SLOT_OF_PC, 0x23, FLOW_S_CFA, 0x06, 0x37, 0x1a, 0x77, 0x00, 0x22
	/* return address: at slot + FLOW_S_RET, which is 0 */
	.cfi_escape 0x10, 16, 22, SLOT_OF_PC
	/* the caller's stack pointer is the same */
	.cfi_escape 0x16, 7, 2, 0x77, 0x00
	.set	i, 0
	.rept	FLOW_SLOTS
	call	*%r11
	leaq	flow_slots + (i << FLOW_S_SHIFT)(%rip), %r11
	.byte	0xe9			/* jmp flow_return */
	.long	flow_return - . - 4
	.byte	0x90
	.set	i, i + 1
	.endr
	.cfi_endproc
	.size	flow_slot_stubs, . - flow_slot_stubs

	.balign	64
	.type	flow_return, @function
flow_return:
	.cfi_startproc simple
	/* the same three unwind rules, with the slot's address in r11 */
	.cfi_escape 0x0f, 8, 0x7b, FLOW_S_CFA, 0x06, 0x37, 0x1a, 0x77, 0x00, 0x22
	.cfi_escape 0x10, 16, 2, 0x7b, FLOW_S_RET
	.cfi_escape 0x16, 7, 2, 0x77, 0x00
	pushq	FLOW_S_RET(%r11)
	.cfi_def_cfa rsp, 8
	.cfi_offset rip, -8
	.cfi_restore rsp
	movq	%rax, %r8
	movq	%rdx, %r9
	rdtsc
	movl	%eax, %ecx
	movq	%r11, %rdi
	movq	%rdx, %rsi
	shlq	$32, %rsi
	orq	%rax, %rsi
	/* flow_return_c() returns to the caller; the results are its arguments in r8 and r9 */
	jmp	flow_return_c
	.cfi_endproc
	.size	flow_return, . - flow_return

/*
 * Calls flow_event_c() with xmm0 and xmm1 saved, which may contain a result; the C code changes no
 * x87 register and no wider vector register.
 */
	.globl	flow_event
	.hidden	flow_event, flow_event_c
	.type	flow_event, @function
flow_event:
	.cfi_startproc
	subq	$40, %rsp
	.cfi_adjust_cfa_offset 40
	movups	%xmm0, (%rsp)
	movups	%xmm1, 16(%rsp)
	xorl	%ecx, %ecx
	call	flow_event_c
	movups	(%rsp), %xmm0
	movups	16(%rsp), %xmm1
	addq	$40, %rsp
	.cfi_adjust_cfa_offset -40
	ret
	.cfi_endproc
	.size	flow_event, . - flow_event

	.section .note.GNU-stack,"",@progbits
