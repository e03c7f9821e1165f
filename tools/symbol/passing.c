// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows the calling convention; see passing.h. */
#include <string.h>
#include <dwarf.h>
#include "arch/program.h"
#include "symbol/passing.h"

#define DEPTH_MAX	16	/* nesting of types */
#define WORDS		(PROGRAM_STRUCT_MAX / PROGRAM_WORD)

/* The class of each word of a parameter; of two members in one word, the greater class counts. */
enum word { WORD_NONE, WORD_FLOAT, WORD_INTEGER };

struct words {
	enum word at[WORDS];
	bool is_memory;
	bool has_long_double;
};

bool passing_type(Dwarf_Die *of, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die named;

	return dwarf_formref_die(dwarf_attr_integrate(of, DW_AT_type, &attr), &named) &&
	       !dwarf_peel_type(&named, type);
}

static uint64_t number(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr_integrate(die, name, &attr), &value) ? otherwise : value;
}

static bool has(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr);
}

static bool size_of(Dwarf_Die *type, uint64_t *size)
{
	Dwarf_Word bytes;

	if (dwarf_aggregate_size(type, &bytes))
		return false;
	*size = bytes;
	return true;
}

static void put(struct words *w, uint64_t offset, uint64_t size, enum word what)
{
	for (uint64_t i = offset / PROGRAM_WORD; i < WORDS && i * PROGRAM_WORD < offset + size; i++)
		if (w->at[i] < what)
			w->at[i] = what;
}

/* Refuses members that are not aligned: a packed struct may be passed in another way. */
static bool put_aligned(struct words *w, uint64_t offset, uint64_t size, enum word what)
{
	if (!size || offset % size)
		return false;
	put(w, offset, size, what);
	return true;
}

static bool classify(Dwarf_Die *type, uint64_t offset, struct words *w, unsigned depth);

static bool is_integer(uint64_t encoding)
{
	switch (encoding) {
	case DW_ATE_boolean:
	case DW_ATE_signed:
	case DW_ATE_signed_char:
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return true;
	default:
		return false;	/* _Decimal64, complex integers */
	}
}

/*
 * Classifies a base type.  A long double is passed in memory.  Other floating point types of 16
 * bytes are rare, so they are refused.
 */
static bool classify_base(Dwarf_Die *type, uint64_t offset, uint64_t size, struct words *w)
{
	uint64_t encoding = number(type, DW_AT_encoding, 0);
	const char *name = dwarf_diename(type);
	bool is_float = encoding == DW_ATE_float;

	if (!size || size > 16 || (size & (size - 1)) || (!is_float && !is_integer(encoding)))
		return false;
	if (is_float && size == 16) {
		w->is_memory = w->has_long_double = true;
		return offset % size == 0 && name && !strcmp(name, "long double");
	}
	return put_aligned(w, offset, size, is_float ? WORD_FLOAT : WORD_INTEGER);
}

static bool classify_bits(Dwarf_Die *member, uint64_t offset, struct words *w)
{
	uint64_t bit = number(member, DW_AT_data_bit_offset, 0) + 8 * number(member, DW_AT_data_member_location, 0);

	/*
	 * In DWARF 2 and 3, bits are counted from the other end of the word.  Such members are
	 * refused.
	 */
	if (has(member, DW_AT_bit_offset))
		return false;
	put(w, offset + bit / 8, (number(member, DW_AT_bit_size, 1) + bit % 8 + 7) / 8, WORD_INTEGER);
	return true;
}

static bool classify_member(Dwarf_Die *member, uint64_t offset, struct words *w, unsigned depth)
{
	int tag = dwarf_tag(member);
	Dwarf_Die type;

	if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
		return true;
	if (has(member, DW_AT_external) || has(member, DW_AT_declaration))
		return true;	/* static */
	if (has(member, DW_AT_virtuality) || !passing_type(member, &type))
		return false;
	if (has(member, DW_AT_bit_size))
		return classify_bits(member, offset, w);
	return classify(&type, offset + number(member, DW_AT_data_member_location, 0), w, depth + 1);
}

static bool classify_members(Dwarf_Die *type, uint64_t offset, struct words *w, unsigned depth)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member))
		return false;	/* empty, or only declared */
	do {
		if (!classify_member(&member, offset, w, depth))
			return false;
	} while (!dwarf_siblingof(&member, &member));
	return true;
}

static bool classify_array(Dwarf_Die *type, uint64_t offset, uint64_t size, struct words *w, unsigned depth)
{
	uint64_t each;
	Dwarf_Die element;

	if (has(type, DW_AT_GNU_vector) || !passing_type(type, &element) || !size_of(&element, &each) || !each)
		return false;
	for (uint64_t at = 0; at + each <= size; at += each)
		if (!classify(&element, offset + at, w, depth + 1))
			return false;
	return true;
}

/* Finds the classes of a type's words (System V ABI).  Returns false if they are not certain. */
static bool classify(Dwarf_Die *type, uint64_t offset, struct words *w, unsigned depth)
{
	int tag = dwarf_tag(type);
	uint64_t size = PROGRAM_WORD;
	Dwarf_Die to;

	if (depth > DEPTH_MAX)
		return false;
	switch (tag) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type:	/* the type of nullptr */
		return put_aligned(w, offset, PROGRAM_WORD, WORD_INTEGER);
	case DW_TAG_ptr_to_member_type:
		size = passing_type(type, &to) && dwarf_tag(&to) == DW_TAG_subroutine_type ? 2 * PROGRAM_WORD : PROGRAM_WORD;
		put(w, offset, size, WORD_INTEGER);
		return offset % PROGRAM_WORD == 0;
	}
	if (!size_of(type, &size))
		return false;
	/* A greater struct is passed in memory, whatever its members are. */
	if (!depth && size > PROGRAM_STRUCT_MAX && tag != DW_TAG_base_type && !has(type, DW_AT_GNU_vector)) {
		w->is_memory = true;
		return true;
	}
	switch (tag) {
	case DW_TAG_base_type:
		return classify_base(type, offset, size, w);
	case DW_TAG_enumeration_type:
		return put_aligned(w, offset, size, WORD_INTEGER);
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		return classify_members(type, offset, w, depth);
	case DW_TAG_array_type:
		return classify_array(type, offset, size, w, depth);
	default:
		return false;
	}
}

/*
 * Returns true if the function is written in C: there, unlike in C++, no struct is passed by a
 * hidden pointer.
 */
static bool is_c(Dwarf_Die *func)
{
	Dwarf_Attribute attr;
	Dwarf_Die cu;

	if (!dwarf_attr_integrate(func, DW_AT_name, &attr) ||
	    !dwarf_cu_die(attr.cu, &cu, NULL, NULL, NULL, NULL, NULL, NULL))
		return false;
	switch (dwarf_srclang(&cu)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return true;
	default:
		return false;
	}
}

struct passed {
	struct words w;
	bool is_pointer;
};

/* Finds how a value of the type is passed or returned.  Returns false if that is not certain. */
static bool pass(Dwarf_Die *func, Dwarf_Die *type, struct passed *p)
{
	int tag = dwarf_tag(type);
	bool is_struct = tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;

	*p = (struct passed){ 0 };
	if (is_struct && has(type, DW_AT_calling_convention))
		p->is_pointer = number(type, DW_AT_calling_convention, 0) == DW_CC_pass_by_reference;
	else if (is_struct && !is_c(func))
		return false;
	if (!p->is_pointer)
		return classify(type, 0, &p->w, 0);
	p->w.at[0] = WORD_INTEGER;
	return true;
}

static bool is_float_type(Dwarf_Die *type)
{
	uint64_t encoding = number(type, DW_AT_encoding, 0);

	return dwarf_tag(type) == DW_TAG_base_type && (encoding == DW_ATE_float || encoding == DW_ATE_complex_float);
}

/*
 * Sets *does to whether the first register has the address to which the result is written.  Returns
 * NULL, or why this is not certain.
 */
static const char *returns_memory(Dwarf_Die *func, bool *does)
{
	Dwarf_Attribute attr;
	struct passed p;
	Dwarf_Die type;

	*does = false;
	if (!dwarf_attr_integrate(func, DW_AT_type, &attr))
		return NULL;	/* void */
	if (!passing_type(func, &type))
		return "its result has an unknown type";
	/*
	 * A floating point number is returned in registers.  So is a small struct with a long
	 * double, although it is passed in memory.
	 */
	if (is_float_type(&type))
		return NULL;
	if (!pass(func, &type, &p) || p.w.has_long_double)
		return "it is not certain where its result goes";
	*does = p.is_pointer || p.w.is_memory;
	return NULL;
}

struct counts {
	unsigned nr_integers, nr_floats;
	uint64_t stack;
	bool is_stack_unknown;
};

static void count(struct counts *c, const struct passed *p, Dwarf_Die *type, struct passing *at)
{
	unsigned integers = 0, floats = 0;
	uint64_t size = PROGRAM_STRUCT_MAX;

	for (unsigned i = 0; i < WORDS; i++) {
		integers += p->w.at[i] == WORD_INTEGER;
		floats += p->w.at[i] == WORD_FLOAT;
	}
	*at = (struct passing){ .is_pointer = p->is_pointer, .nr_floats = floats };
	if (!p->w.is_memory && c->nr_integers + integers <= PROGRAM_PARAMETERS &&
	    c->nr_floats + floats <= PROGRAM_FLOATS) {
		at->place = c->nr_integers;
		c->nr_integers += integers;
		c->nr_floats += floats;
		return;
	}
	at->is_on_stack = true;
	at->place = c->stack;
	/* A value of more than a word may have to be aligned to two words. */
	if (!p->is_pointer && (!size_of(type, &size) || size > PROGRAM_WORD))
		c->is_stack_unknown = true;
	c->stack += PROGRAM_WORD;
}

static const char *pass_next(Dwarf_Die *func, Dwarf_Die *param, struct counts *c, struct passing *at)
{
	const char *name = dwarf_diename(param);
	struct passed p;
	Dwarf_Die type;

	/* Constructors of classes with virtual bases have hidden parameters. */
	if (has(param, DW_AT_artificial) && name && !strncmp(name, "__", 2))
		return "it is a constructor or destructor with parameters that the compiler has added";
	if (!passing_type(param, &type))
		return "a parameter has an unknown type";
	if (!pass(func, &type, &p))
		return "it is not certain how one of its parameters is passed";
	count(c, &p, &type, at);
	return NULL;
}

const char *passing_of(Dwarf_Die *func, Dwarf_Die *param, struct passing *p)
{
	struct counts c = { 0 };
	const char *why;
	bool is_hidden;
	Dwarf_Die die;

	why = returns_memory(func, &is_hidden);
	c.nr_integers = is_hidden;
	if (why || dwarf_child(func, &die))
		return why ? why : "it has no parameters";
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		why = pass_next(func, &die, &c, p);
		if (!why && die.addr == param->addr)
			return p->is_on_stack && c.is_stack_unknown ? "it is not certain where on the stack it is" : NULL;
	} while (!why && !dwarf_siblingof(&die, &die));
	return why ? why : "it has no such parameter";
}
