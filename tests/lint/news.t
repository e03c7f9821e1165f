# SPDX-License-Identifier: GPL-2.0-or-later
# Checks NEWS: its newest entry must be of this release, and the versions that it names must be
# those of the sources.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

release=$(sed -n 's/^VERSION := //p' Makefile)
check "the newest entry is of $release" "grep -m 1 -B 1 '^=' NEWS" 0 "^$release\$"
# Only that entry is checked, because older entries describe older versions.
awk '/^=+$/ && nr++ { exit } { print }' NEWS >"$WORK/entry"
check "its version is the release's" "cat '$WORK/entry'" 0 "^  ldb +$release  +Makefile\$"

source_files libldb/include kmod/uapi | xargs sed -n 's/^#define[ \t]*\(LDB_[A-Z_]*\(_VERSION\(_MIN\)*\|_ABI\)\)[ \t]*\([0-9][0-9]*\).*/\1 \4/p' |
	sort >"$WORK/defined"
sed -n 's/.* \([0-9][0-9]*\)   \(LDB_[A-Z_]*\), .*/\2 \1/p' "$WORK/entry" | sort | diff "$WORK/defined" - >"$WORK/list"
ok_empty "each version of the headers is in it, as it is"

soname=$(sed -n 's/.*-soname,\([^ ,]*\).*/\1/p' libldb/Makefile | head -n 1)
check "and the runtime's SONAME" "cat '$WORK/entry'" 0 "^  runtime +${soname##*.}   SONAME $soname, "
finish
