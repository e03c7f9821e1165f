# SPDX-License-Identifier: GPL-2.0-or-later
# Files that need each other in a circle can only be understood, tested and changed together.
# Each part (of the tools, only the recorder) may have no circles, except those that are closed by
# the pairs listed below, each with the reason; a pair is "user definer", as circles.awk prints it.
# The directories of the tools are in the order of tools/directories.mk: none needs one that follows
# it.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

cat >"$WORK/kept" <<'END'
# Unregistering a stack waits for the scanner, and the scanner asks whether a stack exists.
libldb/request/stack.c libldb/scan/scanner.c
# When a thread's locks are forgotten, the program's own locks are forgotten, too.
libldb/shim/own.c libldb/shim/shim.c
# A process that connects may be the recorded one, which comes back: then its message is handled.
# Handling a message may end the recording, and while it ends, children that connect are served.
tools/record/run/children.c tools/record/run/messages.c
END

needs()	# file...: "user definer name"
{
	awk -f "$TOP/tests/lib/circles.awk" "$@" | sort
}

# Prints "user definer" for each pair of files that need each other, directly or indirectly.
in_circles()	# file of needs
{
	awk '
	{ need[$1, $2] = 1; at[$1]; at[$2] }
	END {
		for (pair in need) reach[pair] = 1
		for (via in at) for (from in at) if ((from, via) in reach)
			for (to in at) if ((via, to) in reach) reach[from, to] = 1
		for (pair in need) {
			split(pair, p, SUBSEP)
			if ((p[2], p[1]) in reach) print p[1], p[2]
		}
	}' "$1" | sort
}

without_kept()	# file of needs
{
	awk 'NR == FNR { if (!/^#/) kept[$1, $2]; next } !(($1, $2) in kept)' "$WORK/kept" "$1"
}

for part in gcc-plugin kmod libldb tools/record; do
	# The public header's macros are for programs; BPF programs run in the kernel.
	source_files "$part" | grep -E '\.(c|cc|h)$' | grep -v -e '/include/ldb/ldb\.h$' -e '^tools/record/bpf/' |
		xargs awk -f "$TOP/tests/lib/circles.awk" >>"$WORK/needs"
done
ok "there are files that need others" test "$(wc -l <"$WORK/needs")" -gt 300

without_kept "$WORK/needs" >"$WORK/opened"
in_circles "$WORK/opened" >"$WORK/list"
ok_empty "no files need each other in a circle, but for those in the list"

in_circles "$WORK/needs" >"$WORK/closed"
grep -v '^#' "$WORK/kept" | grep -v -x -F -f "$WORK/closed" >"$WORK/list"
ok_empty "each entry of the list closes a circle"

# Prints the needs of a directory for one that follows it in the list.
needs_later()	# file of needs, directory...
{
	needs_list=$1
	shift
	awk -v directories="$*" "$directory_of_path"'
	BEGIN {
		nr = split(directories, order, " ")
		for (i = 1; i <= nr; i++) rank[order[i]] = i
	}
	{
		from = directory($1); to = directory($2)
		if (from in rank && to in rank && rank[from] < rank[to]) print
		if (from == "symbol" && to ~ /^record\// || from ~ /^record\// && to == "symbol") print
	}' "$needs_list"
}

# shellcheck disable=SC2046	# a list
needs $(source_files tools | grep '\.[ch]$' | grep -v '^tools/record/bpf/') >"$WORK/needs"
# shellcheck disable=SC2046	# a list
needs_later "$WORK/needs" $(directories) >"$WORK/list"
ok_empty "no directory of the tools needs one that follows it"
# shellcheck disable=SC2046	# a list
needs_later "$WORK/needs" $(directories | tr ' ' '\n' | tac) >"$WORK/list"
ok "if the list were turned round, many would" test "$(wc -l <"$WORK/list")" -gt 2000

# This is a circle of three files: by a function, through a macro, and through an inline function.
mkdir -p "$WORK/planted"
cd "$WORK/planted" || exit 1
cat >all.h <<'END'
int one(void);
#define CALL_TWO(x)	\
	two(x)
static inline int three_twice(void)
{
	return 2 * three.nr;
}
END
cat >one.c <<'END'
int one(void)
{
	return CALL_TWO(1);	/* and not four() */
}
END
cat >two.c <<'END'
int two(int x)
{
	return three_twice() + x;
}
static int local(void)
{
	return p->four + "four"[0];
}
END
cat >three.c <<'END'
struct three three = {
	.fn = one,
};
END
cat >four.c <<'END'
int four(void)
{
	return local() + one();
}
END
needs ./*.[ch] >"$WORK/needs"
in_circles "$WORK/needs" | tr -d './' | xargs >"$WORK/found"
check "a circle is found" "cat $WORK/found" 0 '^onec twoc threec onec twoc threec$'
diag "$(cat "$WORK/needs")"

finish
