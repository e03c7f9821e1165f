/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzz targets share.  A target defines LLVMFuzzerTestOneInput(), which
 * libFuzzer calls (Makefile), or replay.c, which needs no clang.
 *
 * An input is no file of the format that is tested but a recipe for one: fields are
 * taken from it one by one, and what it lacks at its end is 0.  So checksums, sizes
 * and counts are right where the recipe does not say otherwise, and a change of one
 * byte reaches the code behind them.
 *
 * The same input does the same each time: no state of one execution is left to the
 * next, and the code that is tested sees the files and the clock of sandbox.c only.
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

/* Small ones take a byte and are the likely ones: things meet only if they are alike. */
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

/* At most max bytes of what is left; *size is how many. */
static inline const uint8_t *take_bytes(struct input *in, size_t max, size_t *size)
{
	const uint8_t *p = in->p;

	*size = max < in->left ? max : in->left;
	in->p += *size;
	in->left -= *size;
	return p;
}

/* sandbox.c: the machine as the code under test sees it. */

#define SANDBOX_DIR	"/fuzz/"

/* From here on to sandbox_leave() there are no files but those put here. */
void sandbox_enter(void);
void sandbox_leave(void);

/*
 * A file SANDBOX_DIR name, until sandbox_leave().  A name with a '*' in front stands for
 * all paths that end in the rest of it.  data is copied.
 */
void sandbox_put(const char *name, const void *data, size_t size);

/* CLOCK_MONOTONIC; poll() lets it go on. */
extern int64_t sandbox_ns;

/* What recv() gives: its result and errno, and the message in buf. */
extern ssize_t (*sandbox_recv)(void *buf, size_t size);

/* Writes go nowhere. */
FILE *sandbox_null(void);

/* Says what does not hold and ends like a crash. */
__attribute__((noreturn, format(printf, 1, 2))) void broken(const char *format, ...);

#endif
