#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what ldb needs from Debian, by purpose.
#
#	tests/scripts/deps.sh [--check | --list] [PURPOSE]
#
#	demo	what make demo builds with
#	build	and what else the tools can have: kernel events by BPF programs
#	check	and what make check uses (the default), with what it fetches: fetch.sh
#	bench	and what make bench measures and compares with
#	debug	check, and what builds the kernels of make check-kmod-debug
#	deb	build, and what make deb needs
#
# It prints what is missing and how large it is, then installs it with apt-get; without root it
# prints the command and stops.  It uses nothing but sh and what every Debian has, so that it runs
# before make and gcc are there.  When nothing is missing apt-get is not called.  --check installs
# nothing: exit status 0, or 1 and one line; --list prints those that are missing.
#
# Optional packages that are not available are left out with a message: tests without them are
# skipped, rows of the bench say what is missing.

: "${CC:=gcc}" "${CXX:=g++}"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
missing=
wanted=
install_cmd="apt-get install -y --no-install-recommends"
debian=$(sed -n 's/^VERSION_ID="*\([0-9]*\).*/\1/p' /etc/os-release 2>/dev/null)

have()
{
	command -v "$1" >/dev/null 2>&1
}

need()	# package
{
	case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac
}

want()	# package
{
	case " $wanted " in *" $1 "*) ;; *) wanted="$wanted $1" ;; esac
}

has_header()
{
	echo "#include <$1>" | $CC -E -x c - >/dev/null 2>&1
}

# This is the search of tests/lib/json.sh.
has_jsonschema()
{
	python3 -c 'import jsonschema' 2>/dev/null || /usr/bin/python3 -c 'import jsonschema' 2>/dev/null
}

header()	# header package
{
	has_header "$1" || need "$2"
}

look_demo()
{
	have make || need make
	have pkg-config || need pkg-config
	if have "$CC"; then
		plugin=$($CC -print-file-name=plugin)
		[ -f "$plugin/include/gcc-plugin.h" ] ||
			need "gcc-$($CC -dumpversion | cut -d. -f1)-plugin-dev"
	else
		# An installed compiler determines the version; without one it is that of this
		# Debian's GCC.
		need gcc
		[ "$debian" = 13 ] && need gcc-14-plugin-dev || need gcc-12-plugin-dev
	fi
	have "$CXX" || need g++
	header stdlib.h libc6-dev
	header libelf.h libelf-dev
	header elfutils/libdw.h libdw-dev
	header zstd.h libzstd-dev
	header zlib.h zlib1g-dev
	header sqlite3.h libsqlite3-dev
	pkg-config --exists libtraceevent 2>/dev/null || need libtraceevent-dev
}

look_build()
{
	look_demo
	have clang || have clang-14 || want clang
	has_header bpf/libbpf.h || want libbpf-dev
}

look_check()
{
	look_build
	have jq || need jq
	have mandoc || need mandoc
	have dwz || need dwz
	have sqlite3 || need sqlite3
	have protoc || need protobuf-compiler
	have babeltrace2 || need babeltrace2
	have go || want golang-go
	have zsh || want zsh
	[ -f /usr/share/bash-completion/bash_completion ] || want bash-completion
	# These are for the schemas of what the tools print as JSON.
	has_jsonschema || want python3-jsonschema
	# These unpack and build the sources of memcached and sqlite.
	have dpkg-source || want dpkg-dev
	has_header event.h || want libevent-dev
	have tclsh || want tcl
	has_header liburing.h || want liburing-dev
	# These are for the fuzz targets.
	set -- /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a
	[ -f "$1" ] || want libclang-rt-dev
	# These are for the pages; npm gets the browser's driver (fetch.sh).
	have chromium || want chromium
	have node || want nodejs
	have npm || want npm
	look_guests
}

# These are the headers of the guests' kernels, and no image: installing an image would build
# an initrd.
look_guests()
{
	have qemu-system-x86_64 || want qemu-system-x86
	have busybox || want busybox-static
	have cpio || want cpio
	have dkms || want dkms
	# The first kernel is the system's own; the name of its package contains no version series.
	named=
	for series in $(sh "$(dirname "$0")/../kmod/kernels.sh" list); do
		set -- /usr/src/linux-headers-"$series".*-cloud-amd64
		[ -d "$1" ] || want "linux-headers${named:+-$series}-cloud-amd64"
		named=1
	done
}

look_debug()
{
	look_check
	for tool in flex bison bc; do
		have "$tool" || need "$tool"
	done
	have xz || need xz-utils
	header openssl/opensslv.h libssl-dev
}

look_bench()
{
	look_check
	set -- /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.xray-*.a
	[ -f "$1" ] || want libclang-rt-dev
	have uftrace || want uftrace
	have perf || want linux-perf
	have coz || want coz-profiler
	have ltrace || want ltrace
	have bpftrace || want bpftrace
	[ -f /usr/lib/tcl8.6/tclConfig.sh ] || want tcl-dev
}

look_deb()
{
	look_build
	[ -d /usr/share/doc/build-essential ] || need build-essential
	have dpkg-buildpackage || need dpkg-dev
	have dh || need debhelper
	have dh_dkms || need dh-dkms
}

# An old package list is often good enough when there is no network.
refresh()
{
	apt-get -q update </dev/null || echo "ldb: apt-get update failed: trying with the lists at hand" >&2
}

# A package that this Debian does not have must not block the others.
drop_unknown()
{
	known=
	for p in $wanted; do
		if LC_ALL=C apt-cache policy "$p" 2>/dev/null | grep -q 'Candidate: [^(]'; then
			known="$known $p"
		else
			echo "ldb: this system has no package $p: what needs it is skipped" >&2
		fi
	done
	wanted=$known
}

# Prints "34.5 MB to fetch, 120 MB on disk" with all dependencies, or nothing.  apt-get prints this
# in one of two forms; version 3 and later use the second.
size()	# package...
{
	# shellcheck disable=SC2046	# of two words
	LC_ALL=C apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 "$@" 2>/dev/null </dev/null |
		sed -n 's/^Need to get \(.*B\)\(\/.*\)* of archives.*/\1 to fetch/p
			s/^ *Download size: \([^/]*B\).*/\1 to fetch/p
			s/^After this operation, \(.*B\) of additional.*/\1 on disk/p
			s/^ *Space needed: \([^/]*B\).*/\1 on disk/p' | tr '\n' ',' | sed 's/,$//; s/,/, /g'
}

say_size()
{
	# shellcheck disable=SC2086	# a list
	set -- "$(size $missing $wanted)"
	echo "ldb: for $purpose:$missing$wanted${1:+: $1}"
}

mode=
case ${1:-} in
--check | --list) mode=${1#--}; shift ;;
-*) echo "deps.sh: unknown option $1: see the head of $0" >&2; exit 2 ;;
esac
purpose=${1:-check}
case $purpose in
demo | build | check | bench | debug | deb) "look_$purpose" ;;
*) echo "deps.sh: unknown purpose $purpose: demo, build, check, bench, debug or deb" >&2; exit 2 ;;
esac

command="$install_cmd$missing"
[ "$(id -u)" -eq 0 ] || command="sudo apt-get update && sudo $command"
case $mode in
list)
	for p in $missing $wanted; do echo "$p"; done
	exit 0
	;;
check)
	[ -n "$missing" ] || exit 0
	echo "ldb: missing:$missing: run sh tests/scripts/deps.sh $purpose, or $command" >&2
	exit 1
	;;
esac

if [ -n "$missing$wanted" ] && ! have apt-get; then
	echo "ldb: no apt-get here: install what these Debian packages hold:$missing$wanted" >&2
	[ -z "$missing" ] || exit 1
elif [ -n "$missing$wanted" ] && [ "$(id -u)" -ne 0 ]; then
	say_size >&2
	echo "ldb: not root: run: $command$wanted" >&2
	[ -z "$missing" ] || exit 1
elif [ -n "$missing$wanted" ]; then
	refresh
	drop_unknown
	say_size
	# shellcheck disable=SC2086	# lists
	if ! $install_cmd $missing $wanted </dev/null; then
		if [ -n "$missing" ] && ! $install_cmd $missing </dev/null; then
			echo "ldb: apt-get could not install$missing: see its message above" >&2
			exit 1
		fi
		for p in $wanted; do
			$install_cmd "$p" </dev/null ||
				echo "ldb: apt-get could not install $p: what needs it is skipped" >&2
		done
	fi
fi
case $purpose in
check | bench | debug) exec sh "$(dirname "$0")/fetch.sh" ;;
esac
