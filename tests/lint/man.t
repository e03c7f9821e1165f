# SPDX-License-Identifier: GPL-2.0-or-later
# Checks man pages: they must exist, be well formed, and list the options that the tools have,
# neither more nor fewer, as completion does.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# Reads text; prints the options that begin an item, with letter and argument: "-i, --input=FILE".
listed_options()
{
	grep -oE '^ {2,6}(-[a-zA-Z0-9], *)?--[a-z][a-z0-9-]*(=[^ ]+)?' | sed 's/^ *//' | sort -u
}

page_options()	# page: the options in its OPTIONS section
{
	mandoc -Tascii "$1" | sed 's/.\x08//g' | sed -n '/^OPTIONS/,/^[A-Z]/p' | listed_options
}

# Prints the completions that bash offers after "-", one per line, with "=" after options that have
# an argument.
completed_options()	# tool
{
	bash -u tests/tools/offered.bash "$BUILD/completions/bash/$1" "$1" - 2>&1 | sort -u
}

for tool in ldb-record ldb-report ldb-timeline ldb-why ldb-top ldb-export ldb-flows ldb-ctl; do
	page=Documentation/$tool.1
	if ! [ -f "$page" ]; then
		fail "$tool has a man page"
		continue
	fi
	pass "$tool has a man page"
	for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
		ok "$tool.1: $section" grep -Eq "^\.(SH|Sh) \"?$section\"?" "$page"
	done
	if ! command -v mandoc >/dev/null; then
		skip "$tool.1 has the options of --help" "no mandoc"
	elif [ -x "$BUILD/bin/$tool" ]; then
		"$BUILD/bin/$tool" --help | listed_options >"$WORK/help"
		page_options "$page" >"$WORK/page"
		comm -23 "$WORK/help" "$WORK/page" >"$WORK/list"
		ok_empty "$tool.1 has every option of --help"
		comm -13 "$WORK/help" "$WORK/page" >"$WORK/list"
		ok_empty "$tool.1 has no option that --help lacks"
		sed 's/=.*/=/; s/, */\n/' "$WORK/help" | sort -u >"$WORK/wanted"
		completed_options "$tool" | diff "$WORK/wanted" - >"$WORK/list"
		ok_empty "completion of $tool has the options of --help"
	else
		fail "$tool is built"
	fi
done

# Each public function is named by a page of section 3, and its pages name no other.
sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' Documentation/*.3 | sort -u >"$WORK/documented"
grep -hoE '^([a-z_][^(]*[ *])?ldb_[a-z0-9_]+\(' libldb/include/ldb/*.h | sed 's/.*[ *]//; s/($//' | sort -u >"$WORK/public"
comm -23 "$WORK/public" "$WORK/documented" >"$WORK/list"
ok_empty "each public function has a man page"
comm -13 "$WORK/public" "$WORK/documented" >"$WORK/list"
ok_empty "each page of section 3 is about public functions"

if command -v mandoc >/dev/null; then
	source_files Documentation | grep -E '\.[1-8]$' | while read -r page; do
		mandoc -Tlint -W warning "$page" | grep -vE 'referenced manual not found|operating system'
	done >"$WORK/list"
	ok_empty "mandoc has nothing to complain about"
else
	skip "mandoc has nothing to complain about" "no mandoc"
fi

# The trace format has one page per version, which describes each kind of block.
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
fi
finish
