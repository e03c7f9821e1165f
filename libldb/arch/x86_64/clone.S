/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Implements sys_clone_thread(flags, stack_top, tid, fn, arg, tp); see sys.h */
	.text
	.globl	sys_clone_thread
	.hidden	sys_clone_thread
	.type	sys_clone_thread, @function
sys_clone_thread:
	.cfi_startproc
	endbr64
	andq	$-16, %rsi
	subq	$16, %rsi
	movq	%rcx, (%rsi)		/* fn */
	movq	%r8, 8(%rsi)		/* arg */
	movq	%rdx, %r10		/* child_tid; rdx is parent_tid: the same word */
	movq	%r9, %r8		/* tp */
	movl	$56, %eax		/* clone */
	syscall
	testq	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* outermost frame */
	xorl	%ebp, %ebp
	popq	%rax
	popq	%rdi
	call	*%rax
	xorl	%edi, %edi
	movl	$60, %eax		/* exit: this thread only */
	syscall
	hlt
	.cfi_endproc
	.size	sys_clone_thread, . - sys_clone_thread
	.section .note.GNU-stack,"",@progbits
