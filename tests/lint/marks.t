# SPDX-License-Identifier: GPL-2.0-or-later
# Checks the lines "# Timed: WHY", "# Slow: WHY", "# Long: WHY" and "# Alone: WHY" at the head of a
# script, which say when tests/run.sh and tests/kmod/run.sh run it: a line with a typing error, or
# one that is not read in this folder, would have no effect.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# Prints the lines that are wrong.  A line of the head which begins with one of the words in any
# case, or with another short word that has a capital letter, and a colon, was meant as such a line.
wrong_marks()	# file... (with its folder)
{
	awk '
	FNR == 1 { head = 1; timed = 0 }
	!/^#/ { head = 0 }
	/^#[ \t]*[Tt][Ii][Mm][Ee][Dd][ \t]*:/ { timed = 1 }
	head && (/^#[ \t]*[A-Z][a-z]?[a-z]?[a-z]?[a-z]?[a-z]?[ \t]*:/ ||
		 tolower($0) ~ /^#[ \t]*(timed|slow|long|alone)[ \t]*:/) {
		why = ""
		if (!/^# (Timed|Slow|Long|Alone): +[^ ]/)
			why = "no such line, or no reason"
		else if (/^# Long:/ && FILENAME !~ /(e2e|browser)\/[^\/]*$/)
			why = "only e2e/ and browser/ have long scripts"
		else if (/^# Long:/ && timed)
			why = "a timed script does not begin earlier"
		else if (/^# Alone:/ && FILENAME !~ /kmod\/guest\/[^\/]*$/)
			why = "only guests have it"
		else if (/^# Timed:/ && FILENAME ~ /kmod\/[^\/]*$/)
			why = "it would run beside others anyway"
		if (why)
			print FILENAME ":" FNR ": " $0 " (" why ")"
	}
	!head && /^#[ \t]*(Timed|Slow|Long|Alone):/ { print FILENAME ":" FNR ": " $0 " (not in the head)" }
	' "$@"
}

# shellcheck disable=SC2046	# names without blanks
wrong_marks $(source_files tests | grep '\.t$') >"$WORK/list"
ok_empty "when each script runs can be read"

cd "$WORK" || exit 1
mkdir -p e2e kmod/guest tools
planted()	# file line...: each of these is wrong
{
	to=$1
	shift
	for line; do
		printf '# SPDX\n# What it does.\n%s\ntrue\n' "$line" >"$to"
		ok "$to: $line" eval "[ -n \"\$(wrong_marks $to)\" ]"
	done
}
planted e2e/a.t "# Timd: why" "# timed: why" "#Timed: why" "# Timed : why" "# Timed:" "# Timed:why" "# Slow:" \
	"# Alone: why" "$(printf '# Timed: why\n# Long: why')" "$(printf 'true\n# Slow: why')"
planted tools/a.t "# Long: why" "# Alone: why"
planted kmod/a.t "# Timed: why"
printf '# SPDX\n# What it does: this.\n# Timed: why\n# Slow: why\ntrue\n' >e2e/a.t
printf '# SPDX\n# Alone: why\n# Slow: why\ntrue\n' >kmod/guest/a.t
printf '# SPDX\n# Long: why\ntrue\n' >e2e/b.t
wrong_marks e2e/a.t e2e/b.t kmod/guest/a.t >"$WORK/list"
ok_empty "those that are right"
finish
