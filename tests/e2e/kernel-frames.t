# SPDX-License-Identifier: GPL-2.0-or-later
# ldb-record --kernel-frames=on: where no CPU is free for the scanner, the kernel's readings place
# nine tenths of the time asleep in the function that waits.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
# Slow: the readings are off by default; kmod/guest/frames-module.t tests those of the module.
. "$(dirname "$0")/../lib/engine.sh"
need_build
"$CXX" -std=c++20 -fplugin="$PLUGIN" -I"$TOP/libldb/include" -O2 -g -Wall "$PROGRAMS/why-wakers.cc" -o why-wakers -pthread || exit 1
if ! ldb-record -q --kernel=bpf -o t.data -- ./why-wakers pipe-slow plant 100 >t.out 2>t.err; then
	skip_all "$(cat t.err)"
fi

# No CPU time is left for the scanner, which has the lowest priority.
for cpu in $(seq "$(nproc)"); do
	sh -c 'while :; do :; done' &
	busy="${busy:-} $!"
done
at_end 'kill $busy 2>/dev/null'

# Of the time for which all slow requests slept, nine tenths must be in the given function.
is_placed()	# why.json function
{
	jq -e --arg f "$2" '[.causes[] | select(.cause == "sleep")] as $s |
		([$s[] | select(.label | test($f)) | .total_ns] | add // 0) as $in |
		([$s[].total_ns] | add // 0) as $all | $all > 0 and $in >= 0.9 * $all' "$1" >/dev/null
}

cases="pipe-slow:pipe_wait socket-slow:socket_wait eventfd-slow:event_wait epoll-slow:epoll_wait_event"
for case in $cases; do
	plant=${case%:*}
	check "$plant: recorded" "ldb-record -q --kernel=bpf --kernel-frames=on -o $plant.data -- ./why-wakers $plant plant 1000" 0
done
# Here samples are taken only if the scanner has no CPU; their cost was measured.
check "auto: recorded" "ldb-record -q --kernel=bpf --kernel-frames=auto -o auto.data -- ./why-wakers pipe-slow plant 1000" 0
# shellcheck disable=SC2086	# words
kill $busy
busy=

for case in $cases; do
	plant=${case%:*}
	function=${case#*:}
	ok "$plant: explained" eval "ldb-why -i $plant.data --json >$plant.why"
	ok "$plant: the sleeps are in $function()" is_placed "$plant.why" "^$function"
	jq -c '[.causes[:6][] | [.cause, .label, .total_ns]]' "$plant.why" | sed 's/^/# /'
done

ok "auto: explained" eval "ldb-why -i auto.data --json >auto.why"
ok "auto: the sleeps are in pipe_wait()" is_placed auto.why "^pipe_wait"
meta()	# key
{
	ldb-report -i auto.data --json-summary | jq -r --arg k "$1" '.recording.meta[] | select(.key == $k) | .value'
}
# If the recorder has no CPU, either, it may not get to choose a CPU for samples.
if [ -n "$(meta kernel_frames_ns)" ]; then
	ok "auto: no more samples than needed" test "$(meta kernel_frames_ns)" -ge 400000
	ok "auto: each has a price" test "$(meta kernel_frames_price_ns)" -ge 1000
else
	skip "auto: samples" "no CPU was chosen for them"
fi

# A dump of the flight recorder cannot wait for what else becomes known of a call, nor for the
# events of threads that have just ended.  The oracle judges whether it is consistent.
check "dumps: recorded" "ldb-record -q --kernel=bpf --kernel-frames=on -o dump.data --flight 3s --after 0 \
	--trigger 'request>1us' --max-dumps 10 --max-dumps-per-minute 10 -- ./why-wakers join-slow clean 700" 0
ok "dumps: there are some" test -f dump.data.1
for dump in dump.data.*; do
	oracle_add "$dump"
done
finish
