# SPDX-License-Identifier: GPL-2.0-or-later
# Checks the text of files: paths, blanks, indentation, scripts that must parse, tables.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# Absolute paths must exist on every Debian, or be chosen by the user.
source_files | grep -v -e '^LICENSES/' -e '\.ldb$' -e '\.data$' | xargs -r grep -InHoE \
	"(^|[ \"'=(<\`])/[a-z][a-z0-9_-]*/[A-Za-z0-9_.-]+" |
	grep -vE "[ \"'=(<\`:]/(include|share|fake|ldb|usr|etc|proc|sys|dev|tmp|bin|sbin|lib|lib64|opt|var|run|path|no|nonexistent|home/user|x|gnu|linux|boot|updates|vm|tests|programs)/" >"$WORK/list"
ok_empty "no absolute path outside the system"

source_files | grep -v '^LICENSES/' | xargs -r grep -InHE '[ 	]+$' | grep -v '\.md:' >"$WORK/list"
ok_empty "no blanks at the end of a line"

source_files | grep -E '\.(sh|t)$|^\.ci/run$' | while read -r f; do
	sh -n "$f" 2>&1
done >"$WORK/list"
ok_empty "shell scripts parse"

source_files tests tools libldb gcc-plugin | grep -E '\.(c|cc|h)$' | xargs -r grep -nE '^typedef struct' >"$WORK/list"
ok_empty "no struct typedefs"

source_files tools libldb gcc-plugin | grep -E '/utils?\.[ch]c?$' >"$WORK/list"
ok_empty "no catch-all utils.c"

ok "README.md has at most 120 lines" test "$(wc -l <README.md)" -le 120

# A table whose rows were wrapped as if they were a paragraph is shown as one.
source_files | grep '\.md$' | xargs awk -f "$TOP/tests/lib/tables.awk" >"$WORK/list"
ok_empty "each row of a table is one line, with as many cells as its heading"
printf '| a | b |\n|---|---|\n| 1 | long\ntext |\n| 2 | 3 | | 4 | 5 |\n' >"$WORK/wrapped.md"
awk -f "$TOP/tests/lib/tables.awk" "$WORK/wrapped.md" >"$WORK/found"
ok "wrapped and joined rows are found" test "$(wc -l <"$WORK/found")" -eq 3

# C is indented by tabs, not blanks.
source_files tools libldb tests/programs | grep -E '\.(c|cc|h)$' | xargs -r grep -nE '^        +[^ *]' >"$WORK/list"
ok_empty "C is indented with tabs"

# Long files are printed, but are not a failure.
source_files tools libldb gcc-plugin kmod tests | grep -E '\.(c|cc|h|S)$' | xargs -r wc -l |
	awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }' >"$WORK/long"
pass "long files are reported"
diag "$(cat "$WORK/long")"
finish
