# SPDX-License-Identifier: GPL-2.0-or-later
# What tools/base has is not written again elsewhere in tools/: an array that grows is
# array_room()'s, and what is searched by halves is search()'s.
. "$(dirname "$0")/../lib/engine.sh"

# A room that is doubled or grown by a half, beside a reallocation.
doublings()	# folder
{
	grep -rnE --include='*.c' '(\? *(2 \* |[^?:;]*\* 2\b)|\+= *[a-z_>.-]+ */ *2|\*= *2)[^;]*;' "$1" |
		grep -v '/base/' | while IFS=: read -r doublings_file doublings_line doublings_rest; do
			! sed -n "$((doublings_line > 3 ? doublings_line - 3 : 1)),$((doublings_line + 4))p" "$doublings_file" |
				grep -q 'realloc' || echo "$doublings_file:$doublings_line: $doublings_rest"
		done
}

doublings "$TOP/tools" >found
ok "arrays grow in base/" test ! -s found
diag "$(cat found)"

mkdir -p planted
cat >planted/a.c <<'C'
static int grow(struct list *l)
{
	size_t room = l->room ? 2 * l->room : 64;
	int *at = reallocarray(l->at, room, sizeof(*at));

	return at ? 0 : -1;
}
C
ok "one that does not is seen" test -n "$(doublings planted)"

halvings()	# folder
{
	grep -rnE --include='*.[ch]' '\b(mid|middle|half|m) = .*(/ 2|>> 1);' "$1" | grep -v '/base/' |
		while IFS=: read -r halvings_file halvings_line halvings_rest; do
			! sed -n "$((halvings_line > 3 ? halvings_line - 3 : 1)),$((halvings_line))p" "$halvings_file" |
				grep -qE 'while \(|for \(.*<' || echo "$halvings_file:$halvings_line: $halvings_rest"
		done
}

halvings "$TOP/tools" >found
ok "what is sorted is searched by base/" test ! -s found
diag "$(cat found)"

cat >planted/b.c <<'C'
static size_t find(const int *at, size_t nr, int key)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (at[mid] < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}
C
ok "another search is seen" test -n "$(halvings planted)"
finish
