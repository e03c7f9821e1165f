# SPDX-License-Identifier: GPL-2.0-or-later
# Runs ldb-why on what other tests record: every request must add up, and be explained.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
need_build
build_why

for program in figure1.cc queue.cc convoy.c requests.c server.c c11-threads.c; do
	name=${program%.*}
	case $program in
	*.cc) cxx_ldb -O2 -g "$PROGRAMS/$program" -o "$name" -pthread || exit 1 ;;
	*.c) cc_ldb -std=gnu11 -O2 -g "$PROGRAMS/$program" -o "$name" -pthread || exit 1 ;;
	esac
done

other()	# name arguments...
{
	other_name=$1
	shift
	check "$other_name: recorded" "record_one $other_name.data $other_name.facts ./$other_name $*"
	[ -z "$out" ] || printf '%s\n' "$out" | grep '^# '
	ok "$other_name: explained" eval "ldb-why -i $other_name.data --json >$other_name.why"
	jq .requests "$other_name.why" | why_firsts | sed 's/^/#   /'
}

other figure1 -s 1 -q
other queue 1000
other convoy 100
other requests 1000
other server 2
other c11-threads

judge_sums
judge_coverage
finish
