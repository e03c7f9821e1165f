/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opening files that somebody else has named: a recorded program, a trace, an ELF file.
 *
 * The name may lead to anything: to a FIFO, whose opening waits for ever, to a device,
 * whose opening does something, to a file outside of the program's root.  So a file is
 * taken hold of first without opening it (O_PATH), looked at, and what was looked at is
 * what is opened.  Only regular files with content are, and none of the kernel's own
 * (procfs, sysfs, tracefs), where reading may wait or take something away.
 *
 * All return a file that is open for reading, or -errno.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdint.h>
#include <sys/types.h>

int foreign_open(const char *path);

/* The path as if root, a folder, were "/": links and ".." do not lead out of it. */
int foreign_open_below(const char *root, const char *path);

/* The path as the process sees it. */
int foreign_open_of(pid_t pid, const char *path);

/*
 * What a line of /proc/PID/maps shows: by the mapping itself where we may (as root),
 * else by the name.
 */
int foreign_open_mapped(pid_t pid, uint64_t start, uint64_t end, const char *name);

/* The kernel gives paths by our root; what is left of one for a process in a chroot. */
const char *foreign_name(pid_t pid, const char *path);

#endif
