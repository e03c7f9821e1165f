# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that all processes of a name, or of a control group, are recorded into one trace, with their
# children, and no others.
. "$(dirname "$0")/../lib/engine.sh"
need_build
PATH=$BUILD/tests/tools/helpers:$PATH

name=sel$$
cc_ldb -O2 -g "$PROGRAMS/family.c" -o "$name" || exit 1
cp "$name" "other$$"
$CC -O2 -g "$PROGRAMS/family.c" -o "bare$$" || exit 1

stop()
{
	for of in "$name" "other$$" "bare$$"; do
		pkill -KILL -x "$of"
	done
	wait
}

# The programs listen for a recorder, because the runtime cannot always be loaded into a process
# that computes.
start()	# each line: a program, and what it does
{
	while read -r program what; do
		# shellcheck disable=SC2086	# words
		LDB=listen LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 "./$program" $what >/dev/null &
	done
}

at_end stop

# Prints the processes of a trace, each of which has one thread.
pids_of()	# trace
{
	ldb-report -i "$1" --summary --json | jq -r '.threads[].tid' | sort -nu | paste -sd' '
}

same()	# trace, pids
{
	found=$(pids_of "$1")
	[ "$found" = "$2" ] && return
	diag "recorded: $found, instead of: $2" "$(cat rec.err)"
	return 1
}

start <<-END
	$name pool 1 300000
	other$$ pool 1 300000
	$name pool 2 300000
END
wait_for 10 "[ \$(pgrep -c -x $name) -eq 5 ]"
own=$(pgrep -x "$name" | sort -n | paste -sd' ')
check "all of a name" "ldb-record --name $name -d 2 -o n.data 2>rec.err; cat rec.err" 0 '^ldb-record: 4 more processes recorded in the same file$'
ok "these, and no others" same n.data "$own"
ok "with their functions" test "$(trace-cat n.data func | sed -n 's/^func tid=\([0-9]*\) .*/\1/p' | sort -nu | paste -sd' ')" = "$own"
ok "they run on" test "$(pgrep -x "$name" | sort -n | paste -sd' ')" = "$own"

# In version 1 of control groups each controller has its own folder.
group=/sys/fs/cgroup/ldb-$name
[ ! -d /sys/fs/cgroup/pids ] || group=/sys/fs/cgroup/pids/ldb-$name
if mkdir -p "$group/inner" 2>/dev/null && [ -w "$group/inner/cgroup.procs" ]; then
	at_end "rmdir $group/inner $group 2>/dev/null || :"
	first=${own%% *}
	child=$(pgrep -P "$first" | head -n 1)
	other=$(pgrep -o -x "other$$")
	ok "processes are moved into a group" eval 'echo $first >$group/cgroup.procs && echo $child >$group/cgroup.procs && echo $other >$group/inner/cgroup.procs'
	path=$(sed -n "s,^[0-9]*:[^:]*:\(/.*ldb-$name\)\$,\1,p" "/proc/$first/cgroup")
	# The child of the other program is not in the group, but it is recorded as a child.
	all=$(printf '%s\n' "$first" "$child" "$other" "$(pgrep -P "$other")" | sort -n | paste -sd' ')
	check "all of a control group, by its folder" "ldb-record --cgroup $group -d 2 -o g.data 2>rec.err" 0
	ok "these, and those in groups in it, and no others" same g.data "$all"
	check "by its path, those of one name" "ldb-record --cgroup $path --name $name -d 2 -o h.data 2>rec.err" 0
	ok "these, and no others" same h.data "$(printf '%s\n' "$first" "$child" | sort -n | paste -sd' ')"
else
	skip "a control group" "none can be made here"
fi

# These wait, so that the runtime can be loaded into them.
mkfifo never
for i in 1 2; do
	"./bare$$" stage $i <never &
done
exec 9>never
wait_for 10 "[ \$(pgrep -c -x bare$$) -eq 2 ]"
ok "programs that were started without the runtime" eval "ldb-record --name bare$$ -d 1 -o b.data 2>rec.err"
ok "these, too" same b.data "$(pgrep -x "bare$$" | sort -n | paste -sd' ')"

check_one_line "a name that nobody has" "ldb-record --name no$name" 1 "no process is called no$name:"
check_one_line "a group that is not there" "ldb-record --cgroup /no$name" 1 "no process is in control group /no$name:"
check_one_line "a name in a group, which nobody has" "ldb-record --name no$name --cgroup /no$name" 1 "no process is called no$name and is in control group /no$name:"
check_one_line "an empty name" "ldb-record --name ''" 2 '^ldb-record: --name: the name is empty'
check_one_line "an empty path" "ldb-record --name no$name --cgroup ''" 2 '^ldb-record: --cgroup: the path is empty'
for root in / // /sys/fs/cgroup /sys/fs/cgroup/; do
	# The name matters only if the command is not refused.
	check_one_line "the root group, as $root" "ldb-record --name no$name --cgroup $root" 2 '^ldb-record: --cgroup: every process is in the root group'
done
check_one_line "a name and a command" "ldb-record --name $name -- true" 2 '--name or --cgroup and a command exclude each other: give one of them'
check_one_line "a name and a pid" "ldb-record --name $name -p 1" 2 '-p PID and --name or --cgroup exclude each other: give one of them'
stop 2>/dev/null
finish
