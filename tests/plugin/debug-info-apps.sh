# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that the set of instrumented functions does not depend on -g, with memcached and
# sqlite, whose sources make deps has fetched.  Debugging statements in the middle of a
# function change what passes see, and large functions of other projects have more of them than
# the tests' own.
. "$TOP/tests/lib/engine.sh"

# Compares what the plugin prints about each function at these debug levels and at -g0.
compare()	# name level "debug levels" file...
{
	name=$1 level=$2 levels=$3
	shift 3
	for debug in g0 $levels; do
		for file; do
			$CC "-$level" "-$debug" -DHAVE_CONFIG_H -DNDEBUG -w -I. "-fplugin=$PLUGIN" \
				-fplugin-arg-ldb-verbose -c -o out.o "$file" 2>&1 || echo "$file" >>"$WORK/$name.failed"
		done >"$WORK/$name.$debug"
	done
	ok "$name -$level: each file compiles" test ! -e "$WORK/$name.failed"
	diag "$name -$level: $(grep -c ': instrumented' "$WORK/$name.g0") of $(wc -l <"$WORK/$name.g0") functions"
	ok "$name -$level: more than 100 functions are instrumented" \
		test "$(grep -c ': instrumented' "$WORK/$name.g0")" -gt 100
	for debug in $levels; do
		ok "$name -$level: with -$debug the same functions are instrumented" \
			cmp "$WORK/$name.g0" "$WORK/$name.$debug"
	done
}

if src=$(sh "$TOP/tests/bench/source.sh" memcached 2>source.err) && pkg-config --exists libevent; then
	cp -a "$src" memcached
	cd memcached && ./configure >"$WORK/configure" 2>&1
	compare memcached O2 "g g3" memcached.c hash.c slabs.c items.c assoc.c thread.c daemon.c util.c cache.c bipbuffer.c \
		logger.c crawler.c itoa_ljust.c slab_automove.c proto_text.c proto_bin.c
	cd "$WORK" || exit 1
else
	skip "memcached" "$(tail -n 1 source.err) or no libevent"
fi
if command -v tclsh >/dev/null && src=$(sh "$TOP/tests/bench/source.sh" sqlite3 2>source.err); then
	mkdir sqlite && cd sqlite || exit 1
	{ "$src/configure" --disable-readline && make sqlite3.c; } >"$WORK/configure" 2>&1
	compare sqlite O1 g sqlite3.c
	cd "$WORK" || exit 1
else
	skip "sqlite" "no tclsh, or $(tail -n 1 source.err 2>/dev/null)"
fi
finish
