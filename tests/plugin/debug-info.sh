# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that the set of instrumented functions does not depend on -g: the plugin must print the same
# decisions with and without it.
. "$TOP/tests/lib/engine.sh"

flags="-I$TOP/tools -I$TOP/libldb/include -I$TOP/kmod/uapi -D_GNU_SOURCE -DLDB_VERSION=\"x\" -w
	-fplugin=$PLUGIN -fplugin-arg-ldb-verbose -c -o /dev/null"

decided()	# compiler file option...
{
	compiler=$1
	shift
	# shellcheck disable=SC2086	# options
	$compiler "$@" $flags 2>&1
}

for level in O2 ${LDB_TEST_ALL:+O0 Os}; do
	: >without
	: >with
	for file in "$TOP/tools/trace/"*.c "$TOP/tests/programs/"[fqn]*.cc; do
		case $file in *.cc) compiler=$CXX ;; *) compiler=$CC ;; esac
		decided "$compiler" "$file" -$level >>without
		decided "$compiler" "$file" -$level -g >>with
	done
	diag "-$level: $(grep -c instrumented with) functions"
	ok "-$level: more than 50 functions are instrumented" \
		test "$(grep -c ': instrumented' with)" -gt 50
	ok "-$level: with -g the same functions are instrumented" cmp without with
done
finish
