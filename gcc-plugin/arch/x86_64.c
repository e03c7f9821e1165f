// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contains the x86-64 instructions that link and unlink a record, and those of the functions that
 * the plugin adds to each object.
 *
 * A link is one asm statement, because the order of its stores is the contract with the reader:
 * generation, record, top.  A shared object loads the block's offset in each asm: a GIMPLE variable
 * would occupy a callee-saved register throughout the function.
 *
 * The size of instructions matters as much as their number: if two hyperthreads share the front end
 * of a CPU, fetching code limits the speed of frequent calls.  So the addresses of the block and of
 * the record are computed once, and later instructions have short addresses.
 *
 * Plain stores are enough: x86 makes them visible in the order in which they are made.
 */
#include "arch/arch.h"

/* Writes one instruction, for both dialects of the assembler. */
#define INSN(att, intel)	"{" att "|" intel "}"
#define NEXT			"\n\t"
#define QWORD			"QWORD PTR "

/*
 * %0 is the return address and then a scratch register, %1 the address of the thread block, %2 the
 * address of the record, and %3 the record.
 *
 * Loading the block's address costs a load, but saves more: on Intel CPUs, stores with a segment
 * prefix leave the store buffer one at a time; stores without it leave in pairs if they are to the
 * same cache line.
 */
#define LINK_ASM(address, prev)							\
	address									\
	INSN("addq\t$65536, 8(%1)",	"add\t" QWORD "[%1+8], 65536") NEXT	\
	INSN("leaq\t%3, %2",		"lea\t%2, %3") NEXT			\
	INSN("movq\t%0, 24(%2)",	"mov\t" QWORD "[%2+24], %0") NEXT	\
	INSN("movq\t8(%1), %0",		"mov\t%0, " QWORD "[%1+8]") NEXT	\
	INSN("movq\t%0, 8(%2)",		"mov\t" QWORD "[%2+8], %0") NEXT	\
	INSN("movq\t(%1), " prev,	"mov\t" prev ", " QWORD "[%1]") NEXT	\
	INSN("movq\t" prev ", (%2)",	"mov\t" QWORD "[%2], " prev) NEXT	\
	INSN("leaq\t(%%rip), %0",	"lea\t%0, [rip]") NEXT			\
	INSN("movq\t%0, 16(%2)",	"mov\t" QWORD "[%2+16], %0") NEXT	\
	INSN("movq\t%2, (%1)",		"mov\t" QWORD "[%1], %2")

/*
 * Links a record in few bytes: calls LINK_FUNCTION, which emit.c puts into each object.
 * LINK_FUNCTION finds the caller's return address in %0 (rax), the record's address in r10, and
 * uses r11; its own return address becomes the record's pc.  %1 is the record.
 */
#define LINK_FAR_ASM(before, after)						\
	INSN("leaq\t%1, %%r10",		"lea\tr10, %1") NEXT			\
	before INSN("call\t" LINK_FUNCTION, "call\t" LINK_FUNCTION) after

/*
 * %0 is the value to store, %1 the block's offset in a shared object.  With a single store, the
 * segment prefix costs nothing.
 */
#define SET_TOP(att_top, intel_top)						\
	INSN("movq\t%0, " att_top,	"mov\t" QWORD intel_top ", %0")

/* %2 is prev. */
#define UNLINK_ASM(load, att_top, intel_top)					\
	load INSN("movq\t%2, %0",	"mov\t%0, %2") NEXT			\
	SET_TOP(att_top, intel_top)

/* %2 is prev, the first member of the record, so its address is that of the record. */
#define RELINK_ASM(load, att_top, intel_top)					\
	load INSN("leaq\t%2, %0",	"lea\t%0, %2") NEXT			\
	SET_TOP(att_top, intel_top)

/* For shared objects, which read the block's offset from the GOT. */
#define GOT_OFFSET	INSN("movq\t__ldb_thread@gottpoff(%%rip), %1",		\
			     "mov\t%1, " QWORD "__ldb_thread@gottpoff[rip]") NEXT
#define GOT_ADDRESS	GOT_OFFSET						\
			INSN("addq\t%%fs:0, %1", "add\t%1, " QWORD "fs:0") NEXT
#define GOT_TOP		"%%fs:(%1)", "fs:[%1]"
/* For executables, where the block's offset is a constant. */
#define EXE_ADDRESS	INSN("movq\t%%fs:0, %1", "mov\t%1, " QWORD "fs:0") NEXT	\
			INSN("leaq\t__ldb_thread@tpoff(%1), %1",		\
			     "lea\t%1, __ldb_thread@tpoff[%1]") NEXT
#define EXE_TOP		"%%fs:__ldb_thread@tpoff", "fs:__ldb_thread@tpoff"

/* Expands the arguments first, because each macro in them makes several arguments. */
#define EXPAND(macro, ...)	macro(__VA_ARGS__)

/* link_kept leaves prev in a register, %4, for unlink_kept. */
struct asm_texts {
	const char *link, *link_kept, *unlink, *unlink_kept, *relink;
};

static const struct asm_texts got_texts = {
	LINK_ASM(GOT_ADDRESS, "%0"),
	LINK_ASM(GOT_ADDRESS, "%4"),
	EXPAND(UNLINK_ASM, GOT_OFFSET, GOT_TOP),
	GOT_OFFSET EXPAND(SET_TOP, GOT_TOP),
	EXPAND(RELINK_ASM, GOT_OFFSET, GOT_TOP),
};

static const struct asm_texts exe_texts = {
	LINK_ASM(EXE_ADDRESS, "%0"),
	LINK_ASM(EXE_ADDRESS, "%4"),
	EXPAND(UNLINK_ASM, "", EXE_TOP),
	EXPAND(SET_TOP, EXE_TOP),
	EXPAND(RELINK_ASM, "", EXE_TOP),
};

static const char link_far[] = LINK_FAR_ASM("", "");
/* The text for functions without calls, which may use the stack below the stack pointer. */
static const char link_far_leaf[] = LINK_FAR_ASM(
	INSN("leaq\t-128(%%rsp), %%rsp", "lea\trsp, [rsp-128]") NEXT,
	NEXT INSN("leaq\t128(%%rsp), %%rsp", "lea\trsp, [rsp+128]"));

static const struct asm_texts *asm_texts(void)
{
	return flag_pic && !flag_pie ? &got_texts : &exe_texts;
}

static_assert(LDB_GEN_ONE == 65536, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_thread, top) == 0, "written out in *_TOP");
static_assert(offsetof(struct ldb_thread, gen) == 8, "written out in LINK_ASM");
static_assert(offsetof(struct ldb_frame, prev) == 0, "lea in LINK_ASM, RELINK_ASM");
static_assert(offsetof(struct ldb_frame, gen) == 8 && offsetof(struct ldb_frame, pc) == 16 &&
	      offsetof(struct ldb_frame, ret) == 24, "written out in LINK_ASM");

/*
 * Returns the outputs that all statements but the far link have first: the scratch registers %0 and
 * %1.
 */
static asm_operand_list *scratch_operands(void)
{
	asm_operand_list *outputs = NULL;

	asm_push_register(&outputs);
	asm_push_register(&outputs);
	return outputs;
}

/* Adds the record's fields from offset `from` on, as outputs. */
static void push_fields(asm_operand_list **to, const struct record *r, size_t from)
{
	for (; from < sizeof(struct ldb_frame); from += sizeof(uint64_t))
		asm_push_operand(to, "=m", asm_field(r, from));
}

gasm *arch_link(const struct record *r, tree ret, bool keep)
{
	asm_operand_list *outputs = scratch_operands(), *inputs = NULL;

	asm_push_register(&outputs);
	asm_push_operand(&outputs, "=m", asm_field(r, 0));
	if (keep)
		asm_push_operand(&outputs, "=&r", r->prev);
	push_fields(&outputs, r, sizeof(uint64_t));
	asm_push_operand(&inputs, "0", ret);
	return asm_finish(keep ? asm_texts()->link_kept : asm_texts()->link, inputs, outputs);
}

gasm *arch_link_far(const struct record *r, tree ret)
{
	asm_operand_list *outputs = NULL, *inputs = NULL, *clobbers = NULL;

	asm_push_operand(&outputs, "=&a", make_ssa_name(long_unsigned_type_node));
	push_fields(&outputs, r, 0);
	asm_push_operand(&inputs, "0", ret);
	asm_push_clobber(&clobbers, "r10");
	asm_push_clobber(&clobbers, "r11");
	return asm_finish(link_far, inputs, outputs, clobbers);
}

static gasm *build_short(const char *text, const char *constraint, tree prev)
{
	asm_operand_list *inputs = NULL;

	asm_push_operand(&inputs, constraint, prev);
	return asm_finish(text, inputs, scratch_operands());
}

gasm *arch_unlink(const struct record *r)
{
	if (r->prev)
		return build_short(asm_texts()->unlink_kept, "0", r->prev);
	return build_short(asm_texts()->unlink, "m",
			   asm_field(r, offsetof(struct ldb_frame, prev)));
}

gasm *arch_relink(const struct record *r)
{
	return build_short(asm_texts()->relink, "m",
			   asm_field(r, offsetof(struct ldb_frame, prev)));
}

/*
 * A call of LINK_FUNCTION is impossible if the user has reserved one of its registers
 * (-ffixed-REG), or if the code model allows code out of the reach of a call instruction.
 */
bool arch_can_link_far(void)
{
	return !fixed_regs[AX_REG] && !fixed_regs[R10_REG] && !fixed_regs[R11_REG] &&
	       ix86_cmodel != CM_LARGE && ix86_cmodel != CM_LARGE_PIC;
}

/*
 * A function without calls may have variables in the red zone below the stack pointer, where the
 * call of LINK_FUNCTION would store its return address.  Far links are chosen for functions with
 * calls, but GCC may remove these calls later: then the stack pointer is moved below the red zone
 * for the call.  A signal handler that unwinds the stack before the stack pointer is moved back
 * finds a wrong stack.
 */
void arch_mend_far(void)
{
	rtx_insn *insn;
	rtx body;

	for (insn = get_insns(); insn; insn = NEXT_INSN(insn)) {
		body = NONJUMP_INSN_P(insn) ? extract_asm_operands(PATTERN(insn)) : NULL_RTX;
		if (body && !strcmp(ASM_OPERANDS_TEMPLATE(body), link_far))
			XSTR(body, 0) = link_far_leaf;
	}
}

const char *arch_unsupported(void)
{
	if (!TARGET_64BIT || TARGET_X32)
		return "only 64-bit code is instrumented";
	if (ix86_cmodel == CM_KERNEL)
		return "kernel code is not instrumented";
	return NULL;
}

/* Returns true if control always goes from an instruction with this name to the next one. */
static bool is_straight_insn(const char *name, size_t len)
{
	/* A star stands for anything that follows: an operand size or a condition. */
	static const char * const known[] = {
		"nop*", "mov*", "lea*", "xchg*", "xadd*", "push*", "pop*",
		"add*", "adc*", "sub*", "sbb*", "inc*", "dec*", "neg*", "cmp*",
		"mul*", "imul*", "div*", "idiv*", "cltq", "cqto", "cdq", "cqo",
		"and*", "or*", "xor*", "not*", "test*", "bt*", "bsf*", "bsr*",
		"bswap*", "shl*", "shr*", "sal*", "sar*", "rol*", "ror*",
		"lzcnt*", "tzcnt*", "crc32*", "cmov*", "set*", "prefetch*",
	};
	unsigned int i;
	size_t n;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		n = strcspn(known[i], "*");
		if (!strncmp(name, known[i], n) && (known[i][n] || len == n))
			return true;
	}
	return false;
}

bool arch_is_straight_text(const char *s)
{
	size_t len;

	while (*(s += strspn(s, " \t\n;"))) {
		len = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789");
		if (len == 4 && startswith(s, "lock")) {
			s += len;
			continue;
		}
		if (!is_straight_insn(s, len))
			return false;
		s += len + strcspn(s + len, "\n;{}#/:");
		if (*s && *s != '\n' && *s != ';')
			return false;
	}
	return true;
}

void arch_emit_begin(FILE *f)
{
	if (ASSEMBLER_DIALECT == ASM_INTEL)
		fprintf(f, "\t.att_syntax prefix\n");
	/* The functions other than LINK_FUNCTION are called through pointers, and need endbr. */
	if (flag_cf_protection & CF_BRANCH)
		fprintf(f, "\tendbr64\n");
}

void arch_emit_end(FILE *f)
{
	if (ASSEMBLER_DIALECT == ASM_INTEL)
		fprintf(f, "\t.intel_syntax noprefix\n");
}

void arch_emit_accessor(FILE *f)
{
	fprintf(f,
		"\tmovq %%fs:0, %%rax\n"
		"\taddq __ldb_thread@gottpoff(%%rip), %%rax\n"
		"\tret\n");
}

/* On entry, rax is the return address of LINK_FUNCTION's caller, and r10 the caller's record. */
void arch_emit_link(FILE *f)
{
	fprintf(f, "%s"
		"\taddq %%fs:0, %%r11\n"
		"\taddq $%llu, 8(%%r11)\n"
		"\tmovq %%rax, 24(%%r10)\n"
		"\tmovq 8(%%r11), %%rax\n"
		"\tmovq %%rax, 8(%%r10)\n"
		"\tmovq (%%r11), %%rax\n"
		"\tmovq %%rax, (%%r10)\n"
		"\tmovq (%%rsp), %%rax\n"
		"\tmovq %%rax, 16(%%r10)\n"
		"\tmovq %%r10, (%%r11)\n"
		"\tret\n",
		flag_pic && !flag_pie ? "\tmovq __ldb_thread@gottpoff(%rip), %r11\n" :
		"\tmovq $__ldb_thread@tpoff, %r11\n", LDB_GEN_ONE);
}

void arch_emit_hook(FILE *f, const char *hook, const char *target)
{
	fprintf(f,
		"\tmovq %s@GOTPCREL(%%rip), %%rax\n"
		"\tleaq %s(%%rip), %%rdi\n"
		"\ttestq %%rax, %%rax\n"
		"\tje 1f\n"
		"\tjmp *%%rax\n"
		"1:\tret\n", target, hook);
}
