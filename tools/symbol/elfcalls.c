// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds calls that leave the module; see elfcalls.h.
 *
 * Instructions are not decoded.  Bytes that equal a call by chance hardly ever lead to an entry of
 * the PLT or the GOT that has a name.
 */
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/program.h"
#include "symbol/elfcalls.h"

#define CODE_MAX	(1U << 20)	/* bytes of a function; longer ones are left out */

/*
 * Copies [addr, addr + size) to buf; returns false if this is not within a section with contents.
 */
static bool read_at(Elf *elf, uint64_t addr, uint64_t size, uint8_t *buf)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &shdr) || !(shdr.sh_flags & SHF_ALLOC) ||
		    shdr.sh_type != SHT_PROGBITS || addr < shdr.sh_addr ||
		    addr - shdr.sh_addr > shdr.sh_size || size > shdr.sh_size - (addr - shdr.sh_addr))
			continue;
		data = elf_rawdata(scn, NULL);
		if (!data || !data->d_buf || data->d_size < addr - shdr.sh_addr + size)
			return false;
		memcpy(buf, (const char *)data->d_buf + (addr - shdr.sh_addr), size);
		return true;
	}
	return false;
}

/*
 * Returns the name of the symbol whose address the loader stores in this word of the GOT, or NULL.
 */
static const char *slot_name(Elf *elf, uint64_t slot)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr shdr, symbols;
		Elf_Data *data, *syms;
		Elf_Scn *link;
		GElf_Rela rela;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(scn, NULL);
		link = elf_getscn(elf, shdr.sh_link);
		syms = link && gelf_getshdr(link, &symbols) ? elf_getdata(link, NULL) : NULL;
		for (int i = 0; data && syms && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == slot && gelf_getsym(syms, GELF_R_SYM(rela.r_info), &sym))
				return elf_strptr(elf, symbols.sh_link, sym.st_name);
	}
	return NULL;
}

static const char *entry_name(Elf *elf, uint64_t addr)
{
	uint8_t code[PROGRAM_PLT_BYTES];
	uint64_t slot;

	return read_at(elf, addr, sizeof(code), code) && program_plt_entry(code, addr, &slot) ?
	       slot_name(elf, slot) : NULL;
}

/*
 * Returns the name of the function that the instruction at addr calls; NULL: not a call, or no
 * name.
 */
static const char *called_name(Elf *elf, const uint8_t *code, uint64_t addr)
{
	uint64_t to;

	switch (program_call(code, addr, &to)) {
	case PROGRAM_CALL_PLT:
		return entry_name(elf, to);
	case PROGRAM_CALL_SLOT:
		return slot_name(elf, to);
	default:
		return NULL;
	}
}

void elfcalls_each(Elf *elf, uint64_t addr, uint64_t size,
		   void (*fn)(void *arg, const char *name), void *arg)
{
	uint8_t *code = size >= PROGRAM_CALL_BYTES && size <= CODE_MAX ? malloc(size) : NULL;

	if (!code || !read_at(elf, addr, size, code))
		size = 0;
	for (uint64_t i = 0; i + PROGRAM_CALL_BYTES <= size; i++) {
		const char *name = called_name(elf, &code[i], addr + i);

		if (!name || !*name)
			continue;
		fn(arg, name);
		i += 4;
	}
	free(code);
}

const char *elfcalls_callee(Elf *elf, uint64_t ret, uint64_t *to)
{
	static const unsigned lengths[] = { PROGRAM_CALL_NEAR, PROGRAM_CALL_BYTES };
	uint8_t code[PROGRAM_CALL_BYTES];

	*to = 0;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint64_t addr = ret - lengths[i], target;
		const char *name;

		if (!read_at(elf, addr, lengths[i], code))
			continue;
		switch (program_call(code, addr, &target)) {
		case PROGRAM_CALL_PLT:
			if (lengths[i] != PROGRAM_CALL_NEAR)
				continue;
			name = entry_name(elf, target);
			*to = name ? 0 : target;
			return name;
		case PROGRAM_CALL_SLOT:
			if (lengths[i] != PROGRAM_CALL_BYTES)
				continue;
			return slot_name(elf, target);
		default:
			continue;
		}
	}
	return NULL;
}
