/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes chains in words, for all tools. */
#ifndef RENDER_CHAIN_H
#define RENDER_CHAIN_H

#include "analysis/timeline/chain.h"
#include "cli/relation.h"

/* Writes what a thread waits for: "lock db_lock", "condition at app.c:12".  Returns the length. */
size_t chain_say_lock(unsigned kind, const char *label, char *buf, size_t size);

/*
 * Describes the links after the first one, which the caller has described: ", held by flush() of
 * thread keeper 12 for 9ms, ...".  is_long: with source lines of functions, and blanks before
 * units.  Returns the length, less than size.
 */
size_t chain_say(const struct chain *chain, bool is_long, char *buf, size_t size);

/*
 * Says which thread ended the wait that the chain begins with, or held the lock: "thread producer
 * signalled it, which was in produce()", or "" if that is not known.  Returns the length.
 */
size_t chain_say_ender(const struct chain *chain, char *buf, size_t size);

/* The columns of struct chain in JSON: "chain", an array, which is empty if the chain is NULL. */
extern const struct column chain_columns[];

#endif
