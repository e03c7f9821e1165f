# SPDX-License-Identifier: GPL-2.0-or-later
# Files of others are in the repository as they were published: README.md of their folder
# lists each with package, version, licence and sum, and the pages carry the licences.
. "$(dirname "$0")/../lib/engine.sh"
with_vendor=1
. "$TOP/tests/lib/files.sh"
cd "$TOP/tools/page/vendor" || exit 1

sed -n 's/^| \([^ ]*\.min\.[a-z]*\) | .* | \([0-9a-f]\{64\}\) |$/\2  \1/p' README.md >"$WORK/sums"
ok "the list has files" test -s "$WORK/sums"
check "their sums are those of the list" "sha256sum --quiet -c '$WORK/sums'" 0
(cd "$TOP" && source_files tools/page/vendor) | sed 's|.*/||' |
	grep -v -e '^README.md$' -e '^LICENSE\.' -e '^NOTICE.js$' | while read -r f; do
	grep -q "  $f\$" "$WORK/sums" || echo "$f: not in the list"
done >"$WORK/list"
ok_empty "no file is missing in the list"
awk -F ' *[|] *' '/\.min\./ && (NF != 7 || $3 == "" || $4 !~ /^[0-9]+\.[0-9.]+$/ || $5 == "")' README.md >"$WORK/list"
ok_empty "each has a package, a version and a licence"
for f in LICENSE.*; do
	# The licences in NOTICE.js have no blanks at the ends of lines.
	sed 's/[ \t]*$//' "$f" >"$WORK/text"
	ok "$f is in each page" awk 'NR == FNR { want = want $0 "\n"; next } { have = have $0 "\n" }
		END { sub(/\n+$/, "", want); exit !index(have, want) }' "$WORK/text" NOTICE.js
done
grep -o 'ASSET("vendor/[^"]*' ../embed.c | sed 's,.*/,,' | sort >"$WORK/embedded"
{ sed 's/.*  //' "$WORK/sums"; echo NOTICE.js; } | sort | diff - "$WORK/embedded" >"$WORK/list"
ok_empty "all of them are embedded, and no others"

# A page may load nothing from a network, and no name may become HTML.  The URL of SVG's namespace
# is only a name.
grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.html\(|eval\(|new Function|https?://' \
	../*.js ../*.css | grep -v '= "http://www\.w3\.org/2000/svg";$' >"$WORK/list"
ok_empty "no name becomes HTML, and no address is in a page's own scripts"
finish
