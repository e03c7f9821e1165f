# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-record -- CMD: output, exit status and environment of the program are as without
# it; if it cannot be recorded, one line says so.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/app.c" -o app || exit 1
cc_ldb -O2 -g "$PROGRAMS/forker.c" -o forker -pthread || exit 1

check "the program runs alone" "./app 50" 0 'app: end'
check "and with the runtime preloaded and no recorder" \
	"LD_PRELOAD=$RUNTIME ./app 50" 0 'app: end'

./app 50 >want.out
ldb-record -o app.data -- ./app 300 >got.out 2>record.err
status=$?
ok "recorded: exit status 0" test "$status" -eq 0
ok "recorded: stdout is the program's alone" cmp want.out got.out
diag "$(tail -n 3 record.err)"
check "the report names a function" \
	"ldb-report -i app.data" 0 'spin_us'
check "the report names its caller and the line of the call" \
	"ldb-report -i app.data | grep -A 1 spin_us" 0 'step.*app\.c:[0-9]+'
check "-i defaults to ldb.data" "ln -s app.data ldb.data && ldb-report && rm ldb.data" 0 'spin_us'

check "exit status 7 is passed on" "ldb-record -o s.data -- ./app 50 7" 7

mkdir default && cd default || exit 1
check "-o defaults to ldb.data" "ldb-record -- ../app 50 && ls" 0 '^ldb\.data$'
check "an old ldb.data is kept as ldb.data.old" "ldb-record -- ../app 50 && ls" 0 '^ldb\.data\.old$'
cd .. || exit 1

check "the program does not see LD_PRELOAD" "ldb-record -o s.data -- ./forker env LD_PRELOAD" 0 \
	'^LD_PRELOAD is not set$'
libm=$(ldd "$(command -v mawk || command -v awk)" | sed -n 's/.*=> \(.*libm\.so[^ ]*\).*/\1/p')
if [ -n "$libm" ]; then
	check "or sees its old value" \
		"ldb-record -o s.data -- env LD_PRELOAD=$libm ./forker env LD_PRELOAD; LD_PRELOAD=$libm ldb-record -o s.data -- ./forker env LD_PRELOAD" 0 \
		"^LD_PRELOAD=$libm\$"
else
	skip "or sees its old value" "no library to preload"
fi
check "the program does not see LDB_RECORD" "ldb-record -o s.data -- ./forker env LDB_RECORD" 0 \
	'^LDB_RECORD is not set$'

cat >script.sh <<-'END'
	#!/bin/sh
	echo script begins
	./app 100
	exit 3
END
chmod +x script.sh
check "a script: its status and output" "ldb-record -o s.data -- ./script.sh" 3 'script begins'
check "a script: the program in it is recorded" "ldb-report -i s.data" 0 'spin_us'

ldb-record -o stdin.data -- cat 2>/dev/null <want.out >got.out
ok "stdin reaches the program" cmp want.out got.out

if cc_ldb -O2 -g -static "$PROGRAMS/app.c" -o app-static 2>/dev/null; then
	check "a static executable runs" "./app-static 50" 0 'app: end'
	check "recording it says that it is static" "ldb-record -o s.data -- ./app-static 50" 1 \
		'^ldb-record: .*static'
else
	skip "a static executable runs" "no static libc"
fi

finish
