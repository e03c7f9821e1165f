/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a trace and builds its partition, for programs that compare other outputs with it. */
#ifndef TESTS_PARTITION_FILE_H
#define TESTS_PARTITION_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include "analysis/partition/partition.h"
#include "facts/model.h"

struct partition_file {
	struct reader *reader;
	struct symtab *symtab;
	struct model *m;
	struct partition p;
};

/* On failure, prints why and returns false; the caller exits then, so nothing is freed. */
static inline bool partition_file_open(struct partition_file *f, const char *path, const char *program)
{
	struct partition_options options = { .from = INT64_MIN, .to = INT64_MAX };
	char err[512];
	const char *why = NULL;

	f->reader = reader_open(path, err, sizeof(err));
	f->symtab = f->reader ? symtab_open(NULL) : NULL;
	f->m = f->symtab ? model_open(f->reader, f->symtab, err, sizeof(err)) : NULL;
	if (!f->reader)
		why = err;
	else if (!f->m)
		why = "no memory";
	else if (partition_build(f->m, &options, &f->p))
		why = "the partition cannot be built";
	if (why)
		fprintf(stderr, "%s: %s\n", program, why);
	return !why;
}

static inline void partition_file_close(struct partition_file *f)
{
	partition_free(&f->p);
	model_close(f->m);
	symtab_close(f->symtab);
	reader_close(f->reader);
}

#endif
