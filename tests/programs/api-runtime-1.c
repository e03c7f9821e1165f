// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This library imitates the first version of the runtime as far as a program can observe it: it
 * fills the tables of version 1 that it finds, and no others, and counts calls of ldb_req_start()
 * and ldb_req_end().  It is preloaded.
 */
#define _GNU_SOURCE
#include "api-ldb-1.h"
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static unsigned nr_tables, nr_starts, nr_ends;

static void on_start(uint64_t id, void *queue, const void *site)
{
	(void)id, (void)queue, (void)site;
	nr_starts++;
}

static void on_end(uint64_t id, const void *site)
{
	(void)id, (void)site;
	nr_ends++;
}

static void on_table(const char *desc)
{
	struct ldb_api *table;
	uint64_t version;
	int64_t off;

	memcpy(&off, desc, 8);
	memcpy(&version, desc + 8, 8);
	table = (struct ldb_api *)(desc + off);
	if (version != 1 || table == &__ldb_api)
		return;
	nr_tables++;
	table->req_start = on_start;
	table->req_end = on_end;
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size, (void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const char *p = (const char *)(info->dlpi_addr + h->p_vaddr), *end = p + h->p_memsz;

		while (h->p_type == PT_NOTE && (size_t)(end - p) >= sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *n = (const void *)p;
			const char *desc = p + sizeof(*n) + ((n->n_namesz + 3) & ~3u);

			if (n->n_namesz == 4 && !memcmp(n + 1, "LDB", 4) && n->n_type == 2)
				on_table(desc);
			p = desc + ((n->n_descsz + 3) & ~3u);
		}
	}
	return 0;
}

__attribute__((constructor)) static void begin(void)
{
	dl_iterate_phdr(on_module, NULL);
}

__attribute__((destructor)) static void end(void)
{
	printf("runtime 1: %u tables, %u starts, %u ends\n", nr_tables, nr_starts, nr_ends);
}
