# SPDX-License-Identifier: GPL-2.0-or-later
# Tests truncated, bit-flipped and otherwise damaged traces: a tool must print one clear line and
# exit with status 1 or 3, or print the same figures as without the damage.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/convoy.c" -o convoy -pthread || exit 1
run_cmd "ldb-record -o t.data -- ./convoy 20"
ok "recorded" test "$status" -eq 0
size=$(wc -c <t.data)
diag "trace: $size bytes"
ldb-report -i t.data --json >want.json || exit 1
ldb-timeline -i t.data --slowest 1 --json >want-timeline.json || exit 1

judge()	# what file: sets $bad if a tool crashed or printed no error
{
	for tool in "ldb-report --json" "ldb-timeline --slowest 1 --json"; do
		# shellcheck disable=SC2086	# tool with its options
		timeout 20 $tool -i "$2" >got.json 2>got.err
		rc=$?
		lines=$(wc -l <got.err)
		want=want.json
		[ "${tool%% *}" = ldb-report ] || want=want-timeline.json
		case $rc in
		0)	# The damage may be in padding: nothing may differ.
			cmp -s got.json "$want" && continue
			bad="$bad; $1: ${tool%% *}: other figures and no warning" ;;
		1 | 3)	[ "$lines" -eq 1 ] && continue
			bad="$bad; $1: ${tool%% *}: $lines lines on stderr" ;;
		*)	bad="$bad; $1: ${tool%% *}: exit status $rc" ;;
		esac
	done
}

report_bad()	# name
{
	if [ -z "$bad" ]; then
		pass "$1"
	else
		fail "$1"
		diag "$(echo "${bad#; }" | tr ';' '\n' | head -n 20)"
	fi
}

bad=
for keep in 0 1 8 55 56 57 119 120 $((size / 4)) $((size / 2)) $((size * 3 / 4)) $((size - 41)) $((size - 40)) $((size - 1)); do
	head -c "$keep" t.data >cut.data
	judge "first $keep of $size bytes" cut.data
done
report_bad "truncated at 14 places"

bad=
nr_flips=60
i=0
while [ "$i" -lt "$nr_flips" ]; do
	# The damage is dense in the header, then spread over the file; the bit varies.
	if [ "$i" -lt 20 ]; then at=$((i * 6)); else at=$((size * (i - 20) / (nr_flips - 20))); fi
	cp t.data flip.data
	byte=$(od -An -tu1 -j "$at" -N 1 t.data | tr -d ' ')
	printf "\\$(printf %03o $((byte ^ (1 << (i % 8)))))" | dd of=flip.data bs=1 seek="$at" conv=notrunc 2>/dev/null
	judge "bit $((i % 8)) of byte $at" flip.data
	i=$((i + 1))
done
report_bad "one bit flipped at $nr_flips places"

bad=
head -c 100000 /dev/urandom >noise.data
judge "noise" noise.data
{ head -c 56 t.data; head -c 50000 /dev/urandom; } >noise2.data
judge "noise after the header" noise2.data
{ head -c $((size / 2)) t.data; head -c 5000 /dev/zero; tail -c +$((size / 2 + 5001)) t.data; } >hole.data
judge "a hole of zeros" hole.data
{ cat t.data; echo more; } >longer.data
judge "something appended" longer.data
report_bad "noise, holes and additions"

check_one_line "no such file" "ldb-report -i missing.data" 1 '^ldb-report: .*missing\.data'
check_one_line "a folder" "ldb-report -i ." 1 '^ldb-report: '
check_one_line "not a trace" "ldb-report -i want.json" 1 '^ldb-report: '
check_one_line "an empty file" "ldb-timeline -i /dev/null --slowest 1" 1 '^ldb-timeline: '

finish
