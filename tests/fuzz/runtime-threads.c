// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements the runtime's threads on the machine of the fuzz target: coroutines, and their
 * clock.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include "fuzz.h"
#include "runtime-machine.h"
#include "runtime/runtime.h"

#define FIBERS_MAX	8
#define STACK_SIZE	(128 * 1024)	/* RAW_STACK_SIZE */
/* longest sleep of a thread of the runtime */
#define SLEEP_MAX_S	60
#define WAITS_MAX	1000

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifdef HAS_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

static struct fiber {
	/* stack pointers: of this coroutine, and of the one that has resumed it */
	void *sp, *back;
	struct fiber *caller;
	char *stack;
	uint32_t *tid;
	void (*fn)(void *);
	void *arg;
	bool is_control, has_begun;
} fibers[FIBERS_MAX], *running;

void machine_switch(void **save, void *to);
__asm__(".text\n.globl machine_switch\n.type machine_switch,@function\n"
	"machine_switch:\n"
	"	push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
	"	mov %rsp, (%rdi); mov %rsi, %rsp\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
	"	ret\n"
	".size machine_switch, .-machine_switch\n");

#ifdef HAS_ASAN
static const void *main_stack_lo;
static size_t main_stack_size;

static void switch_begin(void **fake, const struct fiber *to)
{
	if (to)
		__sanitizer_start_switch_fiber(fake, to->stack, STACK_SIZE);
	else
		__sanitizer_start_switch_fiber(fake, main_stack_lo, main_stack_size);
}

static void switch_end(void *fake, const struct fiber *from)
{
	const void *lo;
	size_t size;

	__sanitizer_finish_switch_fiber(fake, &lo, &size);
	if (!from) {
		main_stack_lo = lo;
		main_stack_size = size;
	}
}
#else
static void switch_begin(void **fake, const struct fiber *to)
{
}

static void switch_end(void *fake, const struct fiber *from)
{
}
#endif

void machine_yield(void)
{
	struct fiber *f = running;
	void *fake = NULL;

	running = f->caller;
	switch_begin(&fake, running);
	machine_switch(&f->sp, f->back);
	switch_end(fake, f->caller);
}

static void fiber_main(void)
{
	switch_end(NULL, running->caller);
	running->fn(running->arg);
	/* The kernel does this for CLONE_CHILD_CLEARTID. */
	__atomic_store_n(running->tid, 0, __ATOMIC_SEQ_CST);
	running->fn = NULL;
	machine_yield();
	broken("a thread that has ended runs again");
}

static void fiber_resume(struct fiber *f)
{
	void *fake = NULL;

	f->caller = running;
	running = f;
	switch_begin(&fake, f);
	machine_switch(&f->back, f->sp);
	switch_end(fake, f);
}

bool machine_fails(void)
{
	return machine.after[EVENT_FAIL] && !--machine.after[EVENT_FAIL];
}

long machine_clone(unsigned long flags, void *stack_top, uint32_t *tid, void (*fn)(void *), void *arg,
		   void *tp)
{
	static uint32_t last;
	struct fiber *f = fibers;
	void **sp = stack_top;

	if (machine_fails())
		return -EAGAIN;
	while (f < fibers + FIBERS_MAX && f->fn)
		f++;
	if (f == fibers + FIBERS_MAX)
		broken("too many threads");
	/* Of the runtime's threads only the control thread has its own file table. */
	*f = (struct fiber){
		.stack = (char *)stack_top - STACK_SIZE, .tid = tid, .fn = fn, .arg = arg,
		.is_control = !(flags & CLONE_FILES),
	};
	if (f->is_control)
		machine_close_all();
	*--sp = NULL;
	*--sp = (void *)fiber_main;
	for (int i = 0; i < 6; i++)
		*--sp = NULL;
	f->sp = sp;
	*tid = 10000 + ++last % 1000;
	return *tid;
}

static struct fiber *fiber_of(const void *tid)
{
	for (struct fiber *f = fibers; f < fibers + FIBERS_MAX; f++)
		if (f->fn && f->tid == tid)
			return f;
	return NULL;
}

static bool is_under_way(const struct fiber *f)
{
	for (const struct fiber *r = running; r; r = r->caller)
		if (r == f)
			return true;
	return false;
}

bool machine_control(void)
{
	for (struct fiber *f = fibers; f < fibers + FIBERS_MAX; f++)
		if (f->fn && f->is_control) {
			if (!is_under_way(f))
				fiber_resume(f);
			return f->fn;
		}
	return false;
}

void machine_scanners(void)
{
	for (struct fiber *f = fibers; f < fibers + FIBERS_MAX; f++)
		if (f->fn && !f->is_control && !is_under_way(f))
			fiber_resume(f);
}

bool machine_is_leaving(void)
{
	machine_yield();
	return control_is_leaving();
}

/* Clocks */

uint64_t machine_tick(void)
{
	return machine.ns += 20;
}

uintptr_t machine_thread_pointer(void)
{
	return machine.tp;
}

uint32_t machine_cpu(void)
{
	return machine.cpu;
}

long machine_sleep(const struct timespec *ts)
{
	if (ts->tv_sec < 0 || ts->tv_sec > SLEEP_MAX_S)
		broken("a thread of ours sleeps for %lld s", (long long)ts->tv_sec);
	machine.ns += ts->tv_sec * 1000000000ULL + ts->tv_nsec;
	if (running && !running->is_control)
		machine_yield();
	else if (!running)
		machine_scanners();
	return 0;
}

long machine_futex(uint32_t *word, long op, uint32_t val, const struct timespec *ts)
{
	static unsigned nr_waits;
	struct fiber *f = fiber_of(word);

	if ((op & FUTEX_CMD_MASK) != FUTEX_WAIT)
		return 0;
	if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != val)
		return -EAGAIN;
	/* the sleep of a scanner, which other threads can end */
	if (running && !running->is_control) {
		machine.ns += ts ? ts->tv_sec * 1000000000ULL + ts->tv_nsec : 0;
		machine_yield();
		return -ETIMEDOUT;
	}
	nr_waits = f && running ? nr_waits + 1 : 0;
	if (nr_waits > WAITS_MAX)
		broken("a scanner does not end");
	if (running && !f)
		broken("the control thread waits for a lock");
	if (running) {
		fiber_resume(f);
	} else {
		machine.ns += ts ? ts->tv_sec * 1000000000ULL + ts->tv_nsec : 0;
		if (!ts && !f)
			broken("the program waits for a lock");
		machine_waits();
	}
	return -ETIMEDOUT;
}

void machine_threads_gone(void)
{
	for (struct fiber *f = fibers; f < fibers + FIBERS_MAX; f++)
		if (f->fn)
			broken("a thread of ours has not ended");
}
