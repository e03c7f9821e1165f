# SPDX-License-Identifier: GPL-2.0-or-later
# Tests what is emitted: the order of the stores, both dialects, no side effects on tail calls,
# the stack protector, the sanitizers and debug information.
. "$TOP/tests/lib/engine.sh"
src=$TOP/tests/plugin

cat >a.c <<'END'
int ext(int);
extern int hit;
int once(int x) { return ext(x) + 1; }
int shrunk(int x)
{
	if (x == hit)
		return 7;
	return ext(x) + ext(x + 1);
}
int late(const int *p) { int v = *p; return ext(v) + v; }
int tail(int x) { ext(x); return ext(x + 1); }
int two_regions(int x)
{
	if (x > 3) {
		ext(x);
		if (x > 5)
			return 1;
	} else if (x < -3) {
		ext(-x);
	}
	return x;
}
void panic(void) __attribute__((noreturn));
int dead_end(int *p) { if (!p) panic(); return *p; }
int loop(const int *p, int n) { int s = 0; while (n--) s += p[n]; return s; }
int big(int *p, int a)
{
	p[0] += ext(a); p[1] *= a; p[2] ^= a; p[3] -= a; p[4] += p[0]; p[5] += p[1];
	p[6] ^= p[2]; p[7] += p[3]; p[8] += p[4]; p[9] ^= p[5];
	return p[6];
}
END
cat >red.c <<'END'
int gone(int) __attribute__((const, nothrow));
int zone(int *p, int a)
{
	int v[8];
	int unused = gone(a);

	p[0] += a; p[1] *= a; p[2] ^= a; p[3] -= a; p[4] += p[0]; p[5] += p[1]; p[6] ^= p[2];
	__asm__("" : "=m"(v));
	v[1] += p[3]; v[2] += p[4]; v[3] += p[5];
	__asm__("# %0" :: "m"(v));
	p[7] += v[3];
	return p[0];
}
END

in_function()	# file function: prints its lines
{
	sed -n "/^$2:/,/\.size[[:space:]]*$2,/p" "$1"
}

check "compiles" "cc_ldb -O2 -S a.c -o att.s && cc_ldb -O2 -masm=intel -S a.c -o intel.s &&
	cc_ldb -O2 -fPIC -S a.c -o pic.s && $CC -O2 -S a.c -o without.s"

# Prints the first link of a function.  The register with the thread's block becomes T, the one
# with the record's address A, the others R.
link_of()	# file function
{
	in_function "$1" "$2" | awk '/#APP/ { on = 1; next } /#NO_APP/ { exit } on' >link.raw
	thread=$(sed -nE 's/.*addq.*8\(%(r[a-z0-9]+)\)$/\1/p' link.raw)
	record=$(sed -nE 's/.*leaq.*\(%rsp\), %(r[a-z0-9]+)$/\1/p' link.raw)
	sed -E "s/\t/ /g; s/^ *//; s/%$thread\>/T/g; s/%$record\>/A/g; s/-?[0-9]*\(%rsp\)/record/
		s/%r([abcds][xip]|bp|[0-9]+)/R/g; s/R\(%rip\)|\(R\)/(%rip)/" link.raw
}
cat >link.rest <<'END'
addq $65536, 8(T)
leaq record, A
movq R, 24(A)
movq 8(T), R
movq R, 8(A)
movq (T), R
movq R, (A)
leaq (%rip), R
movq R, 16(A)
movq A, (T)
END
{
	echo 'movq %fs:0, T'
	echo 'leaq __ldb_thread@tpoff(T), T'
	cat link.rest
} >exe.want
{
	echo 'movq __ldb_thread@gottpoff(%rip), T'
	echo 'addq %fs:0, T'
	cat link.rest
} >pic.want
check "the link's twelve instructions, in the contract's order" \
	"link_of att.s once | diff exe.want -"
check "as many in code for shared objects" "link_of pic.s once | diff pic.want -"
# A small function contains the link's instructions; a big one calls __ldb_link, which each object
# file contains.
for s in att pic; do
	check "$s: a big function calls for its link" "in_function $s.s big | tr '\n\t' '; '" 0 \
		"leaq [0-9]*\(%rsp\), %r10; call __ldb_link;"
	check "$s: what it calls, in the contract's order" "in_function $s.s __ldb_link |
		sed -E 's/%r11/T/g; s/%r10/A/g; s/%rax/R/g' | grep -E 'T\)|A\)' | tr '\n\t' '; '" 0 \
		'^ addq [$]65536, 8.T.; movq R, 24.A.; movq 8.T., R; movq R, 8.A.; movq .T., R; movq R, .A.; movq R, 16.A.; movq A, .T.;$'
done
check "a function without calls keeps prev in a register" \
	"in_function att.s loop | awk '/#APP/ { n++ } n > 1 && /movq/' | tr '\n\t' '; '" 0 \
	'^ movq %r[a-z0-9]*, %fs:__ldb_thread@tpoff;$'
# GCC removes the call of gone(), so zone() has no call but that of the link, and its variables are
# below the stack pointer.  They must survive the call of the link.
check "nothing below the stack pointer is written over" \
	"cc_ldb -O2 -fno-tree-dce -fno-tree-dse -S red.c -o red.s && in_function red.s zone | tr '\n\t' '; '" 0 \
	"leaq -128\(%rsp\), %rsp; call __ldb_link; leaq 128\(%rsp\), %rsp;"
check "code for executables reads no GOT" "grep -c gottpoff att.s pic.s" 0 \
	"^att.s:1\$"
check "the link comes after what does not need it" "in_function att.s late | awk '
	/\(%rdi\), %e/ { print \"work\" } /#APP/ && !n++ { print \"link\" } /call.*ext/ { print \"call\" }' |
	tr '\\n' ' '" 0 '^work link call $'
for s in att intel; do
	$CC -c $s.s -o $s.o && objdump -d --no-show-raw-insn $s.o | sed 1,3d >$s.dis
done
ok "-masm=intel gives the same machine code" cmp att.dis intel.dis
check_not "-masm=intel: no AT&T left" \
	"in_function intel.s once; in_function intel.s shrunk" 0 '%'

check "a fast path pays nothing" "in_function att.s shrunk | awk '
	/#APP/ { print \"link\"; exit } /\tret/ { print \"ret\" }
	/\tj/ { print \"branch\"; exit }'" 0 branch
check "a tail call stays one, unlinked before it" "in_function att.s tail | awk '
	/#APP/ { apps++ } /jmp.*ext/ { print apps }'" 0 '^2$'
check "two arms with calls: one link" \
	"in_function att.s two_regions | grep -cE 'addq.*65536|__ldb_link'" 0 '^1$'
check "a dead end has a link of its own and the way past it none" \
	"cc_ldb -O2 -fplugin-arg-ldb-verbose -c a.c -o a.o" 0 \
	"dead_end: instrumented: entry=dead ends only exits=0 dead-ends=1"
check_not "-fPIC: no call for thread-local storage" "cat pic.s" 0 __tls_get_addr

check "flags: control.c and cxx.cc, with and without" "
	for p in 'control.c -DLEVEL=2' 'cxx.cc -std=gnu++20'; do
		set -- \$p
		for s in stack-protector-strong sanitize=address; do
			$CXX -x none -w -O2 -f\$s -S $src/\$p -o plain.\$s.\$1.s 2>/dev/null ||
			$CC -w -O2 -f\$s -S $src/\$p -o plain.\$s.\$1.s || exit 1
			$CXX -fplugin=$PLUGIN -w -O2 -f\$s -S $src/\$p -o ldb.\$s.\$1.s 2>/dev/null ||
			$CC -fplugin=$PLUGIN -w -O2 -f\$s -S $src/\$p -o ldb.\$s.\$1.s || exit 1
		done
	done"
for p in control.c cxx.cc; do
	for s in "stack-protector-strong __stack_chk_fail" \
		 "sanitize=address __asan_stack_malloc" \
		 "sanitize=address __asan_option_detect_stack_use"; do
		set -- $s
		check "-f$1 on $p: as many uses of $2" "
			a=\$(grep -c $2 plain.$1.$p.s); b=\$(grep -c $2 ldb.$1.$p.s)
			echo \$a \$b; [ \$a -gt 0 ] && [ \$a -eq \$b ]"
	done
done

check "the same code with and without -g (C)" \
	"cc_ldb -O2 -fcompare-debug -w -DLEVEL=2 -c $src/control.c -o x.o"
check "the same code with and without -g (C++)" \
	"cxx_ldb -std=gnu++20 -O2 -fcompare-debug -w -c $src/cxx.cc -o x.o"
check "-Wall -Wextra -Werror: no word about what the plugin adds" \
	"cc_ldb -O2 -Wall -Wextra -Werror -Wpadded -c a.c -o x.o"
check "-save-temps -pipe -E -M -fsyntax-only" "cc_ldb -O2 -save-temps -c a.c -o x.o &&
	cc_ldb -pipe -c a.c -o x.o && cc_ldb -E a.c && cc_ldb -M a.c &&
	cc_ldb -fsyntax-only a.c"
check "the dump names the pass" "cc_ldb -O2 -fdump-tree-all -c a.c -o x.o &&
	cat *.ldb" 0 "ldb: instrumented: entry="
finish
