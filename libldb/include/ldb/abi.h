/* SPDX-License-Identifier: MIT */
/*
 * This is contract B of ldb: what the compiler plugin emits and the runtime reads.
 *
 * Every instrumented function keeps one struct ldb_frame (a frame record) in its own stack frame
 * and links it into a chain that starts in the calling thread's struct ldb_thread (a thread block).
 * The program always writes both with plain stores, whether it is being recorded or not, and loads
 * only what it has stored itself.  During a recording another thread, the scanner, reads these
 * records and blocks.
 *
 *	entry	__ldb_thread.gen += 1 << 16;	one read-modify-write instruction,
 *						so that gen never decreases, also
 *						if a signal handler runs
 *		f.gen = __ldb_thread.gen; f.prev = __ldb_thread.top;
 *		f.pc = .; f.ret = return address;
 *		__ldb_thread.top = &f;		the last store
 *	exit	__ldb_thread.top = f.prev;	one store
 *
 * A reader of another thread's chain loads gen, top, the records, then top and gen again, in this
 * order, and accepts the records only if gen and top are unchanged.
 *
 * Both sides depend on the memory order of x86-64: stores become visible in the order in which a
 * thread makes them, and loads are made in program order.  So a store that overwrites a record
 * becomes visible after the store to top that unlinked the record, and after the store to gen of
 * the invocation that overwrites it; a reader that loads an overwritten field then finds another
 * top or gen at the end.  It does not matter how long a store takes to become visible.  A CPU with
 * a weaker order needs more.  top must be stored with release.  A barrier must stand before the
 * stores to a record, after the store to gen and after the store to top of the previous invocation.
 * Each load of a reader must be an acquire.  ldb's own reader is in libldb/scan/safe-load.h.
 *
 * A record is valid only if its canary matches, its generation is at most the
 * thread's and greater than its parent's, and its address lies inside the
 * thread's stack and below its parent's.
 *
 * Notes: objects contain notes of owner "LDB" in allocated ELF note sections (.note.ldb, for type 2
 * .note.ldb.api).  Those of types 1 to 3 are COMDAT. Objects for which the plugin generated code
 * have types 1 and 3, objects that include <ldb/ldb.h> have type 2:
 *
 *	type	descriptor (16 bytes)
 *	1	int64: address of the accessor - address of this field
 *		uint64: LDB_ABI_VERSION
 *		The accessor, void *f(void), returns the calling thread's block.
 *	2	int64: address of a table of ldb.h - address of this field
 *		uint64: the table's version, 1: struct ldb_api, 2: struct ldb_api_2,
 *		and so on.  A runtime fills the tables of the versions that it knows.
 *	3	int64: 0; uint64: LDB_ABI_VERSION.  The object was compiled with
 *		the plugin.  A module with type 3 and no type 1 was linked with
 *		-flto without the plugin: its functions have no records.
 *	4	int64: address of the runtime's struct ldb_door (ldb/control.h) -
 *		address of this field; uint64: LDB_CONTROL_VERSION.  Only the
 *		runtime itself has this note.
 */
#ifndef LDB_ABI_H
#define LDB_ABI_H

#include <stdint.h>

#define LDB_ABI_VERSION		1
#define LDB_CANARY		0x4c44
#define LDB_GEN_SHIFT		16
#define LDB_GEN_ONE		(1ULL << LDB_GEN_SHIFT)

#define LDB_NOTE_OWNER		"LDB"
#define LDB_NOTE_ACCESSOR	1
#define LDB_NOTE_API		2
#define LDB_NOTE_COMPILED	3
#define LDB_NOTE_RUNTIME	4

struct ldb_frame {
	struct ldb_frame *prev;	/* the caller's record, or NULL */
	uint64_t	gen;	/* generation << 16 | LDB_CANARY */
	const void	*pc;	/* an address in this function */
	const void	*ret;	/* return address: the call site */
};

/* The thread block has no more members, because the static TLS of -fPIC objects is scarce. */
struct ldb_thread {
	struct ldb_frame *top;	/* the innermost record, or NULL */
	uint64_t	gen;	/* generation << 16 | LDB_CANARY */
};

struct ldb_note_desc {
	int64_t		off;	/* relative to the address of this field */
	uint64_t	version;
};

#ifndef __cplusplus
_Static_assert(sizeof(struct ldb_frame) == 32, "emitted by the plugin");
_Static_assert(sizeof(struct ldb_thread) == 16, "emitted by the plugin");
#endif

#endif /* LDB_ABI_H */
