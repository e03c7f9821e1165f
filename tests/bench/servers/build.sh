#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a server from Debian's source package, and prints the path of its binary.
#
#	sh tests/bench/servers/build.sh memcached|redis plain|ldb|original
#
# plain and ldb have the same patch (PROGRAM.patch here: stamps and tags at the request
# boundaries, stamps.h) and differ in the compiler, gcc or ldb-gcc; original is Debian's
# source as it is.  All with -O2 -g, into $BUILD/bench/servers/PROGRAM-VARIANT, again
# only when something it is made of has changed.

here=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$here/../../.." && pwd)
BUILD=${BUILD:-$TOP/build}
program=${1:-}
variant=${2:-}
dir=$BUILD/bench/servers/$program-$variant

fail()
{
	echo "build.sh: $*" >&2
	exit 1
}

case $program in
memcached) binary=$dir/memcached ;;
redis) binary=$dir/src/redis-server ;;
*) fail "usage: build.sh memcached|redis plain|ldb|original" ;;
esac
case $variant in
plain | original) cc=${CC:-gcc} ;;
ldb) cc=$BUILD/bin/ldb-gcc ;;
*) fail "usage: build.sh memcached|redis plain|ldb|original" ;;
esac

# Is the binary newer than all it was made of?
fresh()
{
	[ -f "$dir/.complete" ] || return 1
	for f in "$here/build.sh" "$here/stamps.h" "$here/hist.h" "$here/$program.patch" \
		"$TOP/libldb/include/ldb/ldb.h" "$BUILD/plugin/ldb.so"; do
		[ "$variant" = original ] && [ "$f" != "$here/build.sh" ] && continue
		[ "$variant" = plain ] && [ "$f" = "$BUILD/plugin/ldb.so" ] && continue
		# shellcheck disable=SC3013	# Debian's sh has it
		[ "$f" -nt "$dir/.complete" ] && return 1
	done
	return 0
}

build_memcached()
{
	pkg-config --exists libevent || fail "libevent is missing: apt-get install libevent-dev"
	./configure CC="$cc" CFLAGS="$cflags" && make -j"$(nproc)" memcached memcached-debug testapp timedrun sizes
}

build_redis()
{
	# REDIS_CFLAGS does not reach the libraries that come with redis; CC does.
	make -j"$(nproc)" CC="$cc" MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O2 DEBUG=-g \
		REDIS_CFLAGS="$cflags"
}

if fresh; then
	echo "$binary"
	exit 0
fi
src=$(BUILD=$BUILD sh "$TOP/tests/bench/source.sh" "$program") || exit 1
rm -rf "$dir" && mkdir -p "${dir%/*}" && cp -a "$src" "$dir" && cd "$dir" || exit 1
rm -f .complete
cflags="-O2 -g"
if [ "$variant" != original ]; then
	patch -s -p0 <"$here/$program.patch" >build.log 2>&1 || fail "$program.patch does not apply: see $dir/build.log"
	cflags="$cflags -I$here -I$TOP/libldb/include"
fi
"build_$program" >>build.log 2>&1 || fail "cannot build $program: see $dir/build.log"
touch .complete
echo "$binary"
