#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes seeds for the symbol reader: seed-symbol.sh FOLDER
#
# A few functions are compiled in the ways that tools/symbol distinguishes, and the files are joined
# as symbol.c takes them.

set -e
out=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$work"
id=0x5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f5f

cat >a.c <<'END'
int table[4];
static inline __attribute__((always_inline)) int twice(int x) { return table[x & 3] + x; }
__attribute__((noinline)) int helper(int x) { return twice(x) * 3; }
int _start(int x) { return helper(x) + twice(x + 1); }
END

le()	# bytes number: little-endian
{
	n=$2
	i=0
	while [ $i -lt "$1" ]; do
		# shellcheck disable=SC2059
		printf "\\$(printf %o $((n & 255)))"
		n=$((n >> 8))
		i=$((i + 1))
	done
}

part()	# role file
{
	le 1 "$1"
	le 2 "$(wc -c <"$2")"
	cat "$2"
}

# Makes a seed.  The addresses to be resolved are in the functions and the table of a file.
seed()	# name flags file-for-addresses role file ...
{
	name=$1
	le 1 "$2" >"$out/$name"
	addrs=$(nm "$3" | awk '$3 ~ /^(helper|_start|table)$/ { print $1 }' | head -n 3)
	# shellcheck disable=SC2086
	set -- "$name" $addrs -- "$@"
	shift
	nr=0
	list=
	while [ "$1" != -- ]; do
		list="$list $((0x$1)) $((0x$1 + 5))"
		nr=$((nr + 2))
		shift
	done
	shift 4
	le 1 $nr >>"$out/$name"
	for a in $list; do le 4 "$a" >>"$out/$name"; done
	while [ $# -gt 0 ]; do
		part "$1" "$2" >>"$out/$name"
		shift 2
	done
}

# Compiles a.c, without sections that no reader needs: they would only make seeds large.
build()	# output flags...
{
	o=$1
	shift
	gcc -O1 -nostdlib -static -fno-asynchronous-unwind-tables -Wl,--build-id=$id -Wl,-z,noseparate-code \
		-Wl,-z,norelro "$@" a.c -o "$o"
	objcopy -R .comment "$o"
}

for version in 2 4 5; do
	build "dwarf$version" -g -gdwarf-$version
	seed "dwarf$version" 4 "dwarf$version" 0 "dwarf$version"
done
build ranges -g -ffunction-sections
seed ranges 1 ranges 0 ranges
build shared -g -shared -fPIC
seed shared 4 shared 0 shared
build zipped -g -gz
seed zipped 0 zipped 0 zipped

# A debug file is found by build-id, or by a link with a checksum.
build whole -g
objcopy --only-keep-debug whole prog.debug
strip -o stripped whole
seed by-id 0 whole 0 stripped 1 prog.debug
objcopy --add-gnu-debuglink=prog.debug stripped linked
seed by-link 1 whole 0 linked 1 prog.debug

# Split DWARF.
gcc -O1 -g -gsplit-dwarf -c a.c -o a.o
gcc -nostdlib -static -Wl,--build-id=$id a.o -o split
objcopy -R .comment split
seed split 0 split 0 split 3 a.dwo

# A third file has the debug information that two files share.
if command -v dwz >/dev/null 2>&1; then
	cp whole one
	cp whole two
	if dwz -m common.alt one two 2>/dev/null && [ -f common.alt ]; then
		seed alt 0 one 0 one 2 common.alt
	fi
fi
