/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Computes CRC32C (Castagnoli), as in iSCSI and ext4: crc32c(0, "123456789", 9) == 0xe3069283. */
#ifndef TRACE_CRC32C_H
#define TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* crc is 0, or the result for the bytes before these. */
uint32_t crc32c(uint32_t crc, const void *data, size_t size);

#endif
