# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that man pages and comments use the words of the field, for readers who do not know
# ldb: poll and not look, running task and not who had the CPU, request instance and not life.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# The places in which no such word is left.  A folder is added when it is clean, and no folder is
# taken away.
clean="Documentation/*.[1-8] Makefile gcc-plugin kmod libldb tests tools"

# The words, with what to say instead.  Case does not matter.  What options, JSON keys and
# columns of the output are called is literal text, and not looked for.
cat >"$WORK/words" <<'END'
look(s|ed|ing)?( at)?	sample, poll; read
pac(e|es|ed|ing)	polling interval
(un)?seen	observed
(not|never) watched|unwatched	not observed, an observation gap
(had|has|have|having) (the|a|its|his) CPU	the running task
occupants?|strangers?|outsiders?	running task, task
(life|lives)	request instance
(held|holds?|holding) [a-z]+( [a-z]+)? up|held up	blocked by
culprits?|stor(y|ies)	blocker, attribution
(in|of) (itself|themselves)	self time
hits?	interruption, interrupts
code without records	uninstrumented code
kept	retained
told	reported
fold(s|ed|ing)?	aggregate
balloons?	outlier plot
END
# Other meanings of the same words.
other='hit ID|seen V|looks V|fold<|give-way look|dormant look|as look|hits PAGES|hits\.([cht]|data)|kmod-(life|hits)|look(s|ed|ing)? (up|for|like|ahead)|look\.c|pace\.c|folded stacks|folded\.js|balloon plot|balloon-plot'

# Reads C or C++; prints its comments, line by line, and empty lines for all others.
comments_of_c()
{
	awk '{
		text = ""
		rest = $0
		while (rest != "") {
			if (inside) {
				end = index(rest, "*/")
				text = text (end ? substr(rest, 1, end - 1) : rest) " "
				rest = end ? substr(rest, end + 2) : ""
				inside = !end
			} else if (match(rest, "/[*]|//")) {
				inside = substr(rest, RSTART, 2) == "/*"
				rest = substr(rest, RSTART + 2)
				if (!inside) { text = text rest; rest = "" }
			} else {
				rest = ""
			}
		}
		print text
	}'
}

# Reads a man page; prints its sentences and headings.
prose_of_man()
{
	awk '/^\.Bd -literal/ { literal = 1 }
	     /^\.Ed/ { literal = 0 }
	     { print literal || (/^[.'"'"']/ && !/^\.(Nd|Sh|Ss|Sy) /) ? "" : $0 }'
}

prose_of()	# file
{
	case $1 in
	*.[chS] | *.cc | *.css | *.def | *.js) comments_of_c <"$1" ;;
	*.[1-8]) prose_of_man <"$1" ;;
	*.sh | *.t | *Makefile | *.mk) sed -E '/^[ \t]*#/!s/.*//' "$1" ;;
	esac
}

words=$(cut -f 1 "$WORK/words" | paste -s -d '|')
find_words()	# stdin: "FILE:LINE:text"
{
	sed -E "s/\\b($other)\\b/ /gI" | grep -iE "^[^:]*:[0-9]*:.*\\b($words)\\b"
}

ok "a word is found" test -n "$(echo "a.c:1: between two looks" | find_words)"
ok "what is no such word is not" test -z "$(echo "a.c:1: Looks up a name in outlook.c" | find_words)"
printf '/* a\n * look */ int seen; // kept\n' | comments_of_c >"$WORK/list"
ok "of C, the comments" test "$(tr -d ' \n' <"$WORK/list")" = "a*lookkept"
printf '.Sh A LIFE\n.Li seen\nprose\n.Bd -literal\nhits\n.Ed\n' | prose_of_man >"$WORK/list"
ok "of man pages, the prose" test "$(tr -d '\n' <"$WORK/list")" = ".Sh A LIFEprose"

set -f
for folder in $clean; do
	source_files "$folder" | grep -vF tests/lint/words.t | while read -r file; do
		prose_of "$file" | grep -n . | sed "s|^|$file:|"
	done | find_words >"$WORK/list"
	ok_empty "words in $folder"
done
finish
