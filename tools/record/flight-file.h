/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the files of dumps: NAME.1, NAME.2, and so on, each a trace.  While one is being written it
 * has another name, so that files with these names are complete.  ldb-top uses this, too.
 */
#ifndef RECORD_FLIGHT_FILE_H
#define RECORD_FLIGHT_FILE_H

#include <limits.h>
#include <sys/types.h>
#include "cli/outfile.h"
#include "record/ksyms.h"
#include "trace/writer.h"

struct flight_file {
	struct outfile out;
	struct writer *writer;
	char name[PATH_MAX];	/* NAME */
	char own[NAME_MAX + 24];	/* NAME.N, in the folder, when it is published */
};

/*
 * Adds names to the trace at path, which the user knows as name; see record.h.  Returns how many bytes it has
 * added.
 */
typedef uint64_t flight_names_fn(const char *path, const char *name, pid_t pid);

/* Returns 0, or -errno with one line in err. */
int flight_file_open(struct flight_file *f, const char *name, const struct ldb_file_header *header, char *err,
		     size_t err_size);

/*
 * Closes the trace, which is complete except for the names.  Returns 0 or -errno; then the file was
 * removed.
 */
int flight_file_close(struct flight_file *f);

/*
 * Gives the file its own name, which is stored in path.  It is complete, but has no names of functions.
 * Returns its size, or -errno: then it is removed.
 */
int64_t flight_file_publish(struct flight_file *f, char *path, size_t path_size);

/*
 * Looks up names for a copy of a published file, which then replaces it; readers and a
 * recorder that is killed never see half of it.  If that fails, or if the user has removed or replaced
 * the file, it stays as it is.  Returns its size.  path is what publish() has stored.
 * If store is NULL, names of functions are not looked up; places are those of the kernel, or NULL.
 */
int64_t flight_file_name(struct flight_file *f, flight_names_fn *store, pid_t pid, const char *path,
			 struct ksyms *places);

struct flight_files {		/* the existing dumps */
	uint64_t nr, bytes, last;	/* last: the greatest number */
};

/* Returns 0 or -errno. */
int flight_file_count(const char *name, struct flight_files *files);

/* Removes incomplete files of recorders that were killed. */
void flight_file_clean(const char *name);

#endif
