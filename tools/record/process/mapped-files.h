/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the files that a program has mapped as code, for probes in them. */
#ifndef RECORD_PROCESS_MAPPED_FILES_H
#define RECORD_PROCESS_MAPPED_FILES_H

#include <stddef.h>
#include <sys/types.h>

struct mapped_files {
	struct mapped_file {
		char *path;	/* as the program sees it */
		/*
		 * a path by which the kernel finds the file, even if another file is at the path
		 * above now
		 */
		char *link;
	} *at;
	size_t nr, room;
};

/*
 * Lists the mapped files.  The program's own file usually comes first, because it is mapped at
 * lower addresses than its libraries.
 */
void mapped_files_list(struct mapped_files *f, pid_t pid);
void mapped_files_free(struct mapped_files *f);

/*
 * The address for a probe is taken from the file at the path, below `root`, but the probe is set in
 * the mapped file.  If the two files differ, the probe would be a breakpoint at an arbitrary
 * instruction.  Returns NULL if they are the same file, otherwise the reason, in one line.  Must be
 * called after the file at the path was read: NULL then shows that the mapped file was read.
 */
const char *mapped_files_why_not(const char *root, const struct mapped_file *m);

#endif
