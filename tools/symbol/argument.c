// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the argument of a function that is the id of a request; see argument.h.  An argument whose
 * place is not certain is refused: a wrong id is worse than no id.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwarf.h>
#include "arch/program.h"
#include "symbol/argument.h"
#include "symbol/demangle.h"
#include "symbol/dwarfinfo.h"
#include "symbol/elffile.h"
#include "symbol/passing.h"

#define DEPTH_MAX	16	/* nesting of structs; length of chains of declarations */

struct find {
	struct elffile *file;
	const char *function;
	const struct request_id *id;
	struct request_place *found;
	int nr;			/* number of functions; -1: failed, and `why` contains the reason */
	char *why;
	size_t why_size;
};

__attribute__((format(printf, 2, 3)))
static bool fail(struct find *f, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(f->why, f->why_size, format, ap);
	va_end(ap);
	f->nr = -1;
	return false;
}

/* Types */

static bool is_pointer(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_pointer_type;
}

static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type || dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Word value = 0;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attr)) {
		*offset = 0;	/* a member of a union */
		return true;
	}
	if (dwarf_hasattr(member, DW_AT_virtuality) || dwarf_formudata(&attr, &value))
		return false;
	*offset = value;
	return true;
}

static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *found, uint64_t *offset, unsigned depth);

/* Searches the members (DW_TAG_member), or the base classes (DW_TAG_inheritance). */
static bool find_among(Dwarf_Die *type, int wanted, const char *name, Dwarf_Die *found, uint64_t *offset,
		       unsigned depth)
{
	Dwarf_Die member, inner;
	uint64_t here;

	if (depth > DEPTH_MAX || dwarf_child(type, &member))
		return false;
	do {
		const char *its = dwarf_diename(&member);
		int tag = dwarf_tag(&member);

		if (tag != wanted || dwarf_hasattr(&member, DW_AT_external) || !member_offset(&member, &here))
			continue;
		if (tag == DW_TAG_member && its && !strcmp(its, name)) {
			*found = member;
			*offset += here;
			return true;
		}
		if ((tag == DW_TAG_member && its) || !passing_type(&member, &inner) || !is_struct(&inner))
			continue;
		*offset += here;
		if (find_member(&inner, name, found, offset, depth + 1))
			return true;
		*offset -= here;
	} while (!dwarf_siblingof(&member, &member));
	return false;
}

/*
 * Finds a member by its name, also in unnamed structs inside the struct.  A member of the class
 * itself hides one of a base class.
 */
static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *found, uint64_t *offset, unsigned depth)
{
	return find_among(type, DW_TAG_member, name, found, offset, depth) ||
	       find_among(type, DW_TAG_inheritance, name, found, offset, depth);
}

static bool add_step(struct find *f, struct request_place *a, int64_t step)
{
	if (a->nr_steps == sizeof(a->steps) / sizeof(a->steps[0]))
		return fail(f, "there are too many steps to %s", f->id->names[f->id->nr_names - 1]);
	a->steps[a->nr_steps++] = step;
	return true;
}

/*
 * Goes from a struct, or a pointer to one, to member i of the path.  A struct that is only declared
 * in this compilation unit may be defined in another one, which is not searched.
 */
static bool go_to_member(struct find *f, struct request_place *a, unsigned i, Dwarf_Die *type)
{
	const struct request_id *id = f->id;
	Dwarf_Die member, of = *type;
	uint64_t offset = 0;

	if (is_pointer(type) != id->is_arrow[i])
		return fail(f, is_pointer(type) ? "%s is a pointer: write %s->%s" : "%s is no pointer: write %s.%s",
			    id->names[i - 1], id->names[i - 1], id->names[i]);
	if (is_pointer(type) || is_reference(type)) {
		if (!passing_type(type, &of))
			return fail(f, "%s is a pointer to an unknown type", id->names[i - 1]);
		if (!add_step(f, a, 0))
			return false;
	}
	if (!is_struct(&of))
		return fail(f, "%s is not a struct", id->names[i - 1]);
	if (dwarf_hasattr(&of, DW_AT_declaration))
		return fail(f, "the struct %s is not defined where the function is", dwarf_diename(&of) ?: "?");
	if (!find_member(&of, id->names[i], &member, &offset, 0))
		return fail(f, "%s has no member %s", id->names[i - 1], id->names[i]);
	if (dwarf_hasattr(&member, DW_AT_bit_size))
		return fail(f, "%s is a bit-field", id->names[i]);
	if (!a->nr_steps && offset % PROGRAM_WORD)
		return fail(f, "%s is in the middle of a register: %s is a struct passed by value",
			    id->names[i], id->names[i - 1]);
	if (a->nr_steps)
		a->steps[a->nr_steps - 1] += offset;
	else
		a->place += offset / PROGRAM_WORD;
	return passing_type(&member, type) || fail(f, "%s has an unknown type", id->names[i]);
}

static const char *type_name(Dwarf_Die *type)
{
	return is_struct(type) ? "a struct" : dwarf_tag(type) == DW_TAG_array_type ? "an array" :
	       dwarf_diename(type) ?: "of an unknown type";
}

static bool is_integer(Dwarf_Word encoding)
{
	return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned ||
	       encoding == DW_ATE_unsigned_char || encoding == DW_ATE_boolean || encoding == DW_ATE_UTF;
}

static bool set_type(struct find *f, struct request_place *a, Dwarf_Die *type)
{
	const char *name = f->id->names[f->id->nr_names - 1];
	Dwarf_Attribute attr;
	Dwarf_Word encoding = DW_ATE_unsigned, size;
	int tag;

	if (is_reference(type)) {
		if (!passing_type(type, type))
			return fail(f, "%s has an unknown type", name);
		if (!add_step(f, a, 0))
			return false;
	}
	tag = dwarf_tag(type);
	if (tag == DW_TAG_enumeration_type && dwarf_hasattr(type, DW_AT_type)) {
		if (!passing_type(type, type) || dwarf_tag(type) != DW_TAG_base_type)
			return fail(f, "%s is an enum of an unknown type", name);
		tag = DW_TAG_base_type;
	}
	if (tag == DW_TAG_base_type)
		dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attr), &encoding);
	else if (tag != DW_TAG_pointer_type && tag != DW_TAG_enumeration_type)
		return fail(f, "%s is %s; it must be an integer", name, type_name(type));
	if (!is_integer(encoding))
		return fail(f, "%s is a %s; it must be an integer", name, type_name(type));
	if (dwarf_aggregate_size(type, &size))
		size = tag == DW_TAG_pointer_type ? PROGRAM_WORD : 0;
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return fail(f, "%s has not 8, 16, 32 or 64 bits", name);
	a->size = size;
	a->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return true;
}

/* The function */

/*
 * The entry of an inlined or cloned function, or of its parameter, refers to another entry:
 * replaces it by that one.
 */
static void go_to_origin(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin;

	for (unsigned i = 0; i < DEPTH_MAX; i++) {
		if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attr), &origin))
			return;
		*die = origin;
	}
}

static bool find_parameter(struct find *f, Dwarf_Die *func, Dwarf_Die *param)
{
	char names[256] = "";
	size_t n = 0;

	if (!dwarf_child(func, param)) {
		do {
			const char *name = dwarf_tag(param) == DW_TAG_formal_parameter ? dwarf_diename(param) : NULL;

			if (!name)
				continue;
			if (!strcmp(name, f->id->names[0]))
				return true;
			if (n < sizeof(names))
				n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", name);
		} while (!dwarf_siblingof(param, param));
	}
	return fail(f, n ? "no parameter is named %s: there %s %s" : "no parameter is named %s: it has none",
		    f->id->names[0], strchr(names, ',') ? "are" : "is", names);
}

static Dwarf_Off origin_of(Dwarf_Die die)
{
	go_to_origin(&die);
	return dwarf_dieoffset(&die);
}

/*
 * Returns in which register the parameter is at the first instruction, according to the debug
 * information; -1: not known.
 */
static int told_register(Dwarf_Die *func, Dwarf_Die *param)
{
	static const int registers[] = PROGRAM_PARAMETER_DWARF;
	Dwarf_Attribute attr;
	Dwarf_Addr entry;
	Dwarf_Op *ops;
	size_t nr;
	Dwarf_Die die;

	if (dwarf_child(func, &die) || dwarf_entrypc(func, &entry))
		return -1;
	do {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter || origin_of(die) != dwarf_dieoffset(param))
			continue;
		if (!dwarf_attr(&die, DW_AT_location, &attr) ||
		    dwarf_getlocation_addr(&attr, entry, &ops, &nr, 1) != 1 || nr != 1)
			return -1;
		for (unsigned i = 0; i < PROGRAM_PARAMETERS; i++)
			if (ops[0].atom == DW_OP_reg0 + registers[i])
				return i;
		return -1;
	} while (!dwarf_siblingof(&die, &die));
	return -1;
}

static bool is_of_gcc(Dwarf_Die *func)
{
	Dwarf_Die cu;
	Dwarf_Attribute attr;
	const char *producer = dwarf_diecu(func, &cu, NULL, NULL) ?
			       dwarf_formstring(dwarf_attr(&cu, DW_AT_producer, &attr)) : NULL;

	return producer && !strncmp(producer, "GNU ", 4);
}

static bool find_value(struct find *f, Dwarf_Die *func, struct request_place *a)
{
	Dwarf_Die origin = *func, param, type;
	struct passing passing;
	const char *why;
	int told;

	go_to_origin(&origin);
	if (!find_parameter(f, &origin, &param))
		return false;
	why = is_of_gcc(func) ? passing_of(&origin, &param, &passing) : "it was not compiled by GCC";
	if (why)
		return fail(f, "%s", why);
	if (!passing_type(&param, &type))
		return fail(f, "%s has an unknown type", f->id->names[0]);
	if (passing.nr_floats && is_struct(&type) && !passing.is_on_stack)
		return fail(f, "%s is a struct passed by value, with floating point numbers", f->id->names[0]);
	a->place = passing.place;
	if (passing.is_on_stack) {
		a->place = PROGRAM_PARAMETERS;
		if (!add_step(f, a, PROGRAM_WORD + passing.place))
			return false;
	}
	if (passing.is_pointer && !add_step(f, a, 0))
		return false;
	told = told_register(func, &param);
	if (told >= 0 && (passing.is_on_stack || told != (int)passing.place))
		return fail(f, "the compiler passes %s in another way than the calling convention says", f->id->names[0]);
	for (unsigned i = 1; i < f->id->nr_names; i++)
		if (!go_to_member(f, a, i, &type))
			return false;
	return set_type(f, a, &type);
}

static bool find_number(struct find *f, struct request_place *a)
{
	a->place = f->id->number - 1;
	a->size = f->id->size;
	a->is_signed = f->id->is_signed;
	return true;
}

/* Symbols */

/*
 * Returns true if GCC may have changed the parameters of this clone, or of this part, of a
 * function.
 */
static bool is_variant(const char *raw)
{
	return strstr(raw, ".constprop.") || strstr(raw, ".isra.") || strstr(raw, ".part.");
}

static void try_function(struct find *f, const struct elffile_sym *sym)
{
	struct request_place a = { 0 };
	struct dwarfinfo *dwarf = f->id->number ? NULL : elffile_dwarf(f->file);
	Dwarf_Die func;
	bool ok;

	if (is_variant(sym->name)) {
		fail(f, "the compiler has made a variant with other parameters, %s: mark it __attribute__((noinline, noclone))",
		     sym->name);
		return;
	}
	if (f->nr == REQUEST_PLACES_MAX) {
		fail(f, "there are more than %d functions of that name", REQUEST_PLACES_MAX);
		return;
	}
	if (!f->id->number && !dwarf) {
		fail(f, "there is no debug information: compile with -g, or write %s($1)", f->function);
		return;
	}
	if (f->id->number)
		ok = find_number(f, &a);
	else if (dwarfinfo_entry(dwarf, sym->addr, &func))
		ok = find_value(f, &func, &a);
	else
		ok = fail(f, "there is no debug information of it: compile it with -g, or write %s($1)", f->function);
	if (ok && !elffile_offset(f->file, sym->addr, &a.offset))
		ok = fail(f, "its code is not in the file");
	if (ok)
		f->found[f->nr++] = a;
}

/*
 * Returns true if the linker's name contains the last part of the function's name, or if the latter
 * is a glob.  This avoids demangling all names, which is expensive.
 */
static bool may_match(const char *raw, const char *function)
{
	const char *last = strrchr(function, ':');

	return strpbrk(function, "*?[") || strstr(raw, last ? last + 1 : function);
}

static void on_symbol(void *find, const struct elffile_sym *sym)
{
	struct find *f = find;
	const char *cold = strstr(sym->name, ".cold");
	char *name;

	if (f->nr < 0 || cold || !may_match(sym->name, f->function))
		return;
	name = demangle_name(sym->name);
	if (name && request_word_matches(f->function, name))
		try_function(f, sym);
	free(name);
}

int argument_find(struct elffile *file, const char *function, const struct request_id *id,
		  struct request_place found[REQUEST_PLACES_MAX], char *why, size_t why_size)
{
	struct find f = {
		.file = file, .function = function, .id = id, .found = found, .why = why, .why_size = why_size,
	};

	elffile_each_func(file, on_symbol, &f);
	return f.nr;
}
