/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Contains the code of the door (ldb/control.h), and the note with the door's address.  After the
 * call of door_pass(), rsp is the same as on entry: it points behind the return address of a signal
 * frame, as rt_sigreturn() requires.  rt_sigreturn() does not return.  But a recorder may have
 * skipped the system call and then been killed, so the call is in a loop.
 */
	.text
	.globl	door_entry
	.hidden	door_entry
	.type	door_entry, @function
door_entry:
	.cfi_startproc
	.cfi_undefined rip		/* no function has called this one */
	endbr64
	cld
	call	door_pass
1:	movl	$15, %eax		/* rt_sigreturn */
	syscall
	jmp	1b
	.cfi_endproc
	.size	door_entry, . - door_entry

	.section .note.ldb,"a",@note
	.balign	4
	.long	4			/* "LDB" */
	.long	16
	.long	4			/* LDB_NOTE_RUNTIME */
	.asciz	"LDB"
2:	.quad	door - 2b
	.quad	6			/* LDB_CONTROL_VERSION */
	.section .note.GNU-stack,"",@progbits
