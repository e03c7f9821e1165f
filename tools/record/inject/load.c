// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Implements inject_load(), inject_adopt() and inject_flows(): a thread of the program calls
 * dlopen(), the loaded runtime's function, or both.
 *
 * The loader and the allocator have locks, so the thread must not be in the middle of either.  No
 * thread may hold a lock of the loader.  The thread must sleep in a system call that is not a wait
 * for a lock, or be about to make a system call that allocators do not make while they hold a lock,
 * or, if it makes no system calls, have no return address in an allocator on its stack.
 *
 * Loading a library may need more stack than the thread has left, and needs code that preserves
 * errno.  So the thread first maps memory for both, which is unmapped afterwards.  Each of these
 * steps ends with the return from a signal frame, which the recorder intercepts.  If the recorder
 * is killed, this return restores the thread.  The first frame is at the position where the kernel
 * would put a signal frame, so the thread must be on a stack made by the C library or the kernel,
 * with enough room.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <dlfcn.h>
#include "cli/error.h"
#include "record/inject/inject.h"
#include "record/inject/libc.h"
#include "record/inject/private.h"
#include "record/process/image.h"
#include "record/process/proc.h"
#include "record/session/session.h"

#define STACK_BYTES	(256 << 10)
#define CODE_BYTES	4096
/* needed on the thread's own stack, in addition to the FPU's state */
#define ROOM_BYTES	4096
#define CALL_NS		50000000LL	/* timeout for a running thread to make a system call */
#define WORDS_MAX	(128 << 10)	/* words of a stack that are searched */
#define MAP_LOST	(-1)
#define ERESTARTSYS	512		/* first and last of the kernel's internal results */
#define ERESTART_LAST	516
/* internal flag that the C library passes to dlopen's implementation */
#define INTERNAL	0x80000000UL

struct visit {
	const struct inject_task *t;
	pid_t pid, tid;
	struct inject_regs r;		/* registers to restore */
	struct inject_call own;		/* the call that runs on the thread's own stack */
	uint64_t stack_end;
	uint64_t code, stack;		/* mapped memory */
};

/* Finding out whether a thread can load a library */

/* A thread that waits for a lock is not chosen, because that lock may be the allocator's. */
static int rank(const struct inject_task *t, pid_t pid, pid_t tid)
{
	unsigned long first, second;
	char text[128];
	long number;

	(void)t;
	if (proc_line(pid, tid, "syscall", text, sizeof(text)) &&
	    sscanf(text, "%ld %lx %lx", &number, &first, &second) == 3 && inject_waits_for_lock(number, second))
		return INJECT_NEVER;
	return inject_rank(pid, tid);
}

static bool is_signal(int status)
{
	return status && !inject_is_call_stop(status) && !inject_is_event_stop(status);
}

/*
 * Lets a running thread continue until it is about to make a system call that allocators do not
 * make while they hold a lock.
 */
static bool run_to_call(pid_t tid, struct inject_regs *r)
{
	int64_t until = clock_mono_ns() + CALL_NS;
	int status = 0;

	while (clock_mono_ns() < until) {
		if (ptrace(PTRACE_SYSCALL, tid, NULL, is_signal(status) ? (long)WSTOPSIG(status) : 0))
			return false;
		status = inject_next_stop(tid, CALL_NS);
		if (status < 0)
			return false;
		if (!status) {
			inject_stop(tid);
			return false;
		}
		if (!inject_is_call_stop(status) || !inject_regs_get(tid, r) ||
		    !inject_regs_begins(tid) || !inject_call_is_outside(inject_regs_number(r)))
			continue;
		return inject_regs_delay(tid) && inject_next_call(tid, CALL_NS) && inject_regs_get(tid, r);
	}
	/* The last signal was not delivered yet, and must not be lost. */
	if (is_signal(status) && !ptrace(PTRACE_CONT, tid, NULL, (long)WSTOPSIG(status)))
		inject_stop(tid);
	return false;
}

/*
 * Finds room for a frame below the thread's stack pointer.  Returns false if there is none, or if
 * the stack was not made by the C library or the kernel.
 */
static bool find_room(struct visit *v, const struct inject_where *w)
{
	FILE *f = proc_open(v->tid, v->tid, "maps");
	uint64_t need = (v->r.fpu_size + ROOM_BYTES) & ~63UL;
	uint64_t end = (w->stack - INJECT_RED_ZONE) & ~63UL;
	unsigned long from, to, guard_to = 0;
	char line[512], perms[8];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		bool is_known;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3)
			continue;
		is_known = strstr(line, "[stack]") || (w->tls >= from && w->tls < to && guard_to == from);
		found = w->stack > from && w->stack <= to && !strncmp(perms, "rw-p", 4) && is_known &&
			end > from && end - from >= need;
		guard_to = strncmp(perms, "---p", 4) ? 0 : to;
		v->stack_end = to;
	}
	if (f)
		fclose(f);
	v->own.stack = end - need;
	v->own.stack_size = need;
	return found;
}

/*
 * Returns true if a thread that makes no system calls is outside of the loader and the allocator.
 */
static bool is_outside(const struct visit *v, const struct inject_where *w)
{
	static uint64_t words[WORDS_MAX];
	uint64_t nr = (v->stack_end - w->stack) / sizeof(words[0]);

	return v->t->libc->nr_locks && nr && nr <= WORDS_MAX &&
	       image_peek(v->tid, w->stack, words, nr * sizeof(words[0])) &&
	       libc_is_outside(v->tid, v->t->code, w->code, words, nr);
}

static bool may_load(struct visit *v)
{
	const struct libc *l = v->t->libc;
	bool is_sure;
	struct inject_where w;

	if (!inject_take(v->pid, v->tid, &v->r))
		return false;
	is_sure = inject_regs_number(&v->r) >= 0 || v->r.is_redone || run_to_call(v->tid, &v->r);
	/* run_to_call() has stopped the thread again, perhaps in a system call */
	if (!is_sure && (!inject_take(v->pid, v->tid, &v->r) || inject_regs_number(&v->r) >= 0))
		return false;
	w = inject_regs_where(&v->r);
	if (w.code >= l->loader_from && w.code < l->loader_to)
		return false;
	/* The thread may have executed another program meanwhile. */
	return image_is(v->tid, v->t->id) && !libc_loading(v->tid, l) && find_room(v, &w) && (is_sure || is_outside(v, &w));
}

/* The steps */

/*
 * Lets the thread run until it is about to return from the frame; `*value` is the result of its
 * system call.
 */
static bool run_step(const struct visit *v, const struct inject_call *c, uint64_t *value)
{
	int64_t until = clock_mono_ns() + INJECT_PASS_NS;

	if (!inject_regs_enter(v->tid, &v->r, c))
		return false;
	while (clock_mono_ns() < until && inject_next_call(v->tid, INJECT_PASS_NS)) {
		if (c->is_number)
			inject_regs_returned(v->tid, c->entry, value);
		if (inject_regs_leaves(v->tid, c))
			return true;
	}
	return false;
}

static bool make_call(const struct visit *v, long number, uint64_t address, uint64_t size, uint64_t prot,
		      uint64_t *value)
{
	struct inject_call c = v->own;

	c.id = v->t->id;
	c.entry = v->t->libc->call;
	c.back = v->t->libc->back;
	c.is_number = true;
	c.number = number;
	c.arg[0] = address;
	c.arg[1] = size;
	c.arg[2] = prot;
	c.arg[3] = MAP_PRIVATE | MAP_ANONYMOUS;
	c.arg[4] = -1UL;
	*value = -ENOSYS;
	return run_step(v, &c, value);
}

/* Returns 0, the error of the system call, or MAP_LOST: the thread did not get so far. */
static int map(const struct visit *v, uint64_t size, uint64_t prot, uint64_t *at)
{
	uint64_t value;

	if (!make_call(v, SYS_mmap, 0, size, prot, &value))
		return MAP_LOST;
	if (value > -4096UL)
		return -value;
	*at = value;
	return 0;
}

static void unmap(const struct visit *v, uint64_t at, uint64_t size)
{
	uint64_t value;

	if (at)
		make_call(v, SYS_munmap, at, size, 0, &value);
}

/* Makes the thread call a function of the program. */
static bool call(const struct visit *v, struct inject_load *a)
{
	const struct inject_code code = inject_code_load();
	struct inject_call c = {
		.id = v->t->id, .stack = v->stack, .stack_size = STACK_BYTES, .entry = v->code,
		.arg = { v->stack },
	};
	uint64_t none;

	a->errno_location = v->t->libc->errno_location;
	return image_poke(v->tid, v->t->id, v->code, code.bytes, code.size) &&
	       image_poke(v->tid, v->t->id, v->stack, a, sizeof(*a)) &&
	       run_step(v, &c, &none) && image_peek(v->tid, v->stack, a, sizeof(*a));
}

/*
 * Makes the thread call dlopen().  Stores the loader's message in `error`, or "".  Returns false if
 * the call could not be made or did not end.
 */
static bool load(const struct visit *v, char *error, size_t size)
{
	const struct libc *l = v->t->libc;
	struct inject_load a = {
		.function = l->dlopen, .dlerror = l->dlerror,
		.arg = { v->stack + offsetof(struct inject_load, path),
			 RTLD_NOW | (l->is_internal ? INTERNAL : 0) },
	};

	*error = '\0';
	snprintf(a.path, sizeof(a.path), "%s", v->t->library);
	if (!call(v, &a))
		return false;
	if (!a.result && (!a.error || !image_peek(v->tid, a.error, error, size - 1)))
		snprintf(error, size, "unknown reason");
	error[size - 1] = '\0';
	for (char *p = error; *p; p++)
		if (*p < ' ')
			*p = ' ';
	return true;
}

/* Makes the thread call the loaded runtime's function, with this LDB_DOOR_* as its argument. */
static bool call_late(const struct visit *v, uint64_t what)
{
	struct inject_load a = { .arg = { what } };
	struct image image;

	image_read(v->tid, &image);
	/* if the versions differ, attach.c says so */
	if (image.copy.magic != LDB_DOOR_MAGIC || image.copy.version != LDB_CONTROL_VERSION)
		return true;
	a.function = image.copy.late;
	return call(v, &a);
}

/*
 * Restores the registers, unless the process has executed another program, whose first thread has
 * the same pid.
 */
static void put_back(const struct visit *v)
{
	if (image_is(v->tid, v->t->id))
		inject_regs_put(v->tid, &v->r);
}

/*
 * Leaves a visit that did not end in time because the loader waits for something.  A thread that
 * holds the loader's lock may finish, and then returns by the frame; a thread that has not begun
 * yet is restored.
 */
static enum inject_outcome leave(const struct visit *v)
{
	enum inject_outcome lost;
	bool begun;

	inject_stop(v->tid);
	begun = libc_loading(v->tid, v->t->libc) == v->tid;
	if (!begun)
		put_back(v);
	lost = inject_lost(v->pid, v->t, v->tid);
	if (lost != INJECT_DONE)
		return lost;
	cli_error("process %d could not %s in %d seconds%s: it continues%s", v->pid,
		  v->t->late & LDB_DOOR_FLOWS ? "change its tables" : "load the runtime",
		  (int)(INJECT_PASS_NS / 1000000000), begun ? ", and is still trying" : "",
		  v->t->late & LDB_DOOR_FLOWS ? "" : ", and is not recorded");
	return INJECT_REFUSED;
}

/* Returns true if the call failed for a reason that is only temporary. */
static bool is_for_now(int error)
{
	return error == EINTR || error == EAGAIN || (error >= ERESTARTSYS && error <= ERESTART_LAST);
}

static enum inject_outcome explain(const struct visit *v, int error, const char *reason)
{
	enum inject_outcome lost = inject_lost(v->pid, v->t, v->tid);

	if (lost != INJECT_DONE)
		return lost;
	if (is_for_now(error))
		return INJECT_MOVED;
	if (error)
		cli_error("process %d is not allowed to map executable memory (%s): start it with ldb-record -- CMD",
			  v->pid, strerror(error));
	else
		cli_error("process %d cannot load the runtime: %s", v->pid, reason);
	return INJECT_REFUSED;
}

static enum inject_outcome do_load(struct visit *v)
{
	char reason[256] = "";
	int error = map(v, CODE_BYTES, PROT_READ | PROT_EXEC, &v->code);

	if (!error)
		error = map(v, STACK_BYTES, PROT_READ | PROT_WRITE, &v->stack);
	if (error == MAP_LOST || (!error && v->t->library && !load(v, reason, sizeof(reason))))
		return leave(v);
	if (!error && !*reason && !call_late(v, v->t->late))
		return leave(v);
	if (v->code)
		unmap(v, v->code, CODE_BYTES);
	if (v->stack)
		unmap(v, v->stack, STACK_BYTES);
	if (image_is(v->tid, v->t->id))
		inject_stop_for_return(v->tid);
	put_back(v);
	return error || *reason ? explain(v, error, reason) : INJECT_DONE;
}

static enum inject_outcome visit(const struct inject_task *t, pid_t pid, pid_t tid)
{
	static struct visit v;
	enum inject_outcome outcome = INJECT_MOVED;

	memset(&v, 0, sizeof(v));
	v.t = t;
	v.pid = pid;
	v.tid = tid;
	if (may_load(&v))
		outcome = do_load(&v);
	ptrace(PTRACE_DETACH, tid, NULL, NULL);
	return outcome;
}

enum inject_end inject_load(pid_t pid, const struct libc *libc, const struct libc_code *code,
			    const char *library)
{
	const struct inject_task task = {
		.rank = rank, .visit = visit, .id = &libc->id, .libc = libc, .code = code,
		.library = library, .late = LDB_DOOR_LOADED,
	};

	return inject_run(pid, &task);
}

enum inject_end inject_flows(pid_t pid, const struct libc *libc, const struct libc_code *code,
			     void (*meanwhile)(void *arg), void *arg)
{
	const struct inject_task task = {
		.rank = rank, .visit = visit, .id = &libc->id, .libc = libc, .code = code, .late = LDB_DOOR_FLOWS,
		.meanwhile = meanwhile, .arg = arg,
	};

	return inject_run(pid, &task);
}

/* Makes a thread register itself that existed before the runtime was loaded. */
static bool adopt_one(void *arg, pid_t pid, pid_t tid)
{
	struct inject_task task = *(const struct inject_task *)arg;

	task.only = tid;
	inject_run(pid, &task);
	return false;
}

void inject_adopt(pid_t pid, const struct libc *libc, const struct libc_code *code)
{
	struct inject_task task = {
		.rank = rank, .visit = visit, .id = &libc->id, .libc = libc, .code = code, .late = LDB_DOOR_ADOPT,
	};

	proc_find_thread(pid, adopt_one, &task);
}
