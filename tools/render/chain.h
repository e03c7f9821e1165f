/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes chains in words: the only place for them. */
#ifndef RENDER_CHAIN_H
#define RENDER_CHAIN_H

#include "analysis/timeline/chain.h"
#include "cli/relation.h"

/* Writes what a thread waits for: "lock db_lock", "condition at app.c:12".  Returns the length. */
size_t chain_say_lock(unsigned kind, const char *label, char *buf, size_t size);

/*
 * Writes what comes behind the first link, which the caller has said: ", held by flush() of thread
 * keeper 12 for 9ms, ...".  is_long: with places of functions, and blanks before units.  Returns
 * the length, less than size.
 */
size_t chain_say(const struct chain *chain, bool is_long, char *buf, size_t size);

/*
 * Writes who ended the wait that the chain begins with, or held the lock: "thread producer
 * signalled it, which was in produce()"; "": not known.  Returns the length.
 */
size_t chain_say_ender(const struct chain *chain, char *buf, size_t size);

/* The columns of struct chain in JSON: "chain", an array; at NULL there is nothing in it. */
extern const struct column chain_columns[];

#endif
