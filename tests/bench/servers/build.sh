#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a server from Debian's source package, and prints the path of its binary.
#
#	sh tests/bench/servers/build.sh memcached|redis plain|ldb|original
#	sh tests/bench/servers/build.sh memcached arrival
#	sh tests/bench/servers/build.sh nginx|memcached|redis|xapian-core|postgres|ngtcp2 unedited
#
# plain and ldb have the same patch (PROGRAM.patch here: stamps and tags at the request boundaries,
# stamps.h) and differ in the compiler, gcc or ldb-gcc; original is Debian's source as it is, and
# unedited is the same with ldb-gcc.  arrival is for memcached: ldb with another patch on top, by
# which requests begin when the kernel received them (arrival.h); only the server is built.  All are
# built with -O2 -g, into $BUILD/bench/servers/PROGRAM-VARIANT, and only if one of their sources has
# changed.

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
nginx) binary=$dir/objs/nginx ;;
xapian-core) binary=$dir/.libs/libxapian.a ;;
postgres) binary=$dir/installed/bin/postgres ;;
ngtcp2) binary=$dir/examples/gtlsserver ;;
*) fail "usage: build.sh memcached|redis|nginx|xapian-core|postgres|ngtcp2 plain|ldb|original|unedited|arrival" ;;
esac
patches=$here/$program.patch
targets="memcached memcached-debug testapp timedrun sizes"
case $variant in
plain) cc=${CC:-gcc} ;;
original) cc=${CC:-gcc} patches= ;;
unedited) cc=$BUILD/bin/ldb-gcc patches= ;;
ldb) cc=$BUILD/bin/ldb-gcc ;;
arrival)
	cc=$BUILD/bin/ldb-gcc targets=memcached
	patches="$patches $here/$program-arrival.patch $here/arrival.h" ;;
*) fail "usage: build.sh $program plain|ldb|original|unedited|arrival" ;;
esac

# Returns true if the server was built completely, and after the last change of the files of this
# repository of which it is made.
fresh()
{
	[ -f "$dir/.complete" ] || return 1
	# shellcheck disable=SC2086	# several words
	for f in "$here/build.sh" "$here/stamps.h" "$here/hist.h" $patches \
		"$TOP/libldb/include/ldb/ldb.h" "$TOP/libldb/include/ldb/arch.h" "$BUILD/plugin/ldb.so"; do
		[ "$variant" = original ] && [ "$f" != "$here/build.sh" ] && continue
		[ "$variant" = unedited ] && [ "${f##*.}" = h ] && continue
		[ "$variant" = plain ] && [ "$f" = "$BUILD/plugin/ldb.so" ] && continue
		# shellcheck disable=SC3013	# Debian's sh has it
		[ "$f" -nt "$dir/.complete" ] && return 1
	done
	return 0
}

build_memcached()
{
	pkg-config --exists libevent || fail "libevent is missing: apt-get install libevent-dev"
	# shellcheck disable=SC2086	# several words
	./configure CC="$cc" CFLAGS="$cflags" && make -j"$(nproc)" $targets
}

build_redis()
{
	# REDIS_CFLAGS does not reach the libraries that come with redis; CC does.
	make -j"$(nproc)" CC="$cc" MALLOC=libc BUILD_TLS=no USE_SYSTEMD=no OPTIMIZATION=-O2 DEBUG=-g \
		REDIS_CFLAGS="$cflags"
}

# Leaves out modules that need further packages.  The tests use only the proxy, files and the event
# loop.
build_nginx()
{
	./configure --with-cc="$cc" --with-cc-opt="$cflags" --without-http_rewrite_module \
		--without-http_gzip_module --with-threads && make -j"$(nproc)"
}

# Builds the library with the parts that a search needs.  Documentation/cases has a program that is
# linked with it.
build_xapian_core()
{
	# shellcheck disable=SC2086	# several words
	./configure CC="$cc" CXX="${cc%gcc}g++" CFLAGS="$cflags" CXXFLAGS="$cflags" --disable-shared \
		--disable-documentation --disable-backend-remote && make -j"$(nproc)" libxapian.la
}

# Builds the server, and those other programs that make a database and put load on it.
build_postgres()
{
	./configure CC="$cc" CFLAGS="$cflags" --prefix="$dir/installed" --without-readline --without-zlib \
		--without-icu || return 1
	# These headers are made first, because the Makefiles lack some dependencies on them.
	make -C src/backend generated-headers || return 1
	make -j"$(nproc)" -C src/backend || return 1
	for d in include port common timezone backend backend/utils/mb/conversion_procs backend/snowball \
			interfaces/libpq pl/plpgsql/src bin/initdb bin/pg_config bin/psql bin/pgbench; do
		make -j"$(nproc)" -C "src/$d" install || return 1
	done
}

# Builds the library and its HTTP/3 server with GnuTLS, as Debian's package ngtcp2-server does.
build_ngtcp2()
{
	# In Debian libev has no file for pkg-config.  Without libev the server is not built.
	{ command -v cmake && pkg-config --exists gnutls libnghttp3 && echo '#include <ev.h>' | gcc -E -; } >/dev/null ||
		fail "cmake or libraries are missing: apt-get install cmake libgnutls28-dev libnghttp3-dev libev-dev"
	# CMake takes a program whose name begins with "ld" for the linker, and learns no folders
	# from it.
	cmake -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="${cc%gcc}g++" -DCMAKE_BUILD_TYPE=None \
		-DCMAKE_LIBRARY_ARCHITECTURE="$(gcc -print-multiarch)" -DCMAKE_C_FLAGS="$cflags" \
		-DCMAKE_CXX_FLAGS="$cflags" -DENABLE_GNUTLS=ON -DENABLE_OPENSSL=OFF -DENABLE_STATIC_LIB=OFF . &&
		make -j"$(nproc)" gtlsserver
}

# Each release of Debian has one version of PostgreSQL, and the name of the package contains it.
package=$program
[ "$program" != postgres ] || package=$(apt-cache depends postgresql 2>/dev/null |
	sed -n 's/.*Depends: \(postgresql-[0-9]*\)$/\1/p' | head -n 1)
if fresh; then
	echo "$binary"
	exit 0
fi
src=$(BUILD=$BUILD sh "$TOP/tests/bench/source.sh" "${package:-postgresql-15}") || exit 1
rm -rf "$dir" && mkdir -p "${dir%/*}" && cp -a "$src" "$dir" && cd "$dir" || exit 1
rm -f .complete
cflags="-O2 -g"
if [ -n "$patches" ]; then
	for p in $patches; do
		[ "${p%.patch}" = "$p" ] || patch -s -p0 <"$p" >>build.log 2>&1 ||
			fail "${p##*/} does not apply: see $dir/build.log"
	done
	cflags="$cflags -I$here -I$TOP/libldb/include"
fi
"build_$(echo "$program" | tr - _)" >>build.log 2>&1 || fail "cannot build $program: see $dir/build.log"
touch .complete
echo "$binary"
