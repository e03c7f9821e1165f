# SPDX-License-Identifier: GPL-2.0-or-later
# Compares two runs, of which the second has a slower function: ldb-why must name the function
# first, parts must sum to the difference, and --fail-if must fail for these runs and not for equal
# ones.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/compare.c" -o compare || exit 1

# Without kernel events, the time asleep counts for the function.
record()	# file store_us
{
	run_cmd "ldb-record --kernel=none -o $1 -- ./compare 100 1000 $2"
	ok "recorded: $1" test "$status" -eq 0
}
record a.data 2000
record b.data 8000
record c.data 2000

ok "compared" eval "ldb-why --compare a.data b.data --json >ab.json 2>ab.err"
ok "whole traces have nothing to warn of" test ! -s ab.err
diag "$(jq -c '.classes[] | {class, difference_ns, first: .parts[0] | [.label, .difference_ns, .difference_lo_ns, .difference_hi_ns]}' ab.json)"
check_jq "both classes" ab.json '[.classes[].class] | sort == ["get", "put"]'
check_jq "of all requests" ab.json '([.classes[].target.requests] | add) == 100'
check_jq "what became slower comes first" ab.json \
	'all(.classes[]; .parts[0] | .cause == "function" and .label == "store")'
check_jq "and is most of the difference" ab.json 'all(.classes[]; .parts[0].difference_ns * 2 > .difference_ns)'
check_jq "which is there for sure" ab.json 'all(.classes[]; .difference_lo_ns > 0 and .parts[0].difference_lo_ns > 0)'
check_jq "it is called as often as before" ab.json \
	'all(.classes[].parts[0]; (.target_nr - .reference_nr) | . < 0.5 and . > -0.5)'
check_jq "a part says where" ab.json 'all(.classes[].parts[0]; .paths[0].path[-1] == "store")'

sums='all(.classes[]; .difference_ns == .target.mean_ns - .reference.mean_ns
	and .difference_ns == ([.parts[].difference_ns] | add)
	and .target.mean_ns == ([.parts[].target_ns] | add)
	and .reference.mean_ns == ([.parts[].reference_ns] | add)
	and all(.parts[]; .difference_ns == ([.paths[].difference_ns] | add // 0)))'
check_jq "parts sum to the difference, to the nanosecond" ab.json "$sums"
check_jq "shares sum to 1" ab.json 'all(.classes[]; [.parts[].share] | add | . > 0.999999 and . < 1.000001)'

# The mean must be that of the requests themselves.
ldb-why -i b.data --slowest=1000 --json 2>/dev/null |
	jq '[.requests[] | select(.class == "get") | .latency_ns] | (add / length + 0.5 | floor)' >mean
diag "mean latency of get: $(cat mean)"
check_jq "the mean is that of the latencies" ab.json \
	".classes[] | select(.class == \"get\") | .target.mean_ns == $(cat mean)"

ldb-why --compare a.data b.data --csv >ab.csv 2>/dev/null
difference=$(jq '.classes[] | select(.class == "get") | .difference_ns' ab.json)
ok "CSV has the same parts" test "$(awk -F, '$1 == "get" { sum += $6 } END { printf "%d", sum }' ab.csv)" = "$difference"

# Text has four digits, and the printed rows of a class sum to the last row, "all".
ldb-why --compare a.data b.data --top=2 >ab.txt 2>/dev/null
diag "$(grep -A5 '^ .*cause' ab.txt)"
awk '/  all$/ { if (sum != digits($1)) bad = 1; sum = 0; nr++; next }
	/^ +[-+][0-9]/ { sum += digits($1) }
	function digits(s) { gsub(/[.a-z]/, "", s); return s + 0 }
	END { exit bad || nr != 2 }' ab.txt
ok "the printed rows sum to the printed difference" test $? -eq 0
check "slower is said in words" "ldb-why --compare a.data b.data" 0 '^get: [0-9.]+ms slower \(\+[0-9.]+ %\)'
check "and faster" "ldb-why --compare b.data a.data" 0 '^get: [0-9.]+ms faster \(-[0-9.]+ %\)'
for columns in 60 80 200; do
	check "$columns columns" "COLUMNS=$columns ldb-why --compare a.data b.data" 0 'store\(\)'
done

# Conditions.
check "--fail-if: slower" "ldb-why --compare a.data b.data --fail-if p50+50%" 4 \
	"^FAILED: --fail-if 'p50\+50%': get p50 .* before, .* now \(\+[0-9.]+ %\), 95 % interval"
check "--fail-if: the same" "ldb-why --compare a.data c.data --fail-if p50+50%" 0 '^passed: '
check "--fail-if: faster" "ldb-why --compare b.data a.data --fail-if p50+0%" 0 '^passed: '
check "--fail-if: a recording with itself" "ldb-why --compare a.data a.data --fail-if p99+0% --fail-if max+0%" 0 '^passed: .*max'
check "--fail-if: by a time" "ldb-why --compare a.data b.data --fail-if mean+2ms" 4
check "--fail-if: a limit" "ldb-why --compare a.data b.data --fail-if 'p50>6ms'" 4
check "--fail-if: a limit that is kept" "ldb-why --compare a.data c.data --fail-if 'p50>6ms'" 0
check "--fail-if: one of two" "ldb-why --compare a.data b.data --fail-if 'max>100s' --fail-if put:p50+50%" 4 '^FAILED: .*put p50'
check_not "of that class alone" "ldb-why --compare a.data b.data --fail-if put:p50+50%" 4 'get p50'
check_one_line "for programs, stderr says so" "ldb-why --compare a.data b.data --fail-if get:p50+50% --json" 4 \
	"^ldb-why: FAILED: --fail-if 'get:p50\+50%'"
ldb-why --compare a.data b.data --fail-if p50+50% --json >gate.json 2>/dev/null
check_jq "and JSON" gate.json '.fail_if | length == 2 and all(.[]; .failed and .over and .certain and
	.change_ns == .after_ns - .before_ns and .change_lo_ns > 0)'

# Compares slices of one run.
ok "slices" eval "ldb-why -i b.data --compare-slices=p90,p50 --json >slices.json 2>/dev/null"
check_jq "parts sum" slices.json "$sums"
check_jq "the tail and the middle" slices.json '.mode == "slices" and
	all(.classes[]; .target.lo == 90 and .reference.hi == 60 and .difference_ns >= 0)'
check "in words" "ldb-why -i b.data --compare-slices=90-100,0-50" 0 'from p90-100 \('
check "a slice of two runs" "ldb-why --compare a.data b.data --slice=50" 0 'p45-55'

# Categories.
check "names without a category" "ldb-why -i b.data --uncategorised" 0 'function +store'
printf '# ours\nstore,function,Ours,app,make it quick\nserve,function,Ours\n' >ours.csv
check_not "of one's own" "ldb-why -i b.data --uncategorised --categories=ours.csv" 0 'function +store'
check "with advice" "ldb-why --compare a.data b.data --categories=ours.csv" 0 '^Ours: make it quick'
printf 'store,function,Ours\nserve,method,Ours\n' >bad.csv
check_one_line "a file with an error" "ldb-why -i b.data --categories=bad.csv" 1 "^ldb-why: bad.csv:2: 'method' is not a kind"
check_one_line "no such file" "ldb-why -i b.data --categories=none.csv" 1 '^ldb-why: cannot read none.csv'

# Usage that cannot work.
check_one_line "one recording" "ldb-why --compare a.data" 2 '^ldb-why: --compare takes two recordings'
check_one_line "not with -i" "ldb-why -i a.data --compare a.data b.data" 2 '^ldb-why: --compare'
check_one_line "--fail-if alone" "ldb-why -i a.data --fail-if p99+5%" 2 '^ldb-why: --fail-if goes with --compare'
check_one_line "a condition that is none" "ldb-why --compare a.data b.data --fail-if p99=5" 2 "^ldb-why: --fail-if 'p99=5'"
check_one_line "a class that is none" "ldb-why --compare a.data b.data --fail-if 'PUT:p99+5%'" 1 '^ldb-why: .*PUT:p99'
check_one_line "slices that are none" "ldb-why -i a.data --compare-slices=p50" 2 '^ldb-why: .*p50'
check_one_line "no such recording" "ldb-why --compare none.data b.data" 1 '^ldb-why: .*none\.data'
check_one_line "the output is the recording" "ldb-why --compare a.data b.data -o a.data" 1 '^ldb-why: a\.data'
check "which is still there" "ldb-report -i a.data --requests" 0 'get'
check_one_line "no class in common" "ldb-why --compare a.data b.data --class='x*'" 1 '^ldb-why: .*no class'
# Only the end of the file is missing.
head -c "$(($(wc -c <b.data) - 40))" b.data >cut.data
check "a damaged recording" "ldb-why --compare a.data cut.data --json >/dev/null" 3 'cut\.data'

# With kernel events, where they are available, the time is asleep in that function.
run_cmd "ldb-record -o ka.data -- ./compare 40 1000 2000 && ldb-record -o kb.data -- ./compare 40 1000 8000"
ok "recorded with kernel events" test "$status" -eq 0
ldb-why --compare ka.data kb.data --json >kernel.json 2>/dev/null
diag "$(jq -c '.classes[0].parts[0] | [.cause, .label, .where, .difference_ns]' kernel.json)"
check_jq "the same, asleep" kernel.json \
	'all(.classes[]; ([.parts[] | select(.cause == "sleep" or .cause == "function") | .difference_ns] | add) > 1000000)'
check_jq "parts sum" kernel.json "$sums"
finish
