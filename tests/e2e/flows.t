# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that calls between libraries are counted exactly, by caller, through each kind of linkage
# table and dlsym(), and timed as the program itself times them; and that the program does what it
# does without ldb.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

build()	# eager, lazy or noplt
{
	case $1 in
	eager) link=-Wl,-z,now ;;
	lazy) link=-Wl,-z,lazy ;;
	noplt) link="-fno-plt -Wl,-z,now" ;;
	esac
	# shellcheck disable=SC2086	# options
	for part in 1:one 3:three 0:flows; do
		case $part in
		0:*) set -- -o flows -L. -lone -ltwo "-Wl,-rpath,$PWD" ;;
		*) set -- -fPIC -shared -o "lib${part#*:}.so" ;;
		esac
		$CXX -O2 -fno-builtin $link "-DPART=${part%:*}" "$PROGRAMS/flows.cc" "$@" -lm -pthread || exit 1
		[ "$part" != 1:one ] ||
			$CXX -O2 -fno-builtin -fno-plt -fPIC -shared -DPART=2 "$PROGRAMS/flows.cc" -o libtwo.so -lm -pthread ||
			exit 1
	done
}

# Prints "count caller function" for each function.
functions()	# file.json
{
	jq -r '.functions[] | "\(.calls) \(.caller) \(.function | sub("\\(.*"; ""))"' "$1" | sort
}

counts()	# name file program...: compares the recording with the calls that the program prints
{
	name=$1 file=$2
	shift 2
	rm -f "$file"
	ok "$name: recorded" eval "ldb-record --flows -q -o $file -- $* >wanted 2>times"
	ok "$name: ldb-flows" eval "ldb-flows -q -i $file --json >$file.json"
	functions "$file.json" >counted
	sort wanted >sorted
	comm -23 sorted counted >"$WORK/list"
	ok_empty "$name: each count is exact, by caller"
	check_jq "$name: nothing was lost" "$file.json" '.lost | .no_slot + .limit + .threads + .bad_rows == 0'
}

for how in eager lazy noplt; do
	build $how
	counts $how $how.data ./flows 1000 3
	# The program has measured the calls of spin() itself, around them and inside.  On a busy
	# machine these times are farther apart, but the recorded time must be between them.
	read -r spun_ns inside_ns _ <times
	check_jq "$how: times are between those of the program around the calls and inside" $how.data.json \
		"[.functions[] | select(.symbol == \"spin\") | .total_ns] |
		 length == 1 and .[0] <= $spun_ns * 1.01 and .[0] >= $inside_ns * 0.99"
done
counts "many threads" threads.data ./flows 300 40
check_jq "an API that is called less than a million times a second is always timed" threads.data.json \
	'.functions[] | select(.symbol == "spin") | .timed == .calls'

# Tests the kinds of linkage tables, and calls that are only counted.
flags_of()	# file name
{
	trace-cat "$1" | sed -n "s/^flow_api .* flags=\([0-9]*\) .* name=$2\$/\1/p" | sort -u | tr '\n' ' '
}
build eager
ldb-record --flows -q -o k.data -- ./flows 10 1 >/dev/null 2>&1
check "by dlsym()" "flags_of k.data three_add" 0 '^4 $'
check "by .rela.dyn, in library two, and .rela.plt" "flags_of k.data qsort" 0 '^1 2 $'
check "dlopen() is counted, but not timed" "flags_of k.data dlopen" 0 '^9 $'

# Tests that the program behaves as without ldb.
ldb-record --flows -q -o s.data -- ./flows 100 2 >with 2>/dev/null
./flows 100 2 >without 2>/dev/null
ok "the same output" cmp with without
check "the same exit status" "ldb-record --flows -q -o e.data -- sh -c 'exit 7'" 7
check "and signal" "ldb-record --flows -q -o e.data -- sh -c 'kill -9 \$\$'" 137
check_not "its environment has nothing of ldb's" "ldb-record --flows -q -o e.data -- env" 0 "LDB_(RECORD|FLOWS|PRELOADED)"

# The trace of a program that is killed contains its sums.
cat >killed.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 1234; i++)
		getppid();
	kill(getpid(), SIGKILL);
	pause();
}
END
$CC -O2 killed.c -o killed || exit 1
ok "killed" eval "ldb-record --flows -q -o d.data -- ./killed; test \$? = 137"
check "its sums are there" "ldb-flows -q -i d.data --json | jq -r '.functions[] | select(.symbol == \"getppid\").calls'" 0 '^1234$'

# Calls that had not returned have sums, too, because the runtime lists them from time to time.
cat >open.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static int compare(const void *a, const void *b)
{
	usleep(300000);
	raise(SIGSEGV);
	return a < b ? -1 : a > b;
}
int main(void)
{
	int v[2] = { 2, 1 };

	qsort(v, 2, sizeof(v[0]), compare);
}
END
$CC -O0 open.c -o open || exit 1
ok "it crashes" eval "ldb-record --flows -q -o o.data -- ./open; test \$? = 139"
ldb-flows -q -i o.data --json >o.json
check_jq "the call that was in progress has its time" o.json \
	'.functions[] | select(.symbol == "qsort") | .timed == 1 and .total_ns >= 300000000'
check_jq "without what the callback waited" o.json \
	'(.functions[] | select(.symbol == "qsort").total_ns) as $all |
	 .components[] | select(.component | startswith("libc.")) | .self_ns <= $all - 299000000'
check "it is a row, too" "trace-cat o.data | grep '^flow_call .*flags=1 '" 0 .

# Tests that `ldb-ctl snapshot` writes the sums while the program runs.
cat >waits.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < 555; i++)
		getppid();
	fclose(fopen(argv[1], "w"));
	while (!access(argv[1], F_OK))
		usleep(20000);
	return 0;
}
END
$CC -O2 waits.c -o waits || exit 1
ldb-record --flows -q -o w.data -- ./waits "$PWD/there" &
recorder=$!
wait_for 20 "test -e there"
check "a snapshot" "ldb-ctl \$(pgrep -f \"^./waits $PWD/there\") snapshot" 0 '^$'
check "has the sums as of now" \
	"ldb-flows -q -i w.data --json 2>/dev/null | jq '.functions[] | select(.symbol == \"getppid\").calls'" 0 '^555$'
rm there
wait $recorder
check "the end replaces it" "ldb-flows -q -i w.data --json | jq '.functions[] | select(.symbol == \"getppid\").calls'" 0 '^555$'

# A forked child has its parent's tables, and an executed program has its own.
cat >executed.c <<'END'
#include <unistd.h>
int main(void)
{
	for (int i = 0; i < 777; i++)
		getppid();
	return 0;
}
END
cat >forks.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int is_followed(void)	/* the memory for sums is mapped */
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");
	int found = 0;

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, "ldb-flows") != NULL;
	if (f)
		fclose(f);
	return found;
}
int main(void)
{
	if (!fork()) {
		for (int i = 0; i < 2000 && !is_followed(); i++)
			usleep(10000);
		usleep(300000);
		for (int i = 0; i < 1234; i++)
			getpgrp();
		exit(0);
	}
	wait(NULL);
	if (!fork()) {
		execl("./executed", "executed", NULL);
		_exit(1);
	}
	wait(NULL);
	return 0;
}
END
$CC -O2 executed.c -o executed && $CC -O2 forks.c -o forks || exit 1
check "with children" "ldb-record --flows -q -o f.data -- ./forks" 0
ldb-flows -q -i f.data --json >f.json
check_jq "a child that was forked" f.json '.functions[] | select(.symbol == "getpgrp") | .calls == 1234 and .caller == "forks"'
check_jq "a program that was executed" f.json '.functions[] | select(.symbol == "getppid") | .calls == 777 and .caller == "executed"'
check_jq "the time outside of calls belongs to it" f.json '.components[] | select(.component == "executed") | .self_ns > 0'
check_jq "the sum is all time" f.json '([.components[].self_ns] | add) == .lifetime_ns'

# Usage
check_one_line "not without the runtime" "ldb-record --flows --kernel-only -- true" 2 'leave out --kernel-only'
check_one_line "not with another clock" "ldb-record --flows --clock=monotonic -- true" 2 'leave out --clock=monotonic'
finish
