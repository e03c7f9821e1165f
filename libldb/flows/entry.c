// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Manages the entries.  There is one, with its stub, for each pair of a function and a calling
 * module, no matter how many slots lead to it and how often dlsym() returns the function.  Entries
 * stay until the process ends, because the program may have stored the address of a stub.
 */
#include <dlfcn.h>
#include "flows.h"
#include "runtime/runtime.h"
#include "shim/symbol.h"

#define CHAINS		4096		/* a small table, because all of its pages are touched */
#define NAMES_CHUNK	65536

HIDDEN struct flow_entry *flow_entries;

HIDDEN flow_dlsym_fn *flow_entry_dlsym;

static struct raw_lock lock;
static uint16_t chains[CHAINS];		/* number + 1 of the newest entry; 0: there is none */
static uint32_t nr_entries;
static char *names;			/* the unused part of a chunk of memory for names */
static size_t names_left;

static uint32_t hash_of(uint32_t from, uint64_t target, const char *name)
{
	uint64_t h = target + from * 0x9e3779b97f4a7c15ULL;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return (h * 0x9e3779b97f4a7c15ULL >> 32) % CHAINS;
}

/* Copies a name, because the table of strings that contains it may be unmapped with its module. */
static const char *keep(const char *name)
{
	size_t size = strlen(name) + 1;
	char *copy;

	if (size > NAMES_CHUNK)
		return NULL;
	if (size > names_left) {
		names = raw_map(NAMES_CHUNK);
		names_left = names ? NAMES_CHUNK : 0;
	}
	if (!names_left)
		return NULL;
	copy = names;
	memcpy(copy, name, size);
	names += size;
	names_left -= size;
	return copy;
}

uint64_t flow_entry_real(uint64_t target, const char *name, uint32_t flags)
{
	void *fn = flags & FLOW_E_OURS ? symbol_next(name, NULL) : NULL;

	return fn ? (uint64_t)(uintptr_t)fn : target;
}

static struct flow_entry *entry_new(uint32_t from, uint32_t to, uint64_t target, const char *name,
				    uint32_t flags)
{
	enum flow_special special = flow_special_of(name);
	struct flow_entry *e = &flow_entries[nr_entries];

	if (special == FLOW_NEVER_TOUCHED) {
		flow_lose(LDB_FLOW_LOST_SPECIAL, 1);
		return NULL;
	}
	if (nr_entries == FLOW_ENTRIES || !(name = keep(name))) {
		flow_lose(LDB_FLOW_LOST_LIMIT, 1);
		return NULL;
	}
	*e = (struct flow_entry){
		.target = target, .name = name, .from = from, .to = to,
		.flags = flags | (special == FLOW_USUAL ? 0 : FLOW_E_NEVER),
	};
	if (special == FLOW_DLSYM && target == (uintptr_t)dlsym)
		e->target = (uintptr_t)flow_entry_dlsym;
	nr_entries++;
	return e;
}

/* Returns true if e is the entry for calls of this function, at this address, by this module. */
static bool is_entry(const struct flow_entry *e, uint32_t from, uint64_t target, const char *name)
{
	return e->from == from && raw_str_equal(e->name, name) &&
	       (e->target == target || e->target == (uintptr_t)flow_entry_dlsym);
}

struct flow_entry *flow_entry_find(uint32_t from, uint32_t to, uint64_t target, const char *name,
				   uint32_t flags)
{
	uint32_t at = hash_of(from, target, name);
	struct flow_entry *e = NULL;

	raw_lock(&lock);
	for (uint32_t n = chains[at]; n; n = e->next) {
		e = &flow_entries[n - 1];
		if (is_entry(e, from, target, name)) {
			e->flags |= flags;
			goto out;
		}
	}
	e = entry_new(from, to, target, name, flags);
	if (e) {
		e->next = chains[at];
		chains[at] = nr_entries;
	}
out:
	raw_unlock(&lock);
	return e;
}

bool flow_entry_prepare(void)
{
	if (!flow_entries)
		flow_entries = raw_map(FLOW_ENTRIES * sizeof(*flow_entries));
	return flow_entries;
}

uint64_t flow_nr_entries(void)
{
	return nr_entries;
}

void flow_entry_begin(void)
{
	for (uint32_t i = 0; i < nr_entries; i++)
		order_any_store_word(&flow_entries[i].cell, 0);
}

void flow_entry_fork_child(void)
{
	atomic_store(&lock.word, 0);
}
