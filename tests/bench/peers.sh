# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Compares ldb with other tools, which trace the same programs in the same rounds; the programs make
# very many calls.  The time that a tool takes to begin and to end is not counted: the program
# prints the CPU time of its loop.
peers_storm()	# kind count
{
	# shellcheck disable=SC2086	# lists
	storm "$1" "$2" "peers-$1.txt" "$rounds" base clang quiet record $peers
	clang_ns=
	[ -s clang.why ] || clang_ns=", $(mean "peers-$1.txt" clang %.2f) ns (clang)"
	heading "peers, $1: ns added per call to $(mean "peers-$1.txt" base %.2f) ns (gcc)$clang_ns"
	added "peers-$1.txt" quiet base "ldb, not recorded"
	added "peers-$1.txt" record base "ldb, recorded"
	for peer in $peers; do
		added "peers-$1.txt" "$peer" "$(peer_base "$peer")" "$(peer_title "$peer")"
	done
	if [ -s xray-fdr.why ] && [ -s xray-basic.why ] && [ -s uftrace.why ]; then
		note "none that records each call is here to compare with"
		return
	fi
	paired "peers-$1.txt" "$recording_peers" \
		"added by the cheapest that records each call / by ldb" \
		-v b=record -v base=base -v least=50 -v fmt=%.0f
}

bench_peers()
{
	peer_look
	compile storm c "$programs/call-storm.c" "pg cyg coz clang xray"
	printf '\npeers: settings\n'
	peer_settings
	peers_storm leaf 30000000
	peers_storm fib 60000
	peer_done
}
