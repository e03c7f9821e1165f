/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* This state is shared by runtime/ and scan/ (and shim/join.c, for a pthread_t's tid). */
#ifndef LDB_RUNTIME_H
#define LDB_RUNTIME_H

#include "internal.h"
#include "raw.h"

#pragma GCC visibility push(hidden)

/* process.c */

extern bool inert;		/* AT_SECURE: nothing at all is done */
extern bool initialised;
extern struct raw_thread control_thread;
extern uint32_t control_pid;	/* the process that it is, or was, of; 0: there never was one */

/* Did it run in this process or one from which this was forked? */
static inline bool control_ever_ran(void)
{
	return control_pid;
}

/*
 * Are its threads, if any, this process's?  The child of a raw fork or a vfork() has only their
 * numbers.
 */
static inline bool control_is_ours(void)
{
	return control_pid == sys(SYS_getpid);
}

enum control_leave {
	LEAVE_NOT,
	LEAVE_AND_RETURN,
	LEAVE_FOR_GOOD,
};
extern _Atomic uint32_t control_leaving;	/* enum control_leave: what it is to do */
extern int control_kick;			/* its eventfd, that wakes it */

static inline bool control_is_leaving(void)
{
	return order_any_load(&control_leaving) != LEAVE_NOT;
}

/*
 * This is session_on() for places that each program reaches: its page is not touched, which
 * would be a page fault, before it contains something.
 */
static inline bool session_was_on(void)
{
	return control_ever_ran() && session_on();
}

/* thread.c */

#define THREADS_MAX	16384	/* registered at a time; more are not observed */

/*
 * live[0 .. nr_live) are the registered threads, in no order.  They are changed under
 * registry_lock; the scanner reads without it and may for one round miss a thread or find it
 * twice.
 */
extern struct raw_lock registry_lock;
extern struct thread *_Atomic *_Atomic live;
extern _Atomic uint32_t nr_live;

/* Returns a free entry; NULL: there are too many, or there is no memory. */
struct thread *thread_alloc(void);
void thread_free(struct thread *t);
/* Under registry_lock. */
void thread_add(struct thread *t);
void thread_remove(struct thread *t);
/* Sets what thread_self() returns in the calling thread. */
void thread_set_self(struct thread *t);
void thread_fork_child(void);		/* only the caller is left */
bool thread_alone(void);		/* there never was another than the first */
/* Updates its number, which is another one in a child that had only one thread before. */
void thread_renumber(void);

/* Offsets of the thread blocks from the thread pointer; module.c appends to them. */
extern intptr_t block_off[LDB_BLOCKS_MAX];
extern _Atomic uint32_t nr_blocks;

/* create.c */
void create_init(void);			/* registers the main thread, or the one that loads the runtime */
void create_adopt(void);		/* registers the calling thread, which was there before that */

/* module.c */

#define MODULES_MAX	1024

struct module {
	uint64_t start, end, bias;
	uint64_t loaded_tsc;	/* 0: before the recording */
	uint64_t fini_tsc;	/* its destructors ran; it may be gone */
	_Atomic uint64_t unloaded_tsc;	/* 0: not unloaded */
	uint32_t flags;				/* LDB_MODULE_F_* */
	uint32_t build_id_size;
	uint8_t build_id[LDB_BUILD_ID_MAX];
	char path[LDB_PATH_MAX];
};

/* The list only grows; entry i is complete once nr_modules > i. */
struct module *module_at(uint32_t i);
extern _Atomic uint32_t nr_modules;
extern _Atomic uint32_t nr_modules_lost;

/* Runs at the start: it finds thread blocks and tables of functions in the present modules. */
void module_init(void);
/* Makes the list of the modules at the start, if that was not done yet.  Any thread may call it. */
void module_list(void);
void module_fork_child(void);
/* Finds modules that came, and those that went.  Only program threads may call it. */
void module_refresh(void);
uint32_t module_nr_instrumented(void);
/* If this is set it is called with the first instrumented module that is loaded later. */
extern void (*module_on_first)(void);

/* session.c */

struct session {		/* private copies: shared memory is never trusted */
	char *base;
	uint64_t mapped_size;	/* address space held at base */
	uint32_t nr_cpus, nr_scanners, max_threads;
	uint64_t ring_mask, scan_ring_mask;
	uint64_t pages_off, page_stride;
	uint64_t stacks_off, stack_stride;
	uint64_t rings_off, ring_stride;
	uint64_t scan_rings_off, scan_ring_stride;
	uint32_t clock_id;
	uint64_t hz;		/* ticks per second */
	uint32_t budget_ppm;
	uint64_t scan_interval;	/* ticks */
	uint64_t schedstat_after; /* ticks without a change; 0: the kernel's counters are not read */
	int32_t scanner_cpu;
	bool is_slow;		/* scanners always sleep between their rounds */
	uint64_t attach_tsc;
	int device;		/* /dev/ldb in the control thread's file table, or -1: memfd */
	/* free pages, first in first out: a page of an exited thread is reused last */
	uint32_t free_head, nr_free;
	uint16_t free_slot[4096];
};
extern struct session session;

#define SESSION_THREADS_MAX	4096

void session_init(const void *vdso_image);
/* Leaves fd open for as long as the session lasts if it is the module's device. */
int session_map(int fd, const struct ldb_msg_attach *msg, const char **why);
void session_populate(void);	/* call it from time to time: maps what will soon be written to */
void session_unmap(void);	/* scratch memory in its place */
void session_fork_child(void);
struct ldb_info *session_info(void);
struct ldb_page *session_page_of(int slot);
struct ldb_stack *session_stack_of(int slot);
uint64_t session_ticks(uint64_t ns);
/* Writes into a scanner's own ring, which has one writer. */
void ring_write_scan(unsigned scanner, struct ldb_rec *slots, unsigned nr);

/* recording.c */

void recording_begin(void);	/* pages for all threads, then on */
void recording_end(void);	/* off; the caller has stopped the scanners */
/* Under registry_lock: gives a thread a page in the running session, and takes it back. */
void recording_assign_page(struct thread *t, bool existing);
void recording_release_page(struct thread *t);
/* Counts a thread that has no page, or no entry. */
void recording_count_unwatched(void);
/* One that was there without an entry when the recording began has one now. */
void recording_count_watched(void);

/* tune.c */

/* What the recorder has sent with the session; it may begin paused. */
void tune_begin(const struct ldb_msg_attach *a);
/* Changes that; returns 0, or -errno: it stays paused. */
int tune(const struct ldb_tune *t);
bool tune_is_paused(void);
/* Tries again what failed for want of a thread; to be called now and then. */
void tune_again(void);

/* control.c */

/*
 * Starts the control thread for a recorder that launched the program: it connects to
 * that name, and this returns when the recording runs, or has failed.
 */
void control_launched(const char *recorder);
/* Does the same for a recorder that attaches, from door_pass(): returns at once, 0 or -errno. */
int control_called(const char *recorder);
/* LDB=listen: starts it to wait for recorders; this is done in each child, too. */
void control_listen(void);
void control_fork_child(void);
/*
 * Ends ldb's threads, before the program changes rights that they must not retain.  After the
 * change control_return() starts them again, with what this returned.  Only program threads may
 * call it; it returns false if there are none, or they are not started again.
 */
bool control_leave(enum control_leave how);
void control_return(void);
/* One load tells whether there is a thread of ldb's. */
bool control_runs(void);
/* A child of fork(): starts the thread that announces it. */
void control_announce(void);

/* children.c: the recorder of the first process, to which its children announce themselves. */

struct children {
	char recorder[64];	/* its socket; "": children are not recorded */
	char secret[LDB_SECRET_MAX];
	uint32_t how;		/* enum ldb_child: what this process has to tell; 0: nothing more */
	bool waits;		/* it is the first program, of which nothing is to be missed */
};
extern struct children children;

static inline bool children_wanted(void)
{
	return children.recorder[0];
}

void children_set(const char *name, const char *secret);
/* Neither this process nor a child of it announces itself any more. */
void children_forget(void);
void children_message(struct ldb_msg_child *m, uint32_t how);
/* Tells the recorder that this program was executed and has no records. */
void children_say_plain(void);

/* exec.c */

/*
 * What a program that is executed has in its environment, so that it is recorded, too; front:
 * what LD_PRELOAD begins with.
 */
void exec_init(const char *front, bool flows);
/* The same, for a program that was not launched: its modules say where the runtime is. */
void exec_init_attached(void);

/* request/command.c */
void command_forget(void);	/* a recording begins: what was wanted before does not concern it */
bool command_next(struct ldb_msg_command *m);	/* false: there is none */

/* door.c */
void door_open(void);

/* visit.c: LDB_DOOR_*, in a thread of the program. */
void visit_late(uint64_t what);

/* identity.c */
void identity_drop(void);	/* the calling thread's capabilities, for good */
void identity_cpus(void);	/* its CPUs: all that the program uses */
uint64_t identity_now(void);	/* changes with what the program is; 0: not known */
bool identity_may_be_watched(uint32_t peer_uid);

/* priority.c */

/* Called by a thread of ldb's that still has the program's rights: do they suffice? */
bool priority_find(void);
/* Is a thread of the program under a filter of system calls, or is that not known? */
bool priority_any_filter(void);
/* Called by t itself, when no thread waits for it: after its start, and after it was raised. */
void priority_give_way(struct raw_thread *t);
/* Called by t itself, between two pieces of work: others on its CPU come first. */
void priority_rest(const struct raw_thread *t);
/*
 * Called by a thread that waits for t, repeatedly: t may be about to yield.  Any thread may call
 * it.
 */
void priority_raise(struct raw_thread *t);

/* unmap.c: stacks whose memory the program unmapped while it was not recorded. */
void unmap_find_gone(void);
/* Where the memory below an address begins that can be read without a gap; 0: there is none. */
uintptr_t unmap_run_below(uintptr_t addr);

/* fork.c */
void fork_init(void);
bool fork_in_progress(void);		/* of the calling thread */

/* scan/schedstat.c */
/*
 * Called before scanners run.  Returns false if the kernel's counters of the threads cannot be
 * read, though the recorder wants them.
 */
bool schedstat_init(void);

/* scan/scanner.c */
/* Allocates memory for all of it, before recording_begin(); returns 0 or -errno. */
int scan_prepare(void);
/* is_paused: not yet, but scan_resume() will start them. */
int scan_start(bool is_paused);
void scan_stop(void);
/*
 * Continues after scan_stop() in the same session; the interval in between is an observation
 * gap.
 */
int scan_resume(void);
void scan_raise(void);	/* a thread of the program waits for one of them */
void scan_fork_child(void);
/* This is called under registry_lock, after the thread got its page. */
void scan_thread_new(struct thread *t, bool existing);
/* The calling thread exits: no scanner polls it any more on return. */
void scan_thread_gone(struct thread *t);
/* Under registry_lock: counts the calls that the thread has made up to now, observed or not. */
void scan_count_calls(struct thread *t);
/* Under registry_lock, afterwards: its last invocations end with it, now. */
void scan_thread_flush(struct thread *t, uint64_t now);

#pragma GCC visibility pop
#endif /* LDB_RUNTIME_H */
