/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the two halves of the CTF export.  ctf.c turns the trace into items in
 * order of time; ctf-graph.c hands them to babeltrace, which asks for them.
 */
#ifndef EXPORT_CTF_PRIVATE_H
#define EXPORT_CTF_PRIVATE_H

#include "base/spill.h"
#include "export/export.h"

#define CTF_FIELDS_MAX	14

/* Letters: s text, i signed, u unsigned, x unsigned in hexadecimal. */
struct ctf_field {
	const char *name;
	char type;
};

struct ctf_class {
	const char *name;
	struct ctf_field fields[CTF_FIELDS_MAX]; /* ends with a name of NULL */
};

enum { CTF_REQUEST_CLASSES = 2 * NR_SEGMENT_KINDS, CTF_NR_CLASSES = CTF_REQUEST_CLASSES + 2 };

/* Begin and end of each kind of segment, then those of requests. */
extern const struct ctf_class ctf_classes[CTF_NR_CLASSES];

/* In the spill, by time (minor).  Its fields follow: texts with their 0, numbers in 8 bytes. */
struct ctf_item {
	uint32_t class;
	uint32_t stream;	/* index */
};

struct ctf_stream {
	uint32_t tid;
	char *name;		/* of the thread */
	bool is_requests;	/* it is of no thread */
};

struct ctf {
	struct model *m;
	const struct export_options *o;
	const char *shown;	/* the path as it was given */
	int64_t base_ns;	/* on the clock of the output, when the recording began */
	struct spill items;
	struct ctf_stream *streams;
	size_t nr_streams;
	int ret;		/* of the spill, while babeltrace reads */
	uint64_t nr_played;	/* items */
};

/* Writes all of it to the directory, which it makes.  -1: a line in err. */
int ctf_write(struct ctf *c, const char *path, char *err, size_t err_size);

#endif
