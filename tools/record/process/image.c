// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements image.h.  ELF headers and notes are read where the loader has mapped them. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <ldb/abi.h>
#include "record/process/image.h"
#include "record/process/proc.h"

#define PHDRS_MAX	64
#define NOTES_MAX	(64 << 10)

static int memory_open(pid_t tid, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/mem", tid, tid);
	return open(path, flags | O_CLOEXEC);
}

static bool peek(int mem, uint64_t address, void *buf, size_t size)
{
	return address <= INT64_MAX && pread(mem, buf, size, address) == (ssize_t)size;
}

bool image_peek(pid_t tid, uint64_t address, void *buf, size_t size)
{
	int mem = memory_open(tid, O_RDONLY);
	bool ok = mem >= 0 && peek(mem, address, buf, size);

	if (mem >= 0)
		close(mem);
	return ok;
}

/*
 * Returns true if `mem` is the memory of program `id`.  After execve(), reading from a descriptor
 * that was opened before it fails.
 */
static bool is_of(int mem, const struct image_id *id)
{
	unsigned char random[sizeof(id->random)];

	return id->at && peek(mem, id->at, random, sizeof(random)) && !memcmp(random, id->random, sizeof(random));
}

bool image_is(pid_t tid, const struct image_id *id)
{
	int mem = memory_open(tid, O_RDONLY);
	bool is = mem >= 0 && is_of(mem, id);

	if (mem >= 0)
		close(mem);
	return is;
}

void image_id(pid_t tid, struct image_id *id)
{
	FILE *f = proc_open(tid, tid, "auxv");
	unsigned long entry[2];

	memset(id, 0, sizeof(*id));
	while (f && fread(entry, sizeof(entry), 1, f) == 1)
		if (entry[0] == AT_RANDOM)
			id->at = entry[1];
	if (f)
		fclose(f);
	if (!id->at || !image_peek(tid, id->at, id->random, sizeof(id->random)))
		id->at = 0;
}

bool image_poke(pid_t tid, const struct image_id *id, uint64_t address, const void *buf, size_t size)
{
	int mem = memory_open(tid, O_RDWR);
	bool ok = mem >= 0 && address <= INT64_MAX && is_of(mem, id) &&
		  pwrite(mem, buf, size, address) == (ssize_t)size;

	if (mem >= 0)
		close(mem);
	return ok;
}

static void read_door(int mem, uint64_t desc_at, const struct ldb_note_desc *d,
		      struct image *image)
{
	struct ldb_door door;

	if (image->door || !peek(mem, desc_at + d->off, &door, sizeof(door)))
		return;
	image->door = desc_at + d->off;
	image->copy = door;
	image->copy.release[sizeof(door.release) - 1] = '\0';
}

/* Reads notes.  `bytes` is a copy of the `size` bytes at address `at`. */
static void read_notes(int mem, const char *bytes, size_t size, uint64_t at,
		       struct image *image)
{
	size_t pos = 0;

	while (size - pos >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr n;
		struct ldb_note_desc d;
		size_t name, desc;

		memcpy(&n, bytes + pos, sizeof(n));
		name = pos + sizeof(n);
		if (n.n_namesz > size - name)
			return;
		desc = name + ((n.n_namesz + 3) & ~3UL);
		if (desc > size || n.n_descsz > size - desc)
			return;
		if (n.n_namesz == 4 && !memcmp(bytes + name, LDB_NOTE_OWNER, 4) &&
		    n.n_descsz == sizeof(d)) {
			memcpy(&d, bytes + desc, sizeof(d));
			image->records |= n.n_type == LDB_NOTE_ACCESSOR;
			if (n.n_type == LDB_NOTE_RUNTIME)
				read_door(mem, at + desc, &d, image);
		}
		pos = desc + ((n.n_descsz + 3) & ~3UL);
		if (pos > size)
			return;
	}
}

/* Reads the ELF file whose first byte is mapped at `start`. */
static void read_file(int mem, uint64_t start, struct image *image)
{
	Elf64_Ehdr h;
	Elf64_Phdr ph[PHDRS_MAX];
	uint64_t bias = 0;

	if (!peek(mem, start, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof(ph[0]) ||
	    h.e_phnum > PHDRS_MAX || !peek(mem, start + h.e_phoff, ph, h.e_phnum * sizeof(ph[0])))
		return;
	for (int i = h.e_phnum; i--;)
		if (ph[i].p_type == PT_LOAD)
			bias = start - (ph[i].p_vaddr & ~4095UL);	/* from the first segment */
	for (int i = 0; i < h.e_phnum; i++) {
		size_t size = ph[i].p_memsz < NOTES_MAX ? ph[i].p_memsz : NOTES_MAX;
		char *bytes;

		if (ph[i].p_type != PT_NOTE)
			continue;
		bytes = malloc(size);
		if (bytes && peek(mem, bias + ph[i].p_vaddr, bytes, size))
			read_notes(mem, bytes, size, bias + ph[i].p_vaddr, image);
		free(bytes);
	}
}

void image_read(pid_t tid, struct image *image)
{
	int mem = memory_open(tid, O_RDONLY);
	FILE *f = mem >= 0 ? proc_open(tid, tid, "maps") : NULL;
	char *line = NULL;
	size_t room = 0;

	memset(image, 0, sizeof(*image));
	image_id(tid, &image->id);
	while (f && getline(&line, &room, f) > 0) {
		unsigned long start, offset;
		char perms[8];

		image->readable = true;
		image->runtime |= !!strstr(line, "/libldbtrace.so");
		if (sscanf(line, "%lx-%*x %7s %lx", &start, perms, &offset) == 3 &&
		    perms[0] == 'r' && !offset && strchr(line, '/'))
			read_file(mem, start, image);
	}
	free(line);
	if (f)
		fclose(f);
	if (mem >= 0)
		close(mem);
}
