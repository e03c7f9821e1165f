// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the symbol reader: an ELF file of a trace's module, its symbols, its separate debug file
 * (by build-id and by link), the part that dwz moved away, and split DWARF.
 *
 * The input is u8 SYMBOL_*, u8 number of addresses, u32 for each; then files, each u8 role, u16
 * size, bytes.  Unless SYMBOL_* says otherwise, the trace has the build-id of the seeds' files, and
 * the correct checksum of the debug file is put into the link.
 */
#include <stdlib.h>
#include <zlib.h>
#include "symbol/symbol.h"
#include "fuzz.h"

#define FILE_MAX	65536
#define BASE		0x10000000	/* address of the module, and its bias */
#define MODULE_SIZE	0x1000000
#define LINK		"prog.debug"	/* the name that seeds use; see seed-symbol.sh */
#define BUILD_ID	"5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f"

enum {
	SYMBOL_NO_ID	= 0x01,	/* the trace has no build-id, so any file is accepted */
	SYMBOL_WRONG_CRC = 0x02,
	SYMBOL_CALLS	= 0x04,
	SYMBOL_UNLOADED	= 0x08,	/* a second module was mapped at these addresses before */
	SYMBOL_NO_BIAS	= 0x10,
};

enum {				/* role of a file: u8, modulo the number of roles */
	ROLE_MAIN,
	ROLE_DEBUG,
	ROLE_ALT,		/* file of dwz with shared debug information */
	ROLE_DWO,
	NR_ROLES
};

static const char *const names[NR_ROLES] = { "prog", "*.debug", "*.alt", "*.dwo" };

static struct {
	uint8_t bytes[FILE_MAX];
	size_t size;
	bool is_there;
} files[NR_ROLES];

static void take_files(struct input *in)
{
	const uint8_t *bytes;

	for (int i = 0; i < NR_ROLES; i++)
		files[i].is_there = false;
	while (in->left) {
		unsigned role = take8(in) % NR_ROLES;

		bytes = take_bytes(in, take(in, 2), &files[role].size);
		memcpy(files[role].bytes, bytes, files[role].size);
		files[role].is_there = true;
	}
}

/* The link is a name, padded to four bytes, and the checksum. */
static void set_crc(bool is_wrong)
{
	uint8_t *at, *main_file = files[ROLE_MAIN].bytes;
	size_t size = files[ROLE_MAIN].size, end = (sizeof(LINK) + 3) & ~3UL;
	uint32_t crc = crc32(0, files[ROLE_DEBUG].bytes, files[ROLE_DEBUG].size) ^ is_wrong;

	at = files[ROLE_DEBUG].is_there ? memmem(main_file, size, LINK, sizeof(LINK)) : NULL;
	if (at && (size_t)(main_file + size - at) >= end + 4)
		memcpy(at + end, &crc, 4);
}

static void touch(const struct symbol *s)
{
	const char *const texts[] = { s->module, s->path, s->function, s->raw, s->file, s->func_file };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!texts[i] || strlen(texts[i]) > FILE_MAX)
			broken("text %zu of a symbol is missing or too long", i);
}

static void on_call(void *arg, const char *raw)
{
	*(size_t *)arg += strlen(raw);
}

static void look(struct symtab *st, uint64_t addr, bool calls)
{
	const struct symbol *s = symtab_lookup(st, addr, 0);
	size_t nr = 0;

	touch(s);
	if (calls)
		symtab_calls(st, s, on_call, &nr);
	if (s != symtab_lookup(st, addr, 0))
		broken("an address has two symbols");
	touch(symtab_lookup_call(st, addr, 0));
	touch(symtab_lookup_data(st, addr, 0));
}

static void look_at(const uint32_t *addrs, unsigned nr, unsigned flags)
{
	struct ldb_row_module row = {
		.flags = 1, .end_tick = INT64_MAX, .start = BASE, .end = BASE + MODULE_SIZE,
		.bias = flags & SYMBOL_NO_BIAS ? 0 : BASE,
		.build_id = flags & SYMBOL_NO_ID ? "" : BUILD_ID, .path = SANDBOX_DIR "prog",
	};
	struct symtab *st = symtab_open(NULL);
	char text[512];

	if (!st)
		broken("out of memory");
	symtab_add_module(st, &row);
	if (flags & SYMBOL_UNLOADED) {
		row.tick = -100;
		row.end_tick = -50;
		row.path = "/gone";
		symtab_add_module(st, &row);
	}
	for (unsigned i = 0; i < nr; i++)
		look(st, BASE + addrs[i] % MODULE_SIZE, flags & SYMBOL_CALLS);
	for (int i = 0; i < SYMTAB_NR_PROBLEMS; i++)
		symtab_problem_text(st, i, text, sizeof(text));
	symtab_close(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned flags = take8(&in), nr = take8(&in) % 8;
	uint32_t addrs[8];

	for (unsigned i = 0; i < nr; i++)
		addrs[i] = take(&in, 4);
	take_files(&in);
	set_crc(flags & SYMBOL_WRONG_CRC);
	sandbox_enter();
	for (int i = 0; i < NR_ROLES; i++)
		if (files[i].is_there)
			sandbox_put(names[i], files[i].bytes, files[i].size);
	look_at(addrs, nr, flags);
	sandbox_leave();
	return 0;
}
