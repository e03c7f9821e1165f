# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh
# This file is sourced by tests that need memcached.
#
#	memcached_build VARIANT		builds it (bench/servers/build.sh); sets server, and servers: the
#					folder with its clients.  Where that is not possible, the test ends.

servers=$TOP/tests/bench/servers

memcached_build()
{
	pkg-config --exists libevent || skip_all "libevent is missing: apt-get install libevent-dev"
	sh "$TOP/tests/bench/source.sh" memcached >source.out 2>&1 || skip_all "$(tail -n 1 source.out)"
	run_cmd "sh $servers/build.sh memcached $1"
	ok "memcached builds ($1)" test "$status" -eq 0
	# shellcheck disable=SC2034	# for the caller
	server=$(printf '%s\n' "$out" | tail -n 1)
	[ ! -x "$server" ] || return 0
	diag "$out"
	finish
}
