#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What ldb needs from Debian.
#
#	tests/deps.sh			install what is missing, for building and testing
#	tests/deps.sh --debug		and for building the kernel of make check-kmod-debug
#	tests/deps.sh --bench		and for make bench: the programs it measures are
#					built from Debian's sources, beside other tools
#	tests/deps.sh --build		what building needs, and make demo
#	tests/deps.sh --check [build]	only look: exit status 0, or 1 and one line
#					("build": without what only the tests need)
#	tests/deps.sh --list		the packages that are missing
#
# Uses nothing but sh and what every Debian has, so that it runs before make and
# gcc are there.  Nothing is installed, and apt-get is not called, when nothing is
# missing.  Without root it prints the command to give and stops.
#
# What only BPF programs, the fuzz targets, the guests of tests/kmod, the browser, pprof, memcached and the bench need is wanted, not
# needed: where it cannot be had, those tests are skipped, and the rows of the bench say
# what is missing.

: "${CC:=gcc}" "${CXX:=g++}"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
missing=
wanted=
install_cmd="apt-get install -y --no-install-recommends"

have()
{
	command -v "$1" >/dev/null 2>&1
}

need()	# package
{
	missing="$missing $1"
}

want()	# package
{
	wanted="$wanted $1"
}

has_header()
{
	echo "#include <$1>" | $CC -E -x c - >/dev/null 2>&1
}

header()	# header package
{
	has_header "$1" || need "$2"
}

look()	# build | all
{
	have make || need make
	have pkg-config || need pkg-config
	if have "$CC"; then
		major=$($CC -dumpversion | cut -d. -f1)
		plugin=$($CC -print-file-name=plugin)
		[ -f "$plugin/include/gcc-plugin.h" ] || need "gcc-$major-plugin-dev"
		header stdlib.h libc6-dev
		header libelf.h libelf-dev
		header elfutils/libdw.h libdw-dev
		header zstd.h libzstd-dev
		header zlib.h zlib1g-dev
		header sqlite3.h libsqlite3-dev
		header babeltrace2/babeltrace.h libbabeltrace2-dev
		pkg-config --exists libtraceevent 2>/dev/null || need libtraceevent-dev
	else
		# The one that this Debian has; a compiler that is there brings its own.
		case $(sed -n 's/^VERSION_ID="*\([0-9]*\).*/\1/p' /etc/os-release 2>/dev/null) in
		13) major=14 ;;
		*) major=12 ;;
		esac
		need gcc
		need libc6-dev
		need "gcc-$major-plugin-dev"
		need libelf-dev
		need libdw-dev
		need libzstd-dev
		need zlib1g-dev
		need libsqlite3-dev
		need libbabeltrace2-dev
		need libtraceevent-dev
	fi
	have "$CXX" || need g++
	look_bpf
	[ "$1" = build ] && return
	have jq || need jq
	have mandoc || need mandoc
	have dwz || need dwz
	have sqlite3 || need sqlite3
	have protoc || need protobuf-compiler
	have babeltrace2 || need babeltrace2
	have go || want golang-go
	# memcached's source and what it is built with.
	have dpkg-source || want dpkg-dev
	has_header event.h || want libevent-dev
	look_fuzz
	look_browser
	look_guests
}

# Without them ldb-record has kernel events from the module and perf alone.
look_bpf()
{
	have clang || have clang-14 || want clang
	has_header bpf/libbpf.h || want libbpf-dev
}

look_fuzz()
{
	set -- /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a
	[ -f "$1" ] || want libclang-rt-dev
}

# The pages are looked at in a browser; npm gets its driver when it is used
# (tests/browser/run.sh).
look_browser()
{
	have chromium || want chromium
	have node || want nodejs
	have npm || want npm
}

# Kernels of the two series that Debian 12 has; the images are fetched when they are
# used (tests/kmod/kernels.sh), because installing them would build initrds.
look_guests()
{
	have qemu-system-x86_64 || want qemu-system-x86
	have busybox || want busybox-static
	have cpio || want cpio
	have dkms || want dkms
	set -- /usr/src/linux-headers-6.1.*-cloud-amd64
	[ -d "$1" ] || want linux-headers-cloud-amd64
	set -- /usr/src/linux-headers-6.12.*-cloud-amd64
	[ -d "$1" ] || want linux-headers-6.12-cloud-amd64
}

look_debug()
{
	for tool in flex bison bc; do
		have "$tool" || need "$tool"
	done
	have xz || need xz-utils
	header openssl/opensslv.h libssl-dev
}

look_bench()
{
	have clang || want clang
	set -- /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.xray-*.a
	[ -f "$1" ] || want libclang-rt-dev
	have uftrace || want uftrace
	have perf || want linux-perf
	have coz || want coz-profiler
	have tclsh || want tcl
	[ -f /usr/lib/tcl8.6/tclConfig.sh ] || want tcl-dev
}

refresh()
{
	[ -z "${refreshed:-}" ] || return
	refreshed=1
	# An old package list is often good enough when the network is not there.
	apt-get -q update </dev/null || echo "ldb: apt-get update failed: trying with the lists at hand" >&2
}

# One by one: one that this Debian does not have must not keep out the others.
install_wanted()
{
	refresh
	for p in $wanted; do
		echo "+ $install_cmd $p"
		$install_cmd "$p" </dev/null ||
			echo "ldb: apt-get could not install $p: what needs it will be skipped" >&2
	done
}

hint()
{
	echo "ldb: missing:$missing: run sh tests/deps.sh, or $command" >&2
}

case ${1:-} in
--check | --list | --build | --debug | --bench | "") ;;
*) echo "deps.sh: unknown option $1: see the head of $0" >&2; exit 2 ;;
esac

[ "${1:-}" != --build ] || set -- --build build
look "${2:-all}"
[ "${1:-}" != --debug ] || look_debug
[ "${1:-}" != --bench ] || look_bench
# Two probes may ask for the same package.
missing=$(for p in $missing; do echo "$p"; done | sort -u | tr '\n' ' ')
missing=${missing:+ ${missing% }}
if [ "${1:-}" = --list ]; then
	for p in $missing $wanted; do echo "$p"; done
	exit 0
fi
if [ "${1:-}" != --check ] && [ -n "$wanted" ] && [ "$(id -u)" -eq 0 ] && have apt-get; then
	install_wanted
fi
if [ "${1:-}" = --bench ] && [ -n "$wanted" ] && [ "$(id -u)" -ne 0 ]; then
	echo "ldb: not root: rows of the bench will be missing without: sudo $install_cmd$wanted" >&2
fi
[ -n "$missing" ] || exit 0

install="$install_cmd$missing"
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
refresh
if ! $install </dev/null; then
	echo "ldb: apt-get could not install$missing: see its message above" >&2
	exit 1
fi
