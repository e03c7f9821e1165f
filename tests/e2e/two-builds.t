# SPDX-License-Identifier: GPL-2.0-or-later
# Tests two builds of one program that differ in one call under a lock: the comparison must join by
# name what both have, and the removed call must be its first row; between two runs of the same
# build, no row may be significant.  This last result depends on the machine: two runs of one build
# differ if the machine is busy during one of them.  So it is only printed, except with
# LDB_PAIRS=10, on a quiet machine: of ten pairs, one may have a significant row by chance (95 %
# intervals).
# Timed: the scanner must observe the functions, and nothing else may be slower in one run.
. "$(dirname "$0")/../lib/engine.sh"
need_build

# Both builds are recorded at the same path, one after the other, so addresses and the file's name
# are the same for both.
record()	# build data flags...
{
	record_data=$1
	shift
	cc_ldb -O2 -g "$@" "$PROGRAMS/two-builds.c" -o app -pthread || exit 1
	ldb-record -q --scanner-cpu "$scanner_cpu" -o "$record_data" -- taskset -c "$program_cpu" ./app 500
}

# Checks that the call is the first of the significant rows, and that no function that both builds
# have is reported as gone or new.
is_named()	# json
{
	jq -e '.classes[0].parts | .[0].label == "audit" and .[0].difference_ns < 0 and .[0].difference_hi_ns < 0 and
		all(.[] | select(.label | test("^(stage_[abc]|serve|work|queue|table_lock)$"));
			(.target_ns > 0) == (.reference_ns > 0) or ([.target_ns, .reference_ns] | max) < 20000)' "$1" >/dev/null
}

is_same()	# json: no interval excludes 0
{
	jq -e '[.classes[0].parts[] | select(.difference_lo_ns > 0 or .difference_hi_ns < 0)] == []' "$1" >/dev/null
}

# A recording in which the scanner was off its CPU for long says nothing about the comparison.
is_watched()	# json...
{
	jq -es 'all(.[].classes[0]; ([.reference.mean_ns, .target.mean_ns] | min / 10) as $most |
		all(.parts[] | select(.cause == "unknown"); .reference_ns < $most and .target_ns < $most))' "$@" >/dev/null
}

named=0
same=0
pairs=0
wanted=${LDB_PAIRS:-3}
for pair in $(seq $((3 * wanted))); do
	[ "$pairs" -lt "$wanted" ] || break
	record with.data -DWITH_CALL
	record without.data
	record again.data
	ldb-why -q --compare with.data without.data --json >compare.json 2>/dev/null
	ldb-why -q --compare without.data again.data --json >again.json 2>/dev/null
	is_watched compare.json again.json || continue
	pairs=$((pairs + 1))
	if is_named compare.json; then
		named=$((named + 1))
	else
		diag "pair $pair: $(jq -c '.classes[0].parts[:6][] | [.cause, .label, .difference_ns, .reference_ns, .target_ns]' compare.json | paste -sd ' ')"
	fi
	if is_same again.json; then
		same=$((same + 1))
	else
		diag "again $pair: $(jq -c '.classes[0].parts[:6][] | [.cause, .label, .difference_ns, .difference_lo_ns, .difference_hi_ns]' again.json | paste -sd ' ')"
	fi
done
[ "$pairs" -gt 0 ] || skip_all "the scanner had too little CPU time in each of $pair pairs"
ok "the call that went is the first row, and nothing that both have came or went" test $((named * 10)) -ge $((pairs * 9))
diag "$named of $pairs pairs; the same build twice has no sure row in $same of $pairs"
if [ -n "${LDB_PAIRS:-}" ]; then
	ok "the same build twice has no sure row" test $(((pairs - same) * 10)) -le $((pairs > 10 ? pairs : 10))
fi
check "a queue is said once" "ldb-why --compare with.data without.data" 0 'get: '
ok "... and not twice" eval '! printf "%s\n" "$out" | grep -E "in queue ([a-z]+) in queue"'
check_jq "the paths are one path" compare.json \
	'[.classes[0].parts[] | select(.label == "stage_b") | .paths[].path | join(";")] | length == (unique | length)'
finish
