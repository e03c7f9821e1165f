// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the thread blocks of the running program as the runtime does: walks the ELF notes of all
 * modules and calls the accessors.  It prints per module "NAME block=N" (the same N for the same
 * block), and checks that each block has the canary, that another thread has another first block,
 * and, if this program is instrumented, that the first block has one record.
 *
 *	notes [LIB...]		dlopen()s the libraries first
 */
#define _GNU_SOURCE
#include "../../libldb/include/ldb/abi.h"
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS	256

static struct ldb_thread *blocks[MAX_BLOCKS];
static int nr_blocks, nr_modules, failures, quiet;

static void fail(const char *what)
{
	fprintf(stderr, "notes: %s\n", what);
	failures++;
}

static void on_accessor(const char *module, const struct ldb_note_desc *desc)
{
	struct ldb_thread *(*accessor)(void);
	struct ldb_thread *block;
	int i;

	accessor = (void *)((char *)desc + desc->off);
	block = accessor();
	if (desc->version != LDB_ABI_VERSION)
		fail("version");
	if ((block->gen & 0xffff) != LDB_CANARY)
		fail("canary");
	if ((uintptr_t)block % 16)
		fail("alignment");
	for (i = 0; i < nr_blocks && blocks[i] != block; i++)
		;
	if (i == nr_blocks && nr_blocks < MAX_BLOCKS)
		blocks[nr_blocks++] = block;
	nr_modules++;
	if (!quiet)
		printf("%s block=%d\n", *module ? module : "program", i);
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *p, *end, *desc, *base;
	const ElfW(Nhdr) *note;
	int i;

	(void)size;
	(void)arg;
	base = strrchr(info->dlpi_name, '/');
	base = base ? base + 1 : info->dlpi_name;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		p = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		end = p + info->dlpi_phdr[i].p_memsz;
		for (; p + sizeof(*note) <= end;
		     p = desc + ((note->n_descsz + 3) & ~3u)) {
			note = (const void *)p;
			desc = p + sizeof(*note) + ((note->n_namesz + 3) & ~3u);
			if (note->n_namesz != sizeof(LDB_NOTE_OWNER) ||
			    strcmp((const char *)(note + 1), LDB_NOTE_OWNER))
				continue;
			if (note->n_type == LDB_NOTE_ACCESSOR)
				on_accessor(base, (const void *)desc);
		}
	}
	return 0;
}

__attribute__((noipa)) static void *other_thread(void *arg)
{
	struct ldb_thread *first = blocks[0];

	(void)arg;
	nr_blocks = 0;
	quiet = 1;
	dl_iterate_phdr(on_module, NULL);
	if (nr_blocks && blocks[0] == first)
		fail("two threads have one block");
#ifdef INSTRUMENTED
	if (!blocks[0]->top || blocks[0]->top->prev)
		fail("other thread: depth is not 1");
#endif
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t tid;
	int i, sum = 0;

	for (i = 1; i < argc; i++) {
		void *lib = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		int (*fn)(int);

		if (!lib) {
			fprintf(stderr, "notes: %s\n", dlerror());
			return 1;
		}
		fn = (int (*)(int))dlsym(lib, "lib_function");
		sum += fn(i);
	}
	dl_iterate_phdr(on_module, NULL);
	printf("sum=%d modules=%d blocks=%d\n", sum, nr_modules, nr_blocks);
#ifdef INSTRUMENTED
	if (!blocks[0]->top || blocks[0]->top->prev)
		fail("main: depth is not 1");
#endif
	pthread_create(&tid, NULL, other_thread, NULL);
	pthread_join(tid, NULL);
	return failures != 0;
}
