/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes all of a buffer, in as many calls as that takes. */
#ifndef BASE_WRITE_H
#define BASE_WRITE_H

#include <stddef.h>

/*
 * Returns 0 or -errno.  If done is not NULL, *done is set to how many bytes were written, also
 * after a failure.
 */
int write_all(int fd, const void *data, size_t size, size_t *done);

#endif
