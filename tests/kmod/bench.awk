# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the table of tests/kmod/bench.sh, and checks its bounds.  The exit status is 1 if a figure
# exceeds its bound.

function verdict(name, value, bound)
{
	# An empty table must not pass.
	if (!(value > -1e9))
		value = 1e9
	printf "  %-58s %8.3f  <= %-7.3f %s\n", name, value, bound, value <= bound ? "PASS" : "FAIL"
	if (!(value <= bound))
		failed = 1
}

/^#/ { print; next }
NF == 6 {
	insns[$1, $2] = $5 / $4
	events[$1, $2] = $6 / $4
	if (!(($1) in seen)) {
		seen[$1] = 1
		rows[++nr] = $1
	}
}

END {
	title["baseline"] = "no recorder"
	title["idle"] = "ldb.ko loaded, no session"
	title["sched"] = "ldb.ko: switch, waking, wakeup, migrate"
	title["all"] = "ldb.ko: and futex, page, innermost frame, owner"
	title["ftrace"] = "ftrace: the same four events"
	title["perf-record"] = "perf record -a: the same four events"
	title["perf-sched"] = "perf sched record"
	title["baseline-again"] = "no recorder, at the end"
	printf "\nkernel %s: guest instructions per round trip of two threads, one CPU\n", release
	printf "%-50s %9s %7s %7s %9s %7s %7s\n", "", "pipe", "ratio", "/event", "futex", "ratio", "/event"
	for (i = 1; i <= nr; i++) {
		row = rows[i]
		printf "%-50s", (row in title) ? title[row] : row
		for (k = 1; k <= 2; k++) {
			kind = k == 1 ? "pipe" : "futex"
			base = insns["baseline", kind]
			each = events[row, kind] ? sprintf("%.0f", (insns[row, kind] - base) / events[row, kind]) : "-"
			printf " %9.0f %7.3f %7s", insns[row, kind], base ? insns[row, kind] / base : 0, each
		}
		print ""
	}
	if (("all", "fault") in insns) {
		added = insns["all", "fault"] - insns["baseline", "fault"]
		verdict("a page fault, instructions for its record", events["all", "fault"] ? added / events["all", "fault"] : 1e9, 150)
		verdict("a page fault, all on", insns["all", "fault"] / insns["baseline", "fault"], 1.15)
		# The cost of one record is too small to measure beside the kernel's other work.
		if (!events["all", "irq"])
			failed = 1
		verdict("a time in which only interrupts come, all on", insns["all", "irq"] / insns["baseline", "irq"], 1.005)
	}
	for (k = 1; k <= 2; k++) {
		kind = k == 1 ? "pipe" : "futex"
		base = insns["baseline", kind]
		if (("idle") in seen) {
			verdict("a loaded, idle module, " kind, insns["idle", kind] / base, 1.002)
			verdict("the sched events alone, " kind, insns["sched", kind] / base, 1.05)
			added = insns["all", kind] - base
			verdict("all on, instructions for an event, " kind, events["all", kind] ? added / events["all", kind] : 1e9, 150)
			if (("perf-sched") in seen)
				verdict("all on, against what perf sched adds, " kind, added / (insns["perf-sched", kind] - base), 0.2)
		}
		drift = insns["baseline-again", kind] / base - 1
		verdict("no recorder: the end's difference from the start, " kind, drift < 0 ? -drift : drift, 0.003)
	}
	exit failed
}
