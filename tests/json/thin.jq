# SPDX-License-Identifier: GPL-2.0-or-later
# A document that is as good for its schema and fits on a line: of an array, the first
# elements and one for each further set of members, kind and text.
def thin:
	if type == "object" then map_values(thin)
	elif type == "array" then map(thin) | .[:4] + (.[4:] | unique_by(if type == "object" then [keys, .kind] else . end))
	else . end;
thin
