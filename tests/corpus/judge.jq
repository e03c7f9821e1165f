# SPDX-License-Identifier: GPL-2.0-or-later
# Judges the output of ldb-why for one case (stdin: ldb-why --json) by what the case's program did.
# run.sh says what the words mean.
#
#	--argjson case '{"name": "...", "kind": "...", "cause": "KEY=WORD ...", "holder": "...",
#		"is_planted": true, "plant_ns": N, "has_kernel": true, "away": PERCENT}'
#	--argjson hits '[ID...]' --argjson off '{"ID": US}' --argjson stolen '{"ID": US}'

def keys_of: [splits(" +") | select(. != "" and . != "-") | capture("^(?<key>[a-z_]+)=(?<word>.*)$")];
def has_word($word): test("(^|[^A-Za-z0-9_])(" + $word + ")([^A-Za-z0-9_]|$)");

# The input is the "first" of a request.
def is($keys): . as $first | all($keys[]; .word as $word | ($first[.key] // "") | has_word($word));

# The input is a request: it is judged by its chain, or by its "first".
def is_held($keys): . as $request | all($keys[]; .word as $word |
	if .key == "thread" then any($request.chain[]?; .thread | has_word($word))
	elif .key == "function" then any($request.chain[]?; (.kind | IN("held_by", "woken_by", "function")) and
		(.label | has_word($word)))
	else ($request.first[.key] // "") | has_word($word) end);

# True unless the request is itself what was planted: "scan" and "put" delay other requests.
def is_bystander: ($case.is_planted and (.class | IN("scan", "put"))) | not;

# True if what was planted needs the CPU, and the thread was off the CPU for as long or longer.
def is_disturbed: (.req | tostring) as $id | ($case.kind | IN("wait", "off-cpu", "queue") | not) and
	($case.cause | test("function|page_faults")) and ($off[$id] // $stolen[$id] // 0) * 1000 >= $case.plant_ns;

# The machine can make a function of the program slower, but it cannot hold a lock.
def is_accusation: .cause as $cause | ["function", "lock_wait", "futex_wait", "queue", "head_of_line"] | index($cause);
def is_sure: .first.cause != "function" or .amounts[0].ns > .resolution_ns;
def is_false($keys): (.req | tostring) as $id | .amounts[0].ns as $ns | is_sure and (.first |
	is_accusation and if .cause != "function" or .anomaly != "slower" then true
		elif ($off[$id] // 0) * 2000 >= $ns then $case.has_kernel
		elif ($stolen[$id] // 0) * 2000 >= $ns then false
		else is($keys) end);
def first_row: group_by([.first.cause, .first.label]) | max_by(length) // [];
def told: group_by([.first.cause, .first.label, .first.root_label]) | sort_by(-length) | .[:4] |
	map("\(length) x \(.[0].first | "\(.cause) \(.label)" + if .root_label == .label then "" else " <- \(.root) \(.root_label)" end)") |
	join("; ");

([$case.plant_ns / 2, 1000000] | min) as $long |
($case.cause | keys_of) as $keys | ($case.holder | keys_of) as $holder |
[.requests[] | select(.first and (.amounts | length > 0))] as $tail |
[$tail[] | select(.req as $r | $hits | index($r))] as $all_hit |
[$all_hit[] | select(is_disturbed | not)] as $hit |
[$tail[] | select((.req as $r | $hits | index($r) | not) and is_bystander)] as $bystanders |
[$bystanders[] | select(.amounts[0].ns >= $long)] as $others |
[$others[] | select(is_false($keys))] as $false |
{
	name: $case.name, kind: $case.kind, planted: $case.is_planted, away: $case.away, has_holder: ($holder | length > 0),
	hits: ($hits | length), tail: ($tail | length), nr: ($hit | length),
	nr_cause: ($hit | map(select(.first | is($keys))) | length),
	nr_holder: ($hit | map(select((.first | is($keys)) and is_held($holder))) | length),
	nr_disturbed: ($all_hit | length - ($hit | length)), nr_others: ($bystanders | length), nr_false: ($false | length),
	nr_machine: ($others | length - ($false | length)),
	told: ($hit | told), false_told: ($false | told)
} |
if $case.away > $case.most_away then
	.verdict = "not judged" | .why = "the scanner was away for \($case.away) % of the time"
elif $case.is_planted and .nr < 5 then
	.verdict = "not judged" | .why = "of \(.hits) requests that were hit, \(.nr) are in the tail of \(.tail), or undisturbed"
elif $case.is_planted then
	.cause = ($hit | first_row | (.[0].first | is($keys))) |
	.holder = (.cause and .nr_holder * 2 > .nr_cause) |
	.verdict = if .cause and (.holder or (.has_holder | not)) then "right" elif .cause then "holder" else "cause" end
else
	.verdict = if .nr_false > 0 then "false alarm" else "right" end
end
