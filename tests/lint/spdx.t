# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that each file names its licence in its first line (scripts: after #!), and that it is
# the one that COPYING gives to its folder.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"

# Texts of licences, trace files that never change, and formats without comments are exempt.
# The licence is in the first line; in scripts, in the second.
source_files | grep -v -e '^LICENSES/' -e '\.ldb$' -e '\.data$' -e '^\.gitignore$' \
	-e '\.json$' -e '\.png$' -e '^debian/source/format$' -e '^debian/\(changelog\|copyright\)$' \
	-e '^debian/.*\.\(install\|docs\|doc-base\|triggers\|lintian-overrides\)$' | xargs awk '
	# tls.c is the block that the plugin emits into every object.
	function wanted(file) {
		if (file ~ /^libldb\/include\// || file == "libldb/runtime/tls.c")
			return "MIT"
		if (file ~ /^libldb\//)
			return "LGPL-2.1-or-later"
		if (file ~ /^kmod\/uapi\//)
			return "GPL-2.0-or-later WITH Linux-syscall-note"
		return "GPL-2.0-or-later"
	}
	BEGIN {
		for (i = 1; i < ARGC; i++) {
			file = ARGV[i]
			at = got = ""
			for (n = 1; n <= 2 && !at && (getline line <file) > 0; n++)
				if (line ~ /SPDX-License-Identifier: /) {
					at = n
					got = line
				}
			close(file)
			sub(/.*SPDX-License-Identifier: /, "", got)
			sub(/ *(\*\/|-->)$/, "", got)
			if (!at)
				print file ": no licence"
			else if (at > 1 && file !~ /\.sh$|\.t$|^\.ci\/run$|^debian\/rules$|^debian\/.*\.postrm$|\.in$|^tests\/oracle\/bin\/|^tests\/json\/(bin\/|check\.py$)/)
				print file ": not in the first line"
			if (at && got != wanted(file))
				print file ": " got ", but its folder\047s is " wanted(file)
		}
	}' >"$WORK/list"
ok_empty "every file has the licence of its folder"

for text in GPL-2.0 LGPL-2.1 MIT Linux-syscall-note; do
	ok "the text of $text is there" test -s "LICENSES/$text.txt"
done
finish
