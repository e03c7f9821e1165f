# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by e2e/wakers-*.t: requests wait for another thread in each of eleven ways
# (programs/why-wakers.cc), and that thread is late for one reason.
#
#	judge_wakers VARIANT FUNCTION	two results for each way.  Planted: of the affected requests
#				95 % at least lead to thread producer in FUNCTION, and from there to
#				the reason.  Clean: no request leads there.
#
# What other programs did to a request is no fault of the analysis: those whose chain ends in a
# CPU that such a program had are not judged, and counted.

# shellcheck source=tests/lib/why.sh
. "$TOP/tests/lib/why.sh"
record_options="--kernel bpf --kernel-frames=on"
wakers="cond:lock_wait:answer_ready sem:lock_wait:answered_sem barrier:lock_wait:both join:lock_wait:join
	future:sleep:futex latch:sleep:futex pipe:sleep:pipe socket:sleep:socket eventfd:sleep:eventfd
	epoll:sleep:eventpoll poll:sleep:poll"

build_wakers()
{
	build_why
	cxx_ldb -std=c++20 -O2 -g -Wall "$PROGRAMS/why-wakers.cc" -o why-wakers -pthread || exit 1
	if ! ldb-record -q --kernel=bpf --kernel-frames=on -o t.data -- ./why-wakers pipe-slow plant 10 >t.out 2>t.err; then
		skip_all "$(cat t.err)"
	fi
	rm t.data
}

# The definitions of the judge: of a request, by its chain.
wakers_jq='def is_foreign: .kind == "preempted" or .kind == "runnable";
	def is_wait($kind; $what): .kind == $kind and (.label + " " + (.call // "") | test($what));
	def is_waker($f): .kind == "woken_by" and .thread == "producer" and .label == $f;
	def reason($v): if $v == "slow" then .first.root == "function"
		elif $v == "io" then .first.root == "io" or any(.chain[]; .kind == "calls")
		else .first.root == "preempted" and .first.root_label == "hog" end;
	def is_right($v; $f; $kind; $what): (.chain[0] | is_wait($kind; $what)) and
		(.chain[1] // {} | is_waker($f)) and reason($v);
	def is_others: .latency_ns as $ns | any(.chain[]; is_foreign and .ns * 2 > $ns and
		(.label | test("^(producer|hog|why-wakers)$") | not));'

judge_waker()	# name variant function kind what
{
	sed -n 's/^hit //p' "$1-plant.facts" | jq -s . >hits.json
	jq --slurpfile hits hits.json '[.requests[] | select(.req as $r | $hits[0] | index($r))]' "$1-plant.why" >hit.json
	jq --arg v "$2" --arg f "$3" --arg kind "$4" --arg what "$5" "$wakers_jq"'
		map(select(is_right($v; $f; $kind; $what) or (is_others | not))) |
		{ of: length, right: map(select(is_right($v; $f; $kind; $what))) | length }' hit.json >right.json
	diag "$1: right are $(jq -r '"\(.right) of \(.of)"' right.json), hit $(jq length hit.json)"
	jq -r --arg v "$2" --arg f "$3" --arg kind "$4" --arg what "$5" "$wakers_jq"'
		.[] | select(is_right($v; $f; $kind; $what) | not) | .sentence' hit.json | head -3 | cut -c1-300 | sed 's/^/#   /'
	[ "$(jq .of right.json)" -ge 5 ] || return 77
	[ "$(jq '.right * 100 >= .of * 95' right.json)" = true ]
}

judge_wakers()	# variant function
{
	for way in $wakers; do
		name=${way%%:*}-$1
		kind=${way#*:}
		oracle_not "$name-plant.data" "bounds of functions that two observe do not always agree yet"
		oracle_not "$name-clean.data" "bounds of functions that two observe do not always agree yet"
		record_cause "$name" ./why-wakers "$name" 1400
		judge_waker "$name" "$1" "$2" "${kind%:*}" "${kind#*:}" >seen.out
		case $? in
		0) pass "$name: the waker, what it was in, and why it was late" ;;
		77) skip "$name: the waker" "other programs had the CPUs" ;;
		*) fail "$name: the waker, what it was in, and why it was late" ;;
		esac
		cat seen.out
		ok "$name: clean, and not named" test "$(jq --arg f "$2" "$wakers_jq"'[.requests[] |
			select(.first.root_label == $f or any(.chain[]; is_waker($f)) and .latency_ns > 1e6)] | length' "$name-clean.why")" -eq 0
		rm -f "$name-clean.data"
	done
	judge_sums
}
