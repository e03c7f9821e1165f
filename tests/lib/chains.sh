# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by tests of the chains behind planted waits, after engine.sh or guest.sh:
#
#	judge_chain NAME TEXT FILTER	one result.  Of the requests that were delayed, by
#				NAME-plant.facts, 95 % at least pass the filter in NAME-plant.why.
#	show_chain NAME TEXT FILTER	only prints how many that are
#	judge_no_chain NAME FILTER	one result.  No request of NAME-clean.why passes.
#
# If other programs delayed a request, the analysis is not at fault.  So a request that does not
# pass is not judged if a thread of its chain waited, for more than half of the request's latency,
# for a CPU on which such a program ran, or if the request itself waited for a CPU that long.
# chains_own is an expression that matches the names of the threads that are not such programs.

# shellcheck source=tests/lib/why.sh
. "$TOP/tests/lib/why.sh"
chains_own=none
chains_jq='def is_foreign: .kind == "preempted" or .kind == "runnable";
	def is_others: .latency_ns as $ns | any(.chain[]; is_foreign and .ns * 2 > $ns and
		(.label | test("^(" + $own + ")$") | not)) or (.chain[0] // {} | is_foreign and .ns * 2 > $ns);
	def has($kind; $thread; $name): any(.chain[]; .kind == $kind and
		(.thread | test("^(" + $thread + ")$")) and (.label | test("^(" + $name + ")$")));'

count_chains()	# name filter
{
	sed -n 's/^hit //p' "$1-plant.facts" | jq -s . >hits.json
	jq --slurpfile hits hits.json '[.requests[] | select(.req as $r | $hits[0] | index($r))]' "$1-plant.why" >hit.json
	jq --arg own "$chains_own" "$chains_jq"'def is_right: '"$2"';
		map(select(is_right or (is_others | not))) |
		{ of: length, right: map(select(is_right)) | length }' hit.json >right.json
	diag "$1: right are $(jq -r '"\(.right) of \(.of)"' right.json), hit $(jq length hits.json)"
	jq -r --arg own "$chains_own" "$chains_jq"'def is_right: '"$2"';
		.[] | select(is_right | not) | .sentence' hit.json | head -3 | cut -c1-300 | sed 's/^/#   /'
	# If the filter has an error, this must not count as a request that is not judged.
	[ "$(jq 'has("of")' right.json)" = true ] || return 1
	[ "$(jq .of right.json)" -ge 5 ] || return 77
	# Of ten to twenty requests one may fail, because 95 % of them is no whole number.
	[ "$(jq '.right * 100 >= .of * 95 or (.of >= 10 and .of < 20 and .right == .of - 1)' right.json)" = true ]
}

judge_chain()	# name text filter
{
	count_chains "$1" "$3" >seen.out
	case $? in
	0) pass "$1: $2" ;;
	77) skip "$1: $2" "other programs had the CPUs" ;;
	*) fail "$1: $2" ;;
	esac
	cat seen.out
}

# Only prints how many requests pass, without a result.  This is for facts that only the scanner can
# observe, because the scanner observes little on a busy machine.
show_chain()	# name text filter
{
	diag "$1: $2:"
	count_chains "$1" "$3"
}

list_chains()	# name filter
{
	jq -r --arg own "$chains_own" "$chains_jq"'.requests[] | select('"$2"') | "#   " + .sentence[:300]' \
		"$1-clean.why" >named.out && [ ! -s named.out ]
}

judge_no_chain()	# name filter
{
	ok "$1: clean, and not named" list_chains "$1" "$2"
	head -n 3 named.out
}
