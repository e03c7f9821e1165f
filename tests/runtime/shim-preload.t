#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Every interposed name must bind to the runtime, if it is preloaded and if the program is linked
# with it.
. "$(dirname "$0")/../lib/engine.sh"

BINDS=$BUILD/tests/runtime/programs/shim-binds-plain

check "without the runtime nothing is interposed" "$BINDS" 1 '^([0-9]+) functions, \1 not interposed'
check "preloaded: everything is" "LD_PRELOAD=$RUNTIME $BINDS" 0 " 0 not interposed"
check "a program linked with the runtime builds" \
	"$CC -I$TOP/libldb -o linked $TOP/tests/runtime/shim-binds-plain.c -L$BUILD/lib -lldbtrace -shared-libgcc"
check "linked: everything is" "LD_LIBRARY_PATH=$BUILD/lib ./linked" 0 " 0 not interposed"
finish
