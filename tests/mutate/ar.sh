#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# This script replaces ar (run.sh): the tools' objects become a shared library, and the
# "archive" a line that names it.  So programs need not be linked again when a mutant has
# changed one object.
#
#	ar.sh rcs ARCHIVE OBJECT...
#
# MUTATE_CC: the compiler, with options for linking, for instance "gcc --coverage".

archive=$2
shift 2
so=${archive%.a}.so
${MUTATE_CC:-gcc} -shared -Wl,-Bsymbolic -o "$so.new" "$@" -Wl,--as-needed -lzstd -ldw -lelf -ltraceevent -lsqlite3 \
	-lz -lstdc++ -lpthread -lm || exit 1
mv "$so.new" "$so"
echo "INPUT($so)" >"$archive"
# The archive must be older than all programs that were linked with it.
touch -d 2000-01-01 "$archive"
