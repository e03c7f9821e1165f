// SPDX-License-Identifier: GPL-2.0-or-later
/* Kinds of segments and states, for the scripts: they have no list of their own. */
#include "analysis/attribution/states.h"
#include "page/page.h"
#include "render/segment.h"

void page_put_segment_kinds(struct json *j)
{
	json_array_begin(j, "kinds");
	for (enum segment_kind k = 0; k < NR_SEGMENT_KINDS; k++) {
		json_flat(j);
		json_object_begin(j, NULL);
		json_string(j, "name", segment_kind_name(k));
		json_string(j, "words", segment_kind_words(k));
		json_string(j, "colour", segment_kind_colour(k));
		json_string(j, "row", segment_kind_row(k));
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
		json_string(j, "name", leaf_kind_name(k));
		json_string(j, "colour", leaf_kind_colour(k));
		json_object_end(j);
	}
	json_array_end(j);
}
