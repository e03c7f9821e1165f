/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a chain with the expected text.  In "lock_wait 1, held_by 2", each link has a kind and a
 * thread.
 */
#ifndef UNIT_CHAIN_SAMPLE_H
#define UNIT_CHAIN_SAMPLE_H

#include <inttypes.h>
#include <stdio.h>
#include "analysis/timeline/chain.h"
#include "tap.h"

TAP_FN void is_chain(const struct chain *chain, const char *want, const char *name)
{
	char got[1024] = "";
	size_t used = 0;

	for (size_t i = 0; chain && i < chain->nr && used < sizeof(got); i++)
		used += snprintf(got + used, sizeof(got) - used, "%s%s %" PRIu32, i ? ", " : "",
				 link_kind_name(chain->links[i].kind), chain->links[i].tid);
	is_str(got, want, name);
}

#endif
