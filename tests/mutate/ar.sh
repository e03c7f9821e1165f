#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# In the place of ar (run.sh): the tools' objects become a shared library, and the
# "archive" a line that names it.  So nobody who links it has to be linked again when
# a mutant has changed one object.
#
#	ar.sh rcs ARCHIVE OBJECT...
#
# MUTATE_CC: the compiler, with what linking wants, for instance "gcc --coverage".

archive=$2
shift 2
so=${archive%.a}.so
${MUTATE_CC:-gcc} -shared -Wl,-Bsymbolic -o "$so.new" "$@" -Wl,--as-needed -lzstd -ldw -lelf -ltraceevent -lsqlite3 \
	-lz -lstdc++ -lpthread -lm || exit 1
mv "$so.new" "$so"
echo "INPUT($so)" >"$archive"
# Older than whatever was linked with it.
touch -d 2000-01-01 "$archive"
