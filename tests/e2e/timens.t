# SPDX-License-Identifier: GPL-2.0-or-later
# Tests time namespaces: CLOCK_MONOTONIC of the program differs from that of the recorder by more
# than a day, and still all times of a trace lie within a minute.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

[ "$(id -u)" -eq 0 ] || skip_all "not root"
unshare -T --monotonic 100000 --fork true 2>/dev/null || skip_all "no time namespaces here"

cat >nap.c <<'EOC'
#include <unistd.h>

__attribute__((noinline)) void nap(void)
{
	usleep(10000);
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < (argc > 1 ? 3000 : 60); i++)
		nap();
}
EOC
cc_ldb -g -O1 nap.c -o nap || exit 1
# shellcheck disable=SC2086	# link_runtime is several words
cc_ldb -g -O1 nap.c -o linked -Wl,--no-as-needed $link_runtime || exit 1
away="unshare -T --monotonic 100000 --fork"

ticks()	# file
{
	trace-cat "$1" func | sed -n 's/.* end=\(-\{0,1\}[0-9]*\).*/\1/p'
	trace-cat "$1" sched | sed -n 's/.* tick=\(-\{0,1\}[0-9]*\).*/\1/p'
}

whole()	# name file: checks that each row's time is within a minute (a tick is at least 0.1 ns)
{
	ticks "$2" >ticks.txt
	if [ "$(trace-cat "$2" func | wc -l)" -ge 5 ] &&
	   awk '$1 < 0 || $1 > 6e11 { n++ } END { exit n > 0 || NR == 0 }' ticks.txt &&
	   ldb-report -i "$2" | grep -Eq ': [0-9.]+ (ms|s) recorded' &&
	   ! ldb-report -i "$2" | grep -Eq '[0-9]{3,} s recorded'; then
		pass "$1"
	else
		fail "$1"
		diag "$(sort -n ticks.txt | sed -n '1p;$p')" "$(ldb-report -i "$2" | tail -n 8)"
	fi
}

for clock in auto monotonic; do
	check "the program is in one, --clock=$clock" "ldb-record --clock=$clock -o in.data -- $away ./nap"
	whole "its trace has the right times" in.data
	check "the recorder is in one, --clock=$clock" "$away ldb-record --clock=$clock -o out.data -- ./nap"
	whole "its trace has the right times" out.data
done
mv linked "nap$$"
$away "./nap$$" long &
wait_for 5 "pidof nap$$"
check "attached to from outside" "ldb-record --clock=monotonic -o at.data -p $(pidof "nap$$") -d 0.5"
pkill -x "nap$$"
wait
whole "its trace has the right times" at.data
finish
