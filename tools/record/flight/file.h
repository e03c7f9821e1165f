/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creates the files of dumps: NAME.1, NAME.2, and so on, each a trace.  An incomplete file has
 * another name, so files with these names are complete.  ldb-top uses these functions, too.
 */
#ifndef RECORD_FLIGHT_FILE_H
#define RECORD_FLIGHT_FILE_H

#include <limits.h>
#include <sys/types.h>
#include "cli/outfile.h"
#include "record/names/ksyms.h"
#include "trace/writer.h"

struct flight_file {
	struct outfile out;
	struct writer *writer;
	char name[PATH_MAX];	/* NAME */
	/* NAME.N, without its directory, once the file is published */
	char own[NAME_MAX + 24];
};

/*
 * Adds names of functions to the trace at `path`; `name` is what the user calls it; see
 * output/options.h.  Returns how many bytes it has added; 0: none, or it has failed.
 */
typedef uint64_t flight_names_fn(const char *path, const char *name, pid_t pid);

/* Returns 0, or -errno with one line in err. */
int flight_file_open(struct flight_file *f, const char *name, const struct ldb_file_header *header, char *err,
		     size_t err_size);

/*
 * Closes the trace, which is complete except for the names.  Returns 0; or -errno, in which case
 * the file was removed.
 */
int flight_file_close(struct flight_file *f);

/*
 * Gives the file its final name, which is stored in `path`.  The file is complete except for names
 * of functions.  Returns its size; or -errno, in which case the file was removed.
 */
int64_t flight_file_publish(struct flight_file *f, char *path, size_t path_size);

/*
 * Copies a published file, adds names to the copy, and replaces the file by the copy.  So readers
 * never find half of a file, even if the recorder is killed.  If that fails, or if the user has
 * removed or replaced the file, it stays as it is.  Returns its size.  `path` is the one that
 * flight_file_publish() has stored.  If `store` is NULL, names of functions are not looked up.
 * `places` are addresses in the kernel, or NULL.
 */
int64_t flight_file_name(struct flight_file *f, flight_names_fn *store, pid_t pid, const char *path,
			 struct ksyms *places);

struct flight_files {		/* the existing dumps */
	uint64_t nr, bytes, last;	/* last: the greatest number */
};

/* Counts the existing dumps.  Returns 0 or -errno. */
int flight_file_count(const char *name, struct flight_files *files);

/* Removes incomplete files of recorders that were killed. */
void flight_file_clean(const char *name);

#endif
