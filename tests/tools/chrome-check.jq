# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the faults of a Chrome JSON trace as a list of strings, which is empty if there are none.
# The times are in microseconds with decimals; this makes whole nanoseconds of them.
def ns: . * 1000 | round;

def crossing:	# of the events of one row, in order of their begins
	sort_by((.ts | ns), -(.dur | ns))
	| reduce .[] as $e ({ open: [], bad: 0 };
		($e.ts | ns) as $from | ($from + ($e.dur | ns)) as $to
		| .open |= map(select(. > $from))
		| if any(.open[]; . < $to) then .bad += 1 else . end
		| .open += [$to])
	| .bad;

.traceEvents as $all
| [$all[] | select(.ph == "X")] as $x
| [
	(if .displayTimeUnit != "ns" then "no unit" else empty end),
	($all[] | select((.ph | IN("X", "M", "s", "f")) | not) | "an event of kind \(.ph)"),
	($all[] | select((.pid | type) != "number" or (.tid | type) != "number") | "an event of nobody"),
	($x[] | select((.ts | type) != "number" or .dur < 0 or (.name | type) != "string") | "time: \(.)"),
	($x | group_by(.tid)[] | crossing as $n | select($n > 0) | "\($n) cross in row \(.[0].tid)"),
	(($x | map(.tid) | unique) - [$all[] | select(.name == "thread_name") | .tid] | .[] | "row \(.) has no name"),
	(([$all[] | select(.ph == "s") | .id] | sort) as $from | ([$all[] | select(.ph == "f") | .id] | sort) as $to
		| if $from != $to or ($from | unique) != $from then "flows do not match" else empty end)
]
