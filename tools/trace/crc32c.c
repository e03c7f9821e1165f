// SPDX-License-Identifier: GPL-2.0-or-later
/* Computes CRC32C, by an instruction where the CPU has it, else by a table of 256 entries. */
#include <pthread.h>
#include "arch/cpu.h"
#include "trace/crc32c.h"

#define CRC32C_POLY	0x82f63b78U	/* reflected */

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void table_init(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ CRC32C_POLY : c >> 1;
		table[i] = c;
	}
}

static uint32_t crc32c_table(uint32_t crc, const uint8_t *p, size_t size)
{
	pthread_once(&table_once, table_init);
	while (size--)
		crc = table[(crc ^ *p++) & 0xff] ^ crc >> 8;
	return crc;
}

uint32_t crc32c(uint32_t crc, const void *data, size_t size)
{
	return ~(cpu_has_crc32c() ? cpu_crc32c(~crc, data, size) : crc32c_table(~crc, data, size));
}
