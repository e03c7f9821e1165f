// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies the state of chains.  Invocations are retained in that state for about a second at most,
 * because more may become known of them.  A dump of the flight recorder cannot wait: it ends a
 * copy, as at the end of a recording, and so has all that is known now, while the recording goes on
 * with the original.
 */
#include <stdlib.h>
#include <string.h>
#include "record/chain/private.h"

/*
 * The greatest number of readings copied of a thread.  Bounds that follow from older readings are
 * missing in the dump.
 */
#define READINGS_COPIED	4096UL

/* Copies nr elements into a new array.  Returns false if there is no memory. */
static bool copy_array(void *array, size_t *room, const void *from, size_t nr, size_t size)
{
	void *to = malloc(nr * size ?: 1);

	if (to && nr)
		memcpy(to, from, nr * size);
	memcpy(array, &to, sizeof(to));
	*room = to ? nr : 0;
	return to;
}

static bool copy_hash(struct hash *to, const struct hash *from)
{
	to->nr = from->nr;
	return copy_array(&to->slots, &to->room, from->slots, from->room, sizeof(*from->slots));
}

static bool copy_chain(struct chain *to, const struct chain *from)
{
	size_t nr = from->nr_readings < READINGS_COPIED ? from->nr_readings : READINGS_COPIED;

	*to = *from;
	to->fresh = NULL;
	to->nr_fresh = to->room_fresh = 0;
	to->nr_readings = nr;
	to->readings = NULL;
	return copy_array(&to->stack, &to->room, from->stack, from->nr, sizeof(*from->stack)) &&
	       copy_array(&to->readings, &to->room_readings, from->readings + from->nr_readings - nr, nr,
			  sizeof(*from->readings));
}

static bool copy_chains(struct chains *to, const struct chains *from)
{
	to->chains = calloc(from->nr_chains ?: 1, sizeof(*to->chains));
	if (!to->chains)
		return false;
	to->room_chains = from->nr_chains;
	while (to->nr_chains < from->nr_chains) {
		size_t n = to->nr_chains++;

		if (!copy_chain(&to->chains[n], &from->chains[n]))
			return false;
	}
	return copy_hash(&to->by_tid, &from->by_tid);
}

/* Copies the invocations.  The indices in the hash tables remain valid. */
static bool copy_rows(struct chains *to, const struct chains *from)
{
	to->nr_rows = from->nr_rows;
	to->nr_open = from->nr_open;
	to->nr_ended = from->nr_ended;
	to->nr_alone = from->nr_alone;
	return copy_array(&to->rows, &to->room_rows, from->rows, from->nr_rows, sizeof(*from->rows)) &&
	       copy_array(&to->open, &to->room_open, from->open, from->nr_open, sizeof(*from->open)) &&
	       copy_array(&to->ended, &to->room_ended, from->ended, from->nr_ended, sizeof(*from->ended)) &&
	       copy_array(&to->alone, &to->room_alone, from->alone, from->nr_alone, sizeof(*from->alone)) &&
	       copy_hash(&to->by_gen, &from->by_gen) && copy_hash(&to->by_alone, &from->by_alone);
}

/*
 * Processes, in the copy, the events that the original has not released yet: a thread may have
 * ended.
 */
static void take_steps_of(struct chains *to, const struct chains *from)
{
	const struct step *steps = (const void *)from->steps.rows;

	for (size_t i = 0; i < from->steps.nr; i++) {
		const struct backlog_key *key = &from->steps.keys[i];

		*(struct step *)backlog_add(&to->steps, key->tick) = steps[key->row];
	}
	backlog_release(&to->steps, INT64_MAX);
}

struct chains *chains_copy(const struct chains *c, const struct chains_ops *ops, void *arg)
{
	struct chains *copy = chains_alloc(c->t0, c->wait, c->least, ops, arg);

	if (!copy)
		return NULL;
	copy->is_on = c->is_on;
	copy->only_scanned = c->only_scanned;
	copy->error = c->error;
	copy->first = c->first;
	copy->cut = c->cut;
	copy->released = c->released;
	if (!copy_chains(copy, c) || !copy_rows(copy, c)) {
		chains_free(copy);
		return NULL;
	}
	take_steps_of(copy, c);
	return copy;
}
