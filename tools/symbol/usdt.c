// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads notes of probes; see usdt.h.  A note has three addresses: of the nop; of section
 * .stapsdt.base when the file was linked; and of the semaphore, or 0.  Three texts follow:
 * provider, name, arguments.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "arch/program.h"
#include "symbol/usdt.h"

#define NOTE_TYPE	3
#define NOTE_OWNER	"stapsdt"
#define ADDRESSES	3

struct file {
	Elf *elf;
	const char *bytes;
	size_t size;
	uint64_t base;		/* address of .stapsdt.base; 0: there is no such section */
};

/* Returns the section of that name, and its header. */
static Elf_Scn *find_section(Elf *elf, const char *name, GElf_Shdr *header)
{
	Elf_Scn *s = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((s = elf_nextscn(elf, s))) {
		const char *its = gelf_getshdr(s, header) ? elf_strptr(elf, names, header->sh_name) : NULL;

		if (its && !strcmp(its, name))
			return s;
	}
	return NULL;
}

/* Finds the offset of an address in the file.  Its segment must have all of the flags (PF_*). */
static bool find_offset(const struct file *f, uint64_t addr, unsigned flags, uint64_t *offset)
{
	size_t nr = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(f->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(f->elf, i, &ph) || ph.p_type != PT_LOAD || (ph.p_flags & flags) != flags ||
		    addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = addr - ph.p_vaddr + ph.p_offset;
		return *offset < f->size;
	}
	return false;
}

struct note {
	uint64_t addr, base, semaphore;
	const char *provider, *name, *args;
};

static const char *take_text(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, end - text) : NULL;

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

static bool read_note(const char *at, size_t size, struct note *n)
{
	const char *end = at + size;
	uint64_t addresses[ADDRESSES];

	if (size < sizeof(addresses))
		return false;
	memcpy(addresses, at, sizeof(addresses));
	at += sizeof(addresses);
	*n = (struct note){ .addr = addresses[0], .base = addresses[1], .semaphore = addresses[2] };
	n->provider = take_text(&at, end);
	n->name = take_text(&at, end);
	n->args = take_text(&at, end);
	return n->args;
}

/*
 * If there is no nop at the place of a probe, the file is damaged, or somebody has patched it.  A
 * breakpoint at this place would overwrite another instruction, so the note is refused.
 */
static bool find_place(const struct file *f, const struct note *n, uint64_t *offset, uint64_t *semaphore)
{
	uint64_t moved = f->base && n->base ? f->base - n->base : 0;

	*semaphore = 0;
	return find_offset(f, n->addr + moved, PF_X, offset) && f->bytes[*offset] == PROGRAM_NOP &&
	       (!n->semaphore || find_offset(f, n->semaphore + moved, PF_W, semaphore));
}

static int find_in(const struct file *f, Elf_Data *data, const char *provider, const char *name, usdt_fn *fn, void *arg)
{
	const char *bytes = data->d_buf;
	size_t at = 0, owner, body, next;
	uint64_t offset, semaphore;
	GElf_Nhdr header;
	struct note n;
	int nr = 0;

	while (at < data->d_size && (next = gelf_getnote(data, at, &header, &owner, &body))) {
		at = next;
		if (header.n_type != NOTE_TYPE || header.n_namesz != sizeof(NOTE_OWNER) ||
		    memcmp(bytes + owner, NOTE_OWNER, sizeof(NOTE_OWNER)))
			continue;
		if (!read_note(bytes + body, header.n_descsz, &n))
			return -1;
		if (strcmp(n.provider, provider) || strcmp(n.name, name))
			continue;
		if (!find_place(f, &n, &offset, &semaphore))
			return -1;
		fn(arg, offset, semaphore, n.args);
		nr++;
	}
	return at < data->d_size ? -1 : nr;
}

static int find_in_elf(Elf *elf, const char *provider, const char *name, usdt_fn *fn, void *arg)
{
	struct file f = { .elf = elf };
	Elf_Scn *notes;
	Elf_Data *data;
	GElf_Shdr header;
	GElf_Ehdr e;

	if (!gelf_getehdr(elf, &e) || e.e_machine != PROGRAM_MACHINE || gelf_getclass(elf) != ELFCLASS64)
		return 0;
	f.bytes = elf_rawfile(elf, &f.size);
	f.base = find_section(elf, ".stapsdt.base", &header) ? header.sh_addr : 0;
	notes = find_section(elf, ".note.stapsdt", &header);
	if (!f.bytes || !notes)
		return 0;
	data = elf_getdata(notes, NULL);
	return data && data->d_buf ? find_in(&f, data, provider, name, fn, arg) : -1;
}

int usdt_find(const char *path, const char *provider, const char *name, usdt_fn *fn, void *arg)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), nr = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf)
		nr = find_in_elf(elf, provider, name, fn, arg);
	elf_end(elf);
	close(fd);
	return nr;
}
