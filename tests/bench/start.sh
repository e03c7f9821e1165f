# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Prints how long an empty program and its recording take, in ms of the wall clock.
start_run()	# config
{
	start_began=$(date +%s%N)
	case $1 in
	plain) ./start-empty ;;
	none | perf) ldb-record -q --kernel="$1" -o start.data -- ./start-empty 2>record.log ;;
	*) ldb-record -q --kernel=bpf --kernel-frames="${1%2}" -o start.data -- ./start-empty 2>record.log ;;
	esac || return
	echo "$1 $((($(date +%s%N) - start_began) / 1000))e-3"
}

# This section measures what a recording costs before it begins and after it ends.
bench_start()
{
	echo 'int main(void) { return 0; }' >start-empty.c
	$cc "$plugin" start-empty.c -o start-empty || return 1
	if ! start_run off >/dev/null; then
		printf '\nstart: not measured: %s\n' "$(cat record.log)"
		return 0
	fi
	interleave start.txt "$rounds" start_run plain none perf off auto off2
	heading "start: an empty program takes $(mean start.txt plain %.1f) ms"
	for c in none perf off auto; do
		row start.txt "$c" "" "  recorded, ms: $(echo "$c" | sed 's/off/bpf, readings off/; s/auto/bpf, readings auto/')" "" %.0f
	done
	row start.txt off2 off "  the same again (noise)"
	row start.txt auto off "  readings auto / off"
}
