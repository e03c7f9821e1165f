# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that the checks in the plugin's matrix can fail.
. "$TOP/tests/lib/engine.sh"
src=$TOP/tests/plugin
flags="-O2 -w -DLEVEL=2 -DWITH_LDB -rdynamic -z execstack $src/control.c -o prog"

check "compiles" "cc_ldb $flags"
check "the unbroken program passes" ./prog 42
check "a chain that lost its frames" \
	"cc_ldb -DBREAK_CHAIN=NULL $flags && ./prog" 99 "broken: .*top is not what it was"
check "a chain with a frame too many" \
	"cc_ldb '-DBREAK_CHAIN=((struct ldb_frame *)builtin_env)' $flags && ./prog" \
	99 "broken: .*top is not what it was"
check "a function missing from the chain" \
	"cc_ldb -fplugin-arg-ldb-deny=second $flags && ./prog" \
	99 "third: level 1: is first, want second"
check "a setjmp that does not repair the chain" \
	"cc_ldb -fplugin-arg-ldb-deny=case_longjmp $flags; ./prog" 99 \
	"case_longjmp: level 0"
finish
