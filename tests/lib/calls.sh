# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the tests of system calls, after engine.sh or guest.sh: their names,
# files, results and lengths, as programs/syscalls.c makes them.
#
#	source		where kernel events come from
#	calls_program	the program; calls_file, calls_map: what its files are called
#	record NAME OPTION...
#	judge_sleeps	calls that threads sleep in
#	judge_lengths	their lengths
#	judge_disks	the time in devices of those that wait for a disk
#	judge_all	calls of 10 us or more, whether or not the thread sleeps

record()	# name options...
{
	rec_name=$1
	shift
	ldb-record -q --kernel="$source" "$@" -o "$rec_name.data" -- $calls_program svc.dat $ROUNDS truth 2>"$rec_name.err" &&
		trace-cat "$rec_name.data" syscall >"$rec_name.calls"
}

ROUNDS=${ROUNDS:-20}

# Prints the rows of one system call: rows of sleeps, or rows with a length.
rows()	# name of the recording, name of the call, flags
{
	grep "^syscall name=$2 file=.* flags=$3 " "$1.calls"
}
SLEEP='1[0-7]' WHOLE='[0-7]'
nr_of()	{ rows "$@" | grep -c .; }

# Writes "CLASS LABEL" for each class: the call in which its requests slept for most of the time.
# All classes are analysed at once, because a guest is slow.
find_leaves()
{
	ldb-why -i "$source-sleep.data" --slowest=$((ROUNDS * 20)) --shares --json |
		jq -r --argjson rounds "$ROUNDS" '.requests | group_by(.class)[] | .[0].class + " " +
			([sort_by(-.latency_ns)[:$rounds][].shares[]? |
				select(.cause == "sleep" or .cause == "io" or .cause == "futex_wait")] | group_by(.label) |
			map({ label: .[0].label, ns: map(.ns) | add }) | sort_by(-.ns)[0].label // "")' >leaves
}

# perf of some kernels drops most wake-ups by timers on one of the CPUs.  So the tests below use a
# recording in which the program was mostly on another CPU.
record_well()
{
	for try in 1 2 3 4 5 6 7 8; do
		known=$(ldb-why -i "$source-sleep.data" --slowest=$((ROUNDS * 20)) --shares --json |
			jq '[.requests[].shares[]? | select(.label == "clock_nanosleep")] | length')
		diag "$source: try $try: of $ROUNDS sleeps by a timer, $known are known"
		[ "$known" -lt $((ROUNDS * 6 / 10)) ] || return 0
		record "$source-sleep" || return
	done
	return 1
}

judge_leaf()	# class label
{
	check "$source: $1: the leaf" "grep '^$1 ' leaves" 0 "^$1 $2$"
}

judge_sleeps()
{
	check "$source: the trace says which calls it has" "trace-cat $source-sleep.data meta" 0 '^meta kernel_syscalls=sleep$'
	for call in fdatasync read poll clock_nanosleep futex epoll_wait write; do
		# Some kernels drop a few of perf's events.
		ok "$source: sleep: $call" test "$(nr_of "$source-sleep" $call "$SLEEP")" -ge $((ROUNDS * 8 / 10))
		ok "$source: sleep: $call has no length" test "$(nr_of "$source-sleep" $call "$WHOLE")" -eq 0
	done
	find_leaves
	judge_leaf fdatasync "fdatasync of $calls_file"
	judge_leaf read 'read of a socket'
	judge_leaf write 'write of a pipe'
	judge_leaf poll 'poll'
	judge_leaf clock_nanosleep 'clock_nanosleep'
	# The module also records which futex it is.
	if [ "$source" = module ]; then
		judge_leaf futex '.*word.*'
	else
		judge_leaf futex 'futex'
	fi
	judge_leaf epoll_wait 'epoll_wait of eventpoll'
	# If files exist only in memory, nothing has to be read.
	if [ "$(rows "$source-sleep" 'page fault' "$SLEEP" | grep -c .)" -ge $ROUNDS ]; then
		# perf reports the address only after the fault has ended.
		if [ "$source" = perf ]; then
			judge_leaf fault 'page fault'
		else
			judge_leaf fault "page fault of $calls_map"
		fi
	else
		skip "$source: page faults" "none slept"
	fi
	check "$source: ldb-timeline says it" "ldb-timeline -i $source-sleep.data --class read --slowest 1" 0 \
		'blocked \(sleeping\).* in read\(a socket, 1\)'
	record "$source-off" --syscalls=off
	ok "$source: off: none" test "$(grep -c . "$source-off.calls")" -eq 0
	check "$source: off: sleeps have no names" "ldb-timeline -i $source-off.data --class read --slowest 1" 0 \
		'blocked \(sleeping\)[^(]*$'
}

# Compares the lengths with those that the program measured around the same calls.
judge_lengths()
{
	record "$source-exact" --syscalls=all --syscall-threshold=0 --clock=monotonic
	main=$(rows "$source-exact" fdatasync "$WHOLE" | sed -n '1s/.* tid=\([0-9]*\) .*/\1/p')
	trace-cat "$source-exact.data" | awk -v main="$main" '
		$1 == "clock" && !off { split($2, t, "="); split($4, m, "="); off = m[2] - t[2] }
		$1 == "syscall" && / flags=[0-7] / { split($2, n, "=")
			for (i = 3; i <= NF; i++) { split($i, f, "="); v[f[1]] = f[2] }
			if (v["tid"] == main) printf "%s %.0f %.0f\n", n[2], v["start"], v["end"] - v["start"] > "ours.raw" }
		END { printf "%.0f\n", off }' >offset
	for call in fdatasync read poll clock_nanosleep futex epoll_wait write mmap; do
		awk -v off="$(cat offset)" -v call=$call '
			FNR == NR { if ($1 == call) { at[++nr] = $2 + off; ns[nr] = $3 } next }
			$1 == call {
				truths++
				while (i < nr && at[i + 1] + ns[i + 1] < $2) i++
				for (k = i + 1; k <= nr && at[k] < $2 + $3; k++) if (at[k] >= $2 - 2000) {
					found++
					d = $3 - ns[k]
					limit = 0.05 * $3 > 5000 ? 0.05 * $3 : 5000
					alike += d <= limit && d >= -limit
					longer += d < -2000
					break
				}
			}
			END { print truths + 0, "calls,", found + 0, "found,", alike + 0, "alike,", longer + 0, "longer" }' \
			ours.raw truth >alike
		diag "$source: $call: $(cat alike)"
		ok "$source: lengths: $call is there" awk '{ exit !($1 > 0 && $3 >= 0.9 * $1) }' alike
		ok "$source: lengths: no $call is longer" awk '{ exit $7 > 0 }' alike
		# Between the call and the program's reading of the clock the thread may have to
		# wait for a CPU.
		ok "$source: lengths: $call" awk '{ exit !($5 >= 0.8 * $3) }' alike
	done
}

# Writes for each sleep of the class in I/O: the device, the length of the sleep, how long the
# device worked.
disks_of()	# class
{
	ldb-timeline -q -i "$source-sleep.data" --class "$1" --slowest=$ROUNDS --json |
		jq -r '.[].segments[] | select(.kind == "blocked" and .state == "disk") |
			[.device // "-", .end_ns - .start_ns, .device_ns // 0] | @tsv'
}

# calls_device: the device of the file; empty: not known
judge_disks()
{
	check "$source: disks: the trace has them" "trace-cat $source-sleep.data meta" 0 '^meta kernel_disk=1$'
	check "$source: disks: none fails" "trace-cat $source-sleep.data disk | grep -cE 'flags=[23][0-9a-f] '" 1 '^0$'
	for class in fdatasync fault; do
		disks_of $class >disks
		diag "$source: disks: $class: $(awk '{ sleep += $2; disk += $3 } END { printf "%d sleeps, %.2f ms, of this %.2f ms in a device", NR, sleep / 1e6, disk / 1e6 }' disks)"
		# If files exist only in memory, there is no sleep in I/O.
		if [ "$(grep -c . disks)" -lt $((ROUNDS / 2)) ]; then
			skip "$source: disks: $class" "few sleeps in I/O"
			continue
		fi
		ok "$source: disks: $class: no more than the sleep" awk '$3 > $2 { exit 1 }' disks
		# perf does not report which thread requested a flush of the device's cache.
		[ "$source $class" = "perf fdatasync" ] || ok "$source: disks: $class: most of it" awk '{ sleep += $2; disk += $3 } END { exit !(2 * disk > sleep) }' disks
		[ -z "$calls_device" ] || ok "$source: disks: $class: which" \
			awk -v device="$calls_device" '$1 == device { nr++ } END { exit !(2 * nr > NR) }' disks
	done
	check "$source: disks: ldb-why says it" \
		"ldb-why -i $source-sleep.data --class fdatasync --slowest=$ROUNDS --json | jq -r '.requests[].sentence'" 0 \
		"\\(fdatasync of $calls_file\\), of this [0-9.]*[mu]s in ${calls_device:-[a-z]}"
	ok "$source: disks: off: none" test "$(trace-cat "$source-off.data" disk | grep -c .)" -eq 0
}

judge_all()
{
	check "$source: all: the trace says so" "trace-cat $source-all.data meta" 0 '^meta kernel_syscalls_ns=10000$'
	for call in fdatasync read poll clock_nanosleep futex epoll_wait write mmap; do
		ok "$source: all: $call" test "$(nr_of "$source-all" $call "$WHOLE")" -ge $((ROUNDS * 8 / 10))
	done
	check "$source: all: results" "rows $source-all write '$WHOLE' | grep -c 'file=a pipe .* result=65536 '" 0 "^[1-9]"
	check "$source: all: addresses" "rows $source-all mmap '$WHOLE' | grep -c ' arg=2000000 '" 0 "^$ROUNDS$"
	record "$source-long" --syscalls=all --syscall-threshold=100s
	ok "$source: a threshold: none is that long" \
		test "$(grep -vc 'flags=1[0-7] ' "$source-long.calls")" -eq 0
}

