// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls that leave the module; see elfcalls.h.
 *
 * Not a disassembler: x86's call through the PLT is a byte (0xe8, for a tail call 0xe9)
 * and a distance, the one past it (-fno-plt) is "ff 15" and a distance.  Bytes that look
 * like one by chance do not lead to an entry of the PLT or the GOT with a name.
 */
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elfcalls.h"

#define CODE_MAX	(1U << 20)	/* bytes of a function */

/* Whether all of [addr, addr + size) is in a section with contents; copied to buf. */
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

/* What the linker puts into this word of the GOT; NULL: nothing with a name. */
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

static uint64_t relative(const uint8_t *at, uint64_t next)
{
	int32_t distance;

	memcpy(&distance, at, 4);
	return next + (uint64_t)(int64_t)distance;
}

/* An entry of the PLT: [endbr64] [bnd] jmp *slot(%rip). */
static const char *entry_name(Elf *elf, uint64_t addr)
{
	uint8_t code[11];
	unsigned at = 0;

	if (!read_at(elf, addr, sizeof(code), code))
		return NULL;
	if (!memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at += 4;
	if (code[at] == 0xf2)
		at++;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	return slot_name(elf, relative(&code[at + 2], addr + at + 6));
}

void elfcalls_each(Elf *elf, uint64_t addr, uint64_t size,
		   void (*fn)(void *arg, const char *name), void *arg)
{
	uint8_t *code = size >= 6 && size <= CODE_MAX ? malloc(size) : NULL;

	if (!code || !read_at(elf, addr, size, code))
		size = 0;
	for (uint64_t i = 0; i + 6 <= size; i++) {
		const char *name = NULL;

		if (code[i] == 0xe8 || code[i] == 0xe9)
			name = entry_name(elf, relative(&code[i + 1], addr + i + 5));
		else if (code[i] == 0xff && (code[i + 1] == 0x15 || code[i + 1] == 0x25))
			name = slot_name(elf, relative(&code[i + 2], addr + i + 6));
		if (!name || !*name)
			continue;
		fn(arg, name);
		i += 4;
	}
	free(code);
}
