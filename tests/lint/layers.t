# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that includes go down, as the data does.  The parts share only the headers of the three
# contracts, linux/ldb.h (A), ldb/abi.h (B) and ldb/trace-format.h (C), and recorder and runtime
# share that of the control socket, ldb/control.h.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

includes()	# pathspec...: lines "file header"
{
	source_files "$@" | grep -E '\.(c|cc|h|S)$' | while read -r f; do
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*[<"]\([^>"]*\)[>"].*/\1/p' "$f" | sed "s|^|$f |"
	done
}

includes gcc-plugin | awk '$2 ~ /^(ldb|linux)\// && $2 != "ldb/abi.h"
	($2 ~ /^\.\./ && $2 !~ /\/ldb\/abi\.h$/) || $2 ~ /^(tools|libldb|kmod)\//' >"$WORK/list"
ok_empty "gcc-plugin/ includes of the others only ldb/abi.h"

includes kmod | awk '$2 ~ /^ldb\// || $2 ~ /^\.\./' >"$WORK/list"
ok_empty "kmod/ includes of the others nothing"

includes libldb | awk '$2 == "ldb/trace-format.h" || $2 ~ /^(tools|gcc-plugin)\// || $2 ~ /\.\.\/\.\.\//' >"$WORK/list"
ok_empty "libldb/ knows nothing of the trace file and the tools"

includes libldb/include | awk '$2 ~ /^ldb\// || $2 ~ /^"/ || $2 ~ /^linux\// || $2 ~ /internal/' >"$WORK/list"
ok_empty "the public headers stand alone"

includes libldb | awk '$2 ~ /safe-load\.h$/ && $1 !~ /^libldb\/scan\//' >"$WORK/list"
ok_empty "only libldb/scan/ reads foreign memory (safe-load.h)"

includes tools | awk '$2 ~ /^(libldb|gcc-plugin|kmod)\// || $2 ~ /internal\.h$/' >"$WORK/list"
ok_empty "tools/ includes no private header of another part"

# --version prints the ABI's number.
includes tools | awk '$2 == "ldb/abi.h" && $1 !~ /^tools\/(record|ldb-record|cli\/opts)/' >"$WORK/list"
ok_empty "only the recorder knows what the plugin emits"

# Within tools/, a directory includes its own headers and those of earlier directories in the list,
# so there is no circle.  record/ is beside symbol/: only top/ uses it, and it knows no debug
# information.  Its programs for the kernel share one header with it.
upward()	# file of includes, directory...
{
	upward_list=$1
	shift
	awk -v directories="$*" "$directory_of_path"'
	BEGIN {
		nr = split(directories, order, " ")
		for (i = 1; i <= nr; i++) rank[order[i]] = i
	}
	{
		from = directory($1); to = directory($2)
		if (from == "" || from == "record/bpf") next	# the tools themselves; the kernel side
		if (!(from in rank)) print $1, "is in no directory of the list"
		else if (to == "record/bpf" && (from !~ /^record\// || $2 !~ /\/shared\.h$/)) print
		else if (!(to in rank) || from == to) next
		else if (rank[from] <= rank[to]) print
		else if (to ~ /^record\// && from !~ /^(record\/|top$)/) print
		else if (from ~ /^record\// && to == "symbol") print
	}' "$upward_list"
}

includes tools >"$WORK/tools"
# shellcheck disable=SC2046	# a list
upward "$WORK/tools" $(directories) >"$WORK/list"
ok_empty "inside tools/ nothing includes upward"

# shellcheck disable=SC2046	# a list
upward "$WORK/tools" $(directories | tr ' ' '\n' | tac) >"$WORK/list"
ok "if the list were turned round, many would" test "$(wc -l <"$WORK/list")" -gt 1000

# There is exactly one reader of the format and one writer.
source_files tools libldb | grep -E '\.(c|cc|h)$' | grep -v '^tools/trace/' | grep -v trace-format.h |
	xargs -r grep -l 'LDB_FILE_MAGIC\|LDB_BLOCK_MAGIC' 2>/dev/null >"$WORK/list"
ok_empty "only tools/trace/ knows the bytes of the trace file"

# Conditionals on other projects' versions are in one file each.
source_files gcc-plugin | grep -E '\.(c|cc|h)$' | grep -v gcc-compat.h |
	xargs -r grep -nE 'GCCPLUGIN_VERSION|BUILDING_GCC_VERSION|GCC_VERSION|__GNUC__' /dev/null |
	grep -E '#[ \t]*(if|elif)' >"$WORK/list"
ok_empty "GCC version conditionals only in gcc-plugin/gcc-compat.h"
source_files kmod | grep -E '\.(c|h)$' | grep -v '^kmod/compat.h' |
	xargs -r grep -n 'LINUX_VERSION_CODE' /dev/null >"$WORK/list"
ok_empty "kernel version conditionals only in kmod/compat.h"

finish
