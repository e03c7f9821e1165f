# SPDX-License-Identifier: GPL-2.0-or-later
# ldb's own threads have no thread-local memory, so what runs in them must not call libc: in the
# scanner, a sanitizer's clock_gettime() would corrupt the program.
. "$(dirname "$0")/../lib/engine.sh"

obj=$BUILD/obj/libldb
# Symbols of ldb and of the compiler are allowed.  session_init(), stack_unregister() and
# munmap() run in threads of the program: the functions that they call are listed below.
find "$obj" -name '*.o' -exec nm --defined-only {} + | awk 'NF == 3 { print $3 }' |
	grep -v -x -e 'pthread_.*' -e 'sem_.*' -e 'mtx_.*' -e 'cnd_.*' -e 'thrd_.*' | sort -u >ours
raw=$(cd "$TOP/libldb" && grep -l '(raw thread' runtime/*.c scan/*.c)
ok "there are files of raw threads" test "$(printf '%s\n' "$raw" | wc -l)" -ge 5
for f in $raw runtime/session.c request/stack.c shim/held.c shim/wait.c; do
	nm -u "$obj/${f%.c}.o" | awk '{ print $2 }' | grep -v -x -F -f ours |
		grep -v -x -e _GLOBAL_OFFSET_TABLE_ -e '__rseq_.*' -e '__.*[dt]i[234]' >foreign
	[ "$f" != runtime/session.c ] || sed -i -e '/^dlopen$/d' -e '/^dlsym$/d' foreign
	[ "$f" != runtime/unmap.c ] || sed -i '/^dlsym$/d' foreign
	[ "$f" != request/stack.c ] || sed -i '/^__errno_location$/d' foreign
	ok "$f calls nothing outside" test ! -s foreign
	[ ! -s foreign ] || diag "$(cat foreign)"
done
finish
