/* SPDX-License-Identifier: MIT */
/*
 * This is contract C of ldb: version 2 of the trace file (ldb.data).  Documentation/ldb.data.v2.5
 * describes the file byte by byte.
 *
 *	struct ldb_file_header
 *	block ...			struct ldb_block_header, payload
 *	index				blocks of kind LDB_BLK_INDEX up to the footer
 *	struct ldb_file_footer		missing, like the index, if the recorder died
 *
 * All numbers are little-endian.  A block holds up to LDB_BLOCK_ROWS rows of one table; each
 * column is coded by itself, the columns are concatenated and compressed with zstd.  A block
 * contains everything needed to decode it: if a block is damaged or missing, only its rows are
 * lost, and a file without index is read block by block.
 *
 * The payload before compression has, for each column, the size of the coded column in
 * bytes (u32), then the coded column.  Each column of each kind has one of these codings:
 *
 *	V	LEB128 varint of each value (V zigzag: of its zigzag coding)
 *	D	LEB128 varint of the zigzag difference to the row before (first: to 0)
 *	S	strings: LEB128 length and bytes of each
 *
 * Arithmetic is modulo 2^64.  New columns are only added after the existing ones, so
 * an older reader ignores columns at the end.
 *
 * Times are in units of the session clock since t0 of the file header ("ticks"); they may be
 * negative.  The clock table gives ticks -> ns.
 */
#ifndef LDB_TRACE_FORMAT_H
#define LDB_TRACE_FORMAT_H

#include <stdint.h>

#define LDB_FILE_MAGIC		"LDBTRACE"	/* 8 bytes, no NUL */
#define LDB_FOOTER_MAGIC	"LDBTREND"
#define LDB_BLOCK_MAGIC		0x4b424c42U	/* "BLBK" */
#define LDB_FILE_VERSION	2		/* version 1 had no FILE, SYMBOL and CALL rows */
#define LDB_FILE_VERSION_MIN	1		/* oldest version this reader reads */
#define LDB_BLOCK_ROWS		65536
#define LDB_BLOCK_BYTES_MAX	(64U << 20)	/* payload, before and after compression */

struct ldb_file_header {
	char	 magic[8];
	uint32_t version;
	uint32_t header_size;	/* offset of the first block in the file */
	/* a reader refuses the file if it does not know a bit that is set */
	uint32_t features;
	uint32_t clock_id;	/* enum ldb_clock */
	uint64_t t0;		/* clock value that is tick 0: start of the recording */
	uint64_t clock_hz;	/* ticks per second, nominal; CLOCK rows are exact */
	int64_t	 realtime_ns;	/* CLOCK_REALTIME at t0 */
	uint32_t crc;		/* CRC32C of the bytes before it */
	uint32_t pad;
};

struct ldb_block_header {
	uint32_t magic;
	uint16_t kind;		/* enum ldb_block_kind */
	uint16_t version;	/* version of the columns of this kind of block: 1 */
	uint32_t rows;
	uint32_t raw_bytes;	/* payload before compression */
	uint32_t bytes;		/* payload in the file */
	uint32_t crc;		/* CRC32C of this header with crc 0, then of the payload */
	int64_t	 t_min, t_max;	/* ticks: the least and the greatest time of a row */
	/*
	 * The least and the greatest id of a row.  The ids are the tids in FUNC, LOCK, THREAD, GAP,
	 * TASK, FAULT, IRQ, SYSCALL, SCHEDSTAT, SAMPLE, DISK, EVENT, FLOW, FLOW_HIST and FLOW_CALL;
	 * tid and other in SCHED; the requests' ids in REQ, REQNAME, NOTE, MESSAGE, ASKED and
	 * REQTAB; pid in PROCESS.  If a row concerns all ids (GAP of tid 0, END_ALL, CUT), these
	 * are 0 and ~0.  In other kinds they are 0 and 0.
	 */
	uint64_t id_min, id_max;
	uint64_t max_dur;	/* ticks: the longest row in FUNC, LOCK, GAP, REQTAB; else 0 */
};

enum ldb_block_kind {
	LDB_BLK_META	= 1,	/* key S, value S */
	LDB_BLK_CLOCK	= 2,
	LDB_BLK_MODULE	= 3,
	LDB_BLK_THREAD	= 4,
	LDB_BLK_FUNC	= 5,
	LDB_BLK_LOCK	= 6,
	LDB_BLK_REQ	= 7,
	LDB_BLK_GAP	= 8,
	LDB_BLK_LOST	= 9,
	LDB_BLK_REQTAB	= 10,
	LDB_BLK_INDEX	= 11,
	LDB_BLK_SCAN	= 12,
	LDB_BLK_REQNAME	= 13,
	LDB_BLK_FILE	= 14,
	LDB_BLK_SYMBOL	= 15,
	LDB_BLK_CALL	= 16,
	LDB_BLK_FLOW_API = 17,
	LDB_BLK_FLOW	= 18,
	LDB_BLK_FLOW_HIST = 19,
	LDB_BLK_FLOW_CALL = 20,
	LDB_BLK_NOTE	= 21,
	LDB_BLK_EVENT	= 22,
	LDB_BLK_MESSAGE	= 23,
	LDB_BLK_ASKED	= 24,
	LDB_BLK_SCHED	= 32,
	LDB_BLK_TASK	= 33,
	LDB_BLK_FAULT	= 34,
	LDB_BLK_IRQ	= 35,
	LDB_BLK_SYSCALL	= 36,
	LDB_BLK_SCHEDSTAT = 37,
	LDB_BLK_SAMPLE	= 38,
	LDB_BLK_KSYM	= 39,
	LDB_BLK_DISK	= 40,
	LDB_BLK_PROCESS	= 41,
};

/*
 * These are the columns, in order, and the row structs that the reader returns and the writer
 * takes; "ticks" columns are int64_t relative to t0.
 */

/* META: key S, value S */
struct ldb_row_meta {
	const char *key, *value;
};

/* CLOCK: tick D, raw D, mono D, real D (ns), err V (ticks) */
struct ldb_row_clock {
	int64_t	 tick;
	int64_t	 raw_ns, mono_ns, real_ns;
	uint64_t err;
};

/* MODULE: flags V, tick D, end_tick D, start V, end V, bias V, build_id S, path S */
struct ldb_row_module {
	uint32_t flags;		/* LDB_MODULE_F_* of control.h */
	int64_t	 tick;		/* when it was mapped; 0: before the recording began */
	int64_t	 end_tick;	/* when it was unmapped; INT64_MAX: it was not */
	uint64_t start, end, bias;
	const char *build_id;	/* lower-case hex, "" if none */
	const char *path;
};

/*
 * FILE, SYMBOL and CALL rows contain the names of the trace's addresses, looked up after the
 * recording ended, so that the trace can be read where the ELF files are missing or have changed.
 * They are at the end of the file; a trace has all of these rows, or none.  addr is an address as
 * the ELF file has it: run-time address - bias of the module.
 */

/* FILE: id V, flags V, build_id S, path S.  An ELF file of MODULE rows that was found. */
#define LDB_FILE_F_SYMBOLS	1	/* the file has names of functions */
#define LDB_FILE_F_LINES	2	/* the file has names and lines of source files */
/* a part of the file's debug data is in another file, which was not found */
#define LDB_FILE_F_LACKS_PART	4
struct ldb_row_file {
	uint32_t id;		/* column `file` of SYMBOL and CALL rows */
	uint32_t flags;
	const char *build_id, *path;	/* as in MODULE */
};

/*
 * SYMBOL: file V, ask V, flags V, addr D, offset V, line V, func_line V, raw S, source S,
 * func_source S.  A row has what is known about one address; column ask says what was looked up.
 * 0, or "", means that a value is not known.
 */
enum ldb_symbol_ask {
	LDB_ASK_FUNC = 0,	/* the function that contains addr */
	/*
	 * the call that returns to addr; if that code was inlined from a system header, the place
	 * of inlining
	 */
	LDB_ASK_CALL = 1,
	LDB_ASK_DATA = 2,	/* the variable that contains addr */
	/* the function that is called by the call instruction before addr */
	LDB_ASK_CALLEE = 3,
};
#define LDB_SYMBOL_F_SYSTEM	 1	/* source is a system header */
#define LDB_SYMBOL_F_FUNC_SYSTEM 2	/* func_source is a system header */
struct ldb_row_symbol {
	uint32_t file, ask, flags;
	uint64_t addr;
	uint64_t offset;	/* DATA: offset of addr in the variable */
	uint32_t line, func_line;
	/* the linker's name of the function or variable, without suffixes of clones */
	const char *raw;
	const char *source;	/* source file of the address or the call */
	const char *func_source; /* source file in which the function is defined */
};

/*
 * CALL: file V, caller S, callee S.  The code of function caller contains a call of callee, which
 * is in another file.
 */
struct ldb_row_call {
	uint32_t file;
	const char *caller, *callee;	/* the linker's names */
};

/*
 * FLOW_API, FLOW, FLOW_HIST and FLOW_CALL rows say how often and how long each module (component)
 * called functions of other modules through the slots of dynamic linking.
 *
 * FLOW_API: id V, flags V, tick D, caller V, target V, name S.  A pair of a calling module and a
 * function, called an API.  The row precedes all rows that have its id.
 */
#define LDB_FLOW_F_PLT		0x01	/* called through a slot of .rela.plt */
#define LDB_FLOW_F_GOT		0x02	/* called through a slot of .rela.dyn (-fno-plt) */
#define LDB_FLOW_F_DLSYM	0x04	/* called at an address that dlsym() returned */
/*
 * calls of the function are only counted, because it may return twice or never, or reads its return
 * address
 */
#define LDB_FLOW_F_NOTIME	0x08
/* some of the calls were tail calls; this version does not set it */
#define LDB_FLOW_F_JUMP		0x10
struct ldb_row_flow_api {
	uint32_t id;		/* the first is 1 */
	uint32_t flags;
	int64_t	 tick;		/* time of the first call */
	uint64_t caller;	/* an address in the calling module */
	uint64_t target;	/* the function; if libldb wraps it, the wrapped function */
	const char *name;	/* the symbol, without version */
};

/*
 * FLOW: tid D, api D, tick D, calls V, timed V, sum V, shared V, min V, max V, back V.  Sums of one
 * thread since the beginning of the recording, read at tick, which is between start and end of its
 * THREAD row; the last row of a (thread, api) replaces the earlier ones.  calls is exact.  If a
 * function is called very often, only a random sample of its calls is timed, and calls * sum /
 * timed is an estimate of the time of all calls.  A timed call that has not returned at tick is
 * included with its time until then.
 */
struct ldb_row_flow {
	uint32_t tid, api;
	int64_t	 tick;
	uint64_t calls, timed;
	uint64_t sum;		/* ticks: total time of timed calls, including their callees */
	/* the same, but each call's time is divided by the number of threads of the program */
	uint64_t shared;
	uint64_t min, max;	/* ticks: shortest and longest timed call; 0: no call was timed */
	/*
	 * Ticks of calls that callbacks made: calls from modules other than the target's while a
	 * timed call of this row was the innermost timed call.  The time of each is multiplied by
	 * the number of calls that it represents.
	 */
	uint64_t back;
};

/*
 * FLOW_HIST: tid D, api D, tick D, bucket V, count V.  The number of timed calls of the FLOW row
 * with the same tid, api and tick whose durations are in this bucket; empty buckets have no row.
 */
struct ldb_row_flow_hist {
	uint32_t tid, api;
	int64_t	 tick;
	uint64_t bucket;	/* flow_bucket() */
	uint64_t count;
};
#define LDB_FLOW_BUCKETS	252

/*
 * From 4 on, each power of two has four buckets: 0, 1, 2, 3, 4, 5, 6, 7, 8-9, 10-11, 12-13, 14-15,
 * 16-19 ...
 */
static inline uint32_t flow_bucket(uint64_t ticks)
{
	uint32_t log;

	if (ticks < 4)
		return (uint32_t)ticks;
	log = 63 - (uint32_t)__builtin_clzll(ticks);
	return 4 * (log - 1) + (uint32_t)(ticks >> (log - 2) & 3);
}

/* Returns the shortest duration in a bucket, in ticks. */
static inline uint64_t flow_bucket_start(uint32_t bucket)
{
	return bucket < 8 ? bucket : (uint64_t)(4 + (bucket & 3)) << (bucket / 4 - 1);
}

/*
 * FLOW_CALL: flags V, tid D, start D, end: as (end - start) V, api D, gen D, site D, nr_later V.
 * One timed call that took at least META flows_threshold_ns; nearly in order of end.  The rows of a
 * thread may nest: a call may contain others.
 */
/* the call had not returned when its thread or the recording ended */
#define LDB_FLOW_CALL_F_OPEN	0x01
/* the call ended without a return: by longjmp() or an exception; this version does not set it */
#define LDB_FLOW_CALL_F_LEFT	0x02
struct ldb_row_flow_call {
	uint32_t flags;
	uint32_t tid;
	int64_t	 start, end;	/* ticks */
	uint32_t api;
	uint32_t nr_later;	/* as in LOCK; 0: not known */
	/* generation of the innermost instrumented function that made the call; 0: not known */
	uint64_t gen;
	uint64_t site;		/* the return address; 0: not known */
};

/*
 * THREAD: tid V, flags V, start D, end D, made V, seen V, scans V, invalid V, foreign V, too_deep
 * V, disorder V, gap V, start_routine V, creator V, name S, below_threshold V, cost V, pid V.  The
 * row is written again when it changes; the last row of a (tid, start) replaces the earlier ones.
 */
/* end is the time of the thread's exit; without the flag it was running at the end of the trace */
#define LDB_THREAD_F_EXITED	1
#define LDB_THREAD_F_UNOBSERVED	2	/* the thread was never polled */
struct ldb_row_thread {
	uint32_t tid, flags;
	int64_t	 start, end;	/* ticks; start <= 0: before the recording */
	uint64_t made, seen;	/* number of invocations, and how many of them have FUNC rows */
	uint64_t scans, invalid, foreign, too_deep, disorder;
	uint64_t gap;		/* ticks: GAP rows of this tid; those of tid 0 are not included */
	uint64_t start_routine;
	uint32_t creator;	/* tid or 0 */
	const char *name;
	uint64_t below_threshold; /* invocations that were observed, but too short to be written */
	uint64_t cost;		/* ticks: estimated time that polling has cost the thread */
	uint32_t pid;		/* pid of its PROCESS row; 0: the trace has no such rows */
};

/*
 * PROCESS: number V, pid V, ppid V, flags V, start D, end D, id_base V, clock_err V, name S,
 * cmdline S, host S, ended S.  A process of a joined trace, which was made from the traces of
 * several processes; a trace of one process has no such row.  In a joined trace
 *
 *	addresses	have the number of their process in the bits from LDB_ADDRESS_BITS on.  Code
 *			that two processes have mapped at the same address has the lower number.
 *	request ids	are the program's own ids plus id_base
 *	tids, pids	are the kernel's, with the number of the machine (or pid namespace) in the
 *			bits from LDB_TID_BITS on
 */
#define LDB_ADDRESS_BITS	48
#define LDB_TID_BITS		22	/* the kernel's are below 1 << 22 */
/* the process had another clock than the first one: its times may be wrong by clock_err */
#define LDB_PROCESS_F_CLOCK	1
#define LDB_PROCESS_F_UNRECORDED 2	/* the process is known, but was not recorded */
struct ldb_row_process {
	uint32_t number;	/* the number that its addresses have */
	uint32_t pid, ppid;	/* ppid 0: not known */
	uint32_t flags;
	int64_t	 start, end;	/* ticks: begin and end of its recording */
	uint64_t id_base;
	uint64_t clock_err;	/* ticks; UINT64_MAX: not known */
	const char *name;	/* "nginx" */
	const char *cmdline, *host;	/* META "cmdline" and "host" */
	const char *ended;	/* META "end" */
};

/*
 * FUNC: flags V, tid D, pc D, ret D, gen D, parent_gen D, depth V, start_max D, start_unc V,
 * end_max: as (end_max - start_max) V zigzag, end_unc V.  Rows are nearly in order of end_max.  The
 * bounds are the narrowest that follow from the scanner's polls and from the kernel's readings of
 * the chain (LDB_EV_FRAME).  Each invocation that the scanner or the kernel has observed has a row,
 * unless it was left out (LDB_LEFT_*); if its function was left by a switch of stacks and resumed,
 * it has another (LDB_FUNC_F_RESUMED).
 */
struct ldb_row_func {
	uint32_t flags;		/* LDB_FUNC_F_* of linux/ldb.h */
	uint32_t tid;
	uint64_t pc, ret;
	uint64_t gen, parent_gen;
	uint32_t depth;
	int64_t	 start_max, end_max;	/* ticks */
	uint64_t start_unc, end_unc;	/* ticks; the true value is in [max - unc, max] */
};
/*
 * The conversion of the kernel's time stamps to the trace's clock has some error.  Bounds of
 * invocations that come from such stamps are widened by this many ticks, or by kernel_err_ns if
 * that is more.
 */
#define LDB_KERNEL_SLACK	1000
#define LDB_UNC_UNKNOWN		UINT64_MAX	/* start_unc, end_unc: no lower bound is known */

/*
 * LOCK: op V, flags V, tid D, lock D, owner V, begin D, dur V, gen D, site D,
 * nr_later V
 */
#define LDB_LOCK_OP_WAIT	1
#define LDB_LOCK_OP_HOLD	2
struct ldb_row_lock {
	uint32_t op;
	uint32_t flags;		/* enum ldb_lock_kind | LDB_LOCK_F_* */
	uint32_t tid;
	uint64_t lock;
	uint32_t owner;
	uint32_t nr_later;	/* wait: as in ldb_lock_rec; 0: not known */
	/* ticks; a hold without F_BEGIN_EXACT has begin == end: see struct ldb_lock_rec */
	int64_t	 begin, end;
	uint64_t gen;
	uint64_t site;
};

/*
 * REQ: op V, tid D, tick D, id D, queue D, site D, gen D, nr_later V.  op: LDB_EV_REQ_* - 0x300.
 * ARRIVED: the request had been in the queue for `site` ticks before tick; the row of its START
 * follows.
 */
/* Queues without an address.  Only requests that were derived from connections have them. */
#define LDB_REQ_QUEUE_UPSTREAM	1	/* the request waits for the answer of another server */
/* the thread waits for descriptors, or works on other requests */
#define LDB_REQ_QUEUE_LOOP	2
#define LDB_REQ_QUEUE_UNREAD	3	/* the request is in the socket, not yet read */
#define LDB_REQ_QUEUE_MAX	3
/*
 * A queue with this bit comes from a program's probes (ldb-record --queue) and has no address.  Its
 * name is the value of the META row whose key is "queue." followed by the queue's number in hex.
 */
#define LDB_REQ_QUEUE_NAMED	(1ULL << 47)
#define LDB_META_QUEUE		"queue."

#define LDB_REQ_OP_START	1
#define LDB_REQ_OP_BLOCK	2
#define LDB_REQ_OP_END		3
#define LDB_REQ_OP_END_ALL	4
#define LDB_REQ_OP_ARRIVED	7
/*
 * CUT: events of some of the requests that are open at tick are missing from here on, so these
 * requests end here, unfinished.  If queue is 0, this concerns all open requests; else those with
 * ids from id to queue.
 */
#define LDB_REQ_OP_CUT		64
/* INEXACT: the latency of the open request `id` may be too long or too short by `site` ticks. */
#define LDB_REQ_OP_INEXACT	65
struct ldb_row_req {
	uint32_t op;
	uint32_t tid;
	int64_t	 tick;
	uint64_t id;
	uint64_t queue;
	uint64_t site;		/* ARRIVED: how long the request had waited, ticks */
	uint64_t gen;		/* as in LOCK; 0: not known */
	uint64_t nr_later;
};

/* REQNAME: tick D, id D, trace_hi V, trace_lo V, span V, class S */
struct ldb_row_reqname {
	int64_t	 tick;
	uint64_t id;
	uint64_t trace_hi, trace_lo, span;
	const char *name;	/* "" if this row is a link */
};

/*
 * NOTE: flags V, tid D, tick D, id D, number V, key S, text S.  The program has attached this note
 * to a request.  If a request has several notes with the same key, the last one replaces the
 * others.
 */
#define LDB_NOTE_F_NUMBER	1	/* the note is a number; else it is a text */
struct ldb_row_note {
	uint32_t flags, tid;
	int64_t	 tick;
	uint64_t id;
	uint64_t number;	/* text: 0 */
	const char *key;
	const char *text;	/* number: "" */
};

/*
 * MESSAGE: flags V, tid D, tick D, id D, serial D, offset D, bytes V, own_hi V, own_lo V, peer_hi
 * V, peer_lo V, own_port V, peer_port V, scope V.  A row is about bytes of a TCP connection:
 * request id has sent them, or they have started or answered this request.  Both ends count the
 * same bytes: offset 0 is the connection's first byte in this direction.
 */
struct ldb_row_message {
	uint32_t flags, tid;	/* LDB_MESSAGE_F_* of linux/ldb.h */
	int64_t	 tick;		/* when sending began, or when the bytes had been received */
	uint64_t id;		/* without a meaning if F_RIGHT or F_WRONG is set */
	uint32_t serial;	/* a different number for each of the process's connections */
	uint32_t bytes;
	uint64_t offset;
	/* addresses of both ends: the upper and the lower 8 bytes of the IPv6 address */
	uint64_t own_hi, own_lo, peer_hi, peer_lo;
	uint32_t own_port, peer_port;
	/*
	 * a number for the network in which the addresses are unique; 0: they are unique everywhere
	 */
	uint64_t scope;
};

/*
 * ASKED: tick D, id D, asked D, by D.  Request `id` was started by a message that request `by` had
 * sent.  Such rows are made when traces are joined.
 */
struct ldb_row_asked {
	int64_t	 tick;		/* when the message had been received */
	uint64_t id;
	int64_t	 asked;		/* when sending the message began */
	uint64_t by;
};

/* EVENT: tid D, tick D, value D, name S.  The program has marked an event of this name. */
struct ldb_row_event {
	uint32_t tid;
	int64_t	 tick;
	int64_t	 value;
	const char *name;
};

/* GAP: tid V (0: all), begin D, dur V.  Nothing was observed in [begin, begin+dur). */
struct ldb_row_gap {
	uint32_t tid;
	int64_t	 begin, end;
};

/* LOST: tick D, ring V, count V, what V */
#define LDB_LOST_OVERRUN	1	/* the record was overwritten before it was read */
/* reserved, but written too late, or never (writer killed) */
#define LDB_LOST_UNCOMMITTED	2
#define LDB_LOST_TORN		3	/* did not match its check word */
#define LDB_LOST_DISK		4	/* could not be written to the file */
#define LDB_LOST_UNOBSERVED	5	/* events of threads without a page */
#define LDB_LOST_KERNEL		6	/* kernel events the kernel could not deliver (perf, bpf) */
/* Records that were not lost, but left out because the user requested it; ring is 0. */
#define LDB_LEFT_PAUSE		16	/* a pause ended at tick; count: its duration, ticks */
#define LDB_LEFT_FUNCS		17	/* invocations of functions that are not recorded */
#define LDB_LEFT_SHORT		18	/* invocations shorter than the limit for their function */
#define LDB_LEFT_OUTSIDE	19	/* invocations while their thread was in no request */
#define LDB_LEFT_LOCKS		20	/* waits and holds that were too short */
#define LDB_LEFT_REQUESTS	21	/* requests of classes that are not recorded */
struct ldb_row_lost {
	int64_t	 tick;
	uint32_t ring;
	uint64_t count;
	uint32_t what;
};

/*
 * REQTAB: id D, start D, dur V, nr_segments V, complete V.  The table of all requests, at the end
 * of the file, sorted by id and start.  If it is missing, readers compute it from the REQ rows.
 */
struct ldb_row_reqtab {
	uint64_t id;
	int64_t	 start, end;
	uint32_t nr_segments;	/* START events */
	uint32_t complete;	/* 0: no END before the end of the trace */
};

/*
 * SCAN: scanner V, rounds V, looks V, changes V, scans V, invalid V, frames V,
 * gaps V, gap V, busy V, paused V, moving V, cost V, pages V, handed V
 */
struct ldb_row_scan {
	uint32_t scanner;
	uint64_t rounds, looks, changes, scans, invalid, frames, gaps;
	uint64_t gap, busy, paused;	/* ticks */
	uint64_t moving;	/* polls that found a change, after which the chain was not read */
	uint64_t cost;		/* ticks: this scanner's part of the cost of all threads */
	uint64_t pages;		/* pages of threads and ring headers touched */
	uint64_t handed;	/* how often a thread was handed to another scanner */
};

/*
 * SCHED: op V, flags V, cpu V, tick D, tid D, other D, addr D, gen D, pc D, value V.  Kernel
 * events, nearly in order of time.  op: LDB_EV_* - 0x400 of linux/ldb-records.h, which also
 * describes flags.  tids are those of the program's pid namespace; 0: the idle task, an
 * interrupt, or a thread that is hidden.
 *
 *	op		tid		other		further
 *	SWITCH		left the CPU	runs next	SWITCH_OUT: gen, pc, addr of frame record;
 *							else value: steal time, see LDB_EV_SWITCH
 *	RUNNING		left the CPU	runs next	neither is observed
 *	WAKING		waker		woken
 *	WAKEUP		woken		running task	value: the CPU it waits for
 *	MIGRATE		thread		0		addr: from CPU, value: to CPU
 *	FUTEX_WAIT	waits		owner word	addr; value: the word; see F_WORDS
 *	FUTEX_WAKE	wakes		0		addr; value: how many
 *	FORK		parent		child		value: thread group of the child
 *	EXEC		thread		tid before
 *	EXIT		thread		0		value: 1: last of its thread group
 *
 * A block's id_min and id_max cover both tid and other, so reading by tid also returns rows of
 * other threads, which the caller must skip.  SWITCH_OUT has the op of SWITCH.
 */
#define LDB_SCHED_OP_SWITCH	0x01
#define LDB_SCHED_OP_RUNNING	0x03
#define LDB_SCHED_OP_WAKING	0x04
#define LDB_SCHED_OP_WAKEUP	0x05
#define LDB_SCHED_OP_MIGRATE	0x06
#define LDB_SCHED_OP_FUTEX_WAIT	0x10
#define LDB_SCHED_OP_FUTEX_WAKE	0x11
#define LDB_SCHED_OP_FORK	0x20
#define LDB_SCHED_OP_EXEC	0x21
#define LDB_SCHED_OP_EXIT	0x22
struct ldb_row_sched {
	uint32_t op, flags;
	uint32_t cpu;		/* the CPU on which the event happened */
	uint32_t tid, other;
	uint32_t value;
	int64_t	 tick;
	uint64_t addr, gen, pc;
};

/*
 * TASK: tid V, pid V, flags V, tick D, name S.  The name that task `tid` of SCHED rows has from
 * tick on.  pid is its thread group.  flags has LDB_SCHED_F_TID if it is a thread of the program.
 */
struct ldb_row_task {
	uint32_t tid, pid, flags;
	int64_t	 tick;
	const char *name;
};

/* FAULT: flags V, tid D, tick D, addr D, pc D.  A page fault; nearly in order of time. */
/* If neither of these flags is set, it is not known whether the fault was minor or major. */
#define LDB_FAULT_ROW_MINOR	0x0100	/* the fault did not read from a disk */
#define LDB_FAULT_ROW_MAJOR	0x0200	/* the fault read from a disk */
struct ldb_row_fault {
	uint32_t flags;		/* LDB_FAULT_F_* of linux/ldb.h, LDB_FAULT_ROW_* */
	uint32_t tid;
	int64_t	 tick;
	uint64_t addr;
	uint64_t pc;		/* 0: not known */
};

/*
 * IRQ: kind V, flags V, cpu V, nr V, tid D, start D, end: as (end - start) V, nr_short V, name
 * S.  An interrupt on the CPU of thread tid; nearly in order of end.  Interrupts may nest.
 */
struct ldb_row_irq {
	uint32_t kind;		/* enum ldb_irq_kind of linux/ldb.h */
	uint32_t flags;		/* LDB_IRQ_F_* */
	uint32_t cpu, nr;
	uint32_t tid;
	/* interrupts of this thread since its last row, too short for a row */
	uint32_t nr_short;
	int64_t	 start, end;	/* ticks */
	const char *name;	/* "": not known */
};

/*
 * SYSCALL: flags V, nr V, tid D, start D, end: as (end - start) V, result D, arg0 D, arg V,
 * nr_short V, name S, file S.  A system call of a thread; nearly in order of end.  With F_SLEEP the
 * thread was in this call when it left its CPU to sleep: start and end are the time at which it
 * left, and there is no result.
 */
struct ldb_row_syscall {
	uint32_t flags;		/* LDB_SYSCALL_F_* and LDB_SYSCALL_ARG() of linux/ldb.h */
	uint32_t nr;		/* as the program's CPU numbers them */
	uint32_t tid;
	uint32_t nr_short;	/* calls of this thread since its last row, too short for a row */
	int64_t	 start, end;	/* ticks */
	int64_t	 result;	/* as the kernel returns it: an error is -errno */
	uint64_t arg0, arg;	/* the first argument, and the one that LDB_SYSCALL_ARG() names */
	const char *name;	/* "fdatasync"; "": not known */
	/*
	 * if arg0 is a descriptor, what it refers to: "svc.dat", "a pipe"; "": none, or not known
	 */
	const char *file;
};

/*
 * SCHEDSTAT: flags V, tid D, tick D, unc V, ran: as (ran - tick) V zigzag, run_ns D, wait_ns D,
 * nr_runs D, nr_sleeps V.  The kernel's counters of a thread, read at intervals if there are no
 * kernel events; nearly in order of time.
 */
struct ldb_row_schedstat {
	uint32_t flags;		/* LDB_SCHEDSTAT_F_* and LDB_SCHED_STATE() of linux/ldb.h */
	uint32_t tid;
	int64_t	 tick;		/* the counters were read in [tick - unc, tick] */
	uint64_t unc;
	int64_t	 ran;		/* the thread ran after this tick; INT64_MIN: not known */
	uint64_t run_ns;	/* total time on a CPU */
	uint64_t wait_ns;	/* total time runnable without a CPU, until the last switch in */
	uint32_t nr_runs;	/* how often the thread was switched to a CPU, modulo 2^32 */
	/* how often the thread left a CPU to sleep; valid with LDB_SCHEDSTAT_F_SLEEPS */
	uint32_t nr_sleeps;
};

/*
 * SAMPLE: kernel V, tid D, tick D, pc D, ret D.  Where a thread was when the sampling clock of its
 * CPU interrupted it; nearly in order of time.
 */
struct ldb_row_sample {
	/*
	 * 0: the thread was in user mode; else in the kernel: id of a KSYM row, or
	 * LDB_SAMPLE_KERNEL
	 */
	uint32_t kernel;
	uint32_t tid;
	int64_t	 tick;
	/*
	 * the address in user mode, or the last one before the thread entered the kernel; 0: not
	 * known
	 */
	uint64_t pc;
	/*
	 * if pc is in uninstrumented code that instrumented code has called: the return address of
	 * that call; 0: none, or not known
	 */
	uint64_t ret;
};
#define LDB_SAMPLE_KERNEL	1	/* in the kernel, in an unknown function */

/* KSYM: id V, name S.  A function of the kernel in which samples were taken.  Ids begin with 2. */
struct ldb_row_ksym {
	uint32_t id;
	const char *name;
};

/*
 * DISK: flags V, tid D, start D, end: as (end - start) V, bytes V, device S.  An operation of a
 * block device for a thread of the program, or a kernel thread; nearly in order of end.
 */
struct ldb_row_disk {
	uint32_t flags;		/* enum ldb_disk_op and LDB_DISK_F_* of linux/ldb.h */
	uint32_t tid;		/* the thread that submitted the operation */
	int64_t	 start, end;	/* ticks: insertion into the device's queue, completion */
	uint64_t bytes;
	const char *device;	/* "nvme0n1"; "": not known */
};

/* INDEX: kind V, rows V, offset D, bytes V, t_min D, t_max D, id_min V, id_max V, max_dur V */
struct ldb_row_index {
	uint32_t kind, rows;
	uint64_t offset, bytes;	/* place and size of the block with its header */
	int64_t	 t_min, t_max;
	uint64_t id_min, id_max, max_dur;
};

struct ldb_file_footer {
	char	 magic[8];
	uint64_t index_offset;
	uint64_t file_size;	/* size of the whole file, this footer included */
	uint64_t nr_blocks;
	uint32_t crc;		/* CRC32C of the bytes before it */
	uint32_t pad;
};

/*
 * META keys (ldb.data.v2(5) has further ones): "version" (of ldb-record), "cmdline", "pid", "host",
 * "kernel", "exe", "clock", "kernel_events" (none|schedstat|perf|bpf|module), "kernel_why" (why
 * none of the sources after it was used), "kernel_err_ns" (perf, bpf: the error of the events'
 * times), "kernel_deaf" (perf, bpf: CPUs on which events of some tasks were not delivered),
 * "kernel_only" (1: no functions, locks and requests were recorded), "budget", "mutex",
 * "kernel_faults" and "kernel_irqs" (1: page faults, interrupts were recorded), "kernel_syscalls"
 * (sleep: only system calls in which a thread slept, F_SLEEP; all: also others that took at least
 * "kernel_syscalls_ns"), "kernel_disk" (1: DISK rows were recorded), "samples" (clock and rate of
 * SAMPLE rows: "cpu-clock 199", "cycles 199"; missing: there are no such rows), "samples_user" (1:
 * no samples were taken in the kernel), "samples_lost" (how many), "flows_threshold_ns" (present if
 * flows were recorded; calls that took at least this long have FLOW_CALL rows), "flows_no_slot"
 * (calls that were counted but not timed, because no memory was left for their return addresses),
 * "flows_address_taken", "flows_unresolved", "flows_limit" (the numbers of functions whose calls
 * are not counted: because their address may be used otherwise than to call them; because no module
 * was found that defines them; because there were too many), "flows_lost_threads" (threads whose
 * sums were lost), "flows_unknown_calls" (calls that are in no row, because the runtime did not
 * know their threads yet, or these were exiting), "lock_threshold_ns", "func_threshold_ns",
 * "nr_cpus", "attached" ("launch" or "pid"), "flight" (in a dump of a flight recorder: the seconds
 * that it has before and after its trigger), "trigger" (may repeat), "flight_from" (the tick from
 * which on the dump is complete), "flight_cut" (the number of requests that began earlier),
 * "flight_suppressed" (how many triggers made no dump, and which limits suppressed them), "warning"
 * (may repeat), "messages" (in a joined trace: the number of ASKED rows), "messages_elsewhere",
 * "messages_unknown", "messages_refused" (the numbers of messages that made a request and were not
 * joined: see ldb-timeline(1)), "queue." and a queue's number (see LDB_REQ_QUEUE_NAMED), "boot" (of
 * the machine, boot_id), "process" (the program's name), "ppid", "damage" (in a joined trace: which
 * of its parts were damaged, and how; may repeat), "end": exit:N, signal:N, ended (it is not known
 * how), exec, detached, timeout (-d), rights (the program changed its credentials or installed a
 * seccomp filter), size (--max-size), disk, dump.
 */

_Static_assert(sizeof(struct ldb_file_header) == 56, "on disk");
_Static_assert(sizeof(struct ldb_block_header) == 64, "on disk");
_Static_assert(sizeof(struct ldb_file_footer) == 40, "on disk");

#endif /* LDB_TRACE_FORMAT_H */
