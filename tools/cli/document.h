/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each JSON document of the tools, except in formats of other programs, is an object that begins
 * with the members "format" and "version".  The format is the name of its schema in
 * Documentation/schemas, without ".json".
 *
 * The version does not change if a member is added, or a further word where a member is one of
 * several words.  It increases when a member is renamed or removed, is no longer always present, or
 * changes its meaning.
 */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <stdio.h>
#include "cli/relation.h"

enum document {
	DOCUMENT_REPORT_FUNCTIONS,
	DOCUMENT_REPORT_LOCKS,
	DOCUMENT_REPORT_REQUESTS,
	DOCUMENT_REPORT_SCHED,
	DOCUMENT_REPORT_SAMPLES,
	DOCUMENT_REPORT_SUMMARY,
	DOCUMENT_TIMELINE,
	DOCUMENT_WHY,
	DOCUMENT_WHY_BALLOONS,
	DOCUMENT_WHY_BOXES,
	DOCUMENT_WHY_QUEUES,
	DOCUMENT_WHY_CPUS,
	DOCUMENT_WHY_BLAME,
	DOCUMENT_WHY_DIFFERENTIAL,
	DOCUMENT_WHATIF,
	DOCUMENT_TOP,
	DOCUMENT_EXPORT,
	DOCUMENT_FLOWS,
	DOCUMENT_FLOWS_DIFF,
	NR_DOCUMENTS
};

/* Begins an object with these two members.  The caller adds the others and ends the object. */
void document_begin(struct json *j, enum document which);

/* Prints the whole document.  Its members are the columns of the report `at`. */
void document_put(FILE *f, enum document which, const struct column *columns, const void *at);

#endif
