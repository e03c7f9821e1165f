# SPDX-License-Identifier: GPL-2.0-or-later
# The results of all cases (slurped) as one table by kind, with 95 % intervals (Wilson).

def percent: . * 1000 | round / 10;
def wilson($k; $n): if $n == 0 then "-" else
	1.96 as $z | ($k / $n) as $p | (1 + $z * $z / $n) as $d | (($p + $z * $z / (2 * $n)) / $d) as $middle |
	($z * ($p * (1 - $p) / $n + $z * $z / (4 * $n * $n) | sqrt) / $d) as $half |
	"\($k)/\($n) = \($p | percent) % (\([$middle - $half, 0] | max | percent) to \([$middle + $half, 1] | min | percent))" end;
def pad($n): tostring | . + (" " * ([$n - length, 1] | max));
def count(f): map(select(f)) | length;
def sum(f): map(f) | add // 0;

def row($name): map(select(.verdict != "not judged")) as $judged | ($judged | map(select(.planted))) as $planted |
	($planted | map(select(.has_holder))) as $held |
	($name | pad(12)) + (length | pad(7)) + (length - ($judged | length) | pad(6)) +
	("\($planted | count(.cause))/\($planted | length)" | pad(9)) + ("\($held | count(.holder))/\($held | length)" | pad(9)) +
	("\($planted | sum(.nr_cause))/\($planted | sum(.nr))" | pad(13)) + ("\($held | sum(.nr_holder))/\($held | sum(.nr))" | pad(13)) +
	("\($judged | count(.planted | not) as $n | map(select((.planted | not) and .nr_false > 0)) | length | "\(.)/\($n)")" | pad(8)) +
	"\($judged | sum(.nr_false))/\($judged | sum(.nr_others))";

. as $all | map(select(.verdict != "not judged")) as $judged | ($judged | map(select(.planted))) as $planted |
($planted | map(select(.has_holder))) as $held |
"",
"                     not     cases: right       requests: right           false alarms",
"kind        cases  judged  cause    holder   cause        holder       cases   requests",
(group_by(.kind)[] | row(.[0].kind)),
($all | row("all")),
"",
"right cause:   \(wilson($planted | count(.cause); $planted | length)) of the cases; of their requests \(wilson($planted | sum(.nr_cause); $planted | sum(.nr)))",
"right holder:  \(wilson($held | count(.holder); $held | length)) of the cases that have one; of their requests \(wilson($held | sum(.nr_holder); $held | sum(.nr)))",
"false alarms:  \(wilson($judged | count((.planted | not) and .nr_false > 0); $judged | count(.planted | not))) of the clean cases; of requests that nothing was planted in \(wilson($judged | sum(.nr_false); $judged | sum(.nr_others)))",
"not judged:    \($all | length - ($judged | length)) of \($all | length) cases: \($all | map(select(.verdict == "not judged") | .why | sub("[0-9]+ %"; "much") | sub("of [0-9]+ requests that were hit, [0-9]+ are in the tail of [0-9]+.*"; "too few of the requests that were hit are in the tail")) | group_by(.) | map("\(length) \(.[0])") | join("; "))",
"The machine made \($judged | sum(.nr_machine)) other requests of the tail slow, and \($judged | sum(.nr_disturbed)) of those that were hit by more than was planted: not judged."
