# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that text fits the terminal: no line is longer than the terminal is wide, only names
# are cut, and a wider terminal shows more.  Colour is for terminals only.
. "$(dirname "$0")/../lib/engine.sh"
need_build
unset COLUMNS NO_COLOR

program=a_program_with_quite_a_long_name
cxx_ldb -O2 -g "$PROGRAMS/long-names.cc" -o $program -pthread || exit 1
ldb-record -q --mutex=hold -- ./$program --with=some --long=arguments --that=do --not=fit \
	--into=any --line=at --all=really || exit 1

# Lists each name that a report may shorten, one on a line.
{
	ldb-report -q --json | jq -r '.functions[] | .function, .caller'
	ldb-report -q --mutex --json | jq -r '.locks[] | .name, .holders[].thread, .sites[].caller'
	ldb-report -q --requests --json | jq -r '.requests[] | .class // empty, .slowest[].threads[].thread, .slowest[].top_function'
	ldb-report -q --sched --json 2>/dev/null | jq -r '.. | strings'
	ldb-report -q --json-summary | jq -r '.threads[].name, (.recording.meta[] | .value)'
	ldb-timeline -q --slowest 3 --json | jq -r '.. | strings'
	ldb-why -q --json | jq -r '.causes[] | .label, .path[]'
	ldb-why -q --slowest 1 --json --shares | jq -r '.requests[].shares[] | .label, (.path | join(";"))'
} | sort -u >known

# For each word with a ~ in it, the text around the ~ must be a part of such a name.
only_names_are_cut()	# text
{
	tr -s ' |=' '\n' <"$1" | grep '~' | sed 's/[w#rpbf]*$//; s/():\{0,1\}$//' | tr '~' '\n' | sed 's/^<$//; s/^>//; s/()$//' |
		sort -u | while IFS= read -r part; do
		[ -z "$part" ] || grep -Fqe "$part" known || printf 'not a part of a name: %s\n' "$part"
	done >cut.out
	! [ -s cut.out ]
}

fits()	# columns command...
{
	columns=$1
	shift
	COLUMNS=$columns "$@" >text.out 2>err.out
	long=$(awk -v w="$columns" 'length > w' text.out | wc -l)
	if [ -s text.out ] && [ "$long" -eq 0 ] && only_names_are_cut text.out; then
		pass "$columns columns: $*"
	else
		fail "$columns columns: $*"
		awk -v w="$columns" 'length > w { print "# " length ": " $0 }' text.out | head -n 5
		diag "$(cat cut.out err.out)"
	fi
}

kernel_events=$(ldb-report -q --json-summary | jq -r '[.recording.meta[] | select(.key == "kernel_events") | .value][0]')
for columns in 60 80 120 200; do
	fits $columns ldb-report -q
	fits $columns ldb-report -q --by=function
	fits $columns ldb-report -q --by=module
	fits $columns ldb-report -q --mutex -v
	fits $columns ldb-report -q --requests
	fits $columns ldb-report -q --summary
	fits $columns ldb-timeline -q --slowest 2
	fits $columns ldb-timeline -q --slowest 1 -v
	fits $columns ldb-why -q
	fits $columns ldb-why -q --slowest 1
	[ "$kernel_events" = none ] || fits $columns ldb-report -q --sched
done

# Numbers and places must be printed at any width.
for columns in 80 120 200; do
	COLUMNS=$columns ldb-report -q >text.out
	ok "$columns columns: every call site's line" sh -c \
		"ldb-report -q --json | jq -r '.functions[] | select(.line > 0 and .line != .func_line and (.file | endswith(\"long-names.cc\"))) | \"long-names.cc:\(.line)\"' | sort -u >places &&
		 test -s places && while read -r place; do grep -q \"\$place\" text.out || exit 1; done <places"
	COLUMNS=$columns ldb-timeline -q --slowest 1 >text.out
	ok "$columns columns: the thread's number in each line" sh -c \
		"ldb-timeline -q --slowest 1 --json | jq -r '.. | .segments? // empty | .[].tid' | sort -u | while read -r tid; do grep -q \"\$tid\" text.out || exit 1; done"
done

ok "80 columns: a thread's number is not cut" sh -c \
	"COLUMNS=80 ldb-timeline -q --slowest 1 | awk '/^ +start +length/ { on = 1; next }
		on && /^ +[0-9.]+[mun]?s +[0-9.]+[mun]?s / { nr++; if (substr(\$0, 30, 16) !~ /[0-9] *\$/) exit 1 }
		END { exit !nr }'"
[ "$kernel_events" = none ] || check "80 columns: nor in the table of kernel events" "COLUMNS=80 ldb-report -q --sched" 0 \
	'^long-named-w[ork]*~? [0-9]+  '

# In a narrow terminal, the arguments of templates are cut first, then the outer scopes; the
# last part stays.
COLUMNS=80 check "80 columns: what a method is called" "ldb-report -q" 0 \
	'ConcurrentOrderedDictionary<~>::look_up\(\)$'
COLUMNS=200 check "200 columns: with its scopes, and the call site in the line" "ldb-report -q" 0 \
	's company_product_subsystem::request_processing_pipeline::ConcurrentOrderedDictionary<~>::look_up\(\) <- worker\(\) long-names\.cc:[0-9]+$'
COLUMNS=600 check "600 columns: in full" "ldb-report -q" 0 \
	'Comparator<company_product_subsystem::request_processing_pipeline::AVeryDescriptiveKeyTypeName> >::look_up\(\) <- worker'
COLUMNS=200 check "200 columns: mean and total" "ldb-report -q" 0 '^  count.* mean   total'
COLUMNS=80 ldb-timeline -q --slowest 1 >narrow.out
COLUMNS=200 ldb-timeline -q --slowest 1 >wide.out
ok "the picture is as wide as the terminal" test \
	"$(awk '/works on the request$/ { getline; print length; exit }' wide.out)" -gt \
	"$(($(awk '/works on the request$/ { getline; print length; exit }' narrow.out) + 100))"

# Tests colours.
esc=$(printf '\033')
for tool in "ldb-report" "ldb-report --mutex" "ldb-report --requests" "ldb-timeline --slowest 1"; do
	check_not "no colour into a pipe: $tool" "$tool -q" 0 "$esc"
	if command -v script >/dev/null; then
		TERM=xterm check "colour on a terminal: $tool" "script -qec '$tool -q' /dev/null" 0 "$esc\[1m"
		TERM=xterm NO_COLOR=1 check_not "unless NO_COLOR is set: $tool" "script -qec '$tool -q' /dev/null" 0 "$esc"
		TERM=dumb check_not "or the terminal is dumb: $tool" "script -qec '$tool -q' /dev/null" 0 "$esc"
	else
		skip "colour on a terminal: $tool" "no script(1)"
	fi
done

finish
