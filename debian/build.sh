#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make deb: copies the sources to $BUILD/deb/ldbtrace-VERSION, adds a package for each GCC
# whose plugin headers are here, and calls dpkg-buildpackage.  The packages, and nothing else,
# are in $BUILD/deb then.  Two builds of the same commit are identical to the byte, whatever
# the folder and the time.

TOP=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$TOP/build}
deb=$BUILD/deb
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' "$TOP/debian/changelog")
work=$deb/ldbtrace-$version

fail()
{
	echo "make deb: $1" >&2
	exit 1
}

# Copies the sources as they are here, without build results.
copy_sources()
{
	cd "$TOP" || exit 1
	if [ -e .git ] && command -v git >/dev/null; then
		git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$work"
	else
		tar -c --exclude=./build --exclude=./.git . | tar -x -C "$work"
	fi
}

# A plugin works in the GCC that it was built for, in any of Debian's revisions of it.
plugin_package()	# major
{
	full=$(gcc-"$1" -dumpfullversion) || exit 1
	sed "s/@N@/$1/g; s/@FROM@/$full/; s/@TO@/${full%.*}.$((${full##*.} + 1))~/" control.plugin.in >>control
	echo "usr/lib/gcc/*/$1/plugin" >"gcc-$1-plugin-ldb.install"
	echo "usr/lib/*/ldb-gcc-$1.so" >>"gcc-$1-plugin-ldb.install"
	echo "activate-noawait ldconfig" >"gcc-$1-plugin-ldb.triggers"
}

# The calling make has its own PREFIX and BUILD.
unset BUILD PREFIX LIBDIR DESTDIR CC CXX MAKEFLAGS MAKELEVEL MAKEOVERRIDES
majors=$(make -s -C "$TOP/gcc-plugin" majors)
rm -rf "$deb"
mkdir -p "$work" && copy_sources || fail "cannot copy the sources to $work"
cd "$work/debian" || exit 1
list=$(for n in $majors; do printf 'gcc-%s-plugin-dev, ' "$n"; done)
names=$(for n in $majors; do printf 'gcc-%s-plugin-ldb, ' "$n"; done)
sed "s/@PLUGIN_DEV@/${list%, }/; s/@PLUGINS@/${names%, }/" control.in >control
for n in $majors; do
	plugin_package "$n"
done
cd "$work" && dpkg-buildpackage -b -us -uc >"$deb/log" 2>&1 ||
	{ tail -n 20 "$deb/log" >&2; fail "dpkg-buildpackage failed: $deb/log has it all"; }
rm -rf "$work"
cd "$deb" && ls -1 ./*.deb
