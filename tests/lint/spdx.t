# SPDX-License-Identifier: GPL-2.0-or-later
# Each file says its licence in its first line (scripts: after #!), and it is the
# one that COPYING gives to its folder.
. "$(dirname "$0")/../engine.sh"
. "$TOP/tests/lint/files.sh"

wanted()	# file
{
	case $1 in
	# tls.S is the block that the plugin emits into every object.
	libldb/include/* | libldb/runtime/tls.S) echo MIT ;;
	libldb/*)		echo LGPL-2.1-or-later ;;
	kmod/uapi/*)		echo "GPL-2.0-or-later WITH Linux-syscall-note" ;;
	*)			echo GPL-2.0-or-later ;;
	esac
}

# Texts of licences, trace files that are kept as they were written, and formats without
# comments.
source_files | grep -v -e '^LICENSES/' -e '\.ldb$' -e '\.data$' -e '^\.gitignore$' \
	-e '\.json$' -e '\.png$' | while read -r f; do
	line=$(head -n 2 "$f" | grep -m 1 'SPDX-License-Identifier: ')
	[ -n "$line" ] || { echo "$f: no licence"; continue; }
	case $f in *.sh | *.t | .ci/run | *.in | tests/oracle/bin/*) ;; *)
		head -n 1 "$f" | grep -q SPDX || echo "$f: not in the first line" ;;
	esac
	got=$(echo "$line" | sed 's/.*SPDX-License-Identifier: //; s/ *\*\/$//; s/ *-->$//')
	[ "$got" = "$(wanted "$f")" ] || echo "$f: $got, but its folder's is $(wanted "$f")"
done >"$WORK/list"
ok_empty "every file has the licence of its folder"

for text in GPL-2.0 LGPL-2.1 MIT Linux-syscall-note; do
	ok "the text of $text is there" test -s "LICENSES/$text.txt"
done
finish
