/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets a program read its own chain of frame records.
 *
 * Compiled with -DWITH_LDB (and the plugin) it checks the chain; without that, every check passes,
 * so that both builds print the same and exit alike.  Failures go to stderr and into
 * chain_status(), the exit status.
 *
 *	CHAIN_IS("f", "g")	the deepest records are f's and g's
 *	run_case("name", fn)	call fn; the chain is valid and the same after it
 *
 * Functions are looked up with dladdr(): link with -rdynamic, do not make
 * subjects static, and prevent inlining and cloning with SUBJECT.
 */
#ifndef LDB_TEST_CHAIN_H
#define LDB_TEST_CHAIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../libldb/include/ldb/abi.h"

#define SUBJECT		__attribute__((noipa))
#ifdef WITH_LDB
#define NEVER		__attribute__((noipa, ldb_never))
#else
#define NEVER		__attribute__((noipa))
#endif
/* This is the name of the chain's first function. */
#ifdef AS_LIBRARY
#define MAIN		"subject_main"
#else
#define MAIN		"main"
#endif
/* This prevents the call before it from becoming a tail call. */
#define NO_TAIL()	__asm__ volatile("" ::: "memory")

static int chain_failures;

#ifdef WITH_LDB
extern __thread struct ldb_thread __ldb_thread
	__attribute__((tls_model("initial-exec")));

static inline __attribute__((always_inline)) struct ldb_frame *chain_top(void)
{
	return *(struct ldb_frame * volatile *)&__ldb_thread.top;
}

static inline __attribute__((always_inline)) uint64_t chain_gen(void)
{
	return *(volatile uint64_t *)&__ldb_thread.gen;
}
#else
static inline struct ldb_frame *chain_top(void) { return NULL; }
static inline uint64_t chain_gen(void) { return LDB_CANARY; }
#endif

static inline int chain_status(void)
{
	return chain_failures != 0;
}

NEVER static void chain_fail(const char *where, const char *what, int level)
{
	chain_failures++;
	fprintf(stderr, "%s: level %d: %s\n", where, level, what);
}

/*
 * Checks the canaries, the generations and the order of the addresses in the chain (see abi.h), and
 * that each record has a pc and a ret; returns the depth.
 */
NEVER static int chain_walk(const char *where)
{
	struct ldb_frame *f = chain_top();
	uint64_t gen = chain_gen();
	int depth = 0;

	if ((gen & 0xffff) != LDB_CANARY)
		chain_fail(where, "thread: canary", depth);
	for (; f; f = f->prev, depth++) {
		if ((f->gen & 0xffff) != LDB_CANARY) {
			chain_fail(where, "canary", depth);
			break;
		}
		if (depth ? f->gen >= gen : f->gen > gen)
			chain_fail(where, "generation does not fall", depth);
		gen = f->gen;
		if (!f->pc || !f->ret)
			chain_fail(where, "no pc or ret", depth);
		if (f->prev && f->prev <= f) {
			chain_fail(where, "parent is not above", depth);
			break;
		}
		if (depth > 100000) {
			chain_fail(where, "endless", depth);
			break;
		}
	}
	return depth;
}

#ifdef WITH_LDB
NEVER static const char *chain_name(const void *addr)
{
	Dl_info info;

	if (!dladdr(addr, &info) || !info.dli_sname)
		return "?";
	return info.dli_sname;
}

/*
 * Checks that the deepest records are those of the named functions; names begins with the deepest
 * one.
 */
NEVER static void chain_is(const char *where, const char * const *names, int nr)
{
	struct ldb_frame *f = chain_top();
	char msg[256];
	int i;

	chain_walk(where);
	for (i = 0; i < nr; i++, f = f->prev) {
		if (!f) {
			snprintf(msg, sizeof(msg), "ends, want %s", names[i]);
			chain_fail(where, msg, i);
			return;
		}
		if (strcmp(chain_name(f->pc), names[i])) {
			snprintf(msg, sizeof(msg), "is %s, want %s",
				 chain_name(f->pc), names[i]);
			chain_fail(where, msg, i);
		}
	}
}

/* Checks that the function of the record at this level was called by the named function. */
NEVER static void chain_called_from(const char *where, int level, const char *name)
{
	struct ldb_frame *f = chain_top();
	char msg[256];
	int i;

	for (i = 0; f && i < level; i++)
		f = f->prev;
	if (f && !strcmp(chain_name((const char *)f->ret - 1), name))
		return;
	snprintf(msg, sizeof(msg), "called from %s, want %s",
		 f ? chain_name((const char *)f->ret - 1) : "nowhere", name);
	chain_fail(where, msg, level);
}

#define CHAIN_IS(...)							\
	do {								\
		static const char * const names_[] = { __VA_ARGS__ };	\
		chain_is(__func__, names_, sizeof(names_) / sizeof(*names_)); \
		NO_TAIL();						\
	} while (0)
#define CHAIN_CALLED_FROM(level, name)					\
	do {								\
		chain_called_from(__func__, level, name);		\
		NO_TAIL();						\
	} while (0)
#else
NEVER static void chain_unused(void) { NO_TAIL(); }
#define CHAIN_IS(...)			chain_unused()
#define CHAIN_CALLED_FROM(level, name)	chain_unused()
#endif

NEVER static void run_case(const char *name, void (*fn)(void))
{
	struct ldb_frame *top = chain_top();
	uint64_t gen = chain_gen();

	printf("case %s\n", name);
	fflush(stdout);
	fn();
	if (chain_top() != top)
		chain_fail(name, "top is not what it was", 0);
	if (chain_gen() < gen)
		chain_fail(name, "generation went back", 0);
	chain_walk(name);
}

#endif /* LDB_TEST_CHAIN_H */
