# SPDX-License-Identifier: GPL-2.0-or-later
# Detects when the emulator executes a breakpoint for ever.  It is sourced by vm.sh.
#
# QEMU's translator can keep a breakpoint that another CPU has already taken out of the kernel's
# code.  Some kernels then die of an int3 that no code put there.  Others find that there is no
# breakpoint in memory, return to execute what is there now, and get the breakpoint again.  This
# differs from a test that hangs only in that the CPU is always near the entry of the exception's
# handler.  A system that makes progress is there only for some instructions, each time that code is
# changed.
#
#	storm_watch MONITOR PID MARK	MONITOR.in, MONITOR.out: of the emulator; ends with
#			PID, or kills it after writing MARK
#
# LDB_STORM_SAID is the name of a file for the last output of the monitor.

storm_every=${LDB_STORM_EVERY:-10}	# seconds
storm_samples=60
storm_most=2				# of one CPU, in the handler: a storm

# Reads the registers that the monitor printed.  Returns true if storm_most samples of one CPU, or
# more, are in the first 64 bytes of the handler.
storm_is_seen()	# said handler
{
	awk -v handler="$2" -v most="$storm_most" '
	function number(hex,	i, n) {
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	BEGIN { from = number(substr(handler, 9)) }
	/^CPU#/ { cpu = $1 }
	match($0, /^RIP=[0-9a-f]+/) {
		rip = substr($0, 5, 16)
		at = number(substr(rip, 9))
		if (substr(rip, 1, 8) == substr(handler, 1, 8) && at >= from && at < from + 64 && ++nr[cpu] >= most)
			seen = 1
	}
	END { exit !seen }' "$1"
}

storm_idt()	# said: prints the table's address, without its last three digits
{
	sed -n 's/^IDT= *\([0-9a-f]*\)000 .*/\1/p' "$1" | tail -n 1
}

# Prints the handler of exception 3, from CPU 0's table.
storm_handler()	# said
{
	sed -n "s/^$(storm_idt "$1")030: 0x\(....\)........\(....\) 0x........\(........\).*/\3\1\2/p" "$1" | tail -n 1
}

# Asks the monitor for the table, the handler and the registers, several times.
storm_ask()	# said
{
	echo "info registers" >&3
	sleep 0.3
	[ -n "$(storm_idt "$1")" ] || return
	echo "x/2gx 0x$(storm_idt "$1")030" >&3
	storm_nr=0
	while [ "$storm_nr" -lt "$storm_samples" ]; do
		sleep 0.03
		echo "info registers -a" >&3
		storm_nr=$((storm_nr + 1))
	done
	sleep 0.3
}

storm_watch()	# monitor pid mark
{
	exec 3<>"$1.in"
	while sleep "$storm_every" && kill -0 "$2" 2>/dev/null; do
		timeout 9 cat "$1.out" >"$1.said" &
		storm_cat=$!
		storm_ask "$1.said"
		kill "$storm_cat"
		[ -z "${LDB_STORM_SAID:-}" ] || cp "$1.said" "$LDB_STORM_SAID"
		storm_at=$(storm_handler "$1.said")
		if [ -n "$storm_at" ] && storm_is_seen "$1.said" "$storm_at"; then
			echo "$storm_at" >"$3"
			kill "$2"
			return
		fi
	done
}
