/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files that another user has named: a recorded program, a trace, an ELF file.
 *
 * The name may lead to anything: to a FIFO, whose opening waits for ever; to a device, whose
 * opening has effects; to a file outside of the program's root directory.  So these functions first
 * get a descriptor that does not open the file (O_PATH), check the file by it, and then open the
 * same file.  They open only regular files with contents, and none of the kernel's own files
 * (procfs, sysfs, tracefs), where reading may block or consume something.
 *
 * All except foreign_name() return a descriptor that is open for reading, or -errno.
 */
#ifndef CLI_FOREIGN_H
#define CLI_FOREIGN_H

#include <stdint.h>
#include <sys/types.h>

int foreign_open(const char *path);

/*
 * Opens the path as if the directory `root` were "/", so that links and ".." do not lead out of it.
 */
int foreign_open_below(const char *root, const char *path);

/* Opens an absolute path as the process resolves it. */
int foreign_open_of(pid_t pid, const char *path);

/*
 * Opens the file in a line of /proc/PID/maps: by the mapping itself if that is permitted (to root),
 * else by the name.
 */
int foreign_open_mapped(pid_t pid, uint64_t start, uint64_t end, const char *name);

/*
 * The paths that the kernel reports to ldb begin at ldb's own root.  Returns the part of such a
 * path that process pid, which may be in a chroot, would use as the file's name.
 */
const char *foreign_name(pid_t pid, const char *path);

#endif
