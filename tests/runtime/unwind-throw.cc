// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An exception is caught in an uninstrumented function: the chain must then be as it was when that
 * function was entered.  The records are made by hand, as the plugin would make them.
 */
#include <cstdint>
#include <cstring>
#include "ldb/abi.h"
#include "shim-harness.h"
#include "tap.h"

extern "C" {
extern __thread struct ldb_thread harness_block;
void shim_init(void);
}

static __attribute__((noinline)) void enter(ldb_frame *f)
{
	harness_block.gen += LDB_GEN_ONE;
	f->gen = harness_block.gen;
	f->prev = harness_block.top;
	f->pc = f->ret = nullptr;
	harness_block.top = f;
}

static ldb_frame *seen_in_cleanup;

struct cleanup {
	~cleanup() { seen_in_cleanup = harness_block.top; }
};

/* A function through which an exception passes never unlinks its record. */
static __attribute__((noinline)) void deep(int n)
{
	ldb_frame f;

	enter(&f);
	if (n == 0)
		throw n;
	deep(n - 1);
	harness_block.top = f.prev;
}

static __attribute__((noinline)) bool catches(int n)
{
	try {
		deep(n);
	} catch (int) {
		return true;
	}
	return false;
}

/* This has a landing pad: the destructor runs, and then the exception continues. */
static __attribute__((noinline)) void passes(int n)
{
	cleanup c;

	deep(n);
}

static __attribute__((noinline)) bool catches_behind(int n)
{
	try {
		passes(n);
	} catch (int) {
		return true;
	}
	return false;
}

static __attribute__((noinline)) bool catches_again(int n)
{
	try {
		try {
			deep(n);
		} catch (int) {
			deep(2);	/* with records below a catch block */
		}
	} catch (int) {
		return true;
	}
	return false;
}

int main()
{
	ldb_frame f;

	shim_init();
	ok(catches(4) && !harness_block.top,
	   "an exception caught where no caller has a record: none is left");
	enter(&f);
	ok(catches(0) && harness_block.top == &f,
	   "an exception one frame down: the caller's record stays");
	ok(catches(7) && harness_block.top == &f,
	   "an exception eight frames down: the caller's record stays");
	seen_in_cleanup = nullptr;
	ok(catches_behind(3) && harness_block.top == &f,
	   "an exception through a destructor: the caller's record stays");
	ok(seen_in_cleanup == &f, "in this destructor the chain is repaired already");
	ok(catches_again(3) && harness_block.top == &f,
	   "an exception thrown again in a catch block: the caller's record stays");
	return done();
}
