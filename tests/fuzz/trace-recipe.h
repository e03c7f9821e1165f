/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recipe describes a trace file, in which every checksum is right unless the recipe says
 * otherwise:
 *
 *	header	u8 FILE_*; with FILE_HEADER: t0, clock_hz, realtime_ns 8 each, clock_id 1,
 *		bytes between header and blocks 1
 *	blocks	u8 kind, u8 BLOCK_*, then by form (two bits of the flags), until the end:
 *
 *	CELLS	u8 rows, then each field of each row: numbers as take_number(), for columns
 *		of differences the difference; strings: u8 length, bytes
 *	COLUMNS	u16 rows, u16 bytes, the payload before it is compressed
 *	FRAME	u16 rows, u32 raw_bytes, u16 bytes, the payload as it is in the file
 *	AGAIN	u16 back, u8 size: a copy of `size` bytes of the file, from `back` before its end
 */
#ifndef FUZZ_TRACE_RECIPE_H
#define FUZZ_TRACE_RECIPE_H

#include "fuzz.h"

enum {
	FILE_NO_INDEX	= 0x01,
	FILE_NO_FOOTER	= 0x02,
	FILE_HEADER	= 0x04,
	FILE_OWN_INDEX	= 0x08,	/* the blocks of kind INDEX in the recipe are the index */
	/* u8 after FILE_*: how many bytes are missing at the file's end */
	FILE_CUT	= 0x10,

	BLOCK_CELLS	= 0x00,
	BLOCK_COLUMNS	= 0x01,
	BLOCK_FRAME	= 0x02,
	BLOCK_AGAIN	= 0x03,
	BLOCK_FORM	= 0x03,
	/* after the payload: t_min, t_max, id_min, id_max and max_dur, read by take_number() */
	BLOCK_EXTENT	= 0x04,
	/*
	 * u8 byte, u16: how often it is appended to the payload; u8: how many times 256 rows are
	 * added
	 */
	BLOCK_RUN	= 0x08,
	BLOCK_BAD_CRC	= 0x10,
	BLOCK_VERSION	= 0x20,	/* u8: the version follows */
};

#define RECIPE_BYTES_MAX	(1U << 20)

/* Returns the file in a buffer of this function's own; *size is set. */
const uint8_t *recipe_file(struct input *in, size_t *size);

#endif
