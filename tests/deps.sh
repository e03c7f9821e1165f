#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What ldb needs from Debian.
#
#	tests/deps.sh			install what is missing, for building and testing
#	tests/deps.sh --check [build]	only look: exit status 0, or 1 and one line
#					("build": without what only the tests need)
#	tests/deps.sh --list		the packages that are missing
#
# Uses nothing but sh and what every Debian has, so that it runs before make and
# gcc are there.  Nothing is installed, and apt-get is not called, when nothing is
# missing.  Without root it prints the command to give and stops.

: "${CC:=gcc}" "${CXX:=g++}"
missing=

have()
{
	command -v "$1" >/dev/null 2>&1
}

need()	# package
{
	missing="$missing $1"
}

header()	# header package
{
	echo "#include <$1>" | $CC -E -x c - >/dev/null 2>&1 || need "$2"
}

look()	# build | all
{
	have make || need make
	have pkg-config || need pkg-config
	# Version 12 is what Debian 12's gcc is; another $CC brings its own.
	major=12
	if have "$CC"; then
		major=$($CC -dumpversion | cut -d. -f1)
		plugin=$($CC -print-file-name=plugin)
		[ -f "$plugin/include/gcc-plugin.h" ] || need "gcc-$major-plugin-dev"
		header stdlib.h libc6-dev
		header libelf.h libelf-dev
		header elfutils/libdw.h libdw-dev
		header zstd.h libzstd-dev
	else
		need gcc
		need libc6-dev
		need "gcc-$major-plugin-dev"
		need libelf-dev
		need libdw-dev
		need libzstd-dev
	fi
	have "$CXX" || need g++
	[ "$1" = build ] && return
	have jq || need jq
	have mandoc || need mandoc
}

hint()
{
	echo "ldb: missing:$missing: run sh tests/deps.sh, or $command" >&2
}

case ${1:-} in
--check | --list | "") ;;
*) echo "deps.sh: unknown option $1: see the head of $0" >&2; exit 2 ;;
esac

look "${2:-all}"
# Two probes may ask for the same package.
missing=$(for p in $missing; do echo "$p"; done | sort -u | tr '\n' ' ')
missing=${missing:+ ${missing% }}
if [ "${1:-}" = --list ]; then
	for p in $missing; do echo "$p"; done
	exit 0
fi
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
command="$install"
[ "$(id -u)" -eq 0 ] || command="sudo $install"
if [ "${1:-}" = --check ]; then
	hint
	exit 1
fi
if ! have apt-get; then
	echo "ldb: missing:$missing: no apt-get here: install what these Debian packages hold" >&2
	exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
	echo "ldb: missing:$missing: not root: run: sudo apt-get update && $command" >&2
	exit 1
fi

echo "+ apt-get update && $install"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
# An old package list is often good enough when the network is not there.
apt-get -q update </dev/null || echo "ldb: apt-get update failed: trying with the lists at hand" >&2
if ! $install </dev/null; then
	echo "ldb: apt-get could not install$missing: see its message above" >&2
	exit 1
fi
