# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the scripts of kmod/, and by others that need a guest's kernel: where
# things are stored, how packages are fetched.

: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${BUILD:=$TOP/build}"
: "${CC:=gcc}" "${CXX:=g++}"
KMOD=$TOP/tests/kmod
# The cache is outside of the repository: kernels are large and stay after a "make clean".
CACHE=${LDB_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/ldb}
LC_ALL=C
export TOP BUILD CC CXX KMOD CACHE LC_ALL

note()
{
	echo "$(basename "$0"): $*" >&2
}

die()
{
	note "$*"
	exit 1
}

# Tests may not download anything; tests/scripts/fetch.sh does this before.
may_fetch()	# what
{
	[ -z "${LDB_NO_FETCH:-}" ] || { note "$1 is not here, and tests fetch nothing: make deps"; return 1; }
}

# Fetches a package's file without installing it and unpacks it into a folder.
# The folder appears when it is complete, so an interrupted run leaves nothing.
unpack_deb()	# package[=version] folder
{
	[ ! -d "$2" ] || return 0
	may_fetch "package $1" || return 1
	mkdir -p "$CACHE" || return 1
	deb_tmp=$(mktemp -d "$CACHE/deb.XXXXXX") || return 1
	# apt-get's own user may not write there: apt-get then says so and fetches as root.
	(cd "$deb_tmp" && apt-get -q download "$1") >"$deb_tmp/log" 2>&1 &&
	mkdir "$deb_tmp/tree" && dpkg-deb -x "$deb_tmp"/*.deb "$deb_tmp/tree" &&
	{ mv -T "$deb_tmp/tree" "$2" 2>/dev/null || [ -d "$2" ]; }
	deb_rc=$?
	[ "$deb_rc" -eq 0 ] || note "cannot fetch $1: $(grep '^E:' "$deb_tmp/log" | head -n 1)"
	rm -rf "$deb_tmp"
	return "$deb_rc"
}

newest_version()	# package: prints the newest version that apt can fetch
{
	apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ && $2 != "(none)" { print $2 }'
}

# Puts a file into a guest's tree, a program together with the libraries it needs.
tree_add()	# tree file[:path]
{
	add_from=${2%%:*}
	add_to=${2#*:}
	[ "$add_to" != "$2" ] || add_to=/bin/${2##*/}
	[ -f "$add_from" ] || { note "no file $add_from"; return 1; }
	mkdir -p "$1${add_to%/*}" && cp -L "$add_from" "$1$add_to" || return 1
	for add_lib in $(ldd "$add_from" 2>/dev/null | grep -o '/[^ ]*'); do
		[ -e "$1$add_lib" ] || install -D -m 755 "$add_lib" "$1$add_lib" || return 1
	done
}

# Skips the test, or fails if skipping would hide that nothing was tested.
cannot()	# why
{
	if [ "${CI:-}" = true ]; then
		echo "not ok 1 - guests can be run"
		echo "# $1"
		echo "1..1"
		exit 1
	fi
	echo "1..0 # SKIP $1"
	exit 77
}

need_guests()	# programs without which vm.sh and the builds do not work
{
	for tool in qemu-system-x86_64:qemu-system-x86 cpio:cpio busybox:busybox-static; do
		command -v "${tool%%:*}" >/dev/null || cannot "no ${tool%%:*}: package ${tool#*:}"
	done
	# A dynamic busybox would need libraries in every guest.
	! ldd "$(command -v busybox)" >/dev/null 2>&1 || cannot "busybox is not static: package busybox-static"
}

# Builds a folder's modules elsewhere: kbuild writes beside the sources.
build_module()	# folder headers to
{
	rm -rf "$3"
	mkdir -p "$3" && cp -R "$1/." "$3/" &&
	make -C "$2" M="$3" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$3/build.log" 2>&1 </dev/null
}
