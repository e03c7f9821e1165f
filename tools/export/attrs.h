/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the attributes of a segment or a request, for Perfetto, chrome and CTF. */
#ifndef EXPORT_ATTRS_H
#define EXPORT_ATTRS_H

#include "facts/model.h"
#include "facts/notes.h"
#include "render/text.h"

enum attr_type {
	ATTR_I64, ATTR_U64, ATTR_HEX, ATTR_BOOL,
	ATTR_NAME,		/* a text that is valid as long as the model */
	ATTR_TEXT,
	ATTR_ONCE,		/* a text that is probably unique */
	ATTR_THREAD,		/* number: tid; text: name and tid */
	ATTR_PLACE,		/* text: the file; number: the line */
	ATTR_REQUEST,		/* id of the request on which the thread worked */
};

struct attr {
	const char *name, *text;	/* text: "" if there is none */
	uint64_t number;		/* 0 if there is none; of a CPU: CPU_UNKNOWN */
	enum attr_type type;
	bool is_said;			/* false: the attribute has no value */
};

#define ATTRS_MAX	24
#define ATTRS_TEXTS	6

struct attrs {
	bool is_fixed;
	struct attr at[ATTRS_MAX];
	size_t nr;
	char texts[ATTRS_TEXTS][TEXT_ROOM];
	size_t nr_texts;
	char notes[NOTES_KEYS_MAX][32];	/* names of notes */
};

/*
 * Collects the attributes of a segment.  If is_fixed is set, these are all that this kind of
 * segment can have, always in the same order, even those without a value.
 */
void attrs_of_segment(struct attrs *a, const struct model *m, const struct segment *s,
		      bool is_fixed);

/* Collects the attributes of a request as a whole. */
void attrs_of_instance(struct attrs *a, const struct model *m, const struct instance *instance);

#endif
