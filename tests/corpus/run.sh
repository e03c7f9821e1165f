#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Measures how often ldb-why names what was planted: records and judges the cases of cases.txt.
#
#	tests/corpus/run.sh [--report]
#
#	CASES="lock-* fn-deep"	only the cases of these names (globs)
#	QUICK=1			only the first case of each kind
#	SLICE=2/4		of those, every fourth from the second
#	--report		records nothing: the table of the results that are there
#
# The words have these meanings.  The truth is cases.txt, written by hand, and what the
# programs print about themselves: "hit ID" for each request that the planted cause delayed,
# "off ID US" and "stolen ID US" for each whose thread was off the CPU for so long, by its own
# clocks.  ldb has no part in either.
#
#	tail		the requests that ldb-why explains: the slowest hundredth of a class
#	right cause	of the requests in the tail that were affected, those whose first cause is
#			that of the table.  Not judged are those that were off the
#			CPU, by their thread's clock, for as long as the planted delay or
#			longer, if what was planted needs the CPU.  Of a case: the cause
#			that is first of most of them.
#	right holder	of those that have one in the table: the cause is right, and the chain
#			names the thread and the function that were the reason of the wait
#	false alarm	a request in the tail in which nothing was planted, with a first cause
#			of half of the planted delay or more, or of 1 ms, that accuses the
#			program: a function, a lock, a queue, other requests.  A function only
#			if that is more than what ldb-why calls the request's resolution.
#			Not the time by which a function was slower because of the
#			machine: "slower" of a function in a request whose thread had no
#			CPU by its own clock (but if it was switched out and kernel events
#			were recorded, all of them as ldb-report says, that is false, too),
#			or of a function that the case does not name as its cause.  Of a
#			case: a clean one with any such request.
#	not judged	a case during which the scanner did not run for more than most_away % of
#			the time (ldb-report says so), whatever ldb-why reports; or too few
#			of its affected requests are in the tail.  Their number is printed.
#
# If the scanner did not run for more of the time than that, the case is recorded again, three times
# at most.  Programs stay on one CPU and the scanner on another, at a higher priority than what else
# runs, unless the case says how it is loaded.  Results, and logs of cases that are not right, are
# in build/tests/corpus/.  Exit status 1 unless the causes of at least 95 % of the cases are right, the
# holders of as many, and at most 1 % of the requests are false alarms.
TOP=$(cd "$(dirname "$0")/../.." && pwd)
report=
[ "${1:-}" != --report ] || report=1
. "$TOP/tests/lib/engine.sh"
here=$TOP/tests/corpus
keep=$BUILD/tests/corpus
: "${corpus_tries:=1 2 3}" "${most_away:=30}"
mkdir -p "$keep/bin" "$keep/log" "$keep/result"

# Cases

# Fields become the variables case_*; blanks around them are ignored.
read_case()	# line
{
	rest=$1
	for field in name program build run record load kind cause holder; do
		value=${rest%% | *}
		rest=${rest#* | }
		value=${value#"${value%%[! ]*}"}
		value=${value%"${value##*[! ]}"}
		[ "$value" != - ] || value=
		eval "case_$field=\$value"
	done
	case " $case_run " in *" clean "*) case_planted=false ;; *) case_planted=true ;; esac
	case $case_run in
	*WHY_PLANT_US=*) case_plant=${case_run#*WHY_PLANT_US=} case_plant=${case_plant%% *} ;;
	*) case_plant=10000 ;;
	esac
}

is_wanted()	# uses case_*
{
	if [ -n "${CASES:-}" ]; then
		wanted=
		set -f
		for glob in $CASES; do
			# shellcheck disable=SC2254	# a glob
			case $case_name in $glob) wanted=1 ;; esac
		done
		set +f
		[ -n "$wanted" ] || return 1
	fi
	if [ -n "${QUICK:-}" ]; then
		case " $kinds_seen " in *" $case_kind "*) return 1 ;; esac
		kinds_seen="$kinds_seen $case_kind"
	fi
	nr_wanted=$((nr_wanted + 1))
	[ -z "${SLICE:-}" ] || [ $((nr_wanted % ${SLICE#*/})) -eq $((${SLICE%/*} % ${SLICE#*/})) ]
}

# Compiles each distinct program once; sets $binary.
build_case()
{
	case $case_program in
	why-* | figure1*) source=$PROGRAMS/$case_program ;;
	*) source=$here/$case_program ;;
	esac
	binary=$keep/bin/$(printf '%s %s' "$case_program" "$case_build" | tr -c 'A-Za-z0-9.\n' _)
	if [ -x "$binary" ] && ! [ "$source" -nt "$binary" ] && ! [ "$PLUGIN" -nt "$binary" ] &&
	   ! [ "$PROGRAMS/why-load.h" -nt "$binary" ]; then
		return 0
	fi
	# shellcheck disable=SC2086	# words
	case $source in
	*.cc) cxx_ldb $case_build -g "$source" -o "$binary" -pthread ;;
	*) cc_ldb -std=gnu11 $case_build -g "$source" -o "$binary" -pthread ;;
	esac
}

# Load beside the program, and its requirements

load_pids=
start_load()
{
	for load_cpu in $program_cpu $scanner_cpu; do
		case $case_load in
		hogs) taskset -c "$load_cpu" sh -c 'while :; do :; done' & ;;
		hog-beside) [ "$load_cpu" != "$program_cpu" ] || continue
			taskset -c "$load_cpu" sh -c 'while :; do :; done' & ;;
		compile) taskset -c "$load_cpu" sh -c "while :; do $CXX -O1 -I'$TOP/libldb/include' -c \
			-o '$WORK/load-$load_cpu.o' '$PROGRAMS/figure1.cc' || exit; done" 2>/dev/null & ;;
		*) return ;;
		esac
		load_pids="$load_pids $!"
	done
}

end_load()
{
	# shellcheck disable=SC2086	# words
	[ -z "$load_pids" ] || { kill $load_pids; wait $load_pids; } 2>/dev/null
	load_pids=
}

# Makes a control group, of version 1 or 2, with a quota in us for each 10 ms; prints its folder.
quota_folder()
{
	quota=/sys/fs/cgroup/cpu/ldb-corpus
	if mkdir "$quota" 2>/dev/null && [ -e "$quota/cpu.cfs_quota_us" ]; then
		echo 10000 >"$quota/cpu.cfs_period_us"
		echo "$1" >"$quota/cpu.cfs_quota_us"
		echo 100000 >"$quota/cpu.shares"
	else
		rmdir "$quota" 2>/dev/null
		quota=/sys/fs/cgroup/ldb-corpus
		mkdir "$quota" && echo threaded >"$quota/cgroup.type" &&
			echo +cpu >/sys/fs/cgroup/cgroup.subtree_control && echo "$1 10000" >"$quota/cpu.max" &&
			echo 10000 >"$quota/cpu.weight"
	fi 2>/dev/null && echo "$quota"
}

end_quota()
{
	[ -z "${quota_at:-}" ] || rmdir "$quota_at" 2>/dev/null
	quota_at=
}

# Runs a single case

# The program gets a high priority, if that is permitted, so that other programs do not disturb it.
# If the scheduler groups tasks by sessions, a priority counts only within the session, so the
# session gets one, too.
cat >above <<'END'
[ ! -w /proc/self/autogroup ] || echo -15 >/proc/self/autogroup
exec nice -n -15 "$@"
END
above=
! setsid -w sh above true 2>/dev/null || above="setsid -w sh $WORK/above"

# A task that mostly sleeps may have to wait for the CPU in spite of that, unless it is SCHED_FIFO.
soon="chrt -f 1"
$soon true 2>/dev/null || soon=

record_case()
{
	apart="--scanner-cpu $scanner_cpu" stay=$program_cpu under=$above
	case $case_load in
	free) apart='' stay='' ;;
	first) under="$under${soon:+ $soon}" ;;
	one-cpu) apart='' under="$under taskset -c $program_cpu" ;;
	hogs | hog-beside | compile) under='' ;;
	esac
	environment="WHY_TRUTH=1${stay:+ WHY_CPU=$stay}"
	words=$case_run
	while :; do
		case $words in
		*=*\ *)	case ${words%% *} in *=*) ;; *) break ;; esac
			environment="$environment ${words%% *}" words=${words#* } ;;
		*) break ;;
		esac
	done
	case $words in
	*@quota*)
		case $case_planted in true) quota_us=2500 ;; *) quota_us=-1 ;; esac
		quota_at=$(quota_folder $quota_us) || return 1
		words="${words%@quota*}$quota_at${words#*@quota}" ;;
	esac
	# shellcheck disable=SC2086	# words
	env $environment $under timeout 60 ldb-record -q $case_record $apart -o case.data -- "$binary" $words >facts 2>err
}

away_percent()
{
	ldb-report -i case.data --summary --json >summary.json 2>/dev/null
	jq '100 * .observation_gap_ns / ([.recording.duration_ns, 1] | max) | floor' summary.json
}

keep_log()
{
	mkdir -p "$keep/log/$case_name"
	cp facts why.json result "$keep/log/$case_name/" 2>/dev/null
	ldb-why -i case.data >"$keep/log/$case_name/why.txt" 2>&1
	[ -z "${KEEP_DATA:-}" ] || cp case.data "$keep/log/$case_name/"
}

broken()	# what
{
	jq -n --arg name "$case_name" --arg kind "$case_kind" --arg why "$1: $(head -c 300 err)" \
		'{name: $name, kind: $kind, verdict: "not judged", why: $why, planted: true, nr: 0}' >result
}

judge_case()
{
	ldb-why -i case.data --json ${case_select:+"$case_select"} >why.json 2>err || { broken "ldb-why failed"; return; }
	# Kernel events may be missing, if the recording says so.
	has_kernel=$(jq '.kernel_events != "none" and .kernel_why == ""' summary.json)
	jq -n --arg name "$case_name" --arg kind "$case_kind" --arg cause "$case_cause" \
		--arg holder "$case_holder" --argjson is_planted "$case_planted" \
		--argjson plant_ns "${case_plant}000" --argjson has_kernel "$has_kernel" \
		--argjson away "$away" --argjson most_away "$most_away" '$ARGS.named' >case.json
	sed -n 's/^hit //p' facts | jq -s . >hits.json
	for fact in off stolen; do
		sed -n "s/^$fact \([0-9]*\) \([0-9]*\) .*/{\"key\": \"\1\", \"value\": \2}/p" facts | jq -s from_entries >$fact.json
	done
	jq --argjson case "$(cat case.json)" --argjson hits "$(cat hits.json)" \
		--argjson off "$(cat off.json)" --argjson stolen "$(cat stolen.json)" -f "$here/judge.jq" why.json >result 2>err ||
		broken "judge.jq failed"
}

run_case()
{
	rm -f result facts why.json err
	if ! build_case >err 2>&1; then
		broken "it does not build"
	else
		for try in $corpus_tries; do
			start_load
			record_case
			recorded=$?
			end_load
			end_quota
			[ "$recorded" -eq 0 ] || break
			away=$(away_percent)
			away=${away:-100}
			[ "$away" -gt "$most_away" ] || break
		done
		if [ "$recorded" -eq 0 ]; then
			judge_case
		else
			broken "not recorded"
		fi
	fi
	rm -rf "$keep/log/$case_name"
	jq -e '.verdict == "right" and .nr_false == 0' result >/dev/null || keep_log
	cp result "$keep/result/$case_name"
	jq -r '"\(.verdict | . + " " * (12 - length))\(.name | . + " " * ([26 - length, 1] | max))" +
		if .verdict == "not judged" then .why
		elif .planted then "cause \(.nr_cause)/\(.nr)" + (if .has_holder then " holder \(.nr_holder)/\(.nr)" else "" end) +
			(if .nr_false > 0 then "; \(.nr_false) false of \(.nr_others)" else "" end) +
			(if .verdict != "right" or .nr_cause < .nr then ": \(.told)" else "" end)
		else "false \(.nr_false)/\(.nr_others)" end +
		if (.nr_false // 0) > 0 then "; falsely: \(.false_told)" else "" end' result
}

# Runs all cases

if [ -z "$report" ]; then
	need_build
	at_end end_load
	at_end end_quota
	kinds_seen='' nr_wanted=0
	[ -n "${CASES:-}${SLICE:-}${QUICK:-}" ] || rm -f "$keep/result/"*
	while IFS= read -r line <&3; do
		case $line in '#'* | '') continue ;; esac
		read_case "$line"
		! is_wanted || run_case
	done 3<"$here/cases.txt"
fi

# Only results of cases that are still in the table count.
set --
while IFS= read -r line; do
	case $line in '#'* | '') continue ;; esac
	read_case "$line"
	[ ! -f "$keep/result/$case_name" ] || set -- "$@" "$keep/result/$case_name"
done <"$here/cases.txt"
if [ $# -eq 0 ]; then
	echo "no case of that name" >&2
	exit 1
fi
jq -rs -f "$here/table.jq" "$@"
echo "on $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, Linux $(uname -r), $($CC -dumpfullversion)"
jq -es 'map(select(.verdict != "not judged")) | (map(select(.planted)) as $p | $p | map(select(.has_holder)) as $h |
	([$p[] | select(.cause)] | length) * 100 >= ($p | length) * 95 and
	([$h[] | select(.holder)] | length) * 100 >= ($h | length) * 95) and
	([.[] | .nr_false] | add // 0) * 100 <= ([.[] | .nr_others] | add // 0)' "$@" >pass
exit $?
