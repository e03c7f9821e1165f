# SPDX-License-Identifier: GPL-2.0-or-later
# A trace has the names of all its addresses: when the files are gone, each report, page and
# export is unchanged, and after a rebuild both sides of a comparison have names.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
export PATH

build()	# option...
{
	cxx_ldb -O2 -g "$@" "$PROGRAMS/names.cc" -o names -pthread -ldl &&
	cxx_ldb -O2 -g -shared -fPIC "$PROGRAMS/names-lib.cc" -o names-lib.so -pthread
}
ok "the programs build" build
check "recorded" "ldb-record -q --mutex=hold -o whole.data -- ./names ./names-lib.so 200" 0 '^$'
check "without names" "ldb-record -q --mutex=hold --no-symbols -o bare.data -- ./names ./names-lib.so 200" 0 '^$'
cp names-lib.so first-lib.so
cp names first

# Makes every output of one trace, with the program's files present or gone.
show()	# trace folder
{
	mkdir -p "$2"
	for what in "" --mutex --requests --sched --summary; do
		ldb-report -i "$1" $what >"$2/report$what.txt" 2>"$2/report$what.err"
		ldb-report -i "$1" $what --json >"$2/report$what.json" 2>/dev/null
	done
	ldb-report -q -i "$1" -o "$2/report.html"
	ldb-timeline -i "$1" --slowest=20 >"$2/timeline.txt" 2>&1
	ldb-timeline -i "$1" --slowest=20 --json >"$2/timeline.json" 2>/dev/null
	ldb-timeline -q -i "$1" --slowest=20 -o "$2/timeline.html"
	ldb-why -i "$1" >"$2/why.txt" 2>&1
	ldb-why -i "$1" --json >"$2/why.json" 2>/dev/null
	ldb-why -q -i "$1" -o "$2/why.html"
	# The nonce differs in each run.
	sed -i 's,nonce[-=]"*[0-9a-f]*,nonce,g' "$2"/*.html
	for format in chrome ctf folded otlp perfetto pprof speedscope sqlite; do
		ldb-export -q -i "$1" -o "$2/$format" "$format" >"$2/$format.out" 2>&1
	done
	babeltrace2 "$2/ctf" >"$2/ctf.txt" 2>&1
	rm -r "$2/ctf"
}
show whole.data before
ldb-report -q -i bare.data --archive later.data
show bare.data bare-before
diag "$(grep -A12 'count' before/report.txt | cut -c1-100)"
for name in 'compute<long>()' 'snapshot()' 'names_visit()' 'library::visitor::operator()' names.cc names-lib.cc; do
	ok "(it has $name)" grep -qF "$name" before/report.json before/report.txt
done
ok "(and db_lock)" grep -q db_lock before/report--mutex.txt
ok "(and that of the library)" grep -q library::its_lock before/report--mutex.txt
rm names names-lib.so
show whole.data after
show later.data later
show bare.data gone
for f in before/*; do
	f=${f#before/}
	ok "the files are gone, the same: $f" diff -r "before/$f" "after/$f"
	ok "names were added later, the same: $f" diff -r "bare-before/$f" "later/$f"
done
check "without names they are gone" "cat gone/report.txt" 0 'names\+0x'
check "and that is said" "cat gone/report.err" 0 'warning'

# The program is built again in the same place.
ok "built anew" build -DOTHER -fno-inline
check "recorded again" "ldb-record -q -o new.data -- ./names ./names-lib.so 200" 0 '^$'
# No function of the program or of its library may have a caller that began after the function had
# ended.
ok "no function has a caller that began after it had ended" test "$(trace-cat new.data func | awk '{
	for (i = 1; i <= NF; i++) { split($i, a, "="); v[a[1]] = a[2] + 0; text[a[1]] = a[2] }
	k = v["tid"] ":" text["gen"]
	start[k] = v["start"]; end[k] = v["end"]; parent[k] = v["tid"] ":" text["parent"]
} END { for (k in parent) n += parent[k] in start && start[parent[k]] >= end[k]; print n + 0 }')" -eq 0
ldb-why --compare whole.data new.data >compared.txt 2>compared.err
ok "both sides of a comparison have names" eval "! grep -q 'names+0x\|names-lib.so+0x' compared.txt"
check_not "and nothing is missing" "cat compared.err" 0 'warning'
ldb-why --compare bare.data new.data >compared.txt 2>compared.err
check "without names in one trace there is a warning" "cat compared.err" 0 'warning'

# The process that looks up names may crash: the program's exit status and the trace must survive
# that.  Here the lookup takes long, because the debug file is identified by its checksum alone.
gcc -O2 -g -Wl,--build-id=none -fplugin="$PLUGIN" -I"$TOP/libldb/include" "$PROGRAMS/compare.c" -o long || exit 1
objcopy --only-keep-debug long long.debug && strip -g long && objcopy --add-gnu-debuglink=long.debug long
truncate -s 32G long.debug
ldb-record --kernel=none -o killed.data -- ./long 20 100 100 >killed.out 2>&1 &
rec=$!
# The recorder's other child is called ldb-record for a moment, too, before it executes the program.
wait_for 10 "test -s killed.data && ! pgrep -P $rec -x long && child=\$(pgrep -P $rec -x ldb-record)"
kill -KILL "$child"
wait $rec
status=$?
ok "who looks up names is killed: the program's status" test "$status" -eq 0
diag "$(cat killed.out)"
ok "and it is said" grep -q 'warning: killed.data contains no names: the process that looked them up was ended by signal 9' killed.out

# After Ctrl-C while one file is read, the rest of the files is skipped.
ldb-record --kernel=none -o left.data -- ./long 20 100 100 >left.out 2>&1 &
rec=$!
wait_for 10 "test -s left.data && ! pgrep -P $rec -x long && pgrep -P $rec -x ldb-record >child.pid"
kill -INT $rec
wait $rec
status=$?
ok "who looks up names is interrupted: the program's status" test "$status" -eq 0
diag "$(cat left.out)"
ok "and it is said, too" grep -q 'warning: interrupted: left.data contains no names' left.out
ok "and nobody is left who looks them up" eval '! kill -0 "$(cat child.pid)"'
rm long.debug
check "the trace of a killed look-up is whole" "ldb-report -q -i killed.data --requests" 0 'req'
check "the trace of an interrupted look-up is whole" "ldb-report -q -i left.data --requests" 0 'req'

# Measures how much larger names make a trace.
with=$(stat -c %s whole.data)
bare=$(stat -c %s bare.data)
taken=$(trace-cat whole.data symbol | grep -c .)
ok "names of some addresses" test "$taken" -gt 20
diag "$taken answers; whole.data has $with bytes"
sizes()	# program argument...
{
	ldb-record -q --no-symbols -o sized.data -- "$@" >/dev/null 2>&1
	small=$(stat -c %s sized.data)
	ldb-report -q -i sized.data --archive named.data
	large=$(stat -c %s named.data)
	diag "$1: $small bytes without names, $large with them"
}
cxx_ldb -O2 -g "$PROGRAMS/figure1.cc" -o figure1 -pthread || exit 1
sizes ./figure1 -q -n 100000
ok "Figure 1: at most a tenth more" test $((large * 10)) -le $((small * 11))

# Tests --archive with a trace that has names already, and its errors.
ok "a copy of one that has them" eval "ldb-report -i whole.data --archive copy.data >copy.out"
ok "is a copy" cmp whole.data copy.data
check_one_line "the trace itself" "ldb-report -i bare.data --archive bare.data" 2 'is the trace itself'
check_one_line "no such trace" "ldb-report -i none.data --archive x.data" 1 'cannot open none.data'
check_one_line "no file" "ldb-report -i bare.data --archive /dev/full" 1 'cannot write /dev/full'
ok "which is still a device" test -c /dev/full
head -c $((bare - 100)) bare.data >cut.data
check_one_line "a trace that was cut" "ldb-report -i cut.data --archive x.data" 1 'cannot make x.data: the trace was not closed, or is damaged'
ok "leaves no file" test ! -e x.data
oracle_not cut.data "it was cut on purpose"
finish
