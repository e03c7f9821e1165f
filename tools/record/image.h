/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds what a running process has mapped, by reading its memory: no file that it names is
 * opened.  The process may have written anything there, so it is not trusted where it could harm
 * the reader.
 */
#ifndef RECORD_IMAGE_H
#define RECORD_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <ldb/control.h>

/* A program that a process executes: another one after each execve(), also of the same file. */
struct image_id {
	uint64_t at;			/* where the kernel has put random bytes for the C library */
	unsigned char random[16];
};

/* Returns false if it cannot be known. */
bool image_id(pid_t tid, struct image_id *id);
/* Does this thread's process execute this program still? */
bool image_is(pid_t tid, const struct image_id *id);

struct image {
	struct image_id id;
	bool readable;		/* its memory may be read: else nothing below is known */
	bool records;		/* a part was compiled with the plugin */
	bool runtime;		/* a file of the runtime's name is mapped */
	uint64_t door;		/* address of the runtime's struct ldb_door; 0: none */
	struct ldb_door copy;	/* of it */
};

/* tid is a thread of the process that has not ended. */
void image_read(pid_t tid, struct image *image);

/*
 * Reads or writes exactly size bytes of its memory.  Returns false if that is not possible.  Only
 * this program is written to, not one that the process has executed meanwhile.
 */
bool image_peek(pid_t tid, uint64_t address, void *buf, size_t size);
bool image_poke(pid_t tid, const struct image_id *id, uint64_t address, const void *buf, size_t size);

#endif
