# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to a program that executes another one meanwhile, which executes the next one, and so
# on: none may be harmed, and the last one is recorded, or one line says why it is not.  What was
# read of one program must not be used in the next.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build

oracle_off "the program has no records, and may end at any time"
$CC -O2 "$PROGRAMS/executes.c" -o executes -pthread || exit 1
rounds=2
[ -z "${LDB_TEST_ALL:-}" ] || rounds=100

# With setarch -R all programs are mapped at the same addresses, which is the worst case: an address
# that was read of one program is valid in the next, but other data may be there.
same_addresses=
! setarch -R true 2>/dev/null || same_addresses="setarch -R"

# Prints what was wrong.  `prefix` is the command that executes ./executes.
round()	# times ms "threads" or "" delay prefix...
{
	times=$1 ms=$2 threads=$3 delay=$4
	shift 4
	# shellcheck disable=SC2086	# threads may be no word
	"$@" ./executes "$times" "$ms" $threads >out 2>&1 &
	pid=$!
	sleep "$delay"
	inject -d 20ms
	wait "$pid" || echo "exit status $?"
	grep -qx done out || echo "its output: $(head -c 500 out)"
}

for threads in "" threads; do
	for prefix in env "$same_addresses"; do
		[ -n "$prefix" ] || continue
		: >said
		for i in $(seq "$rounds"); do
			# shellcheck disable=SC2086	# prefix is several words
			round 6 800 "$threads" "0.0$((i % 4))" $prefix >>said
			# shellcheck disable=SC2086
			round 60 0 "$threads" "0.0$((i % 4 + 2))" $prefix >>many
		done
		ok "six programs one after another, $prefix $threads: the last one is recorded" test ! -s said
		[ ! -s said ] || diag "$(sort said | uniq -c)"
	done
done
ok "sixty: one line says so, or that they have ended" eval \
	"! grep -v -e 'executes one program after another' -e 'has ended\$' -e 'there is no process' many >other"
diag "$(cat other)"
finish
