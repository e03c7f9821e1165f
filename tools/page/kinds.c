// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the kinds of segments and the states for the scripts. */
#include "analysis/attribution/states.h"
#include "page/page.h"

void page_put_segment_kinds(struct json *j)
{
	json_array_begin(j, "kinds");
	for (enum segment_kind k = 0; k < NR_SEGMENT_KINDS; k++) {
		const struct segment_words *w = &segment_kinds[k];

		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "name", w->name);
		json_string(j, "words", w->words);
		json_string(j, "colour", w->colour ? w->colour : leaf_kinds[w->state].colour);
		json_string(j, "row", w->row);
		json_object_end(j);
	}
	json_array_end(j);
}

void page_put_states(struct json *j)
{
	json_array_begin(j, "states");
	for (enum leaf_kind k = 0; k < NR_LEAF_KINDS; k++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "name", leaf_kinds[k].name);
		json_string(j, "colour", leaf_kinds[k].colour);
		json_object_end(j);
	}
	json_array_end(j);
}
