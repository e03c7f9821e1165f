# SPDX-License-Identifier: GPL-2.0-or-later
# Checks the module's style with the kernel's checkpatch.pl --strict, which must find nothing.
# The script is found in kernel sources: LDB_CHECKPATCH, /usr/src/linux-source-*, or where
# tests/kmod keeps its debug kernels.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"
. "$TOP/tests/lib/kmod.sh"

script=
for file in "${LDB_CHECKPATCH:-}" /usr/src/linux-source-*/scripts/checkpatch.pl \
	    "$CACHE"/*/scripts/checkpatch.pl; do
	[ ! -f "$file" ] || script=$file
done
if [ -z "$script" ] || ! command -v perl >/dev/null; then
	skip "checkpatch" "no checkpatch.pl: set LDB_CHECKPATCH"
	finish
	exit
fi
cp "$script" "${script%/*}"/spelling.txt "${script%/*}"/const_structs.checkpatch "$WORK/" 2>/dev/null

patch_check()	# option file...
{
	# checkpatch.pl leaves a file in its current folder.
	(cd "$WORK" && perl checkpatch.pl --no-tree --strict --terse --max-line-length=100 "$@" 2>&1) |
		grep -E ': (ERROR|WARNING|CHECK): '
}

# A module that is not in the kernel's tree checks for versions, in one file; uapi is C11.
# shellcheck disable=SC2046	# a list
patch_check -f $(source_files kmod | grep -E '\.(c|h)$' | grep -vE '^kmod/(compat\.h|uapi/)' | sed "s|^|$TOP/|") >"$WORK/list"
ok_empty "kmod/"
patch_check --ignore LINUX_VERSION_CODE,CONSTANT_COMPARISON -f "$TOP/kmod/compat.h" >"$WORK/list"
ok_empty "kmod/compat.h, but for its purpose"
patch_check --ignore CAMELCASE -f "$TOP/kmod/uapi/linux/"*.h >"$WORK/list"
ok_empty "kmod/uapi/, but for _Static_assert"

printf '// SPDX-License-Identifier: GPL-2.0\nint f(void) {\n\tsmp_mb();\n\treturn 0 ;\n}\n' >"$WORK/bad.c"
patch_check -f "$WORK/bad.c" >"$WORK/said"
ok "it can fail" test "$(wc -l <"$WORK/said")" -ge 3
finish
