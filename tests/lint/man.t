# SPDX-License-Identifier: GPL-2.0-or-later
# Man pages: they exist, they are well formed, and they list the options that the
# tools have, neither more nor fewer.
. "$(dirname "$0")/../engine.sh"
. "$TOP/tests/lint/files.sh"

long_options()	# stdin: text; the long options in it
{
	sed 's/\\-/-/g; s/\\f[A-Z]//g' | grep -oE -e '(^|[^-a-zA-Z0-9])--[a-z][a-z0-9-]+' | grep -oE -e '--[a-z][a-z0-9-]+' | sort -u
}

for tool in ldb-record ldb-report ldb-timeline; do
	page=Documentation/$tool.1
	if ! [ -f "$page" ]; then
		fail "$tool has a man page"
		continue
	fi
	pass "$tool has a man page"
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
		ok "$tool.1: $section" grep -Eq "^\.(SH|Sh) \"?$section\"?" "$page"
	done
	if [ -x "$BUILD/bin/$tool" ]; then
		"$BUILD/bin/$tool" --help | long_options >"$WORK/help"
		# Those that open an item of the OPTIONS section.
		sed -n '/^\.S[Hh] OPTIONS/,/^\.S[Hh] "*[A-NP-Z]/p' "$page" |
			grep -E '^\.(BR?|It|BI|IR|TP|RB|B) |^\\fB' | long_options >"$WORK/page"
		comm -23 "$WORK/help" "$WORK/page" >"$WORK/list"
		ok_empty "$tool.1 has every option of --help"
		comm -13 "$WORK/help" "$WORK/page" >"$WORK/list"
		ok_empty "$tool.1 has no option that --help lacks"
	else
		fail "$tool is built"
	fi
done

# One page for each public function.
grep -oE '^ldb_[a-z_]+\(' libldb/include/ldb/ldb.h | tr -d '(' | sort -u | while read -r fn; do
	[ -f "Documentation/$fn.3" ] || echo "$fn"
done >"$WORK/list"
ok_empty "each public function has a man page"

if command -v mandoc >/dev/null; then
	source_files Documentation | grep -E '\.[1-8]$' | while read -r page; do
		mandoc -Tlint -W warning "$page" | grep -vE 'referenced manual not found|operating system'
	done >"$WORK/list"
	ok_empty "mandoc has nothing to complain about"
else
	skip "mandoc has nothing to complain about" "no mandoc"
fi

# The trace format: one page per version, which speaks of each kind of block.
header=libldb/include/ldb/trace-format.h
version=$(sed -n 's/^#define LDB_FILE_VERSION[ \t]*\([0-9]*\).*/\1/p' "$header")
page=Documentation/ldb.data.v$version.5
ok "format version $version has its page" test -f "$page"
if [ -f "$page" ]; then
	sed 's/\\-/-/g; s/\\_/_/g' "$page" >"$WORK/format"
	grep -oE 'LDB_BLK_[A-Z]+' "$header" | sed 's/LDB_BLK_//' | sort -u | while read -r kind; do
		grep -qw "$kind" "$WORK/format" || echo "$kind"
	done >"$WORK/list"
	ok_empty "it describes every kind of block"
	grep -oE '^#define LDB_LOST_[A-Z]+|^#define LDB_LOCK_OP_[A-Z]+|^#define LDB_REQ_OP_[A-Z_]+' "$header" |
		sed 's/.*LDB_//; s/.*OP_//; s/LOST_//' | sort -u | while read -r word; do
		grep -qiw "$word" "$WORK/format" || echo "$word"
	done >"$WORK/list"
	ok_empty "and every number that stands for something"
fi
finish
