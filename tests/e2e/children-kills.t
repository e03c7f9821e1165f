# SPDX-License-Identifier: GPL-2.0-or-later
# Kills any process of a family with kill -9, at any time: a server that forks for each piece of
# work, a pipeline of three, a daemon, and the recorders of all of these.  All others must end, and
# every file that is left must be a readable trace, or empty if its recorder was killed before it
# wrote.  If the first recorder is not killed, it leaves one trace, or says that there is nothing.
# With LDB_TEST_ALL, this is done 100 times for each of the three programs.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/family.c" -o family || exit 1
rounds=3
[ -z "${LDB_TEST_ALL:-}" ] || rounds=100
oracle_not k.data "its recorder may be killed before there is anything in it"

# Prints the running processes that were started in this round, also recorders.  They have an
# environment variable with the round's mark.
members()
{
	grep -lsz "^KILLS_OF=$mark\$" /proc/[0-9]*/environ | sed 's,/proc/\(.*\)/environ,\1,'
}

# shellcheck disable=SC2016	# not here
start()	# shape
{
	case $1 in
	server) set -- ./family serve 3 900 ;;
	pipeline) set -- sh -c 'seq 250 | ./family stage a | ./family stage b | ./family stage c >/dev/null' ;;
	daemon) set -- ./family daemon done.txt 900 ;;
	esac
	KILLS_OF=$mark ldb-record -o k.data -- "$@" >k.out 2>k.err &
	recorder=$!
}

# Kills one of the processes, in each round the one at the next position of their list, and sets
# $victim to its name.
kill_one()	# round
{
	list=$(members)
	# shellcheck disable=SC2086	# several pids
	set -- "$1" $list
	[ $# -gt 1 ] || return 1
	pick=$(($1 % ($# - 1)))
	shift $((pick + 1))
	victim="$(cat "/proc/$1/comm" 2>/dev/null)"
	[ "$1" != "$recorder" ] || victim="first recorder"
	kill -9 "$1" 2>/dev/null
}

# Counts the files that are not readable traces.  Empty files are permitted, because their recorder
# may have been killed before it wrote.
judge_files()
{
	for t in k.data k.data.*; do
		case $t in *.old) continue ;; esac
		[ -e "$t" ] || continue
		files=$((files + 1))
		ldb-report -i "$t" >report.out 2>&1
		case $? in
		0) ;;
		3) cut=$((cut + 1)) ;;
		*)
			if [ -s "$t" ]; then
				bad=$((bad + 1))
				diag "$shape, $victim after $ms ms: $t, $(stat -c %s "$t") bytes: $(tail -n 1 report.out)"
			else
				empty=$((empty + 1))
			fi
			;;
		esac
	done
	# A first recorder that is not killed makes one trace of everything that was written, and
	# prints what is missing, or that nothing was recorded.
	[ "$victim" != "first recorder" ] || return 0
	ldb-report -i k.data >report.out 2>&1 || [ $? -eq 3 ] || grep -q ': nothing was recorded$' k.err ||
		missing=$((missing + 1))
	for t in k.data.*; do
		case $t in *.old | "k.data.*") continue ;; esac
		left=$((left + 1))
		diag "$shape, $victim after $ms ms: $t is left" "$(cat k.err)"
	done
}

for shape in ${LDB_SHAPES:-server pipeline daemon}; do
	files=0 cut=0 empty=0 bad=0 missing=0 left=0 hung=0 killed=0
	i=0
	: >victims
	while [ $i -lt "$rounds" ]; do
		i=$((i + 1))
		mark=$$.$shape.$i
		rm -f k.data k.data.*
		start $shape
		ms=$((i * 617 % 1400))
		sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
		kill_one $i || victim=none
		[ "$victim" = none ] || killed=$((killed + 1))
		echo "$victim" >>victims
		if ! wait_for 40 '[ -z "$(members)" ]'; then
			hung=$((hung + 1))
			diag "$shape, $victim after $ms ms: still there: $(ps -o pid=,args= -p "$(members | paste -sd,)" | head -n 5)"
			# shellcheck disable=SC2046	# several pids
			kill -9 $(members)
		fi
		wait "$recorder"
		status=$?
		[ "$victim" != "first recorder" ] || [ $status -eq 137 ] || diag "$shape, after $ms ms: status $status"
		judge_files
	done
	diag "$shape: $killed killed ($(sort victims | uniq -c | tr -s ' \n' ' ')); $files files, of which $cut cut and $empty empty"
	ok "$shape: something was killed" test "$killed" -ge $((rounds / 2))
	ok "$shape: nothing hangs" test $hung -eq 0
	ok "$shape: what was recorded is readable" test $bad -eq 0
	ok "$shape: a first recorder that is not killed has a trace, and one only" test $missing.$left = 0.0
done
finish
