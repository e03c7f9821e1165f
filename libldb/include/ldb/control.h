/* SPDX-License-Identifier: MIT */
/*
 * This is the protocol of the control socket between ldb-record and the runtime.
 *
 * The sockets are AF_UNIX, SOCK_SEQPACKET, with abstract names.  Messages are native-endian structs
 * that start with struct ldb_msg; both sides check type, size and version, and both check the peer
 * by SO_PEERCRED.  The runtime accepts uid 0, and its own effective uid if the process is dumpable;
 * the recorder accepts the pid that it wants to record.
 *
 * The recorder listens on a random name, and the runtime connects to it:
 *
 *   Launching (--): the name is in the environment as LDB_RECORD; the runtime of
 *   the first instrumented program, or with --flows of the first program, connects
 *   before main().
 *
 *   Attaching (-p): a program that is not being recorded has no thread, socket or
 *   descriptor of ldb's, unless it was started with LDB=listen (see below).  The
 *   recorder stops one of the program's threads by ptrace,
 *   which the kernel permits or refuses, and makes this thread run the door's code
 *   (struct ldb_door).  That code starts the runtime's own thread, which connects; then
 *   the stopped thread continues where it was.
 *
 *   Started with LDB=listen: the runtime listens on LDB_CONTROL_NAME, for users who
 *   want to attach without ptrace, and the recorder connects.
 *
 *	runtime  -> HELLO			describes the program
 *	recorder -> FLOWS + fd of ldb/flows.h	only with --flows: record calls between modules
 *	recorder -> ATTACH + fd of the session	map it, start scanning
 *	runtime  -> ATTACHED | ERROR
 *	runtime  -> MODULE ..., BLOCKS		one for each mapped ELF file, then
 *	runtime  -> READY			(launch: main() starts after it)
 *	runtime  -> MODULE, UNLOADED, BLOCKS, TEXT	any time later (dlopen, dlclose)
 *	recorder -> TUNE			any time later: record less, record more, pause
 *	runtime  -> COMMAND			the program requests a pause, its end, or a dump
 *	recorder -> DETACH			stop writing
 *	runtime  -> DETACHED			nothing is written any more
 *	If either end closes the socket, the other end cleans up and continues.
 *
 * When the program changes its credentials, root or namespaces, ldb's threads must not retain
 * the old ones.  They end before the change, and are started again after it:
 *
 *	runtime  -> LEAVING, hangs up		returns: 1
 *	  (the program makes its system call)
 *	runtime connects again -> HELLO		resumes: 1
 *	recorder -> RESUME + fd of the session	the same session
 *	runtime  -> READY
 *
 * With returns: 0 the recording is over, and the message's text says why.
 *
 * If children are to be recorded, too, each process that is forked from a recorded process, or
 * is executed with LDB_CHILDREN in its environment, connects to the recorder of the first process
 * and begins with CHILD.  That recorder passes the connection to a new recorder process, or hangs
 * up.  A forked process does not wait for the answer.  All users can read the names of the
 * recorders' sockets, but not the secret, which proves that a process is such a child.
 *
 *	runtime  -> CHILD			this process is a child of the first process
 *	runtime  -> HELLO			and so on
 *
 * The session memfd is sealed (F_SEAL_SHRINK | F_SEAL_GROW) by the recorder.
 */
#ifndef LDB_CONTROL_H
#define LDB_CONTROL_H

#include <stdint.h>

#define LDB_CONTROL_VERSION	6
/* %llu: inode of the runtime's pid namespace, %d: pid */
#define LDB_CONTROL_NAME	"ldb-control-%llu-%d"
#define LDB_ENV			"LDB"			/* =listen */
#define LDB_ENV_RECORD		"LDB_RECORD"		/* abstract name, without the NUL */
/* also record programs without instrumented code */
#define LDB_ENV_FLOWS		"LDB_FLOWS"
/* if children are recorded: the secret, in a child with "+" before it */
#define LDB_ENV_CHILDREN	"LDB_CHILDREN"
#define LDB_ENV_PRELOADED	"LDB_PRELOADED"		/* what ldb-record added to LD_PRELOAD */
#define LDB_PATH_MAX		1024
#define LDB_BUILD_ID_MAX	32

enum ldb_msg_type {
	LDB_MSG_HELLO		= 1,
	LDB_MSG_ATTACH		= 2,
	LDB_MSG_ATTACHED	= 3,
	LDB_MSG_ERROR		= 4,
	LDB_MSG_MODULE		= 5,
	LDB_MSG_UNLOADED	= 6,
	LDB_MSG_READY		= 7,
	LDB_MSG_DETACH		= 8,
	LDB_MSG_DETACHED	= 9,
	LDB_MSG_TEXT		= 10,	/* a warning for the user */
	LDB_MSG_LEAVING		= 11,
	LDB_MSG_RESUME		= 12,
	LDB_MSG_BLOCKS		= 13,
	LDB_MSG_FLOWS		= 14,
	LDB_MSG_COMMAND		= 15,
	LDB_MSG_TUNE		= 16,
	LDB_MSG_CHILD		= 17,
};

struct ldb_msg {
	uint32_t type;
	uint32_t size;		/* size of the whole message in bytes */
};

struct ldb_msg_hello {
	struct ldb_msg m;
	uint32_t version;	/* LDB_CONTROL_VERSION */
	uint32_t abi;		/* LDB_SESSION_ABI */
	int32_t pid;		/* getpid() of the program */
	uint32_t nr_instrumented; /* modules with instrumented code */
	char release[16];	/* release of the runtime */
	uint32_t resumes;	/* 1: this continues a recording after LEAVING with returns: 1 */
};

#define LDB_SECRET_MAX		40

enum ldb_child {
	/* the child runs while its control thread waits for an answer */
	LDB_CHILD_FORKED	= 1,
	/* main() waits until the recording starts or is refused, but only for some seconds */
	LDB_CHILD_STARTED	= 2,
	/* not instrumented; the child does not wait for an answer */
	LDB_CHILD_PLAIN		= 3,
};

struct ldb_msg_child {		/* the first message, before HELLO */
	struct ldb_msg m;
	uint32_t how;		/* enum ldb_child */
	int32_t parent;		/* getppid() of the program */
	char secret[LDB_SECRET_MAX]; /* the value of LDB_CHILDREN, without the "+" */
	char name[16];		/* the program's name: /proc/PID/comm */
};

enum ldb_mutex_level {
	LDB_MUTEX_OFF = 0,	/* no lock events */
	LDB_MUTEX_WAIT = 1,	/* contended acquires, and unlocks that find waiters */
	/* also when each lock was taken; holds of at least the threshold are written */
	LDB_MUTEX_HOLD = 2,
};

#define LDB_TUNE_PAUSED		1	/* the runtime only records starts and exits of threads */
/* ATTACH only: scanners sleep between polls, even if a core is idle */
#define LDB_TUNE_SLOW		4
/* requests are derived from reads and writes on connections */
#define LDB_TUNE_SOCKETS	8
#define LDB_TUNE_LOOPS		16	/* turns of event loops are recorded: LDB_EVENT_TURN */
/* the calls that a thread makes while it works on no request are only counted */
#define LDB_TUNE_IN_REQUESTS	2

/*
 * With LDB_TUNE_LOOPS the runtime writes an event (LDB_EV_MARK) of this name each time an event
 * loop's wait for descriptors returns: then a turn of the loop begins.  The event's value is the
 * duration of that wait in ns.
 */
#define LDB_EVENT_TURN	"ldb:turn"

/* Settings that can change during the recording. */
struct ldb_tune {
	uint32_t flags;		/* LDB_TUNE_* */
	uint32_t pad;
	uint64_t lock_threshold_ns; /* waits and holds shorter than this are not written */
	uint64_t func_threshold_ns; /* invocations that were certainly shorter are only counted */
};

struct ldb_msg_tune {
	struct ldb_msg m;
	struct ldb_tune tune;
};

enum ldb_command {
	LDB_COMMAND_START	= 1,
	LDB_COMMAND_STOP	= 2,
	LDB_COMMAND_DUMP	= 3,
};

struct ldb_msg_command {
	struct ldb_msg m;
	uint32_t command;	/* enum ldb_command */
	uint32_t nr;		/* the number of calls that this message reports */
	char text[64];		/* DUMP: the reason */
};

struct ldb_msg_attach {		/* carries the session's fd */
	struct ldb_msg m;
	uint32_t version;
	uint32_t mutex_level;
	uint32_t budget_ppm;	/* 1000000: polls are not limited */
	uint32_t scan_interval_ns; /* least time between two polls of a thread; 0: none */
	uint32_t nr_scanners;
	int32_t scanner_cpu;	/* -1: do not pin */
	struct ldb_tune tune;
	/*
	 * Only if there are no kernel events: the kernel's counters of a thread are read
	 * (LDB_EV_SCHEDSTAT) if its chain of frame records has not changed for this time; 0: never.
	 */
	uint64_t schedstat_ns;
	char name[64];		/* abstract name of the socket to connect to after LEAVING */
	/* abstract name of the socket to which children connect; "": children are not recorded */
	char children[64];
	char secret[LDB_SECRET_MAX];
};

struct ldb_msg_flows {		/* carries the fd of the memory of ldb/flows.h */
	struct ldb_msg m;
	/* each call that takes at least this long has an event of its own, too */
	uint64_t threshold_ns;
};

struct ldb_msg_attached {
	struct ldb_msg m;
	uint32_t nr_threads;	/* number of observed threads */
	uint32_t nr_unobserved;	/* threads in /proc/self/task that never registered */
	uint64_t tsc;
};

struct ldb_msg_leaving {
	struct ldb_msg m;
	/* 1: the runtime connects again at once; 0: the recording is over */
	uint32_t returns;
	char text[252];		/* the reason */
};

struct ldb_msg_text {		/* ERROR and TEXT */
	struct ldb_msg m;
	char text[256];
};

#define LDB_MODULE_F_INSTRUMENTED	1	/* has frame records */
#define LDB_MODULE_F_COMPILED		2	/* compiled with the plugin (note type 3) */

struct ldb_msg_module {
	struct ldb_msg m;
	uint32_t flags;
	uint32_t build_id_size;
	uint64_t tsc;
	uint64_t start, end;	/* from the first to the last mapped address of the file */
	uint64_t bias;		/* address - ELF virtual address */
	uint8_t build_id[LDB_BUILD_ID_MAX];
	char path[LDB_PATH_MAX];
};

#define LDB_BLOCKS_MAX		64

/*
 * Where a thread's blocks (struct ldb_thread) are; sent again when a module with a further block is
 * loaded.
 */
struct ldb_msg_blocks {
	struct ldb_msg m;
	uint32_t nr, pad;
	int64_t offset[LDB_BLOCKS_MAX]; /* bytes from the thread pointer */
};

struct ldb_msg_unloaded {
	struct ldb_msg m;
	uint64_t tsc;
	uint64_t start;
};

/*
 * The door is code to which the recorder sends a thread of the program that it has stopped by
 * ptrace, to start the runtime's own thread.  The library's ELF note of type LDB_NOTE_RUNTIME
 * (ldb/abi.h) points to it.
 *
 * The recorder stores the name of its socket, puts a signal frame with the thread's registers at
 * the upper end of the door's stack, points the stack pointer behind the frame's return address
 * and the instruction pointer to entry, and blocks all signals.  The code at entry needs no
 * thread-local memory, no lock and no libc, so the thread may have been stopped anywhere.  The
 * code ends in rt_sigreturn().  The recorder intercepts that call and restores the registers by
 * ptrace instead, because only then does the kernel restart an interrupted system call.  If the
 * recorder is killed meanwhile, rt_sigreturn() restores the thread.
 */
#define LDB_DOOR_MAGIC		0x726f6f642d62646cULL	/* "ldb-door" */

struct ldb_door {
	uint64_t magic;		/* LDB_DOOR_MAGIC once the runtime has started; else 0 */
	uint32_t version;	/* LDB_CONTROL_VERSION */
	/*
	 * result of the last run: 0, or -errno; -EBUSY: the control thread exists already, because
	 * the program is being recorded, or was started with LDB=listen
	 */
	int32_t result;
	uint64_t entry;
	uint64_t stack, stack_size;
	char release[16];
	char name[64];		/* abstract name of the recorder's socket */
	uint64_t late;		/* void f(uint64_t what): LDB_DOOR_* */
};

/*
 * The argument of late(): what a thread of the program is to do in place of the runtime's own
 * threads, which must not take the loader's lock.  The thread must not be stopped in the loader or
 * in an allocator.
 */
/* the runtime was loaded into a running program: put its wrappers into the linkage tables */
#define LDB_DOOR_LOADED	1
/* a recording has begun with LDB_MSG_FLOWS: intercept the calls between modules */
#define LDB_DOOR_FLOWS	2
/* register this thread, which was created before the runtime was loaded */
#define LDB_DOOR_ADOPT	4

#endif /* LDB_CONTROL_H */
