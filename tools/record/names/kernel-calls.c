// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>
#include "arch/cpu.h"
#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "record/names/calls.h"
#include "record/names/kallsyms.h"
#include "record/names/kernel-calls.h"

/*
 * Prefixes in the names of functions that implement a system call.  The function that the kernel's
 * entry calls may end with a jump to another one, of which alone a return address is on the stack
 * then.  If both are on the stack, the outer one counts.
 */
static const char *const prefixes[] = {
	CPU_CALL_PREFIX, "__do_sys_", "__se_sys_", "ksys_", "__sys_", "do_sys_", "kernel_", "do_",
};

static const char *behind_prefix(const char *symbol)
{
	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (*prefixes[i] && !strncmp(symbol, prefixes[i], strlen(prefixes[i])))
			return symbol + strlen(prefixes[i]);
	return NULL;
}

/*
 * Returns the number of the system call that a function implements, LDB_SYSCALL_NR_FAULT, or
 * KERNEL_CALL_NONE.  The names of some functions differ from those of their system calls.
 */
static int64_t number_of(const char *symbol)
{
	static const struct { const char *symbol, *name; } others[] = {
		{ "sendfile64", "sendfile" }, { "newfstat", "fstat" }, { "newstat", "stat" },
		{ "newlstat", "lstat" }, { "newuname", "uname" }, { "umount", "umount2" },
	};

	if (!strcmp(symbol, CPU_FAULT_ENTRY))
		return LDB_SYSCALL_NR_FAULT;
	symbol = behind_prefix(symbol);
	if (!symbol)
		return KERNEL_CALL_NONE;
	for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(symbol, others[i].symbol))
			symbol = others[i].name;
	return calls_number(symbol);
}

static bool add(struct kernel_calls *k, uint64_t at, uint32_t nr)
{
	if (!array_room(&k->calls, &k->room, k->nr, sizeof(*k->calls)))
		return false;
	k->calls[k->nr++] = (struct kernel_call){ at, UINT64_MAX, nr };
	return true;
}

COMPARE(by_address, struct kernel_call, UP(from))

/*
 * Sets the ends of functions: a function ends at the next symbol of any kind.  The symbols are not
 * completely sorted.
 */
static void bound(struct kernel_calls *k, uint64_t symbol)
{
	size_t i = search(k->nr, j, k->calls[j].from < symbol);

	if (i && symbol < k->calls[i - 1].to)
		k->calls[i - 1].to = symbol;
}

/*
 * Adds the functions of system calls; stores the addresses of all symbols in *all.  Returns false
 * if there is no memory.
 */
static bool read_symbols(struct kernel_calls *k, FILE *f, uint64_t **all, size_t *nr_all)
{
	struct kallsyms_line symbol;
	size_t room = 0;

	while (kallsyms_next(f, &symbol)) {
		int64_t nr = symbol.addr ? number_of(symbol.name) : KERNEL_CALL_NONE;

		if (nr >= 0 && !add(k, symbol.addr, nr))
			return false;
		if (!array_room(all, &room, *nr_all, sizeof(**all)))
			return false;
		(*all)[(*nr_all)++] = symbol.addr;
	}
	return true;
}

/*
 * Reads the file in one pass: the kernel generates it again for each reader, which takes a tenth of
 * a second.
 */
bool kernel_calls_read(struct kernel_calls *k, FILE *symbols)
{
	uint64_t *all = NULL;
	size_t nr_all = 0;

	*k = (struct kernel_calls){ 0 };
	if (read_symbols(k, symbols, &all, &nr_all) && k->nr) {
		sort_by(k->calls, k->nr, by_address);
		for (size_t i = 0; i < nr_all; i++)
			bound(k, all[i]);
	} else {
		kernel_calls_free(k);
	}
	free(all);
	return k->nr;
}

void kernel_calls_free(struct kernel_calls *k)
{
	free(k->calls);
	*k = (struct kernel_calls){ 0 };
}

/*
 * The outermost system call or fault counts: a system call may cause a fault, or call the function
 * of another system call.
 */
int64_t kernel_calls_find(const struct kernel_calls *k, const uint64_t *chain, size_t nr)
{
	while (nr--) {
		size_t i = search(k->nr, j, k->calls[j].from <= chain[nr]);

		if (i && chain[nr] < k->calls[i - 1].to)
			return k->calls[i - 1].nr;
	}
	return KERNEL_CALL_NONE;
}
