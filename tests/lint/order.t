# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that loads and stores whose order matters have a name, in one of a few headers, with a
# comment that names their partner.  No other file uses a barrier, or an atomic operation
# weaker than C11's default.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/files.sh"


# shellcheck disable=SC2046	# a list
code_of $(source_files kmod libldb tools | grep -E '\.(c|h)$') >"$WORK/code"

# The ordered accesses may be in these files: order.h defines them; ring.h and stamp.h have the two
# protocols of linux/ldb.h; compat.h reads the scheduler's state.  The program's own header must
# also compile as C++, and BPF has no other atomics.
named='^(libldb/order\.h|libldb/scan/safe-load\.h|tools/record/session/order\.h|kmod/(order|ring|stamp|compat)\.h):'
named=$named'|^[^:]*/arch/|^libldb/include/ldb/ldb\.h:|^tools/record/bpf/'
naked='__atomic_|__sync_|_explicit *\(|atomic_(thread|signal)_fence|\<memory_order_'
naked=$naked'|\<smp_(mb|rmb|wmb|store_|load_|acquire|cond_)|\<(barrier|mb|rmb|wmb) *\( *\)|\<virt_(mb|rmb|wmb)'
naked=$naked'|\<atomic[a-z0-9_]*_(acquire|release|relaxed)\>|\<cpu_order_loads\>'

grep -vE "$named" "$WORK/code" | grep -E ":[0-9]+:.*($naked)" >"$WORK/list"
ok_empty "no naked order of loads and stores"

cat >"$WORK/bad.c" <<'END'
	__atomic_store_n(&p->state, LDB_PAGE_LIVE, __ATOMIC_RELEASE);
	atomic_store_explicit(&s->looking[i], NULL, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	__sync_fetch_and_add(ring, n);
	smp_mb();	/* who needs names */
	smp_store_release(&f->s, s);
	s = smp_load_acquire(&f->s);
	barrier();
	return atomic_read_acquire(&gen);
	cpu_order_loads();
END
code_of "$WORK/bad.c" | grep -v -E ":[0-9]+:.*($naked)" >"$WORK/list"
ok_empty "each kind of them is found"

# Prints names of functions after "Partner:", to the end of that comment.
headers="libldb/order.h libldb/scan/safe-load.h tools/record/session/order.h kmod/order.h"
partners()	# file: lines "name"
{
	tr '\n' ' ' <"$1" | sed 's|\*/|\n|g' | sed -n 's/.*Partner: //p' |
		grep -oE '[A-Za-z_][A-Za-z0-9_]*\(\)' | tr -d '()' | sort -u
}
for header in $headers; do
	partners "$header"
done >"$WORK/partners"
ok "partners are named" test "$(wc -l <"$WORK/partners")" -ge 20
while read -r name; do
	grep -q -E ":[0-9]+:.*\<$name *\(" "$WORK/code" || echo "$name() is a partner, and is nowhere"
done <"$WORK/partners" >"$WORK/list"
ok_empty "each partner exists"

# A function that is never called orders nothing.
for header in $headers; do
	sed -nE 's/^(static .*[ *]|#define )((order|safe_load|ldb_order)_[a-z_0-9]+)\(.*/\2/p' "$header" |
		sort -u | while read -r name; do
		grep -v "^$header:" "$WORK/code" | grep -q -w "$name" ||
			[ "$(grep -c -E ":[0-9]+:.*\<$name\(" "$WORK/code")" -ge 2 ] ||
			echo "$header: $name() is not used"
	done
done >"$WORK/list"
ok_empty "each of the names is used"

# Each name needs a reason: a comment before it, or before its group.
awk '
	FNR == 1 { said = 0 }
	/^\/\*/ { said = 1 }
	/^(static|#define (order|ldb_order)_)/ && !said { print FILENAME ": " $0 }' $headers >"$WORK/list"
ok_empty "each has a comment"
finish
