# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by every *.t script.  It is POSIX sh and prints TAP.
#
#	check "name" "cmd" [exit] [regex]	run cmd; one result: the exit status is
#						as given (default 0), and the output,
#						both streams, matches the regex if given
#	check_not "name" "cmd" exit regex	as check, but must not match
#	ok "name" cmd args...			one result: cmd succeeds
#	ok_empty "name"				one result: the file $WORK/list is empty
#	skip "name" "why"			one result that is not possible here
#	diag "text"				a comment line
#	cc_ldb ARGS..., cxx_ldb ARGS...		compile with the plugin
#	record_apart FILE CMD...		ldb-record, program and scanner on two CPUs
#	oracle_cut NAME...			the recorder of these files is killed on purpose
#	oracle_not NAME WHY			this file need not be a recording
#	oracle_off WHY				recordings from here on are not judged
#	finish					prints the plan; must come last
#
# Each file that ldb-record writes is judged by the oracle (oracle/oracle.h), at the end or
# before another one takes its place: one result for each.
#
# A script that ends without finish has no plan and counts as failed.  Each runs
# in a scratch folder of its own, removed at the end (unless LDB_KEEP=1).
#
# When all tests have run, the JSON that the tools have printed is compared with its schema:
# scripts/check-json.sh.
#
# After check, $out holds the output and $status the exit status.

LC_ALL=C
export LC_ALL
: "${TOP:=$(cd "$(dirname "$0")/../.." && pwd)}"
: "${BUILD:=$TOP/build}"
: "${CC:=gcc}" "${CXX:=g++}"
export TOP BUILD CC CXX
PATH=$TOP/tests/oracle/bin:$TOP/tests/json/bin:$BUILD/bin:$PATH
export PATH
PROGRAMS=$TOP/tests/programs
PLUGIN=$BUILD/plugin/ldb.so
RUNTIME=$BUILD/lib/libldbtrace.so.0
# The programs that the tests start must not connect to a recorder outside of the tests, and must
# not get libraries that were preloaded outside of them.
unset LDB_RECORD LDB_PRELOADED LD_PRELOAD 2>/dev/null || :

nr=0
nr_failed=0
out=
status=0
WORK=$(mktemp -d "${TMPDIR:-/tmp}/ldb-test.XXXXXX") || exit 1
TMPDIR=$WORK
LDB_ORACLE=$WORK/.oracle
LDB_JSON_LATER=$WORK/.json
mkdir "$LDB_ORACLE"
export TMPDIR LDB_ORACLE LDB_JSON_LATER
# shellcheck source=tests/lib/oracle.sh
. "$TOP/tests/lib/oracle.sh"
cleanup_cmds=

at_end()	# cmd: runs it when the script ends; commands registered last run first
{
	cleanup_cmds="$1; $cleanup_cmds"
}

cleanup()
{
	trap - EXIT INT TERM HUP
	eval "$cleanup_cmds"
	keep_json
	cd /
	if [ "${LDB_KEEP:-}" = 1 ]; then
		echo "# kept: $WORK"
	else
		rm -rf "$WORK"
	fi
}
trap 'rc=$?; cleanup; exit $rc' EXIT
trap 'exit 130' INT TERM HUP
cd "$WORK" || exit 1

# Copies the output that ldb-top has written so far: see json/bin/keep.
keep_json()
{
	[ -n "${LDB_JSON:-}" ] && [ -s "$LDB_JSON_LATER" ] || return 0
	while read -r json_file; do
		[ ! -f "$json_file" ] || cp "$json_file" "$(mktemp "$LDB_JSON/json.XXXXXX")"
	done <"$LDB_JSON_LATER"
	rm "$LDB_JSON_LATER"
}

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# The step that took longest is printed at the end; run.sh shows it for scripts that take long.
# LDB_TEST_STEPS=1 prints the time of each step that took more than half a second.
step_slowest=0
step_cs()	# sets $step_now: the uptime in hundredths of a second
{
	read -r step_now _ </proc/uptime
	step_now=${step_now%.*}${step_now#*.}
}
step_cs
step_began=$step_now
step()	# name of the result
{
	step_cs
	step_took=$((step_now - step_began))
	if [ "$step_took" -gt "$step_slowest" ]; then
		step_slowest=$step_took
		slowest_name=$1
	fi
	[ -z "${LDB_TEST_STEPS:-}" ] || [ "$step_took" -le 50 ] || echo "# step: $((step_took / 100)).$((step_took / 10 % 10)) s, $1"
	step_began=$step_now
}

pass()
{
	nr=$((nr + 1))
	step "$1"
	echo "ok $nr - $1"
}

fail()
{
	nr=$((nr + 1))
	step "$1"
	nr_failed=$((nr_failed + 1))
	echo "not ok $nr - $1"
}

ok()
{
	ok_name=$1
	shift
	if "$@"; then
		pass "$ok_name"
	else
		fail "$ok_name"
		diag "failed: $*"
	fi
}

# Prints one result: $WORK/list must be empty.  The list is a file and not a pipe, because a
# function at the end of a pipe runs in a separate shell, and its count would be lost.
ok_empty()	# name
{
	list=$(cat "$WORK/list")
	if [ -z "$list" ]; then
		pass "$1"
	else
		fail "$1"
		diag "$(printf '%s\n' "$list" | head -n 40)"
	fi
}

skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

skip_all()
{
	echo "1..0 # SKIP $1"
	exit 77
}

run_cmd()	# sets $out and $status; long output is cut in reports only
{
	out=$(eval "$1" 2>&1 </dev/null)
	status=$?
}

show_cmd()
{
	diag "command: $1"
	diag "exit status $status, expected $2"
	diag "output:"
	printf '%s\n' "$out" | head -n 40 | cut -c1-300 | sed 's/^/#   /'
}

matches()
{
	printf '%s\n' "$out" | grep -Eq -e "$1"
}

check()
{
	run_cmd "$2"
	if [ "$status" -ne "${3:-0}" ]; then
		fail "$1"
		show_cmd "$2" "${3:-0}"
	elif [ -n "${4:-}" ] && ! matches "$4"; then
		fail "$1"
		show_cmd "$2" "${3:-0}"
		diag "no line matches: $4"
	else
		pass "$1"
	fi
}

check_not()
{
	run_cmd "$2"
	if [ "$status" -ne "$3" ]; then
		fail "$1"
		show_cmd "$2" "$3"
	elif matches "$4"; then
		fail "$1"
		show_cmd "$2" "$3"
		diag "must not match: $4"
	else
		pass "$1"
	fi
}

# Checks the promise to users: one clear line on stderr and the given exit status.
check_one_line()	# name cmd exit regex
{
	out=$(eval "$2" 2>&1 >/dev/null </dev/null)
	status=$?
	if [ "$status" -ne "$3" ]; then
		fail "$1"
		show_cmd "$2" "$3"
	elif [ "$(printf '%s\n' "$out" | wc -l)" -ne 1 ] || ! matches "$4"; then
		fail "$1"
		show_cmd "$2" "$3"
		diag "expected one line matching: $4"
	else
		pass "$1"
	fi
}

check_jq()	# name file filter: the filter must yield true
{
	if [ "$(jq "$3" "$2" 2>jq.err)" = true ]; then
		pass "$1"
	else
		fail "$1"
		diag "file $2, filter $3"
		diag "$(head -c 600 jq.err; head -c 600 "$2")"
	fi
}

cc_ldb()
{
	$CC -fplugin="$PLUGIN" -I"$TOP/libldb/include" "$@"
}

cxx_ldb()
{
	$CXX -fplugin="$PLUGIN" -I"$TOP/libldb/include" "$@"
}

# Arguments of the linker that put the runtime into the program.
link_runtime="$RUNTIME -Wl,-rpath,$BUILD/lib"

# Records with the program on one CPU and the scanner on another, if there are two, so that what is
# observed does not depend on where the kernel happens to put the two.
allowed_cpus=$(awk '/^Cpus_allowed_list/ { n = split($2, part, ","); for (i = 1; i <= n; i++) {
	m = split(part[i], r, "-"); for (c = r[1]; c <= (m > 1 ? r[2] : r[1]); c++) print c } }' /proc/self/status | head -n 2)
program_cpu=${allowed_cpus%%[!0-9]*}
scanner_cpu=${allowed_cpus##*[!0-9]}

record_apart()	# file command...; $record_options has further options
{
	record_to=$1
	shift
	# shellcheck disable=SC2086	# options
	if [ "$program_cpu" = "$scanner_cpu" ]; then
		ldb-record ${record_options:-} -o "$record_to" -- "$@"
	else
		ldb-record ${record_options:-} --scanner-cpu "$scanner_cpu" -o "$record_to" -- taskset -c "$program_cpu" "$@"
	fi
}

need_build()	# does not skip: a missing part is a failure of the test
{
	for part in "$PLUGIN" "$RUNTIME" "$BUILD/bin/ldb-record" \
		    "$BUILD/bin/ldb-report" "$BUILD/bin/ldb-timeline"; do
		if ! [ -e "$part" ]; then
			echo "Bail out! not built: $part"
			exit 1
		fi
	done
}

wait_for()	# seconds cmd: until cmd succeeds
{
	wait_left=$(($1 * 20))
	shift
	until eval "$*" >/dev/null 2>&1; do
		wait_left=$((wait_left - 1))
		[ "$wait_left" -gt 0 ] || return 1
		sleep 0.05
	done
}

oracle_cut()	# name...
{
	printf '%s\n' "$@" >>"$LDB_ORACLE/cut"
}

oracle_not()	# name why
{
	echo "$1 $2" >>"$LDB_ORACLE/not"
}

oracle_off()	# why
{
	oracle_finish
	diag "not judged by the oracle: $1"
	LDB_ORACLE=
}

# The oracle's results become this test's.
oracle_finish()
{
	oracle_judge
	[ -s "${LDB_ORACLE:-}/results" ] || return 0
	while IFS= read -r oracle_line; do
		case $oracle_line in
		"ok - "*) pass "${oracle_line#ok - }" ;;
		"not ok - "*) fail "${oracle_line#not ok - }" ;;
		*) echo "$oracle_line" ;;
		esac
	done <"$LDB_ORACLE/results"
	rm "$LDB_ORACLE/results"
}

finish()
{
	oracle_finish
	[ "$step_slowest" -lt 100 ] || diag "slowest step: $((step_slowest / 100)) s, $slowest_name"
	echo "1..$nr"
	[ "$nr_failed" -eq 0 ]
	exit $?
}
