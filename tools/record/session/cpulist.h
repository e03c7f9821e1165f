/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads lists of CPUs as the kernel writes them: "0-3,8". */
#ifndef RECORD_SESSION_CPULIST_H
#define RECORD_SESSION_CPULIST_H

#include <stdint.h>

#define CPULIST_MAX	4096	/* ids from 0; higher ones are left out */

/*
 * Reads a file.  Returns the highest id in the list plus one; 0: the list is empty, or there is no
 * such file.  is_in is NULL or an array of CPULIST_MAX entries: those of ids in the list are set to
 * 1, the others stay as they are.
 */
unsigned cpulist_read(const char *path, uint8_t *is_in);

#endif
