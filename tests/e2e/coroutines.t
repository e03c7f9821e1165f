# SPDX-License-Identifier: GPL-2.0-or-later
# Tests programs that switch stacks: no function may be reported to have called one that it did
# not call, and functions on a stack that the program allocated must be observed.
# tests/programs/coroutines.c says which function calls which.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/coroutines.c" -o coroutines -pthread || exit 1

in_stack()	# regex: prints the ns that were spent in stacks that match
{
	awk -v regex="$1" '$0 ~ regex { n += $NF } END { printf "%d\n", n }' stacks
}

# Records up to four times, until the expected functions are observed, because other load may take
# the scanner's CPU.
record_seen()	# form how name...
{
	form=$1
	how=$2
	shift 2
	for try in 1 2 3 4; do
		record_apart c.data ./coroutines "$form" "$how" 400 >spent || return
		ldb-export -i c.data folded -o stacks 2>export.err || return
		missing=
		for name; do
			# If a switch was not reported, the caller may be unknown.
			[ "$how" = untold ] && by= || by="body_($name|short)[^;]*;"
			[ "$(in_stack "${by}work_$name ")" -gt 2000000 ] || missing="$missing work_$name()"
		done
		[ -n "$missing" ] || return 0
		diag "$how, $form: not observed enough:$missing, spent: $(cat spent), once more"
	done
	return 0
}

for how in ucontext by_hand untold; do
	for form in generator loop symmetric migrate ends destroyed; do
		case $form in
		loop | symmetric) names="a b" ;;
		*) names=a ;;
		esac
		# shellcheck disable=SC2086	# names are words
		record_seen $form $how $names
		ok "$how, $form: what runs on a stack of its own is observed" test -z "$missing"
		# Between a function and the root of its stack there is no function of another
		# stack.
		wrong=$(grep -E '(body_|first).*;(work_main|loop_|run_)|body_a.*(body_b|work_b)|body_b.*(body_a|work_a)' stacks)
		ok "$how, $form: no function has a caller that did not call it" test -z "$wrong"
		[ -z "$wrong" ] || diag "$wrong"
		ldb-report -i c.data --summary --json >report.json
		# What a thread executed is not known for a poll that the scanner rejected.
		unread=$(jq '[.threads[] | .disorder + .foreign] | add' report.json)
		[ "$form" = migrate ] ||
			ok "$how, $form: all stacks can be read ($unread polls could not)" test "${unread:-1000}" -lt 20
	done
done
finish
