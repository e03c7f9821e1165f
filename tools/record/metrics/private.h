/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the files of this directory share. */
#ifndef RECORD_METRICS_PRIVATE_H
#define RECORD_METRICS_PRIVATE_H

#include <stdio.h>
#include "base/dist.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/slots.h"
#include "record/filter/req-tags.h"
#include "record/metrics/metrics.h"
#include "record/process/helper.h"

/* series of each kind; values of further series are only counted */
#define METRICS_SERIES_MAX	1024
#define METRICS_SLOWEST		5	/* slowest requests of each minute */
/* states of each slowest request; if there are more, the last one is the sum of the rest */
#define METRICS_PARTS		8
#define METRICS_NAME		512	/* length of a name with its NUL; longer names are cut */
#define METRICS_OPEN_MAX	(1U << 18)	/* most open requests, and most threads */

enum metrics_kind { METRICS_FUNCTION, METRICS_REQUEST, METRICS_LOCK, METRICS_CPU, METRICS_NR };

struct series {
	uint64_t key;			/* address of a function or lock, or number of a class */
	struct dist dist;		/* ns */
};

struct kind {
	struct hash hash;		/* by key */
	struct series *all;
	size_t nr, room;
	uint64_t nr_dropped;		/* values for which there was no room */
};

struct slow_part {
	char state[24], name[METRICS_NAME];
	uint64_t ns;
};

struct slow {
	uint64_t id;
	/* thread whose call is the request; 0: the program has tagged it */
	uint32_t tid;
	uint32_t class;
	uint64_t ns;
	int64_t start, end;		/* ticks */
};

struct slow_parts {
	unsigned nr;			/* 0: not known, or not yet */
	struct slow_part all[METRICS_PARTS];	/* longest first */
};

struct begun {
	struct slot slot;
	int64_t since;			/* tick of the start; INT64_MIN: not begun */
	uint32_t class, tid;
};

struct metrics {
	const char *path;		/* NULL: no file is written */
	const struct pauses *pauses;	/* NULL: there are none */
	struct filter *filter;
	void (*explain)(const struct record_explain *e);	/* or NULL */
	double ns_per_tick;
	struct dist_pool pool;
	struct kind kinds[METRICS_NR];
	struct intern classes;
	metrics_thread_fn *is_of_program;
	void *thread_arg;
	struct slots requests;		/* struct begun: open ones, by id */
	struct slots waiting;		/* see waits.c */
	struct req_tags *tags;		/* number of each request's class */
	/* slowest requests of this minute, and of the last one */
	struct slow slowest[METRICS_SLOWEST], before[METRICS_SLOWEST];
	struct slow_parts parts[METRICS_SLOWEST];	/* states of the requests in before[] */
	int64_t first_minute, minute;
	struct helper helper;		/* explains the requests of the last minute */
	bool must_explain;
};

uint64_t metrics_ns(const struct metrics *m, int64_t ticks);

/* Adds a wait for a CPU, unless it overlaps a pause. */
void metrics_add_wait(struct metrics *m, int64_t since, int64_t until);

/* What is known of a thread that may wait for a CPU: waits.c */
struct waiter {
	struct slot slot;			/* by tid */
	enum { WAITER_UNKNOWN, WAITER_ON, WAITER_OFF } phase;
	bool is_of_program;
	/* Ticks; INT64_MIN: none. */
	/* when it left its CPU; since when it waits for one */
	int64_t out, since;
	int64_t early;				/* when it was woken while it ran */
	int64_t waking;				/* time of the last WAKING row */
};

static inline void metrics_waits_init(struct metrics *m)
{
	m->waiting = (struct slots){ .size = sizeof(struct waiter), .max = METRICS_OPEN_MAX };
}

/* names.c */

/*
 * Functions with the same name, such as the parts into which the compiler splits one, are one
 * series.
 */
struct named {
	char name[METRICS_NAME];
	struct dist dist;
};

struct family {
	struct named *all;		/* sorted by name */
	size_t nr;
};

int metrics_make_family(struct metrics *m, enum metrics_kind kind, struct family *f);
void metrics_free_family(struct family *f);

/* Copies a name; bytes that are not text, and control characters, become '?'. */
void metrics_copy_name(char *to, size_t size, const char *name);

extern const struct metrics_words {
	const char *name, *label, *otlp, *help;
} metrics_words[METRICS_NR];

/* text.c, otlp.c */
void metrics_put_text(FILE *out, struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s,
		      bool is_openmetrics);
void metrics_put_otlp(FILE *out, struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s);

/* explain.c: finds the states of the requests in m->before[]. */
void metrics_explain_begin(struct metrics *m);
void metrics_explain_poll(struct metrics *m);
/* Waits until the states are found, for some 2 s at most. */
void metrics_explain_finish(struct metrics *m);

#endif
