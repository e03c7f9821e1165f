/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes chains of waits in words, and as columns of JSON. */
#ifndef RENDER_CHAIN_H
#define RENDER_CHAIN_H

#include "analysis/timeline/chain.h"
#include "cli/relation.h"

/* Writes what a thread waits for: "lock db_lock", "condition at app.c:12".  Returns the length. */
size_t chain_say_lock(unsigned kind, const char *label, char *buf, size_t size);

/*
 * Describes the links after the first one, which the caller describes: ", held by flush() of thread
 * keeper 12 for 9ms, ...".  is_long: with source lines of functions, and a blank between number and
 * unit.  Returns the length, which is less than size.
 */
size_t chain_say(const struct chain *chain, bool is_long, char *buf, size_t size);

/*
 * Says which thread ended the wait with which the chain begins, or held the lock: "thread producer
 * signalled it, which was in produce()"; "" if that is not known.  Returns the length.
 */
size_t chain_say_ender(const struct chain *chain, char *buf, size_t size);

/* Columns of struct chain in JSON: "chain", an array, which is empty if there is no chain. */
extern const struct column chain_columns[];

#endif
