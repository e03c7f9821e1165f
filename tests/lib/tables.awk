# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the lines of Markdown that belong to a table, but would not be shown as a row of it: each
# row is one line with as many cells as the line below the heading.

function cells(line)	# A bar after a backslash, or in code, separates nothing.
{
	gsub(/\\\|/, "", line)
	gsub(/`[^`]*`/, "", line)
	return gsub(/\|/, "", line)
}

/^```/ { code = !code }
FNR == 1 { code = 0; columns = 0; heading = 0 }
code { next }

/^\|[-:| ]+$/ && heading {
	columns = cells($0)
	if (columns != heading) print FILENAME ":" FNR ": " $0
	next
}
columns && !NF { columns = 0 }
columns && (!/^\|/ || !/\|$/ || cells($0) != columns) { print FILENAME ":" FNR ": " $0 }
!columns && /^[^|].*\| \|/ { print FILENAME ":" FNR ": " $0 }
{ heading = /^\|/ ? cells($0) : 0 }
