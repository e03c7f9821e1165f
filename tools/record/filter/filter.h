/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides which invocations, waits, holds and requests are written.  The others are counted.
 *
 * Functions are chosen by name, file or module.  The recorder knows only their addresses.  A
 * separate process looks up each new address, because debug information is not trusted.  Until it
 * answers, some tenths of a second later, the function is recorded.
 */
#ifndef RECORD_FILTER_FILTER_H
#define RECORD_FILTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ldb/trace-format.h>

#define FILTER_NR_LEFT	(LDB_LEFT_REQUESTS - LDB_LEFT_PAUSE + 1)

struct filter_list;
struct record_ask;

struct filter {
	/* there are rules for functions, or names_all is set; there are rules for classes */
	bool has_funcs, has_classes;
	bool names_all;			/* the names of all functions are needed */
	uint64_t lock_min;		/* ticks; shorter waits and stamped holds are left out */
	/*
	 * number of invocations, of waits and holds, and of requests that were left out since the
	 * last report; by LDB_LEFT_* - LDB_LEFT_PAUSE
	 */
	uint64_t left[FILTER_NR_LEFT];
	double ticks_per_ns;
	struct filter_list *functions, *shortest, *classes;
	struct filter_funcs *funcs;	/* known addresses of functions and variables */
	struct filter_ids *ids;		/* open requests, and classes by ids */
};

/* Returns NULL if there is no memory. */
struct filter *filter_alloc(double ticks_per_ns);
void filter_free(struct filter *f);

/*
 * Sets the list of functions: words separated by blanks, each a glob after + (the default) or -.
 * The glob may begin with file: or module:.  The last matching word decides; a function that no
 * word matches is recorded if the first word has -.  "all" chooses all functions.  Returns NULL, or
 * what is wrong with the words.
 */
const char *filter_set_functions(struct filter *f, const char *words);
/* Sets the list of request classes in the same way, but without file: and module:. */
const char *filter_set_classes(struct filter *f, const char *words);

/*
 * Leaves out invocations of matching functions that certainly took less than ns; 0: none.  Returns
 * NULL, or why that is not possible.
 */
const char *filter_set_shortest(struct filter *f, const char *glob, uint64_t ns);

/* Write the lists in the syntax of filter_set_functions(); "": the list is empty. */
void filter_print_functions(const struct filter *f, char *text, size_t size);
void filter_print_classes(const struct filter *f, char *text, size_t size);

/* Returns true if the row must be written; otherwise counts it as left out. */
bool filter_wants_func(struct filter *f, const struct ldb_row_func *row);
bool filter_wants_lock(struct filter *f, const struct ldb_row_lock *row);

/* Sets the class of a request.  Returns true if the class must be written. */
bool filter_wants_class(struct filter *f, uint64_t id, int64_t tick, const char *name);
/* Removes the rows that are not to be written; returns how many are left. */
size_t filter_requests(struct filter *f, struct ldb_row_req *rows, size_t nr);

/* Requests the name of the variable at an address, for another part of the recorder. */
void filter_want_variable(struct filter *f, uint64_t addr);
/* Requests the name of a function of which no invocation has ended yet. */
void filter_want_func(struct filter *f, uint64_t addr);

/* Returns the number of addresses whose names must be requested, and their array. */
size_t filter_unknown(struct filter *f, const struct record_ask **asks);
/* Called when these names have been requested: empties the array. */
void filter_asked(struct filter *f);
/*
 * Returns the name of a function or variable, which is valid until filter_free(); NULL: it is not
 * known yet; "": it cannot be found.
 */
const char *filter_name_of(const struct filter *f, uint64_t addr);
/* Called when a name has been looked up. */
void filter_name(struct filter *f, uint64_t addr, const char *name, const char *file, const char *module);

#endif
