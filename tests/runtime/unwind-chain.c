// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * If longjmp() or a relative lands in an uninstrumented function, the chain must then be as it was
 * when that function was entered.  The records are made by hand, as the plugin would make them.  A
 * chain in disorder must be left as it is, and must never be followed into unmapped memory.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include "runtime/runtime.h"
#include "request/request.h"
#include "shim-harness.h"
#include "tap.h"

/* Programs that are compiled with -D_FORTIFY_SOURCE call this in place of longjmp(). */
void __longjmp_chk(struct __jmp_buf_tag env[1], int val) __attribute__((noreturn));

static struct ldb_frame *top(void)
{
	return harness_block.top;
}

/* Does what the plugin does; f must be a local of the caller. */
#define ENTER(f)	__asm__ volatile("" : : "r"(enter(f)) : "memory")

static struct ldb_frame *enter(struct ldb_frame *f)
{
	harness_block.gen += LDB_GEN_ONE;
	f->gen = harness_block.gen;
	f->prev = harness_block.top;
	f->pc = f->ret = NULL;
	harness_block.top = f;
	return f;
}

static void leave(struct ldb_frame *f)
{
	harness_block.top = f->prev;
}

static sigjmp_buf env;
static const char *how;

static __attribute__((noreturn)) void jump(void)
{
	if (!strcmp(how, "longjmp"))
		longjmp(env, 1);
	if (!strcmp(how, "_longjmp"))
		_longjmp(env, 1);
	if (!strcmp(how, "__longjmp_chk"))
		__longjmp_chk(env, 1);
	siglongjmp(env, 1);
}

static __attribute__((noinline)) void deep(int n)
{
	struct ldb_frame f;

	ENTER(&f);
	if (n)
		deep(n - 1);
	else if (how)
		jump();
	leave(&f);
}

/* This function has no record, so the chain has to be repaired when control lands here. */
static __attribute__((noinline)) int lands(void (*fn)(void))
{
	if (sigsetjmp(env, 1))
		return 1;
	fn();
	return 0;
}

static void go_deep(void)
{
	deep(5);
}

static void jumps(void)
{
	static const char *const names[] = { "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk" };
	struct ldb_frame f;

	for (unsigned n = 0; n < 4; n++) {
		how = names[n];
		is_int(lands(go_deep), 1, how);
		ok(!top(), "no record is left of those below");
		ENTER(&f);
		lands(go_deep);
		ok(top() == &f, "the caller's record is left");
		leave(&f);
	}
}

/* A handler on an alternate stack calls siglongjmp(). */
static void handler(int sig)
{
	struct ldb_frame f;

	(void)sig;
	ENTER(&f);
	deep(3);
}

static void interrupted(void)
{
	struct ldb_frame f;

	ENTER(&f);
	raise(SIGUSR1);
	leave(&f);
}

static void alternate_stack(void)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	stack_t ss = { .ss_size = 64 << 10 }, off = { .ss_flags = SS_DISABLE };
	struct ldb_frame f;

	ss.ss_sp = mmap(NULL, ss.ss_size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	how = "siglongjmp";
	ENTER(&f);
	is_int(lands(interrupted), 1, "a signal handler jumps off its stack");
	ok(top() == &f, "the records on both stacks are gone");
	leave(&f);
	sigaltstack(&off, NULL);
	munmap(ss.ss_sp, ss.ss_size);
}

/* The record of one stack must survive a jump within another. */
static ucontext_t main_context, coroutine;
static struct ldb_frame *seen_in_coroutine;

static void coroutine_main(void)
{
	struct ldb_frame f;

	ENTER(&f);
	lands(go_deep);
	seen_in_coroutine = top() == &f ? f.prev : NULL;
	leave(&f);
}

static void foreign_stack(bool known)
{
	size_t size = 256 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ldb_frame f;

	how = "longjmp";
	ENTER(&f);
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &main_context;
	makecontext(&coroutine, coroutine_main, 0);
	if (known)
		stack_register(stack, stack + size);
	seen_in_coroutine = NULL;
	swapcontext(&main_context, &coroutine);
	if (known)
		ok(seen_in_coroutine == &f,
		   "a jump within a registered stack keeps its caller's record");
	else
		ok(!seen_in_coroutine,
		   "a jump within a stack that is not registered changes no record");
	if (known)
		stack_unregister(stack);
	harness_block.top = NULL;
	munmap(stack, size);
}

/* No program with the plugin makes such chains; they must do no harm. */
static void disorder(void)
{
	char *gone = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ldb_frame f[3];
	uintptr_t above = (uintptr_t)(f + 3);

	munmap(gone, 4096);
	for (int n = 0; n < 3; n++)
		f[n] = (struct ldb_frame){ .gen = LDB_CANARY };
	f[0].prev = &f[1];
	f[1].prev = &f[2];

	harness_block.top = &f[0];
	unwind_pop_below((uintptr_t)&f[1]);
	ok(top() == &f[1], "a chain in order is cut at the frame to which control jumps");

	harness_block.top = &f[0];
	f[1].gen = 0x1234;
	unwind_pop_below(above);
	ok(top() == &f[0], "a chain with a record without canary is not changed");
	f[1].gen = LDB_CANARY;

	f[1].prev = &f[0];
	unwind_pop_below(above);
	ok(top() == &f[0], "a chain that turns back is not changed");

	f[1].prev = (struct ldb_frame *)gone;
	unwind_pop_below(above);
	ok(top() == &f[0], "a record in unmapped memory is not followed");

	f[1].prev = (struct ldb_frame *)((uintptr_t)&f[2] + 1);
	unwind_pop_below(above);
	ok(top() == &f[0], "an address that is not aligned is not followed");

	harness_block.top = (struct ldb_frame *)(thread_self()->stack_lo + 64);
	unwind_pop_below(above);
	ok(top() == (void *)(thread_self()->stack_lo + 64),
	   "an address below the stack pointer is not followed");

	harness_block.top = (struct ldb_frame *)(thread_self()->stack_hi - 8);
	unwind_pop_below(thread_self()->stack_hi - 1);
	ok(top() == (void *)(thread_self()->stack_hi - 8),
	   "an address across the end of the stack is not followed");

	harness_block.top = &f[0];
	unwind_pop_below((uintptr_t)gone);
	ok(top() == &f[0], "a jump to an unknown stack changes no record");
	harness_block.top = NULL;
}

/* A signal handler interrupts a hook and calls longjmp(), so the hook never returns. */
static void hook_left(void)
{
	struct thread *t = thread_self();
	char here;

	t->list->in_hook = (uint32_t)(uintptr_t)&here | 1;
	unwind_pop_below((uintptr_t)&here - 4096);
	ok(t->list->in_hook, "a jump within the handler: the hook goes on");
	unwind_pop_below((uintptr_t)&here + 4096);
	is_int(t->list->in_hook, 0, "a jump out of it: the hook is over");
}

static void *in_thread(void *p)
{
	jumps();
	alternate_stack();
	return p;
}

int main(void)
{
	pthread_t t;

	shim_init();
	jumps();
	alternate_stack();
	foreign_stack(true);
	foreign_stack(false);
	disorder();
	hook_left();
	diag("the same in a thread");
	if (pthread_create(&t, NULL, in_thread, NULL))
		bail_out("pthread_create");
	next_table.pthread_join(t, NULL);
	return done();
}
