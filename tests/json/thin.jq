# SPDX-License-Identifier: GPL-2.0-or-later
# Makes a document smaller, so that it fits on a line but tests its schema as well: of an array, the
# first elements remain, and one for each further set of members, kind and text.
def thin:
	if type == "object" then map_values(thin)
	elif type == "array" then map(thin) | .[:4] + (.[4:] | unique_by(if type == "object" then [keys, .kind] else . end))
	else . end;
thin
