# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that what tools/base has is not written again elsewhere in tools/: a growing array
# uses array_room(), a binary search uses search(), hash tables are hash.h's, keyed.h's and
# intern.h's, heaps heap.h's.
. "$(dirname "$0")/../lib/engine.sh"

# Finds hand-written growing arrays: a doubled capacity anywhere, and other doubling, or growth by a
# half, near a reallocation.
doublings()	# folder
{
	grep -rHnE --include='*.[ch]' '\b2 \* [a-z_>.-]*(room|cap)|(room|cap)\w* (\*|<<)=? *[12]\b' "$1" | grep -v '/base/'
	grep -rHnE --include='*.[ch]' '(\b2 \* |\* 2\b|\+=? *\*?[a-z_>.-]+ */ *2\b|\*= *2\b|<<=? *1\b|>> *1\b)[^;]*;' "$1" |
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
cat >planted/a.h <<'C'
	l->room += l->room / 2;
	l->at = realloc(l->at, l->room);
C
mkdir -p planted/passed
cat >planted/passed/a.c <<'C'
	if (l->nr == l->room && set_room(l, l->room * 2))
C
for way in a.c a.h passed; do
	ok "a hand-written growing array is found: $way" test -n "$(doublings planted/$way)"
done

halvings()	# folder
{
	grep -rnE --include='*.[ch]' -e '\b(mid|middle|half|m) = .*(/ 2|>> 1);' \
		-e '= \(\w+ \+ \w+\) (/ 2|>> 1);|\+ \((\w|->)+ - (\w|->)+\) (/ 2|>> 1);' "$1" | grep -v '/base/' |
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
ok "a hand-written search is found" test -n "$(halvings planted)"

# Finds hand-written hash tables: chains in a table of pointers; places that are probed one after
# the other; an index computed by a hash function.  Caches with one place for each key do not count,
# nor do rings.
tables()	# folder
{
	grep -rnE --include='*.[ch]' -e '\*\*\w*buckets?\b|\*\w*(buckets?|chains?)\[|\bnr_\w*buckets|NR_\w*BUCKETS' \
		-e '\b(\w+) = \(\1 \+ 1\) (&|%)' \
		-e '\[[^]]*(hash|mix)\w*(\(|->| ).*(%|& |>>)' "$1" | grep -v '/base/'
}

tables "$TOP/tools" >found
ok "hash tables are those of base/" test ! -s found
diag "$(cat found)"

mkdir -p planted/chained planted/open planted/direct planted/heap
cat >planted/chained/c.c <<'C'
struct table { struct thing *buckets[64]; };
C
cat >planted/open/d.c <<'C'
	while (slots[i].key && slots[i].key != key)
		i = (i + 1) & (room - 1);
C
cat >planted/direct/e.c <<'C'
	for (t = things[hash_of(key) % room]; t; t = t->next)
C
for way in chained open direct; do
	ok "a hand-written hash table is found: $way" test -n "$(tables planted/$way)"
done

heaps()	# folder
{
	grep -rnE --include='*.[ch]' -e '\(\w+ - 1\) (/ 2|>> 1)' -e '(child|kid|left|l|c|k|j) = (2 \* \w+|\w+ \* 2|\w+ << 1) (\+|\|) 1' \
		"$1" | grep -v '/base/'
}

heaps "$TOP/tools" >found
ok "heaps are those of base/" test ! -s found
diag "$(cat found)"

cat >planted/heap/f.c <<'C'
	while (i && at[(i - 1) / 2] > at[i])
C
cat >planted/heap/g.c <<'C'
	for (size_t child; (child = 2 * i + 1) < nr; i = child)
C
ok "hand-written heaps are found" test "$(heaps planted/heap | wc -l)" -eq 2
finish
