# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the arithmetic of the bench's tables: tests/bench/paired.awk prints PASS and FAIL.
. "$(dirname "$0")/../lib/engine.sh"

paired="awk -f $TOP/tests/bench/paired.awk"

# The ratios are 1.01 to 1.09: with nine values, the sign test drops one at each end.
for i in 1 2 3 4 5 6 7 8 9; do
	echo "$i base 100"
	echo "$i a 10$i"
	echo "$i b 100.$i"
	echo "$i slow 200"
done >nine.txt
head -n 20 nine.txt >five.txt

check "median and interval of a ratio" "$paired -v a=a -v b=base nine.txt" 0 '1\.050 +1\.020 \.\. 1\.080 +9 rds'
check "the interval's end decides: within" "$paired -v a=a -v b=base -v bound=1.08 nine.txt" 0 'PASS'
check "the interval's end decides: beyond" "$paired -v a=a -v b=base -v bound=1.07 nine.txt" 1 'FAIL'
check "a difference" "$paired -v a=a -v b=base -v diff=1 nine.txt" 0 '5\.000 +2\.000 \.\. 8\.000'
check "how many times as much is added" "$paired -v a=slow -v b=a -v base=base -v fmt=%.1f -v least=12.5 nine.txt" 0 '20\.0 +12\.5 \.\. 50\.0.*PASS'
check "a lower limit that does not hold" "$paired -v a=slow -v b=a -v base=base -v least=12.6 nine.txt" 1 'FAIL'
check "of a list, the smallest" "$paired -v a=slow,a,none -v b=base nine.txt" 0 '1\.050'
check "nothing added is infinitely cheaper" "$paired -v a=slow -v b=base -v base=base -v least=50 nine.txt" 0 'inf +inf \.\. inf.*PASS'
check "five rounds: no interval, and nothing passes" "$paired -v a=a -v b=base -v bound=2 five.txt" 0 '~1\.010 \.\. 1\.050.*too few rounds'
check "no data fails a bounded row" "$paired -v a=none -v b=base -v bound=2 nine.txt" 1 'FAIL \(no data\)'
check "and not one that says why" "$paired -v a=none -v b=base -v why='not here' nine.txt" 0 '- +not here'
finish
