# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by the lints.  It lists the files of the repository, tracked or not yet.
# engine.sh has made a scratch folder the current one; lints read the tree.

cd "$TOP" || exit 1

source_files()	# pathspec...
{
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files --cached --others --exclude-standard -- "$@"
	else
		find "${@:-.}" -type f ! -path './build/*' ! -path './.git/*' | sed 's|^\./||'
	fi | while read -r f; do
		# Files of other projects are not changed; vendor.t checks that.
		case $f in tools/page/vendor/*.min.* | tools/page/vendor/LICENSE.*) [ -z "${with_vendor:-}" ] && continue ;; esac
		[ -f "$f" ] && echo "$f"
	done
}

# Prints the directories of tools/, each after those that it may need.
directories()
{
	sed -n '/^DIRECTORIES/,$p' tools/directories.mk | sed 's/DIRECTORIES :=//; s/\\$//' | tr '\n\t' '  ' | tr -s ' '
}

# Prints C without comments, as lines "file:line:text".
code_of()	# file...
{
	awk '
	FNR == 1 { inside = 0 }
	{
		text = $0
		out = ""
		while (text != "") {
			if (inside) {
				at = index(text, "*/")
				if (!at) break
				text = substr(text, at + 2)
				inside = 0
				continue
			}
			at = match(text, /\/\*|\/\//)
			if (!at) { out = out text; break }
			out = out substr(text, 1, at - 1)
			if (substr(text, at, 2) == "//") break
			text = substr(text, at + 2)
			inside = 1
		}
		if (out ~ /[^ \t]/) print FILENAME ":" FNR ":" out
	}' "$@"
}

# For awk: returns the directory of tools/ that a file is in.  arch/CPU is in arch, DIR/arch in DIR.
directory_of_path='function directory(path) {
	sub(/^tools\//, "", path)
	if (!sub(/\/[^\/]*$/, "", path)) return ""
	sub(/^arch\/.*/, "arch", path)
	sub(/\/arch$/, "", path)
	return path
}
'
