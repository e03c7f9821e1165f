# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by e2e/wakers-*.t and kmod/guest/wakers.t: requests wait for another thread
# in each of thirteen ways (programs/why-wakers.cc), and that thread is late for one reason.
#
#	build_wakers	the program, for record_options; skips the script if they cannot be had
#	judge_wakers VARIANT FUNCTION [WAY...]	two results for each way, of $wakers.  Planted: the
#				chain leads to thread producer in FUNCTION, and from there to the
#				reason.  Clean: no request leads there.
#
# With wakers_seen_by=scanner only that knows the functions: how many is printed.
# wakers_file is what is written to; record_kinds=plant leaves the clean ones out.

# shellcheck source=tests/lib/chains.sh
. "$TOP/tests/lib/chains.sh"
: "${wakers_program:=./why-wakers}" "${wakers_requests:=1400}" "${wakers_file:=}" "${wakers_seen_by:=kernel}"
wakers="cond:lock_wait:answer_ready sem:lock_wait:answered_sem barrier:lock_wait:both join:lock_wait:join
	future:sleep|futex_wait:futex|future latch:sleep|futex_wait:futex|latch pipe:sleep:pipe socket:sleep:socket eventfd:sleep:eventfd
	epoll:sleep:epoll poll:sleep:poll signalfd:sleep:signalfd uring:sleep:io_uring"
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

reason_of()	# variant: the filter of what the chain must end in
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
		judge_chain "$waker_name" "the waker, what it was in, and why it was late" \
			"$waker_is and .chain[1].label == \"$2\""
	else
		judge_chain "$waker_name" "the waker, and why it was late" "$waker_is"
		show_chain "$waker_name" "and what it was in" "$waker_is and .chain[1].label == \"$2\""
	fi
	[ "${record_kinds:-}" != plant ] || return 0
	judge_no_chain "$waker_name" \
		".first.root_label == \"$2\" or has(\"woken_by\"; \"producer\"; \"$2\") and .latency_ns > 1e6"
	# The oracle judges this one now: there would be many files at the end.
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
