# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-report -o FILE.html without a browser: options, errors, size; what it shows is
# tested in tests/browser.
. "$(dirname "$0")/../lib/engine.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
report-trace figure1 ldb.data && report-trace markup markup.data && report-trace empty empty.data || exit 1

check "a page" "ldb-report -q -o out.html && head -c 15 out.html" 0 '^<!DOCTYPE html>'
check "its end" "tail -n 1 out.html" 0 '^</html>'
check "also of nothing" "ldb-report -q -i empty.data -o empty.html && tail -n 1 empty.html" 0 '^</html>'
check ".htm, in capitals" "ldb-report -q -o OUT.HTM && head -c 15 OUT.HTM" 0 '^<!DOCTYPE'
check "another name is text" "ldb-report -q -o out.txt && cat out.txt" 0 'request_handler'
check "nothing that a network gives" "grep -cE '(src|href)=\"?(https?:)?//' out.html" 1 '^0$'
check "no script of a name" "ldb-report -q -i markup.data -o m.html; grep -c '<script>window' m.html" 1 '^0$'

# Reads the data of a page, to compare with the values of the other reports.
embedded()	# id: the object of that name
{
	sed -n "s|.*<script type=\"application/json\" id=\"$1\">\(.*\)</script>.*|\1|p" out.html
}
embedded report >page.json
ldb-report -q --json >f.json
ldb-report -q --requests --top=50 --json >r.json
ldb-report -q --mutex --json >m.json
ldb-report -q --summary --json >s.json
for what in functions:f requests:r locks:m summary:s; do
	jq -S ".${what%:*}" page.json >a
	jq -S ".${what%:*} // del(.format, .version)" "${what#*:}.json" >b
	ok "${what%:*} as --json has them" cmp a b
done
report-trace sched sched.data
ldb-report -q -i sched.data -o out.html
embedded report | jq -S .sched >a
ldb-report -q -i sched.data --sched --json | jq -S 'del(.format, .version)' >b
ok "kernel events as --json has them" cmp a b

# The nonce differs in each page.
without_nonce()
{
	sed -e 's/nonce-[0-9a-f]*//' -e 's/nonce="[0-9a-f]*"//' "$1"
}
ldb-report -q -i sched.data -o again.html
without_nonce out.html >a
without_nonce again.html >b
ok "the same trace gives the same page" cmp a b
ok "but for its nonce" sh -c '! cmp -s out.html again.html'

for option in --mutex --requests --sched --summary --json --csv; do
	check_one_line "$option does not go with it" "ldb-report $option -o no.html" 2 'its own set of reports'
done
for option in --by=function --sort=max --top=3 --function=x --class=x; do
	check_one_line "$option does not go with it" "ldb-report $option -o no.html" 2 'in the browser'
done
check "nothing was written then" "ls no.html" 2
check_one_line "--diff needs a page" "ldb-report --diff=ldb.data" 2 'o FILE\.html'
cp out.html kept.html
check_one_line "no other trace" "ldb-report -o kept.html --diff=none.data" 1 'none\.data'
ok "an older page is kept" cmp out.html kept.html
check_one_line "not over the trace" "ln -s ldb.data x.html; ldb-report -o x.html" 1 'the trace itself'
check_one_line "not over the other one" "cp ldb.data y.html; ldb-report -o y.html --diff=y.html" 1 'the other trace'
if [ -w /dev/full ]; then
	ln -s /dev/full full.html
	check_one_line "a full disk" "ldb-report -q -o full.html" 1 'cannot write full\.html'
fi

# Tests limits: the invocations of a large trace are summed, and the page stays small.
if bench-trace large.data 1500000 >/dev/null; then
	ldb-report -q -i large.data -o out.html
	embedded report >page.json
	check_jq "summed" page.json '.each_call == false and .each_request'
	check "less than 10 MB" "test \$(wc -c <out.html) -lt 10000000" 0
fi
finish
