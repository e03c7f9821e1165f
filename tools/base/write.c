// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <unistd.h>
#include "base/write.h"

int write_all(int fd, const void *data, size_t size, size_t *done)
{
	const char *from = data;
	int ret = 0;

	while (size && !ret) {
		ssize_t n = write(fd, from, size);

		if (n > 0) {
			from += n;
			size -= n;
		} else if (!n || errno != EINTR) {
			ret = n ? -errno : -EIO;
		}
	}
	if (done)
		*done = from - (const char *)data;
	return ret;
}
