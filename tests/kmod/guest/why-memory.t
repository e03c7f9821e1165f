# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that are slow because of page faults on new memory: the recorded faults must be in
# the function that accesses it.
# Timed: the judged causes are those that the scanner had to observe.
# Slow: programs/kmod-hits tests the module's page faults, and e2e/why-memory.t judges such requests
# without kernel events.
. "$(dirname "$0")/../../lib/guest.sh"
record_options="--kernel module"
# Without this the recorder would preempt the program now and then.
record_under="taskset -c 1"
why_tries=1
. "$TOP/tests/lib/why.sh"

# Checks that at least 80 % of the delayed requests in the tail have at least 70 % of the planted
# faults in the function.
has_faults()	# name function pages
{
	ldb-why -q -i "$1.data" --json --shares >shares.json
	jq --slurpfile hits hits.json "[.requests[] | select(.req as \$r | \$hits[0] | index(\$r))
		| [.shares[] | select(.path[-1] | test(\"^($2)\$\")) | .faults] | add // 0]" shares.json >faults.json
	diag "$1: faults in $2(): $(jq -c . faults.json)"
	# Faults at times when the scanner had no CPU are attributed to the caller.
	jq -e "length >= 10 and (map(select(. >= 0.7 * $3)) | length) >= 0.8 * length" faults.json >/dev/null
}

load
record_cause faults why-functions faults 2100 512
judge faults cause=page_faults label=fill root=page_faults
ok_seen faults-plant "faults: planted, and in fill()" has_faults faults-plant fill 512
check_jq "clean: nothing came with faults" faults-clean.why 'all(.causes[]; .label != "fill" or (.has_faults | not))'
record_cause malloc why-functions malloc 2100 512
# The caller of the function is accepted, too, because the scanner may have been off its CPU.
judge malloc cause=page_faults 'label=make_buffer|run_malloc'
ok_seen malloc-plant "malloc: planted, and in make_buffer()" has_faults malloc-plant 'make_buffer|run_malloc' 512

judge_coverage plant
check "the module unloads" "rmmod ldb"
finish
