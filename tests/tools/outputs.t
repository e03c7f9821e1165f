# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the files that the tools write: only the owner may read them, and what another user has
# put in their place is neither followed nor overwritten.  unit/cli-outfile.c tests the rules one
# by one.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
LDB_LIBLDB=$RUNTIME
export LDB_LIBLDB
umask 0
oracle_off "the stand-in invents what it writes"

ldb-record -q -o ldb.data -- fake-runtime funcs 1000 >/dev/null
ok "a recording is its owner's" test "$(stat -c %a ldb.data)" = 600

write_each()	# folder: writes a recording, reports, pages, and exports in every format
{
	ldb-record -q -o "$1/ldb.data" -- fake-runtime funcs 10
	ldb-report -q -o "$1/report.txt"
	ldb-report -q -o "$1/report.html"
	ldb-timeline -q -o "$1/timeline.txt"
	ldb-timeline -q -o "$1/timeline.html"
	ldb-why -q -o "$1/why.txt"
	ldb-why -q -o "$1/why.html"
	for format in perfetto chrome speedscope folded pprof otlp sqlite ctf; do
		ldb-export -q -o "$1/$format" $format
	done
	ldb-top -o "$1/top" --batch -n 1 -d 0.3 -- fake-runtime forever 1000
} >write.out 2>&1
NAMES="ldb.data report.txt report.html timeline.txt timeline.html why.txt why.html
perfetto chrome speedscope folded pprof otlp sqlite top"

mkdir own && write_each own
for name in $NAMES; do
	ok "$name is its owner's" test -f "own/$name" -a "$(stat -c %a "own/$name")" = 600
	[ -s "own/$name" ] || diag "empty: $(tail -n 2 write.out)"
done
ok "the directory of ctf, too" test "$(stat -c '%a %F' own/ctf)" = "700 directory"
ok "and its files" test "$(stat -c %a own/ctf/* | sort -u)" = 600 -a -s own/ctf/metadata

if [ "$(id -u)" -eq 0 ]; then
	chmod 755 .
	mkdir theirs && chown 65534 theirs
	for name in $NAMES; do
		echo precious >"precious.$name"
		ln -s "../precious.$name" "theirs/$name" && chown -h 65534 "theirs/$name"
	done
	write_each theirs
	for name in $NAMES; do
		ok "$name: a link of another user is not followed" test "$(cat "precious.$name")" = precious
		ok "but replaced" test "$(stat -c '%a %u' "theirs/$name")" = "600 0"
	done
	ln -s precious.ctf theirs/link.ctf && mkdir theirs/open.ctf && chown -h 65534 theirs/*.ctf
	check_one_line "ctf does not follow one" "ldb-export -q -o theirs/link.ctf ctf" 1 'link.ctf: '
	check_one_line "nor takes another user's directory" "ldb-export -q -o theirs/open.ctf ctf" 1 "another user's file is there"
	mkdir all && chmod 1777 all && echo theirs >all/x && chown 65534 all/x
	check "in everybody's folder: ldb-record" "ldb-record -q -o all/x -- fake-runtime funcs 10" 99 \
		"all/x: another user's file is there: give another place with -o"
	for cmd in "ldb-report -q -o all/x" \
		   "ldb-timeline -q -o all/x" "ldb-why -q -o all/x" "ldb-export -q -o all/x perfetto" \
		   "ldb-export -q -o all/x sqlite"; do
		check "in everybody's folder: ${cmd%% all/x*}" "$cmd" 1 "all/x: another user's file is there: give another file with -o"
	done
	ok "what another user had there is as it was" test "$(cat all/x)" = theirs
	if command -v setpriv >/dev/null; then
		cp ldb.data mine.data && cp "$BUILD/bin/ldb-report" report-copy
		check_one_line "a recording of root's, to another user" \
			"setpriv --reuid=65534 --regid=65534 --clear-groups ./report-copy -i mine.data" 1 \
			'mine.data: Permission denied: .*chown'
	fi
else
	skip "another user's links" "not root"
fi

# A path that is not a file still works.
check "-o /dev/null" "ldb-report -q -o /dev/null && test -c /dev/null" 0
check "-o /dev/stdout, a pipe" "ldb-report -o /dev/stdout | grep -c count" 0 '^[1-9]'
check "ldb-export -o /dev/stdout" "ldb-export -q -o /dev/stdout folded | wc -l" 0 '^[0-9]'
mkfifo pipe
timeout 60 cat pipe >piped &
check "-o to a pipe" "timeout 60 ldb-report -q -o pipe" 0
wait
ok "has it" grep -q count piped
finish
