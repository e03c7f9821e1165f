/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what a running process has mapped by reading the process's memory, and not the files that
 * are mapped.  The memory may contain anything, so all values are checked that could harm the
 * reader.
 */
#ifndef RECORD_PROCESS_IMAGE_H
#define RECORD_PROCESS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>

/*
 * Identifies the program that a process executes: it changes with each execve(), even of the same
 * file.
 */
struct image_id {
	/* address of the random bytes that the kernel passes to the C library */
	uint64_t at;
	unsigned char random[16];
};

/* id->at is 0 if the program cannot be identified. */
void image_id(pid_t tid, struct image_id *id);
/* Returns true if this thread's process still executes this program. */
bool image_is(pid_t tid, const struct image_id *id);

struct image {
	struct image_id id;
	/* the process's memory may be read; if false, the following members are not known */
	bool readable;
	bool records;		/* some code was compiled with the plugin */
	bool runtime;		/* a file with the runtime's name is mapped */
	uint64_t door;		/* address of the runtime's struct ldb_door; 0: none */
	struct ldb_door copy;	/* a copy of that struct */
};

/* tid is a thread of the process that has not ended. */
void image_read(pid_t tid, struct image *image);

/*
 * Read or write exactly size bytes of the process's memory, or return false.  image_poke() writes
 * only while the process executes the program `id`.
 */
bool image_peek(pid_t tid, uint64_t address, void *buf, size_t size);
bool image_poke(pid_t tid, const struct image_id *id, uint64_t address, const void *buf, size_t size);

#endif
