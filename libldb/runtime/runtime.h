/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares what the files of runtime/ share with each other and with the other directories. */
#ifndef LDB_RUNTIME_H
#define LDB_RUNTIME_H

#include "internal.h"
#include "raw.h"

#pragma GCC visibility push(hidden)

/* process.c */

/* the program has more privileges than its user (AT_SECURE), so the runtime does nothing in it */
extern bool inert;
extern bool initialised;
extern struct raw_thread control_thread;
/* pid of the process in which the control thread runs or ran; 0: there never was one */
extern uint32_t control_pid;

/*
 * Returns true if a control thread ever ran in this process, or in one from which this was forked.
 */
static inline bool control_ever_ran(void)
{
	return control_pid;
}

/*
 * Returns true if ldb's threads, if there are any, belong to this process.  In the child of a raw
 * fork or a vfork() the variables describe threads of the parent.
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
/* enum control_leave: what the control thread must do */
extern _Atomic uint32_t control_leaving;
extern int control_kick;			/* the eventfd that wakes the control thread */

static inline bool control_is_leaving(void)
{
	return order_any_load(&control_leaving) != LEAVE_NOT;
}

/*
 * Does what session_on() does, for code that also runs in programs that are not recorded.  It does
 * not read session_page before a control thread has run, because that would cause a page fault.
 */
static inline bool session_was_on(void)
{
	return control_ever_ran() && session_on();
}

/* thread.c */

#define THREADS_MAX	16384	/* registered threads; further ones are not observed */

/*
 * live[0 .. nr_live) are the registered threads, in no particular order.  They are changed under
 * registry_lock; others read them without it, and may miss a thread or find it twice.
 */
extern struct raw_lock registry_lock;
extern struct thread *_Atomic *_Atomic live;
extern _Atomic uint32_t nr_live;

/* Returns a free entry; NULL if there are too many, or no memory. */
struct thread *thread_alloc(void);
void thread_free(struct thread *t);
/* Adds or removes a thread.  The caller holds registry_lock. */
void thread_add(struct thread *t);
void thread_remove(struct thread *t);
/* Sets what thread_self() returns in the calling thread. */
void thread_set_self(struct thread *t);
/* called in a fork child, where only the calling thread is left */
void thread_fork_child(void);
bool thread_alone(void);		/* there has never been another thread than the first one */
/* If there is only one thread, updates its tid, which is another one in a fork child. */
void thread_renumber(void);

/* Offsets of the thread blocks from the thread pointer; module.c appends to them. */
extern intptr_t block_off[LDB_BLOCKS_MAX];
extern _Atomic uint32_t nr_blocks;

/* create.c */
/* registers the main thread, or the thread that loads the runtime */
void create_init(void);
void create_adopt(void);		/* registers the calling thread, which existed before */
/* Disables late registration if any thread has other seccomp filters than the calling one. */
void create_check_filters(void);

/* module.c */

#define MODULES_MAX	1024

struct module {
	uint64_t start, end, bias;
	uint64_t loaded_tsc;	/* 0: before the recording */
	uint64_t fini_tsc;	/* when its destructors ran, after which it may be unmapped */
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

/*
 * Called at the start.  Finds the thread blocks and the tables of functions of the modules that are
 * loaded then.
 */
void module_init(void);
/*
 * Makes the list of the modules with which the program started, if that was not done yet.  Any
 * thread may call it.
 */
void module_list(void);
void module_fork_child(void);
/* Finds modules that have been loaded or unloaded.  Only threads of the program may call it. */
void module_refresh(void);
uint32_t module_nr_instrumented(void);
/* If not NULL, this is called when an instrumented module is loaded later. */
extern void (*module_on_first)(void);

/* session.c */

struct session {		/* private copies, because shared memory is never trusted */
	char *base;
	uint64_t mapped_size;	/* size of the address space that is reserved at base */
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
	/*
	 * ticks without a change after which the kernel's counters are read; 0: they are not read
	 */
	uint64_t schedstat_after;
	int32_t scanner_cpu;
	bool is_slow;		/* scanners always sleep between their rounds */
	uint64_t attach_tsc;
	int device;		/* /dev/ldb in the control thread's file table, or -1: memfd */
	/*
	 * The free pages are a queue, so that the page of an exited thread is reused as late as
	 * possible.
	 */
	uint32_t free_head, nr_free;
	uint16_t free_slot[4096];
};
extern struct session session;

#define SESSION_THREADS_MAX	4096

void session_init(const void *vdso_image);
/* If fd is /dev/ldb, the kernel module's device, it stays open as long as the session lasts. */
int session_map(int fd, const struct ldb_msg_attach *msg, const char **why);
/* called regularly; faults in memory that will soon be written to */
void session_populate(void);
void session_unmap(void);	/* replaces the session's memory by scratch memory */
void session_fork_child(void);
struct ldb_info *session_info(void);
struct ldb_page *session_page_of(int slot);
struct ldb_stack *session_stack_of(int slot);
uint64_t session_ticks(uint64_t ns);
/* Writes into a scanner's own ring, which has only one writer. */
void ring_write_scan(unsigned scanner, struct ldb_rec *slots, unsigned nr);

/* recording.c */

void recording_begin(void);	/* gives all threads pages, then switches the recording on */
void recording_end(void);	/* switches it off; the caller has stopped the scanners */
/*
 * These give a thread a page in the running session, and take the page back.  The caller holds
 * registry_lock.
 */
void recording_assign_page(struct thread *t, bool existing);
void recording_release_page(struct thread *t);
/* Counts a thread that has no page, or no entry in the registry. */
void recording_count_unobserved(void);
/*
 * Subtracts a thread from that count, because it had no entry when the recording began and has one
 * now.
 */
void recording_count_observed(void);

/* tune.c */

/* Applies the settings that the recorder has sent with the session, which may begin paused. */
void tune_begin(const struct ldb_msg_attach *a);
/* Changes the settings.  Returns 0, or -errno if the recording stays paused. */
int tune(const struct ldb_tune *t);
bool tune_is_paused(void);
/*
 * Called regularly: tries again to resume a recording for which no scanner could be started.
 */
void tune_again(void);

/* send.c: the control thread sends messages to the recorder. */
extern int send_conn;			/* the connection; -1: there is none */

/* called when a recording begins, before any module is reported */
void send_begin(void);
/* Sends a message, which begins with a struct ldb_msg, whose members it sets.  Returns 0 or -1. */
int send_message(void *m, uint32_t type, uint32_t size);
/* Sends a line for the user; err is -errno, or 0. */
void send_text(uint32_t type, const char *text, int err);
void send_modules(void);		/* reports new and unloaded modules, and thread blocks */
void send_commands(void);		/* sends the program's commands: request/command.c */
void send_child(void);
void send_hello(bool resumes);
void send_ready(bool has_counters);
/* Counts the threads of the process that are not in the registry, except for ldb's own. */
uint32_t send_count_unobserved(void);

/* attach.c: the control thread does what a recorder requests. */
/*
 * Maps the session and starts to record.  Returns 0 or a negative number, after an error message.
 * *fd, which came with the message, becomes -1 if the session retains the descriptor.
 */
int attach_begin(const struct ldb_msg_attach *a, int *fd);
/* Continues a session after the program has changed its credentials.  Returns 0 or -1. */
int attach_resume(int *fd);
void attach_end(void);			/* ends the recording; the memory stays mapped */

/* control.c */

/*
 * Starts the control thread for a recorder that has launched the program.  The thread connects to
 * the socket of that name.  Returns when the recording runs or has failed, or after some seconds.
 */
void control_launched(const char *recorder);
/*
 * Starts the control thread for a recorder that attaches.  Called by door_pass().  Returns at once:
 * 0 or -errno.
 */
int control_called(const char *recorder);
/*
 * With LDB=listen: starts the control thread, which waits for recorders.  Each fork child does the
 * same.
 */
void control_listen(void);
void control_fork_child(void);
/*
 * Ends ldb's threads before the program changes credentials that they must not retain.  Returns
 * true if control_return() must be called after the change, to start them again.  Only program
 * threads may call it.
 */
bool control_leave(enum control_leave how);
void control_return(void);
/*
 * Returns true if ldb's threads exist, or are to be started again.  The test costs one or two
 * loads.
 */
bool control_runs(void);
/* Called in a fork child: starts the control thread, which announces the child. */
void control_announce(void);

/*
 * children.c: describes the recorder of the first process, to which its children announce
 * themselves.
 */

struct children {
	char recorder[64];	/* the name of its socket; "": children are not recorded */
	char secret[LDB_SECRET_MAX];
	/* enum ldb_child: how this process must announce itself; 0: not at all */
	uint32_t how;
	/* this is the first program, which may wait longer for the recorder */
	bool waits;
};
extern struct children children;

static inline bool children_wanted(void)
{
	return children.recorder[0];
}

void children_set(const char *name, const char *secret);
/* After this call neither this process nor a child of it announces itself any more. */
void children_forget(void);
void children_message(struct ldb_msg_child *m, uint32_t how);
/* Reports to the recorder that this program was executed and is not instrumented. */
void children_say_plain(void);

/* exec.c */

/*
 * Sets what programs that this one executes get in their environment, so that they are recorded,
 * too.  `front` is the text with which LD_PRELOAD begins.
 */
void exec_init(const char *front, bool flows);
/*
 * Does the same as exec_init() in a program that was not launched by a recorder, where the path of
 * the runtime is found in the list of modules.
 */
void exec_init_attached(void);

/* request/command.c */
void command_forget(void);	/* forgets commands from before the recording */
bool command_next(struct ldb_msg_command *m);	/* takes the next command; false: there is none */

/* door.c */
void door_open(void);

/* visit.c: does what LDB_DOOR_* says, in a thread of the program. */
void visit_late(uint64_t what);

/* identity.c */
void identity_drop(void);	/* drops the calling thread's capabilities for good */
void identity_cpus(void);	/* allows the calling thread the CPUs that the program may use */
bool identity_has_every_cpu(void);	/* true: the caller may use every online CPU */
uint64_t identity_now(void);	/* a hash of the program's credentials; 0: not known */
bool identity_may_be_observed(uint32_t peer_uid);

/* priority.c */

/*
 * Returns true if the program's privileges suffice to raise priorities.  Called by one of ldb's
 * threads before it drops its capabilities.
 */
bool priority_find(void);
/* Returns true if any thread of the program has a seccomp filter, or if this is not known. */
bool priority_any_filter(void);
/*
 * Returns true if any thread has other seccomp filters than the calling one, or if this is not
 * known.
 */
bool priority_filters_differ(void);
/*
 * Lowers the priority of t.  Called by t itself when no thread waits for it any more: after its
 * start, and after its priority was raised.
 */
void priority_give_way(struct raw_thread *t);
/* Lets other tasks on the CPU run first.  Called by t itself, between two pieces of work. */
void priority_rest(const struct raw_thread *t);
/*
 * Raises the priority of t.  Any thread may call it.  A thread that waits for t calls it
 * repeatedly, because t may be about to lower its priority.
 */
void priority_raise(struct raw_thread *t);

/* unmap.c: finds stacks whose memory the program has unmapped while it was not recorded. */
void unmap_find_gone(void);
/*
 * Returns the start of the readable memory that extends without a gap up to this address; 0 if
 * there is none.
 */
uintptr_t unmap_run_below(uintptr_t addr);

/* fork.c */
void fork_init(void);
bool fork_in_progress(void);		/* true: the calling thread is in a fork() */

/* scan/schedstat.c */
/*
 * Called before scanners run.  Returns false if the recorder wants the kernel's counters of the
 * threads, but they cannot be read.
 */
bool schedstat_init(void);

/* scan/scanner.c */
/*
 * Allocates all memory that scanners need; called before recording_begin().  Returns 0 or -errno.
 */
int scan_prepare(void);
/* Starts the scanners; if is_paused, scan_resume() will start them later. */
int scan_start(bool is_paused);
void scan_stop(void);
/*
 * Continues after scan_stop() in the same session; the interval in between is an observation
 * gap.
 */
int scan_resume(void);
void scan_raise(void);	/* raises scanners, because a thread of the program waits for one of them */
void scan_fork_child(void);
/* Called under registry_lock, after the thread got its page. */
void scan_thread_new(struct thread *t, bool existing);
/* Called by a thread that exits.  When this returns, no scanner polls the thread any more. */
void scan_thread_gone(struct thread *t);
/*
 * Counts the calls that the thread has made up to now, whether observed or not.  Called under
 * registry_lock.
 */
void scan_count_calls(struct thread *t);
/*
 * Ends the thread's last invocations, now that it ends.  Called under registry_lock, after
 * scan_thread_gone().
 */
void scan_thread_flush(struct thread *t, uint64_t now);

#pragma GCC visibility pop
#endif /* LDB_RUNTIME_H */
