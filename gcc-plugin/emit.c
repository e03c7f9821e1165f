// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Emits the parts of an object other than the code of records.  With them, the object can be linked
 * without a library:
 *
 *	__ldb_thread		the thread's block: weak TLS, one in each linked module
 *	__ldb_thread_addr	hidden function that returns its address
 *	__ldb_link		hidden function that links a record (record.c)
 *	.note.ldb		contains the address of __ldb_thread_addr, for the runtime
 *				and other tools
 *
 * and in a shared object
 *
 *	constructor, destructor	report to the runtime, if it is loaded, that the
 *				object was loaded or is being unloaded; a wrapper of
 *				dlopen() would change which RUNPATH is used
 *
 * All are COMDAT.  The flag "R" (retain) of the note's section protects the section, and everything
 * that it refers to, from --gc-sections.  The note refers to a function, because a
 * ".quad sym@tpoff" in data makes an assertion in GNU ld 2.40 fail.
 *
 * Invariant: no text in this file depends on -masm.
 */
#include "arch/arch.h"

/*
 * The note of type LDB_NOTE_COMPILED is a toplevel asm and is not written by emit_thread_block(),
 * because GCC streams a toplevel asm into -flto objects, so that the program contains the note even
 * if the plugin is not given at the link.  An -flto link puts the notes of several objects into one
 * assembly file: hence .ifndef.
 */
void emit_compiled_note(void)
{
	static const char note[] =
		"\t.ifndef .Lldb_compiled\n"
		"\t.set .Lldb_compiled, 1\n"
		"\t.pushsection .note.ldb,\"aGR\",@note,__ldb_compiled,comdat\n"
		"\t.balign 4\n"
		"\t.long 4, 16, %d\n"
		"\t.asciz \"" LDB_NOTE_OWNER "\"\n"
		"\t.quad 0, %d\n"
		"\t.popsection\n"
		"\t.endif";
	char text[sizeof(note) + 32];

	snprintf(text, sizeof(text), note, LDB_NOTE_COMPILED, LDB_ABI_VERSION);
	symtab->finalize_toplevel_asm(build_string(strlen(text), text));
}

/*
 * A size and alignment of 64 bytes give the block a cache line of its own.  In a shared library the
 * block has only 16 bytes, because dlopen() takes it from the 1.6 KB that glibc reserves for all
 * libraries with initial-exec TLS.
 */
static void emit_block(FILE *f)
{
	int size_bytes = flag_pic && !flag_pie ? 16 : 64;

	fprintf(f,
		"\t.pushsection .tdata.__ldb_thread,\"awTG\",@progbits,"
		"__ldb_thread,comdat\n"
		"\t.balign %d\n"
		"\t.weak __ldb_thread\n"
		"\t.type __ldb_thread, @object\n"
		"\t.size __ldb_thread, %d\n"
		"__ldb_thread:\n"
		"\t.quad 0, %#x\n"
		"\t.org __ldb_thread + %d\n"
		"\t.popsection\n",
		size_bytes, size_bytes, LDB_CANARY, size_bytes);
}

/* Emits a hidden COMDAT function, up to its first instruction. */
static void emit_function_begin(FILE *f, const char *name, const char *group)
{
	fprintf(f,
		"\t.pushsection .text.%s,\"axG\",@progbits,%s,comdat\n"
		"\t.weak %s\n"
		"\t.hidden %s\n"
		"\t.type %s, @function\n"
		"%s:\n", name, group, name, name, name, name);
	if (dwarf2out_do_cfi_asm())
		fprintf(f, "\t.cfi_startproc\n");
	arch_emit_begin(f);
}

static void emit_function_end(FILE *f, const char *name)
{
	arch_emit_end(f);
	if (dwarf2out_do_cfi_asm())
		fprintf(f, "\t.cfi_endproc\n");
	fprintf(f,
		"\t.size %s, .-%s\n"
		"\t.popsection\n", name, name);
}

static void emit_accessor(FILE *f)
{
	emit_function_begin(f, "__ldb_thread_addr", "__ldb_thread_addr");
	arch_emit_accessor(f);
	emit_function_end(f, "__ldb_thread_addr");
}

/* Emits LINK_FUNCTION, which functions call instead of containing the code of arch_link(). */
static void emit_link(FILE *f)
{
	emit_function_begin(f, LINK_FUNCTION, LINK_FUNCTION);
	arch_emit_link(f);
	emit_function_end(f, LINK_FUNCTION);
}

/* Emits a function that jumps to a function of the runtime, and puts its address into an array. */
static void emit_hook(FILE *f, const char *hook, const char *target,
		      const char *array)
{
	fprintf(f, "\t.weak %s\n", target);
	emit_function_begin(f, hook, "__ldb_module");
	arch_emit_hook(f, hook, target);
	emit_function_end(f, hook);
	fprintf(f,
		"\t.pushsection .%s,\"awG\",@%s,__ldb_module,comdat\n"
		"\t.balign 8\n"
		"\t.quad %s\n"
		"\t.popsection\n", array, array, hook);
}

static void emit_module_hooks(FILE *f)
{
	if (!flag_pic || flag_pie)
		return;
	emit_hook(f, "__ldb_module_ctor", "__ldb_module_loaded", "init_array");
	emit_hook(f, "__ldb_module_dtor", "__ldb_module_unloaded", "fini_array");
}

static void emit_accessor_note(FILE *f)
{
	fprintf(f,
		"\t.pushsection .note.ldb,\"aGR\",@note,__ldb_note,comdat\n"
		"\t.balign 4\n"
		"\t.long 4, 16, %d\n"
		"\t.asciz \"" LDB_NOTE_OWNER "\"\n"
		"1:\t.quad __ldb_thread_addr - 1b\n"
		"\t.quad %d\n"
		"\t.popsection\n", LDB_NOTE_ACCESSOR, LDB_ABI_VERSION);
}

/*
 * Returns true if GCC writes no code in this run, because it makes an -flto object or plans the
 * link of -flto objects: another run will write the code and the block.
 */
static bool code_comes_later(void)
{
	if (in_lto_p)
		return flag_wpa || flag_incremental_link == INCREMENTAL_LINK_LTO;
	return flag_lto && !flag_fat_lto_objects;
}

/*
 * Every object gets the block, even if no function in it has a record, so that a module that has a
 * note of type LDB_NOTE_COMPILED and no accessor is known to be one whose -flto link lacked the
 * plugin.
 */
void emit_thread_block(void)
{
	FILE *f = asm_out_file;

	if (!f || flag_syntax_only || seen_error() || code_comes_later())
		return;
	emit_block(f);
	emit_accessor(f);
	emit_link(f);
	emit_module_hooks(f);
	emit_accessor_note(f);
}
