// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes MODULE rows of mapped ELF files, and writes each one at once: without them the addresses in
 * a trace are meaningless.  When a file is unloaded, its row is written a second time, with its
 * end; of several rows with the same (start, tick) the last one is valid.
 */
#include <gelf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/array.h"
#include "cli/foreign.h"
#include "record/names/modules.h"
#include "record/process/proc.h"

#define MODULES_MAX	65536	/* a program that reports more is faulty */
#define NOTES_MAX	(1 << 20)	/* bytes; a sparse file may claim any size */

struct module {
	struct ldb_row_module row;
	char build_id[LDB_BUILD_ID_MAX * 2 + 1];
	char path[LDB_PATH_MAX];
};

struct modules {
	struct writer *w;
	uint64_t t0;
	int pid;
	struct module **all;
	size_t nr, room;
};

struct modules *modules_alloc(struct writer *w, uint64_t t0, int pid)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (m) {
		m->w = w;
		m->t0 = t0;
		m->pid = pid;
	}
	return m;
}

void modules_each(const struct modules *m, void (*fn)(void *arg, const struct ldb_row_module *row), void *arg)
{
	for (size_t i = 0; i < m->nr; i++)
		fn(arg, &m->all[i]->row);
}

bool modules_have_records(const struct modules *m, uint64_t addr)
{
	for (size_t i = 0; i < m->nr; i++) {
		const struct ldb_row_module *row = &m->all[i]->row;

		if (addr >= row->start && addr < row->end && row->flags & LDB_MODULE_F_INSTRUMENTED)
			return true;
	}
	return false;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->nr; i++)
		free(m->all[i]);
	free(m->all);
	free(m);
}

static void to_hex(const uint8_t *bytes, size_t nr, char *buf)
{
	for (size_t i = 0; i < nr && i < LDB_BUILD_ID_MAX; i++)
		sprintf(buf + 2 * i, "%02x", bytes[i]);
}

static bool notes_build_id(Elf_Data *notes, char *buf)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr note;

	while (notes && (offset = gelf_getnote(notes, offset, &note, &name, &desc))) {
		const char *base = notes->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(base + name, "GNU", 4))
			continue;
		to_hex((const uint8_t *)base + desc, note.n_descsz, buf);
		return true;
	}
	return false;
}

/* Opens an ELF file, and counts its program headers; 0 if it is not an ELF file. */
static Elf *open_elf(int fd, size_t *nr_headers)
{
	Elf *elf;

	*nr_headers = 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		elf_getphdrnum(elf, nr_headers);
	return elf;
}

/* Reads the build-id of a file as hexadecimal digits; "": it has none. */
static void file_build_id(int fd, char *buf)
{
	size_t nr;
	Elf *elf = open_elf(fd, &nr);

	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_NOTE && ph.p_filesz <= NOTES_MAX &&
		    notes_build_id(elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz,
							ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
				   buf))
			break;
	}
	elf_end(elf);
}

static struct module *add(struct modules *m)
{
	struct module *new;

	if (m->nr == MODULES_MAX || !array_room(&m->all, &m->room, m->nr, sizeof(*m->all)))
		return NULL;
	new = calloc(1, sizeof(*new));
	if (new)
		m->all[m->nr++] = new;
	return new;
}

static void write_row(struct modules *m, struct module *x)
{
	x->row.build_id = x->build_id;
	x->row.path = x->path;
	writer_add_module(m->w, &x->row);
}

/*
 * Names the program's own file: the loader has no name for it, and without /proc the runtime has
 * none, either.
 */
static void name_program(const struct modules *m, struct module *x)
{
	char path[LDB_PATH_MAX];

	if (proc_link(m->pid, "exe", path, sizeof(path)))
		snprintf(x->path, sizeof(x->path), "%s", foreign_name(m->pid, path));
}

static void build_id_of(const struct modules *m, struct module *x)
{
	int fd = x->path[0] == '/' ? foreign_open_of(m->pid, x->path) : -1;

	if (fd < 0)
		return;
	file_build_id(fd, x->build_id);
	close(fd);
}

void modules_loaded(struct modules *m, const struct ldb_msg_module *msg)
{
	struct module *x = add(m);

	if (!x)
		return;
	x->row.flags = msg->flags;
	x->row.tick = msg->tsc ? (int64_t)(msg->tsc - m->t0) : 0;
	/* A module that was loaded before the recording gets the first tick. */
	if (x->row.tick < 0)
		x->row.tick = 0;
	x->row.end_tick = INT64_MAX;
	x->row.start = msg->start;
	x->row.end = msg->end;
	x->row.bias = msg->bias;
	snprintf(x->path, sizeof(x->path), "%.*s", LDB_PATH_MAX - 1, msg->path);
	if (!x->path[0])
		name_program(m, x);
	if (msg->build_id_size && msg->build_id_size <= LDB_BUILD_ID_MAX)
		to_hex(msg->build_id, msg->build_id_size, x->build_id);
	else
		build_id_of(m, x);
	write_row(m, x);
}

void modules_unloaded(struct modules *m, const struct ldb_msg_unloaded *msg)
{
	for (size_t i = m->nr; i--;) {
		struct module *x = m->all[i];

		if (x->row.start != msg->start || x->row.end_tick != INT64_MAX)
			continue;
		x->row.end_tick = (int64_t)(msg->tsc - m->t0);
		write_row(m, x);
		/*
		 * An unloaded module is not needed for lookups, and programs may load and unload
		 * libraries for days.
		 */
		free(x);
		m->all[i] = m->all[--m->nr];
		return;
	}
}

void modules_write(struct modules *m)
{
	for (size_t i = 0; i < m->nr; i++)
		write_row(m, m->all[i]);
}

static bool is_known(const struct modules *m, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->all[i]->row.start < end && start < m->all[i]->row.end &&
		    m->all[i]->row.end_tick == INT64_MAX)
			return true;
	return false;
}

/*
 * Finds the load address minus the ELF address of the segment that is mapped from this offset.
 * Returns false if it is not known.
 */
static bool file_bias(int fd, uint64_t start, uint64_t offset, uint64_t *bias)
{
	bool found = false;
	size_t nr;
	Elf *elf = open_elf(fd, &nr);

	for (size_t i = 0; i < nr && !found; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    offset < (ph.p_offset & -4096UL) || offset >= ph.p_offset + ph.p_filesz)
			continue;
		*bias = start - offset - (ph.p_vaddr - ph.p_offset);
		found = true;
	}
	elf_end(elf);
	return found;
}

static void complete_line(struct modules *m, const char *line)
{
	uint64_t start, end, offset, bias;
	char perms[8], path[LDB_PATH_MAX];
	struct module *x;
	int fd;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %1023[^\n]", &start, &end,
		   perms, &offset, path) != 5 ||
	    perms[2] != 'x' || path[0] != '/' || is_known(m, start, end))
		return;
	fd = foreign_open_mapped(m->pid, start, end, path);
	if (fd < 0)
		return;
	x = file_bias(fd, start, offset, &bias) ? add(m) : NULL;
	if (x) {
		x->row.end_tick = INT64_MAX;
		x->row.start = start;
		x->row.end = end;
		x->row.bias = bias;
		snprintf(x->path, sizeof(x->path), "%s", foreign_name(m->pid, path));
		file_build_id(fd, x->build_id);
		write_row(m, x);
	}
	close(fd);
}

void modules_complete(struct modules *m)
{
	FILE *f = proc_open(m->pid, 0, "maps");
	char *line = NULL;
	size_t room = 0;

	while (f && getline(&line, &room, f) > 0)
		complete_line(m, line);
	free(line);
	if (f)
		fclose(f);
}
