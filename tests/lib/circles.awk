# SPDX-License-Identifier: GPL-2.0-or-later
# Finds which file needs which other file, from the names that a file defines and the names that it
# uses.  Prints "user definer name" for each pair of files, once.  Inline functions and macros of
# headers count as part of the files that use them.  Only the text is read; static names belong to
# their own file, and names of types are ignored.

function words(text,	n, at, i)
{
	gsub(/"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/, " ", text)
	gsub(/(->|\.)[A-Za-z_][A-Za-z0-9_]*/, " ", text)	# members
	gsub(/(^|[^A-Za-z0-9_])(struct|enum|union)[ \t]+[A-Za-z_][A-Za-z0-9_]*/, " ", text)
	gsub(/[^A-Za-z0-9_]+/, " ", text)
	n = split(text, at, " ")
	for (i = 1; i <= n; i++) {
		if (at[i] !~ /^[A-Za-z_]/)
			continue
		if (owner != "")
			of_inline[owner] = of_inline[owner] " " at[i]
		else if (!is_header)
			uses[FILENAME, at[i]] = 1
	}
}

function last_name(text,	n, at)
{
	gsub(/[^A-Za-z0-9_]+/, " ", text)
	n = split(text, at, " ")
	return n >= 2 ? at[n] : ""
}

# Matches a line without indentation that may define a function or a variable for other files.
function define(text,	name)
{
	if (text !~ /^[A-Za-z_]/)
		return
	gsub(/__attribute__ *\(\([^;{]*\)\)+/, " ", text)
	if (text ~ /^[ \t]*(typedef|extern|namespace)[ \t]/)
		return
	if (text ~ /^[ \t]*static[ \t]/) {
		sub(/[(=\[;].*/, "", text)
		name = last_name(text)
		if (name != "" && !is_header)
			local[FILENAME, name] = 1
		return
	}
	if (match(text, /^(DEFINE_[A-Z_]+|LIST_HEAD)\(/)) {
		sub(/\).*/, "", text)
		name = last_name(text)
	} else {
		if (text ~ /^(struct|enum|union)[ \t]+[A-Za-z0-9_]*[ \t]*[{;]/)
			return
		sub(/[(=\[;].*/, "", text)
		name = last_name(text)
	}
	if (name != "" && !is_header) {
		if (name in definer && definer[name] != FILENAME)
			twice[name] = 1
		definer[name] = FILENAME
	}
}

FNR == 1 {
	is_header = FILENAME ~ /\.h$/
	in_comment = in_macro = 0
	owner = ""
	files[++nr_files] = FILENAME
}

{
	line = $0
	if (in_comment) {
		if (!match(line, /\*\//))
			next
		line = substr(line, RSTART + 2)
		in_comment = 0
	}
	gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
	if (match(line, /\/\*/)) {
		line = substr(line, 1, RSTART - 1)
		in_comment = 1
	}
	sub(/\/\/.*/, "", line)
}

is_header && !in_macro && line ~ /^#[ \t]*define[ \t]/ {
	owner = line
	sub(/^#[ \t]*define[ \t]+/, "", owner)
	sub(/[^A-Za-z0-9_].*/, "", owner)
	in_macro = 1
}

is_header && !in_macro && line ~ /^static .*inline/ {
	owner = line
	gsub(/__attribute__ *\(\([^;{]*\)\)/, " ", owner)
	sub(/\(.*/, "", owner)
	owner = last_name(owner)
}

{
	if (owner == "" && line !~ /^#/)
		define(line)
	words(line)
	if (in_macro && line !~ /\\$/) {
		in_macro = 0
		owner = ""
	} else if (!in_macro && line ~ /^}/) {
		owner = ""
	}
}

# Adds the names that a file uses through an inline function.
function follow(file, name,	n, at, i)
{
	n = split(of_inline[name], at, " ")
	for (i = 1; i <= n; i++)
		if (!((file, at[i]) in uses)) {
			uses[file, at[i]] = 1
			if (at[i] in of_inline)
				follow(file, at[i])
		}
}

END {
	for (use in local)
		delete uses[use]
	for (use in uses) {
		split(use, pair, SUBSEP)
		first[++nr] = pair[1] SUBSEP pair[2]
	}
	for (i = 1; i <= nr; i++) {
		split(first[i], pair, SUBSEP)
		if (pair[2] in of_inline)
			follow(pair[1], pair[2])
	}
	for (use in uses) {
		split(use, pair, SUBSEP)
		if (pair[2] in definer && !(pair[2] in twice) && definer[pair[2]] != pair[1])
			print pair[1], definer[pair[2]], pair[2]
	}
}
