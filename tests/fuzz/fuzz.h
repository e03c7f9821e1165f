/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fuzz targets share this file.  A target defines LLVMFuzzerTestOneInput(), which libFuzzer
 * calls (Makefile), or replay.c, which needs no clang.
 *
 * An input is not a file of the format that is tested, but a recipe for one (only for symbol.c it
 * contains ELF files): fields are taken from it one by one, and fields beyond its end are 0.  So
 * checksums, sizes and counts are right unless the recipe says otherwise, and a change of one byte
 * reaches the code that runs after these were checked.
 *
 * The same input always has the same effect: one execution leaves no state for the next, and the
 * tested code uses only the files and the clock of sandbox.c or, in runtime.c, of
 * runtime-machine.c.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *p;
	size_t left;
};

static inline uint64_t take(struct input *in, unsigned bytes)
{
	uint64_t v = 0;

	if (bytes > in->left)
		bytes = in->left;
	memcpy(&v, in->p, bytes);
	in->p += bytes;
	in->left -= bytes;
	return v;
}

static inline unsigned take8(struct input *in)
{
	return take(in, 1);
}

/*
 * Small numbers take a single byte, so they are frequent: identifiers must often be equal to have
 * an effect.
 */
static inline uint64_t take_number(struct input *in)
{
	static const uint64_t edges[16] = {
		127, 128, 255, 256, 65535, 65536, INT32_MAX, (uint64_t)INT32_MAX + 1, UINT32_MAX,
		(uint64_t)UINT32_MAX + 1, INT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1,
		(uint64_t)INT64_MAX + 2, UINT64_MAX - 1, UINT64_MAX,
	};
	unsigned b = take8(in);

	if (b < 0xa0)
		return b;
	if (b < 0xc0)
		return (b - 0x9f) * 1000ULL;
	if (b < 0xd0)
		return take(in, 2);
	if (b < 0xe0)
		return take(in, 4);
	if (b < 0xf0)
		return take(in, 8);
	return edges[b - 0xf0];
}

/* Takes at most max of the remaining bytes; *size is how many. */
static inline const uint8_t *take_bytes(struct input *in, size_t max, size_t *size)
{
	const uint8_t *p = in->p;

	*size = max < in->left ? max : in->left;
	in->p += *size;
	in->left -= *size;
	return p;
}

/* sandbox.c simulates the machine for the code under test. */

#define SANDBOX_DIR	"/fuzz/"

/* From this call to sandbox_leave() the only files that exist are those of sandbox_put(). */
void sandbox_enter(void);
void sandbox_leave(void);

/*
 * Makes a file SANDBOX_DIR name, until sandbox_leave().  A name that begins with '*' stands for
 * all paths that end in the rest of it.  data is copied.
 */
void sandbox_put(const char *name, const void *data, size_t size);

/* The time of all clocks except CLOCK_REALTIME; poll() advances it. */
extern int64_t sandbox_ns;

/* If this is set, it is called in place of recv(). */
extern ssize_t (*sandbox_recv)(void *buf, size_t size);

/* Returns a stream that discards all output. */
FILE *sandbox_null(void);

/* Prints what is wrong, and ends the program as a crash would. */
__attribute__((noreturn, format(printf, 1, 2))) void broken(const char *format, ...);

#endif
