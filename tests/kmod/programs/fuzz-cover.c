// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records what a call reached: places in the module's code and errors.  Places are found by KCOV,
 * for which only the module is compiled.  A result is new if no call of this kind had it before.
 *
 * The areas belong to the worker and are shared with its programs, which may end at any time.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fuzz.h"
#include "tap.h"

/*
 * These definitions are in linux/kcov.h, which Debian's libc6-dev has, but other systems may lack.
 */
#define KCOV_INIT_TRACE	_IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_TRACE_PC	0
#define AREA_WORDS	(4 << 10)

static struct {
	int fd;
	uint64_t *area;		/* the number of places, and then the places */
} covers[FUZZ_COVERS];
static unsigned int nr_covers;

static struct program_state {
	unsigned int next;	/* number of areas that threads have taken */
	unsigned int brought;
} *state;
static __thread uint64_t *mine;
#define NR_LATEST	2048
static __thread uint32_t latest[NR_LATEST];

void fuzz_cover_open(void)
{
	state = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (nr_covers = 0; nr_covers < FUZZ_COVERS; nr_covers++) {
		int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
		void *area;

		if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, (unsigned long)AREA_WORDS))
			return;
		area = mmap(NULL, AREA_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (area == MAP_FAILED)
			return;
		covers[nr_covers].fd = fd;
		covers[nr_covers].area = area;
	}
}

void fuzz_cover_reset(void)
{
	state->next = 0;
	state->brought = 0;
}

void fuzz_cover_thread(void)
{
	mine = NULL;
	while (state->next < nr_covers) {
		unsigned int n = __atomic_fetch_add(&state->next, 1, __ATOMIC_RELAXED);

		if (n < nr_covers && !ioctl(covers[n].fd, KCOV_ENABLE, KCOV_TRACE_PC)) {
			mine = covers[n].area;
			return;
		}
	}
}

void fuzz_cover_begin(void)
{
	if (mine)
		__atomic_store_n(&mine[0], 0, __ATOMIC_RELAXED);
}

/* Sets bit n.  Returns true if it was not set. */
static bool mark(uint8_t *bits, uint64_t n)
{
	uint8_t bit = 1 << n % 8;

	if (__atomic_load_n(&bits[n / 8], __ATOMIC_RELAXED) & bit)
		return false;
	return !(__atomic_fetch_or(&bits[n / 8], bit, __ATOMIC_RELAXED) & bit);
}

static void bring(unsigned int op, uint64_t what)
{
	uint64_t h = (what << 8 | op) * 0x9e3779b97f4a7c15ULL;

	if (!mark(fuzz->seen, h >> (64 - FUZZ_NEW_BITS)))
		return;
	state->brought++;
	__atomic_add_fetch(&fuzz->nr_new, 1, __ATOMIC_RELAXED);
}

void fuzz_cover_end(unsigned int op, long result)
{
	uint64_t base = fuzz->text_base, nr;

	bring(op, result < 0 ? -result : 0);
	if (!mine || !base)
		return;
	nr = __atomic_load_n(&mine[0], __ATOMIC_RELAXED);
	for (uint64_t i = 1; i <= nr && i < AREA_WORDS; i++) {
		uint64_t at = mine[i] - base;
		uint32_t *last = &latest[at % NR_LATEST];

		/* the module's init and exit functions are in separate sections */
		if (at >= FUZZ_TEXT)
			continue;
		/* Most places are reached repeatedly. */
		if (*last == (at << 8 | op))
			continue;
		*last = at << 8 | op;
		bring(op, at + 4096);
		if (mark(fuzz->text, at))
			__atomic_add_fetch(&fuzz->nr_text, 1, __ATOMIC_RELAXED);
	}
}

bool fuzz_cover_brought(void)
{
	return state->brought;
}

void fuzz_cover_base(void)
{
	FILE *f = fopen("/sys/module/ldb/sections/.text", "r");
	unsigned long long base = 0;

	if (f) {
		if (fscanf(f, "%llx", &base) != 1)
			base = 0;
		fclose(f);
	}
	fuzz->text_base = base;
}

static unsigned int count_relocations(const char *file, size_t size)
{
	const Elf64_Ehdr *e = (const void *)file;
	const Elf64_Shdr *sections = (const void *)(file + e->e_shoff);
	unsigned int nr = 0;

	for (unsigned int i = 0; i < e->e_shnum; i++) {
		const Elf64_Shdr *s = &sections[i], *symbols = &sections[s->sh_link];
		const Elf64_Rela *rela = (const void *)(file + s->sh_offset);
		const char *name = file + sections[e->e_shstrndx].sh_offset + s->sh_name;

		if (s->sh_type != SHT_RELA || strcmp(name, ".rela.text"))
			continue;
		for (uint64_t k = 0; k < s->sh_size / sizeof(*rela); k++) {
			const Elf64_Sym *sym = (const void *)(file + symbols->sh_offset);

			sym += ELF64_R_SYM(rela[k].r_info);
			nr += !strcmp(file + sections[symbols->sh_link].sh_offset + sym->st_name,
				      "__sanitizer_cov_trace_pc");
		}
	}
	return nr;
}

unsigned int fuzz_cover_total(void)
{
	const char *ko = getenv("LDB_KO");
	int fd = ko ? open(ko, O_RDONLY | O_CLOEXEC) : -1;
	unsigned int nr = 0;
	struct stat st;
	char *file;

	if (fd < 0 || fstat(fd, &st))
		return 0;
	file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file != MAP_FAILED) {
		nr = count_relocations(file, st.st_size);
		munmap(file, st.st_size);
	}
	close(fd);
	return nr;
}

/* Prints the places in a form for addr2line. */
void fuzz_cover_list(void)
{
	for (unsigned int at = 0; at < FUZZ_TEXT; at++)
		if (fuzz->text[at / 8] & 1 << at % 8)
			diag("reached %#x", at);
}
