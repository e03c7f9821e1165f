# SPDX-License-Identifier: GPL-2.0-or-later
# What is emitted: the order of the stores, both dialects, no side effects on
# tail calls, the stack protector, the sanitizers and debug information.
. "$TOP/tests/engine.sh"
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
END

in_function()	# file function: its lines
{
	sed -n "/^$2:/,/\.size[[:space:]]*$2,/p" "$1"
}

check "compiles" "cc_ldb -O2 -S a.c -o att.s && cc_ldb -O2 -masm=intel -S a.c -o intel.s &&
	cc_ldb -O2 -fPIC -S a.c -o pic.s && $CC -O2 -S a.c -o without.s"

# The first link of a function.  The register with the thread's block becomes T, the
# others R; an offset into the record becomes prev, gen, pc or ret: the record's own
# address is the operand of the last lea.
link_of()	# file function
{
	in_function "$1" "$2" | awk '/#APP/ { on = 1; next } /#NO_APP/ { exit } on' >link.raw
	thread=$(sed -nE 's/.*addq.*\(%(r[a-z0-9]+)\)$/\1/p' link.raw)
	sed -E "s/\t/ /g; s/^ *//; s/%$thread\>/T/g; s/%r([abcds][xip]|bp|[0-9]+)/R/g" \
		link.raw >link.regs
	base=$(sed -nE 's/^leaq (-?[0-9]*)\(R\), R$/\1/p' link.regs)
	base=${base:-0}
	for field in prev:0 gen:8 pc:16 ret:24; do
		off=$((base + ${field#*:}))
		[ "$off" -ne 0 ] || off=
		printf '%s\n' "s/^(movq R,|leaq) $off\\(R\\)/\\1 ${field%:*}/"
	done >fields.sed
	sed -E -f fields.sed link.regs
}
cat >link.rest <<'END'
addq $65536, GEN
movq GEN, R
movq R, gen
movq TOP, R
movq R, prev
leaq (%rip), R
movq R, pc
movq R, ret
leaq prev, R
movq R, TOP
END
{
	echo 'movq %fs:0, T'
	sed 's/GEN/__ldb_thread@tpoff+8(T)/; s/TOP/__ldb_thread@tpoff(T)/' link.rest
} >exe.want
{
	echo 'movq __ldb_thread@gottpoff(%rip), T'
	echo 'addq %fs:0, T'
	sed 's/GEN/8(T)/; s/TOP/(T)/' link.rest
} >pic.want
check "the link's eleven instructions, in the contract's order" \
	"link_of att.s once | diff exe.want -"
check "twelve in code for shared objects" "link_of pic.s once | diff pic.want -"
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
	"in_function att.s two_regions | grep -c addq.*65536" 0 '^1$'
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
