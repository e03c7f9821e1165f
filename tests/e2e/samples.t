# SPDX-License-Identifier: GPL-2.0-or-later
# Tests samples: the shares of an uninstrumented library, of two loops of one function, and of the
# kernel.
# Timed: functions are those that the scanner observed.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH
ROUNDS=250

ok "the program builds" cc_ldb -O2 -g "$PROGRAMS/samples.c" -o samples -lz
record_options='-q --samples=997'
if ldb-record --help | grep -q -- '--kernel-frames'; then
	record_options="$record_options --kernel-frames=on"
fi
record_apart s.data ./samples $ROUNDS >planted 2>record.err
if ! trace-cat s.data meta | grep -q '^meta samples='; then
	skip "samples" "$(cat record.err)"
	finish
fi
check "the trace says which clock it was" "trace-cat s.data meta" 0 '^meta samples=(cpu-clock|cycles) 997$'
check "and how many were lost" "trace-cat s.data meta" 0 '^meta samples_lost=[0-9]+$'

ok "no address of the kernel is in it" test "$(trace-cat s.data sample | grep -cE '(pc|ret)=ffff')" -eq 0

# Prints the places of a function of a class: share, interval, name.
places()	# class function
{
	ldb-why -i s.data --class "$1" --slowest $ROUNDS --json | jq -r --arg f "$2" '.causes[] |
		select(.label == $f and .samples) | .samples | .count as $n | .places[] |
		"\(100 * .share) \(100 * .low) \(100 * .high) \($n) \(.kind) \(.function // "") \(.module // "") \(.file // ""):\(.line // "")"'
}
line()	# mark: prints the number of the line that has it in the source
{
	grep -n "/\* line: $1 \*/" "$PROGRAMS/samples.c" | cut -d: -f1
}
planted()	# class
{
	awk -v c="$1" '$1 == c { print 100 * $2 }' planted
}

# Judges whether the sum of the shares of the places that match is the planted one, within five
# percentage points.
judge()	# name class function regex percent
{
	places "$2" "$3" >places
	diag "planted $5, in $3(): $(tr '\n' ';' <places)"
	judge_sum=$(grep -E "$4" places | awk '{ sum += $1 } END { print sum + 0 }')
	ok "$1" awk -v a="$judge_sum" -v b="$5" 'BEGIN { exit !(a - b <= 5 && b - a <= 5) }'
}

judge "two loops: the first line" loops two_loops "samples\.c:$(line first)\$" "$(planted loops)"
judge "two loops: the second line" loops two_loops "samples\.c:$(line second)\$" \
	"$(awk -v p="$(planted loops)" 'BEGIN { print 100 - p }')"
judge "zlib: deflate() in it" deflate pack ' library deflate lib(z\.so\.1|c\.so\.6) ' "$(planted deflate)"
ok "zlib: it is the biggest part, if it was planted as such" awk -v p="$(planted deflate)" \
	'NR == 1 { exit !(p < 55 || /library deflate libz/) }' places
judge "the kernel: its functions" kernel fetch ' kernel ' "$(planted kernel)"
if [ "$(sed -n 's/^\([0-9a-f]*\) .*/\1/p;q' /proc/kallsyms)" = 0000000000000000 ]; then
	skip "the kernel: a function has a name" "/proc/kallsyms shows no addresses"
else
	ok "the kernel: a function has a name" grep -qE ' kernel [a-z_]' places
fi

# An interval must contain the share, and become narrower with more samples.
places loops two_loops >places
ok "intervals: the share is in it" awk '!($2 <= $1 && $1 <= $3) { bad = 1 } END { exit bad || !NR }' places
ok "intervals: of 400 samples it is less than ten points" awk 'NR == 1 { exit !($4 < 400 || $3 - $2 < 10) }' places

check "ldb-why says it" "ldb-why -i s.data --class deflate --slowest $ROUNDS --top 200" 0 \
	'in pack\(\): [0-9]+ % \([0-9]+\.\.[0-9]+\) [a-z_]'
check "and the clock" "ldb-why -i s.data --class deflate --slowest $ROUNDS --top 200" 0 'samples of (cpu-clock|cycles)'
check "ldb-report says it" "ldb-report -i s.data --samples" 0 '^ *[0-9]+ % \([0-9]+\.\.[0-9]+\) samples\.c:'"$(line first)\$"
ldb-report -i s.data --samples --function=two_loops --json >report.json
check_jq "and counts as ldb-why does" report.json '.functions | length == 1 and (.[0].samples | .places[0].share > 0.6 and .count == (.count | floor)) and .[0].of_all_low <= .[0].of_all'
check "ldb-timeline says it" "ldb-timeline -i s.data --class loops --slowest 1" 0 \
	'^in two_loops\(\): [0-9]+ % \([0-9]+\.\.[0-9]+\) '

# Names are in the trace, so they are known even without the files.
mv samples samples.away
places loops two_loops >gone
ok "without the program its lines are known" grep -q "samples\.c:$(line first)\$" gone
mv samples.away samples

# Samples are also taken if the recorder attaches to a running program.
./samples 4000 >/dev/null &
pid=$!
at_end "kill $pid 2>/dev/null"
sleep 0.2
ldb-record -q --kernel-only --samples=499 -p $pid -d 1 -o p.data 2>attach.err
kill $pid
wait $pid 2>/dev/null
ok "ldb-record -p takes samples" test "$(trace-cat p.data sample | grep -c .)" -ge 100

ldb-record -q --samples=off -o off.data -- ./samples 5 >/dev/null 2>&1
ok "--samples=off: none" test "$(trace-cat off.data sample | grep -c .)" -eq 0
check_not "--samples=off: nothing is said" "ldb-why -i off.data" 0 'samples? of'
check_one_line "--samples=off: ldb-report says so" "ldb-report -i off.data --samples" 1 'no samples'
check_one_line "--samples=0 is refused" "ldb-record --samples=0 -- ./samples" 2 'samples: give a number'
check_one_line "--samples=1x is refused" "ldb-record --samples=1x -- ./samples" 2 'samples: give a number'

finish
