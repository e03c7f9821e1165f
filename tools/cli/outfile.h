/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creates the files that the tools write.
 *
 * A trace and its exports contain command lines, paths and names of requests, so each file is a new
 * one that only its owner may read (0600).  Its directory may belong to another user: files that
 * other users create or exchange there are never followed, opened or overwritten.  An existing file
 * or link of that name is removed or renamed without being opened; but in a sticky directory where
 * others may write, like /tmp, files of other users are not touched.
 *
 * Links, pipes and devices of the user and of root work as usual: -o /dev/stdout, /dev/null.
 *
 * If a file cannot be opened, the functions return -errno or OUTFILE_OTHERS; outfile_why() returns
 * a text for these values.
 */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#define OUTFILE_OTHERS	(-4096)		/* not an errno: another user's file is at that path */

enum outfile_old {
	OUTFILE_REPLACE,	/* an existing file is removed */
	OUTFILE_KEEP,		/* an existing file is renamed to NAME.old */
};

/*
 * Opens a file for writing, and returns its descriptor.  *is_regular is set to true if it is a new
 * regular file, and to false if it is a device or a pipe.
 */
int outfile_open(const char *path, enum outfile_old old, bool *is_regular);

/*
 * Opens a file as a stream, with OUTFILE_REPLACE.  Returns NULL on failure, with the reason in
 * *why.
 */
FILE *outfile_stream(const char *path, int *why);

const char *outfile_why(int rc);

/*
 * A file that gets its name when it is complete: outfile_begin() creates it with another name, and
 * then outfile_commit() renames it, or outfile_drop() removes it.  fd is open for reading and
 * writing.  outfile_begin() returns -EINVAL if a device, a pipe, a directory, or the user's own
 * link to one of these or to standard output has that name.
 */
struct outfile {
	int dir, fd;
	char name[NAME_MAX + 1], temporary[NAME_MAX + 1];
};

int outfile_begin(struct outfile *o, const char *path);
int outfile_commit(struct outfile *o);
void outfile_drop(struct outfile *o);

/*
 * Opens a directory for reading: a new one, which only the user may enter, or an existing one that
 * belongs to the user.  *is_new says which.
 */
int outfile_folder(const char *path, bool *is_new);

#endif
