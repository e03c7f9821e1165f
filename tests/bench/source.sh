#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches and unpacks a Debian source package, and prints the folder it is in.
#
#	sh tests/bench/source.sh PACKAGE
#
# It unpacks into $BUILD/bench/src/PACKAGE, once, as Debian ships it, with its patches applied.
# It needs no root and changes no setting of the system: the lists of sources are made from the
# system's and are in $BUILD/bench/apt.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
package=${1:?usage: source.sh PACKAGE}
apt=$BUILD/bench/apt
src=$BUILD/bench/src

fail()
{
	echo "source.sh: $*" >&2
	exit 1
}

apt_get()
{
	apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$apt/sources" \
		-o Dir::State::lists="$apt/lists" -o Dir::Cache="$apt/cache" \
		-o APT::Sandbox::User= -o Debug::NoLocking=1 "$@" >>"$apt/log" 2>&1
}

if [ -f "$src/$package/.complete" ]; then
	echo "$src/$package"
	exit 0
fi
[ -z "${LDB_NO_FETCH:-}" ] || fail "$package's source is not here, and tests fetch nothing: make deps"
command -v apt-get >/dev/null || fail "apt-get is not here: sources come from Debian's packages"
command -v dpkg-source >/dev/null || fail "dpkg-source is missing: apt-get install dpkg-dev"
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial" "$src" || exit 1
for f in /etc/apt/sources.list.d/*.sources; do
	[ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" >"$apt/sources/${f##*/}"
done
for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
	[ -f "$f" ] && sed -n 's/^deb[ \t]/deb-src /p' "$f" >"$apt/sources/${f##*/}.list"
done
[ -n "$(find "$apt/lists" -name '*_Sources*' 2>/dev/null)" ] || apt_get update ||
	fail "cannot read the lists of source packages: see $apt/log"
rm -rf "$src/$package" "$apt/$package"
mkdir -p "$apt/$package" && cd "$apt/$package" || exit 1
# A mirror may list a version that it does not have yet, or has removed: then an older one is used.
fetch()
{
	apt_get source --download-only "$package" && return
	for v in $(apt-cache -o Dir::State::lists="$apt/lists" -o Dir::Etc::sourcelist=/dev/null \
			-o Dir::Etc::sourceparts="$apt/sources" showsrc "$package" 2>/dev/null |
			sed -n 's/^Version: //p' | sort -rV); do
		rm -f ./*.dsc
		apt_get source --download-only "$package=$v" && return
	done
	return 1
}
fetch || fail "cannot fetch $package: see $apt/log"
dpkg-source --no-check -x ./*.dsc "$src/$package" >>"$apt/log" 2>&1 ||
	fail "cannot unpack $package: see $apt/log"
touch "$src/$package/.complete"
echo "$src/$package"
