# SPDX-License-Identifier: GPL-2.0-or-later
# Each kernel checks BPF programs by its own rules: those that read a thread's chain of frame
# records must pass, with and without samples between the switches.
# Slow: the readings by BPF are off by default.
. "$(dirname "$0")/../../lib/guest.sh"

for when in off auto on; do
	check "--kernel-frames=$when: recorded by BPF programs" \
		"ldb-record --kernel bpf --kernel-frames=$when -o $when.data -- forced 100 2000 2>&1 >facts" 0 '0 lost'
	check_not "... with nothing missing" "echo '$out'" 0 'no readings'
done
finish
