/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This is a generator of system calls for /dev/ldb, after syzkaller's example.
 *
 * A program is a list of calls with typed arguments (tables in fuzz-dev.c and fuzz-sys.c).  The
 * result of an earlier call (a descriptor, a mapping, a thread, a process) is in a slot that a
 * later call names.  Each program runs in a process of its own (fuzz-run.c), in one of several
 * ways: alone, its calls racing with themselves in threads, or in processes that share its
 * descriptors.
 *
 * If a program reaches something new, code of the module run by this kind of call (KCOV) or an
 * error that it had not returned before, it is retained and changed further.  A program is
 * therefore named by a chain of seeds: the first makes it, each further one changes it.  The
 * same chain is the same program; but the interleaving of its threads may differ.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define FUZZ_ARGS	7
#define FUZZ_CALLS	48
#define FUZZ_DEPTH	24	/* greatest number of seeds in a chain */
/* slots for descriptors; as many for mappings, threads, and processes */
#define FUZZ_SLOTS	8
#define FUZZ_BOXES	4
#define FUZZ_WORKERS	4	/* greatest number of programs that run at a time */
#define FUZZ_CORPUS	4096
#define FUZZ_NEW_BITS	20
#define FUZZ_COVERS	12	/* threads of one program whose coverage is recorded */
#define FUZZ_OPS	64
#define FUZZ_ERRORS	134
#define FUZZ_TEXT	(1 << 20)	/* greatest size of the module's code */

/* These are the kinds of values an argument can have (value() in fuzz-gen.c). */
enum fuzz_type {
	FUZZ_NONE, FUZZ_FD, FUZZ_MAP, FUZZ_TID, FUZZ_PID, FUZZ_POINTER, FUZZ_NUMBER, FUZZ_BYTE,
	FUZZ_PAGE_NR, FUZZ_EVENTS, FUZZ_ORDERS, FUZZ_THREADS, FUZZ_SPOIL, FUZZ_OFFSET,
};

struct fuzz_call {
	uint16_t op;
	uint16_t fail;		/* number of the allocation in this call that fails; 0: none */
	uint64_t arg[FUZZ_ARGS];
};

enum fuzz_way { FUZZ_ALONE, FUZZ_COLLIDE, FUZZ_PROCESSES, FUZZ_NR_WAYS };
enum fuzz_who { FUZZ_ROOT, FUZZ_NOBODY, FUZZ_USERNS, FUZZ_PIDNS, FUZZ_NR_WHO };

struct fuzz_program {
	uint8_t way, who;
	/*
	 * FUZZ_PROCESSES: from this call on there are two processes; FUZZ_COLLIDE: see collide() in
	 * fuzz-run.c
	 */
	uint8_t split;
	uint8_t memlock;	/* which value of RLIMIT_MEMLOCK is used */
	uint32_t nr;
	struct fuzz_call call[FUZZ_CALLS];
};

struct fuzz_chain {
	uint32_t depth;
	uint32_t seed[FUZZ_DEPTH];
};

struct fuzz_op {
	const char *name;
	long (*run)(const uint64_t *arg);	/* returns a result, or -errno */
	uint8_t weight;
	/* the call allocates memory, so it is tested with failing allocations */
	bool allocates;
	uint8_t type[FUZZ_ARGS];
};

/* The table ends with a name of NULL. */
extern const struct fuzz_op fuzz_device_ops[], fuzz_system_ops[];
const struct fuzz_op *fuzz_op(unsigned int op);
unsigned int fuzz_nr_ops(void);

/* fuzz-gen.c */
uint64_t fuzz_rnd(uint64_t *state);
void fuzz_make(struct fuzz_program *p, const struct fuzz_chain *chain);
void fuzz_print(const struct fuzz_program *p);
bool fuzz_parse_chain(struct fuzz_chain *chain, const char *text);
void fuzz_print_chain(char *to, size_t size, const struct fuzz_chain *chain);

/* All processes share this. */
struct fuzz_shared {
	volatile bool stop;
	volatile bool hold;	/* true: no new program may start */
	unsigned long nr_programs, nr_calls, nr_timeouts, nr_unkillable, nr_unloads;
	/* error 0: the call succeeded */
	unsigned int ran[FUZZ_OPS], errors[FUZZ_OPS][FUZZ_ERRORS];
	unsigned int progress[FUZZ_WORKERS];	/* number of calls by all programs of the worker */
	/* number of new results: pairs of a kind of call and a place or an error */
	unsigned long nr_new;
	unsigned int nr_text;	/* places in the module's code that were reached */
	uint64_t text_base;	/* 0: not known */
	int gone;		/* the module is unloaded at the moment */
	unsigned int nr_corpus;
	volatile pid_t running[FUZZ_WORKERS];	/* pid of the running program; 0: none */
	unsigned int nr_last[FUZZ_WORKERS];
	struct fuzz_chain last[FUZZ_WORKERS][16];	/* the latest programs */
	struct fuzz_chain corpus[FUZZ_CORPUS];
	uint8_t seen[(1 << FUZZ_NEW_BITS) / 8];
	uint8_t text[FUZZ_TEXT / 8];
};
extern struct fuzz_shared *fuzz;
extern int fuzz_box[FUZZ_BOXES][2];	/* datagram sockets that pass descriptors */

/* fuzz-cover.c: these do nothing where the kernel has no KCOV. */
void fuzz_cover_open(void);		/* called by the worker, for its programs */
void fuzz_cover_reset(void);		/* called before a program */
void fuzz_cover_thread(void);		/* called by each thread of the program */
void fuzz_cover_begin(void);		/* called before a call */
void fuzz_cover_end(unsigned int op, long result);
bool fuzz_cover_brought(void);		/* true: something new was reached since the reset */
void fuzz_cover_base(void);		/* called after the module was loaded again */
unsigned int fuzz_cover_total(void);	/* places in the module; 0: not known */
void fuzz_cover_list(void);

/* fuzz-run.c */
extern int fuzz_fd[FUZZ_SLOTS];
extern pid_t fuzz_tid[FUZZ_SLOTS], fuzz_pid[FUZZ_SLOTS];
extern uint32_t fuzz_words[64];		/* words for futexes */
#define FUZZ_MAP_SIZE	(256UL << 20)
static inline char *fuzz_map(uint64_t slot)
{
	return (char *)0x1000000000UL + slot % FUZZ_SLOTS * FUZZ_MAP_SIZE;
}
int fuzz_fd_of(uint64_t arg);
pid_t fuzz_tid_of(uint64_t arg);
pid_t fuzz_pid_of(uint64_t arg);
void *fuzz_pointer(uint64_t arg);
uint64_t fuzz_nasty(uint64_t arg);
void fuzz_thread_begin(void);
void fuzz_calls(unsigned int from, unsigned int nr);	/* calls of the running program */
void fuzz_run(const struct fuzz_program *p, int worker);	/* waits for the program's end */
bool fuzz_load(void);
int fuzz_unload(void);

#endif
