// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"
#include "base/sort.h"
#include "record/names/kallsyms.h"
#include "record/names/ksyms.h"
#include "trace/writer.h"

#define FIRST		(LDB_SAMPLE_KERNEL + 1)
#define PLACES_MAX	65536

struct place {
	uint64_t addr, from;	/* from: start of the closest function found so far; 0: none */
	uint32_t number;
	char name[sizeof(((struct kallsyms_line *)0)->name)];
};

struct ksyms {
	struct place *places;
	size_t nr, room;
	struct hash by_addr;
};

struct ksyms *ksyms_alloc(void)
{
	return calloc(1, sizeof(struct ksyms));
}

void ksyms_free(struct ksyms *k)
{
	if (!k)
		return;
	hash_free(&k->by_addr);
	free(k->places);
	free(k);
}

struct ksyms *ksyms_copy(const struct ksyms *k)
{
	struct ksyms *copy = ksyms_alloc();

	if (!copy || !k->nr)
		return copy;
	copy->places = malloc(k->nr * sizeof(*k->places));
	if (copy->places) {
		memcpy(copy->places, k->places, k->nr * sizeof(*k->places));
		copy->nr = copy->room = k->nr;
	}
	return copy;
}

uint32_t ksyms_number(struct ksyms *k, uint64_t addr)
{
	uint64_t hash = hash_mix(0, addr);
	uint32_t n;

	hash_each(&k->by_addr, hash, n)
		if (k->places[n].addr == addr)
			return FIRST + n;
	if (k->nr == PLACES_MAX || !array_room(&k->places, &k->room, k->nr, sizeof(*k->places)) ||
	    hash_add(&k->by_addr, hash, k->nr))
		return LDB_SAMPLE_KERNEL;
	k->places[k->nr] = (struct place){ .addr = addr, .number = FIRST + k->nr };
	return FIRST + k->nr++;
}

COMPARE(place_compare, struct place, UP(addr))

/*
 * Assigns the function to the first address that is not before its start; pass_on() assigns it to
 * the following ones.
 */
static void add_function(struct ksyms *k, uint64_t from, const char *name)
{
	size_t i = search(k->nr, n, k->places[n].addr < from);

	if (!from || i == k->nr || k->places[i].from >= from)
		return;
	k->places[i].from = from;
	snprintf(k->places[i].name, sizeof(k->places[i].name), "%s", name);
}

static void read_functions(struct ksyms *k, FILE *f)
{
	struct kallsyms_line symbol;

	while (kallsyms_next(f, &symbol))
		if (tolower(symbol.type) == 't' || tolower(symbol.type) == 'w')
			add_function(k, symbol.addr, symbol.name);
}

static void pass_on(struct ksyms *k)
{
	for (size_t i = 1; i < k->nr; i++) {
		struct place *p = &k->places[i], *before = p - 1;

		if (before->from <= p->from)
			continue;
		p->from = before->from;
		memcpy(p->name, before->name, sizeof(p->name));
	}
}

void ksyms_name(struct ksyms *k, void (*name)(void *arg, uint32_t number, const char *text), void *arg)
{
	FILE *f = k->nr ? fopen("/proc/kallsyms", "re") : NULL;

	if (!f)
		return;
	/* Sorting by address is possible, because numbers are not looked up after this. */
	sort_by(k->places, k->nr, place_compare);
	read_functions(k, f);
	fclose(f);
	pass_on(k);
	for (size_t i = 0; i < k->nr; i++)
		if (k->places[i].from)
			name(arg, k->places[i].number, k->places[i].name);
}
