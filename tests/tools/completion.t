# SPDX-License-Identifier: GPL-2.0-or-later
# Tests completion in bash and in zsh: the test types at real shells, and compares the
# arguments that the command gets.  lint/man.t tests that bash offers all options.
. "$(dirname "$0")/../lib/engine.sh"
need_build
scripts=$BUILD/completions
tab=$(printf '\t')
touch slow.data 'my trace.data'
mkdir folder

# Lists the keys that are typed (> is the Tab key), and the result in both shells.
cat >cases <<'END'
ldb-report --sch>|<--sched>
ldb-report --sort=p999>|<--sort=p999>
ldb-report --sort res>|<--sort><resolution>
ldb-report --mu> --by=mo>|<--mutex><--by=module>
ldb-report -i slo>|<-i><slow.data>
ldb-report -qi my>|<-qi><my trace.data>
ldb-report --input=my>|<--input=my trace.data>
ldb-report --sysroot=fol>|<--sysroot=folder>
ldb-report --debug-dir fol> --debug-d>fol>|<--debug-dir><folder><--debug-dir=folder>
ldb-report slo>|<slow.data>
ldb-record --mutex ho> -d 5 -- cat slo>|<--mutex><hold><-d><5><--><cat><slow.data>
ldb-record -o a:b cat slo> --mut>|<-o><a:b><cat><slow.data><--mut>
ldb-record -o slo> --kernel=m>|<-o><slow.data><--kernel=module>
ldb-timeline --inp>slo> --ver>|<--input=slow.data><--ver>
ldb-top --bat> --sort=me>|<--batch><--sort=mean>
ldb-export -o f.pftrace --thr>w perf>|<-o><f.pftrace><--thread=w><perfetto>
ldb-export folded spee>|<folded><spee>
ldb-why --categ>slo> --uncat>|<--categories=slow.data><--uncategorised>
ldb-why --compare slo> my>|<--compare><slow.data><my trace.data>
END
sed 's/.*|//' cases >wanted
# The slash after a folder is removed by zsh and stays in bash.
diff_got()	# file
{
	sed 's|/>|>|g' got | diff "$1" -
}
sed "s/|.*//; s/>/$tab/g" cases >typed

tools="ldb-record ldb-report ldb-timeline ldb-why ldb-top ldb-export ldb-flows ldb-ctl"
for tool in $tools; do
	# Replaces each program by a function that only prints its arguments.
	echo "$tool() { printf '<%s>' \"\$@\"; echo; } >>got"
done >tools.sh

for tool in $tools; do
	check "$tool: bash -n says nothing" "bash -n '$scripts/bash/$tool'" 0 '^$'
done
{
	echo 'set -u; bind "set enable-bracketed-paste off"; . ./tools.sh'
	for tool in $tools; do
		echo ". '$scripts/bash/$tool'"
	done
	cat typed
} >bash.in
bash --norc --noprofile -i <bash.in >bash.log 2>&1
check "bash: what is typed is completed" "diff_got wanted"
check_not "bash says nothing else" "cat bash.log" 0 'unbound|error|command not found|/ldb-[a-z]*: line'
rm -f got

# These tests need no keys: they call bash's completion functions.
offered()	# words...: prints the completions that bash offers for the last word
{
	bash -u "$TOP/tests/tools/offered.bash" "$scripts/bash/$1" "$@"
}

sleep 60 &
pid=$!
at_end "kill $pid 2>/dev/null || :"
check "bash: -p has the processes" "offered ldb-record -p ''" 0 "^$pid$"
check "bash: an abbreviated option has its argument" "offered ldb-timeline --thr=x; offered ldb-report --so res" 0 '^resolution$'
check "bash: one format is enough" "offered ldb-export folded ''" 0 '^$'
check "bash: what is no option is none after --" "offered ldb-report -- --" 0 '^$'
check "bash: = may be a letter of words" "BREAKS=' ' offered ldb-report --sort=p99" 0 '^--sort=p999$'

# With bash-completion, the arguments of the command that is recorded are completed, too.
{
	cat wanted
	echo '<--><mkdir><--parents>'
} >wanted-more
echo "ldb-record -- mkdir --par$tab" >>typed
if [ -f /usr/share/bash-completion/bash_completion ]; then
	mkdir -p share/bash-completion
	cp -r "$scripts/bash" share/bash-completion/completions
	{
		echo 'bind "set enable-bracketed-paste off"; . /usr/share/bash-completion/bash_completion; . ./tools.sh'
		cat typed
	} >bash.in
	XDG_DATA_DIRS=$WORK/share:/usr/share bash --norc --noprofile -i <bash.in >bash.log 2>&1
	check "bash-completion: the same, and a command's own options" "diff_got wanted-more"
	rm -f got
else
	skip "bash-completion: the same, and a command's own options" "no bash-completion"
fi

# zsh reads keys from a terminal only.
cat >type.zsh <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
while IFS= read -r line; do
	zpty -w shell $line
done
while zpty -r shell line; do
	print -r -- $line
done
END

in_zsh()	# stdin: the keys to type
{
	{
		echo "fpath=('$scripts/zsh' \$fpath); autoload -Uz compinit; compinit -u -D; setopt nounset"
		# The pause is needed because zsh ignores the key if more input waits.
		echo "zstyle ':completion:*' insert-tab false; zstyle ':completion:*' verbose no"
		echo "LISTMAX=1000; . ./tools.sh"
		cat
		echo exit
	} >zsh.in
	TERM=dumb zsh -f type.zsh <zsh.in >zsh.log 2>&1
}

if command -v zsh >/dev/null; then
	for tool in $tools; do
		check "$tool: zsh -n says nothing" "zsh -n '$scripts/zsh/_$tool'" 0 '^$'
		echo "$tool --$tab" | in_zsh
		grep -oE -e '--[a-z][a-z0-9-]*' zsh.log | sort -u >offered
		"$tool" --help | grep -oE '^ {2,6}(-., )?--[a-z0-9-]*' | sed 's/.*--/--/' | sort >options
		check "$tool: zsh offers all options" "diff options offered"
	done
	rm -f got
	in_zsh <typed
	check "zsh: what is typed is completed" "diff_got wanted-more"
	check_not "zsh says nothing else" "cat zsh.log" 0 'not set|error|not found|bad '
else
	skip "zsh" "no zsh"
fi
finish
