/* SPDX-License-Identifier: MIT */
/*
 * The thread block for libraries that are loaded into a program whose own
 * block is not exported: they bind to this one instead of each needing static
 * TLS of its own.  Weak, like the plugin's.
 */
	.section .tdata,"awT",@progbits
	.balign	64
	.weak	__ldb_thread
	.type	__ldb_thread, @object
	.size	__ldb_thread, 64
__ldb_thread:
	.quad	0, 0x4c44, 0, 0, 0, 0, 0, 0
	.section .note.GNU-stack,"",@progbits
