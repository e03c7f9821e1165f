# SPDX-License-Identifier: GPL-2.0-or-later
# Section of make bench: sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Lock and unlock, uncontended.
bench_locks()
{
	storm lock 10000000 locks.txt "$rounds" base quiet dormant record hold
	heading "uncontended lock and unlock: $(awk '$2 == "base" { s += $3; n++ } END { printf "%.2f", s / n }' locks.txt) ns without ldb"
	row locks.txt quiet base "instrumented, nobody looking / plain"
	row locks.txt dormant base "runtime loaded, nobody looking / plain"
	row locks.txt record base "recorded / plain"
	row locks.txt hold base "recorded with --mutex=hold / plain"
}
