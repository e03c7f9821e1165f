# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by e2e/wakers-*.t and kmod/guest/wakers-*.t: requests wait for another thread
# in each of thirteen ways (programs/why-wakers.cc), and that thread is late for one reason.
#
#	build_wakers	the program, for record_options; skips the script if that is not possible
#	judge_wakers VARIANT FUNCTION [WAY...]	two results for each way, of $wakers.  Planted: the
#				chain leads to thread producer in FUNCTION, and from there to the
#				reason.  Clean: no request leads there.
#	wakers_in_check WAY...	outside of make check-all only these ways are tested
#	judge_all_wakers VARIANT FUNCTION	the same of all ways in one recording, where a recording
#				takes long.  Planted: one result for all ways, and one for each way, of
#				whose chains half must be right.
#
# With wakers_seen_by=scanner only the scanner knows the functions: how many chains are right is
# printed, but not judged.  wakers_file is the file that the producer writes; record_kinds=plant
# omits the clean runs.

# shellcheck source=tests/lib/chains.sh
. "$TOP/tests/lib/chains.sh"
: "${wakers_program:=./why-wakers}" "${wakers_requests:=1400}" "${wakers_file:=}" "${wakers_seen_by:=kernel}"
wakers="cond:lock_wait:answer_ready sem:lock_wait:answered_sem barrier:lock_wait:both join:lock_wait:join
	future:sleep|futex_wait:futex|future latch:sleep|futex_wait:futex|latch pipe:sleep:pipe socket:sleep:socket eventfd:sleep:eventfd
	epoll:sleep:epoll poll:sleep:poll signalfd:sleep:signalfd uring:sleep:io_uring_enter..read.of.a.pipe"
chains_own="producer|hog|why-wakers"

build_wakers()
{
	build_why
	cxx_ldb -std=c++20 -O2 -g -Wall "$PROGRAMS/why-wakers.cc" -o why-wakers -pthread || exit 1
	# shellcheck disable=SC2086	# words
	if ! ldb-record -q $record_options -o t.data -- ./why-wakers pipe-slow plant 10 >t.out 2>t.err; then
		skip_all "$(cat t.err)"
	fi
	rm t.data
}

wakers_in_check()	# way...
{
	[ -z "${LDB_TEST_ALL:-}" ] || return 0
	wakers_kept=
	for way in $wakers; do
		case " $* " in
		*" ${way%%:*} "*) wakers_kept="$wakers_kept $way" ;;
		esac
	done
	wakers=$wakers_kept
}

reason_of()	# variant: prints the filter for the end of the chain
{
	case $1 in
	slow) echo '(.first.root == "function" or .chain[1].label != "'"$2"'")' ;;
	io) echo '(.first.root == "io" or any(.chain[]; .kind == "calls"))' ;;
	preempted) echo '.first.root == "preempted" and .first.root_label == "hog"' ;;
	esac
}

judge_waker()	# variant function way kind what
{
	waker_name=$3-$1
	waker_is="(.chain[0].kind | test(\"^($4)\$\")) and (.chain[0] | .label + \" \" + (.call // \"\") | test(\"$5\")) and
		(.chain[1] // {} | .kind == \"woken_by\" and .thread == \"producer\") and $(reason_of "$1" "$2")"
	record_cause "$waker_name" "$wakers_program" "$waker_name" "$wakers_requests" "$wakers_file"
	if [ "$wakers_seen_by" = kernel ]; then
		judge_chain "$waker_name" "the waker, what it executed, and why it was late" \
			"$waker_is and .chain[1].label == \"$2\""
	else
		judge_chain "$waker_name" "the waker, and why it was late" "$waker_is"
		show_chain "$waker_name" "and what it executed" "$waker_is and .chain[1].label == \"$2\""
	fi
	[ "${record_kinds:-}" != plant ] || return 0
	judge_no_chain "$waker_name" \
		".first.root_label == \"$2\" or has(\"woken_by\"; \"producer\"; \"$2\") and .latency_ns > 1e6"
	# The oracle judges this recording now, because there would be many files at the end.
	oracle_look "$PWD/$waker_name-clean.data"
	rm -f "$waker_name-clean.data"
}

judge_wakers()	# variant function [way...]
{
	wakers_variant=$1
	wakers_function=$2
	shift 2
	for way in $wakers; do
		[ $# -eq 0 ] || case " $* " in *" ${way%%:*} "*) ;; *) continue ;; esac
		rest=${way#*:}
		judge_waker "$wakers_variant" "$wakers_function" "${way%%:*}" "${rest%:*}" "${rest#*:}"
	done
}

# Prints "WAY JUDGED RIGHT" for each way, and what ldb-why reports about requests that are not
# right.
count_ways()	# variant function name
{
	sed -n 's/^hit //p' "$3.facts" | jq -s . >hits.json
	for way in $wakers; do
		rest=${way#*:}
		printf '{"way":"%s","kind":"^(%s)$","what":"%s"}\n' "${way%%:*}" "${rest%:*}" "${rest#*:}"
	done | jq -s 'map({ key: .way, value: . }) | from_entries' >ways.json
	jq -r --arg own "$chains_own" --slurpfile hits hits.json --slurpfile ways ways.json "$chains_jq"'
		def is_right: $ways[0][.class] as $w | (.chain[0].kind // "" | test($w.kind)) and
			(.chain[0] | .label + " " + (.call // "") | test($w.what)) and (.chain[1] // {} |
			.kind == "woken_by" and .thread == "producer" and .label == "'"$2"'") and '"$(reason_of "$1" "$2")"';
		[.requests[] | select(.req as $r | $hits[0] | index($r))] | group_by(.class)[] |
			"\(.[0].class) \(map(select(is_right or (is_others | not))) | length) \(map(select(is_right)) | length)",
			(.[] | select(is_right | not) | "#   " + .sentence[:300])' "$3.why"
}

judge_all_wakers()	# variant function
{
	all_name=all-$1
	record_kinds=plant record_cause "$all_name" "$wakers_program" "$all_name" "$wakers_requests" "$wakers_file"
	record_kinds=clean record_cause "$all_name" "$wakers_program" "$all_name" \
		"${wakers_clean_requests:-$wakers_requests}" "$wakers_file"
	count_ways "$1" "$2" "$all_name-plant" >ways.out
	grep '^#' ways.out
	grep -v '^#' ways.out >ways
	for way in $wakers; do
		way=${way%%:*}
		diag "$(awk -v way="$way" '$1 == way { print way ": right are " $3 " of " $2 }' ways)"
		ok "$way-$1: the waker, what it executed, and why it was late" \
			awk -v way="$way" '$1 == way { is_right = 2 * $3 >= $2 } END { exit !is_right }' ways
	done
	diag "$all_name: right are $(awk '{ of += $2; right += $3 } END { print right + 0 " of " of + 0 }' ways)," \
		"hit $(grep -c '^hit ' "$all_name-plant.facts")"
	ok "$all_name: 95 % of all" \
		awk '{ of += $2; right += $3 } END { exit of < 26 || 100 * right < 95 * of }' ways
	judge_no_chain "$all_name" \
		".first.root_label == \"$2\" or has(\"woken_by\"; \"producer\"; \"$2\") and .latency_ns > 1e6"
}
