/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds traits that slow requests have more often than usual ones.  A trait is a value of an
 * attribute (class, thread, CPU, queue; a note's text), a threshold of a number (a note's; how long
 * the thread was idle before the request; how many other requests were open), or two of these
 * together.
 *
 * Fisher's exact test, one-sided, gives the probability that at least as many of the slow requests
 * have a trait by chance.  Very many traits are tried, and they overlap; so each probability is
 * compared with the smallest one of all traits in draws that choose the slow requests at random
 * (Westfall and Young's min-P).  The adjusted p is the share of draws in which some trait was at
 * least as improbable as the tested one.
 */
#ifndef WHY_TRAITS_H
#define WHY_TRAITS_H

#include "base/intern.h"
#include "why.h"

#define TRAITS_SLOW_MIN		5	/* with fewer requests, nothing is tested */
#define TRAITS_USUAL_MIN	20
/* if there are more requests, at most this many are used, evenly spread */
#define TRAITS_SLOW_MAX		500
#define TRAITS_USUAL_MAX	4000
#define TRAITS_P		0.01	/* greatest adjusted p of a finding */
/* ln 100: a pair must be 100 times less probable than each of its traits */
#define TRAITS_GAIN		4.6
#define TRAITS_NONE		UINT64_MAX

enum trait_source {
	TRAIT_CLASS, TRAIT_THREAD, TRAIT_CPU, TRAIT_QUEUE, TRAIT_IDLE, TRAIT_OPEN, TRAIT_NOTE,
};

/* A column of the table: an attribute of each request. */
struct trait_attribute {
	enum trait_source source;
	const char *name;	/* "class", "idle"; NOTE: the key */
	bool is_number;
	uint64_t *values;	/* by row: a number, or the index of a text; TRAITS_NONE */
	struct intern texts;
};

/* The first nr_slow rows are the slow ones; the others are usual. */
struct traits_table {
	struct trait_attribute *attributes;
	size_t nr_attributes, room_attributes;
	size_t nr_rows, nr_slow;
};

enum trait_op { TRAIT_IS, TRAIT_ABOVE, TRAIT_AT_MOST };

struct trait_part {
	uint32_t attribute;
	enum trait_op op;
	uint64_t value;		/* a threshold, or the index of a text */
	enum trait_source source;
	const char *name, *text; /* text: NULL for a threshold */
};

struct trait {
	struct trait_part parts[2];
	unsigned nr_parts;
	size_t nr_slow, nr_usual; /* requests with the trait */
	/* number of rows with the first part plus number of rows with the second */
	size_t nr_of_parts;
	double surprise;	/* -ln p of Fisher's test */
	double p;		/* p of Fisher's test */
	double p_adjusted;
};

struct traits {
	struct traits_table table;
	struct trait *at;	/* findings, the least probable first */
	size_t nr;
	size_t nr_tests, nr_draws;
	size_t nr_slow, nr_usual; /* compared; 0: too few */
	size_t nr_noted;	/* number of attributes that come from notes */
	uint64_t nr_dropped_notes;
};

/* traits.c: of the targets and the reference of why.  Returns 0 or -ENOMEM. */
int traits_build(struct model *m, const struct why *w, struct traits *t);
void traits_free(struct traits *t);

/*
 * These make a table step by step.  traits_add() adds an attribute, whose values are TRAITS_NONE at
 * first, and returns NULL if there is no memory.
 */
struct trait_attribute *traits_add(struct traits_table *t, enum trait_source source, const char *name,
				   bool is_number);
int traits_set_text(struct trait_attribute *a, size_t row, const char *text);

/*
 * traits-test.c: finds the traits of a table, and sets at, nr and the sums.  Returns 0 or -ENOMEM.
 */
int traits_test(struct traits *t);

#endif
