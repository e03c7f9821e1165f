// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes programs from seeds: all that is random in a program is decided here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include "fuzz.h"
#include "tap.h"

#define NR(array)	(sizeof(array) / sizeof(*(array)))

/* This is splitmix64: any seed is good. */
uint64_t fuzz_rnd(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static unsigned int below(uint64_t *r, unsigned int n)
{
	return fuzz_rnd(r) % n;
}

static bool one_in(uint64_t *r, unsigned int n)
{
	return !below(r, n);
}

unsigned int fuzz_nr_ops(void)
{
	static unsigned int nr;

	if (!nr) {
		for (const struct fuzz_op *o = fuzz_device_ops; o->name; o++)
			nr++;
		for (const struct fuzz_op *o = fuzz_system_ops; o->name; o++)
			nr++;
	}
	return nr;
}

const struct fuzz_op *fuzz_op(unsigned int op)
{
	unsigned int i = 0;

	while (fuzz_device_ops[i].name)
		i++;
	return op < i ? &fuzz_device_ops[op] : &fuzz_system_ops[op - i];
}

static unsigned int op_named(const char *name)
{
	for (unsigned int i = 0; i < fuzz_nr_ops(); i++)
		if (!strcmp(fuzz_op(i)->name, name))
			return i;
	bail_out("no such call in the table");
}

static unsigned int any_op(uint64_t *r)
{
	unsigned int sum = 0, at;

	for (unsigned int i = 0; i < fuzz_nr_ops(); i++)
		sum += fuzz_op(i)->weight;
	at = below(r, sum);
	for (unsigned int i = 0;; i++) {
		if (at < fuzz_op(i)->weight)
			return i;
		at -= fuzz_op(i)->weight;
	}
}

/* Draws a slot: mostly the first one, because otherwise calls would seldom refer to each other. */
static uint64_t slot(uint64_t *r)
{
	unsigned int n = below(r, 16);

	return n < 12 ? 0 : n < 15 ? 1 : below(r, FUZZ_SLOTS);
}

static uint64_t number(uint64_t *r)
{
	switch (below(r, 4)) {
	case 0: return fuzz_rnd(r);
	case 1: return below(r, 16);
	case 2: return (1ULL << below(r, 64)) - below(r, 2);
	default: return below(r, 4096);
	}
}

static uint64_t one_of(uint64_t *r, const uint64_t *values, unsigned int nr)
{
	return one_in(r, 24) ? number(r) : values[below(r, nr)];
}

#define ONE_OF(r, ...) \
	one_of(r, (const uint64_t[]){ __VA_ARGS__ }, NR(((const uint64_t[]){ __VA_ARGS__ })))

static uint64_t value(uint64_t *r, enum fuzz_type type)
{
	switch (type) {
	case FUZZ_NONE: return 0;
	case FUZZ_FD: return one_in(r, 32) ? FUZZ_SLOTS + below(r, 4) : slot(r);
	case FUZZ_MAP: return slot(r);
	/* The kinds are in the low bits, see fuzz_tid_of(), fuzz_pid_of(), fuzz_pointer(). */
	case FUZZ_TID: return one_in(r, 2) ? 0 : fuzz_rnd(r) & 0xffffffffff;
	case FUZZ_PID: return one_in(r, 3) ? fuzz_rnd(r) & 0xffffffffff : 0;
	case FUZZ_POINTER: return one_in(r, 2) ? fuzz_rnd(r) << 4 : fuzz_rnd(r);
	case FUZZ_NUMBER: return number(r);
	case FUZZ_BYTE: return below(r, 256);
	case FUZZ_PAGE_NR: return ONE_OF(r, 0, 0, 0, 1, 1, 2, 3, 62, 63, 64, 4095, 4096, 0xffffffff);
	case FUZZ_EVENTS: return one_in(r, 4) ? below(r, LDB_GROUP_ALL + 2) : LDB_GROUP_ALL;
	/* ring_order | scan_ring_order << 8 | nr_scanners << 16 */
	case FUZZ_ORDERS:
		return ONE_OF(r, 8, 8, 8, 8, 8, 9, 9, 10, 12, 15, 7, 20, 21) |
		       ONE_OF(r, 8, 8, 8, 9, 24, 25, 0, 7) << 8 | ONE_OF(r, 0, 0, 0, 0, 0, 1, 1, 4, 5) << 16;
	case FUZZ_THREADS: return ONE_OF(r, 1, 2, 4, 4, 4, 4, 4, 64, 64, 0, 4096, 4097);
	case FUZZ_SPOIL: return one_in(r, 10) ? fuzz_rnd(r) : 0;
	/* The kind of place is in the low bits: see place() in fuzz-dev.c. */
	case FUZZ_OFFSET: return fuzz_rnd(r) & 0xffffffff;
	}
	return 0;
}

static void make_call(uint64_t *r, struct fuzz_call *c, unsigned int op)
{
	const struct fuzz_op *o = fuzz_op(op);

	memset(c, 0, sizeof(*c));
	c->op = op;
	if (o->allocates && one_in(r, 20))
		c->fail = 1 + below(r, one_in(r, 4) ? 200 : 20);
	for (unsigned int i = 0; i < FUZZ_ARGS; i++)
		c->arg[i] = value(r, o->type[i]);
}

/* Makes a session that works, or nearly works: without a session hardly any call has an effect. */
static void make_beginning(uint64_t *r, struct fuzz_program *p)
{
	static const char *const names[] = { "open", "create", "mmap", "join", "reg" };

	for (unsigned int i = 0; i < NR(names); i++) {
		struct fuzz_call *c = &p->call[p->nr];

		if (one_in(r, 16))
			continue;
		make_call(r, c, op_named(names[i]));
		if (one_in(r, 8)) {
			p->nr++;
			continue;
		}
		c->fail = 0;
		c->arg[0] = 0;
		if (i == 0)
			c->arg[1] = 0;
		if (i == 1) {	/* fd flags pid events orders threads spoil */
			c->arg[1] &= LDB_CREATE_F_SPLIT;
			if (!one_in(r, 4))
				c->arg[2] = 0;
			c->arg[4] = (8 + below(r, 3)) | 8 << 8 | below(r, 2) << 16;
			c->arg[5] = 4;
			c->arg[6] = 0;
		}
		if (i == 2)	/* map fd kind offset length */
			memset(&c->arg[1], 0, sizeof(c->arg) - sizeof(c->arg[0]));
		if (i == 4)	/* fd tid page pointer spoil */
			c->arg[2] %= 4;
		p->nr++;
	}
}

static void make_fresh(uint64_t *r, struct fuzz_program *p)
{
	unsigned int nr;

	memset(p, 0, sizeof(*p));
	p->way = below(r, FUZZ_NR_WAYS);
	p->who = below(r, one_in(r, 4) ? FUZZ_NR_WHO : FUZZ_NOBODY + 1);
	if (one_in(r, 4))
		p->memlock = fuzz_rnd(r);
	if (!one_in(r, 8))
		make_beginning(r, p);
	nr = p->nr + 4 + below(r, 24);
	while (p->nr < nr)
		make_call(r, &p->call[p->nr++], any_op(r));
	p->split = below(r, p->nr);
}

static void change_arg(uint64_t *r, struct fuzz_call *c)
{
	const struct fuzz_op *o = fuzz_op(c->op);
	unsigned int i = below(r, FUZZ_ARGS);

	if (o->type[i] == FUZZ_NONE)
		i = 0;
	if (one_in(r, 4))
		c->arg[i] ^= 1ULL << below(r, 16);
	else
		c->arg[i] = value(r, o->type[i]);
	if (o->allocates && one_in(r, 8))
		c->fail = 1 + (c->fail ? c->fail : below(r, 30));
}

static void insert(struct fuzz_program *p, unsigned int at, const struct fuzz_call *c)
{
	if (p->nr >= FUZZ_CALLS)
		return;
	memmove(&p->call[at + 1], &p->call[at], (p->nr - at) * sizeof(*c));
	p->call[at] = *c;
	p->nr++;
}

static void drop(struct fuzz_program *p, unsigned int at)
{
	if (p->nr < 2)
		return;
	p->nr--;
	memmove(&p->call[at], &p->call[at + 1], (p->nr - at) * sizeof(*p->call));
}

static void change(uint64_t *r, struct fuzz_program *p)
{
	unsigned int times = 1 + below(r, 5);

	while (times--) {
		unsigned int at = below(r, p->nr);
		struct fuzz_call c;

		switch (below(r, 10)) {
		case 0: case 1: case 2: case 3:
			change_arg(r, &p->call[at]);
			break;
		case 4: case 5: case 6:
			make_call(r, &c, any_op(r));
			insert(p, at, &c);
			break;
		case 7:
			drop(p, at);
			break;
		case 8:
			c = p->call[at];
			insert(p, below(r, p->nr), &c);
			break;
		default:
			p->way = below(r, FUZZ_NR_WAYS);
			if (one_in(r, 2))
				p->who = below(r, FUZZ_NR_WHO);
			p->split = below(r, p->nr);
		}
	}
}

void fuzz_make(struct fuzz_program *p, const struct fuzz_chain *chain)
{
	for (unsigned int i = 0; i < chain->depth; i++) {
		uint64_t r = chain->seed[i];

		if (i)
			change(&r, p);
		else
			make_fresh(&r, p);
	}
}

void fuzz_print(const struct fuzz_program *p)
{
	static const char *const ways[] = { "alone", "colliding", "in two processes" };
	static const char *const whos[] = { "root", "nobody", "root of a user namespace", "in a pid namespace" };

	diag("%s, as %s, memlock %u, split at %u", ways[p->way], whos[p->who], p->memlock, p->split);
	for (unsigned int i = 0; i < p->nr; i++) {
		const struct fuzz_op *o = fuzz_op(p->call[i].op);
		char text[256];
		int at = 0;

		for (unsigned int k = 0; k < FUZZ_ARGS && o->type[k] != FUZZ_NONE; k++)
			at += snprintf(text + at, sizeof(text) - at, "%s%#llx", k ? ", " : "",
				       (unsigned long long)p->call[i].arg[k]);
		text[at] = 0;
		diag("  %2u %s(%s)%s", i, o->name, text, p->call[i].fail ? ", an allocation fails" : "");
	}
}

bool fuzz_parse_chain(struct fuzz_chain *chain, const char *text)
{
	char *end;

	memset(chain, 0, sizeof(*chain));
	do {
		if (chain->depth == FUZZ_DEPTH)
			return false;
		chain->seed[chain->depth++] = strtoul(text, &end, 10);
		if (end == text || (*end && *end != ','))
			return false;
		text = end + 1;
	} while (*end);
	return true;
}

void fuzz_print_chain(char *to, size_t size, const struct fuzz_chain *chain)
{
	size_t at = 0;

	*to = 0;
	for (unsigned int i = 0; i < chain->depth && at < size; i++)
		at += snprintf(to + at, size - at, "%s%u", i ? "," : "", chain->seed[i]);
}
