# SPDX-License-Identifier: GPL-2.0-or-later
# The trace context that a program publishes in a variable of its threads is that of their requests:
# ldb-timeline --trace finds them.  What is published wrongly is not read.
. "$(dirname "$0")/../lib/engine.sh"
need_build
command -v jq >/dev/null || skip_all "no jq"

# The variable must be in the dynamic symbol table: of the program, or of a library.
cc_ldb -O2 -g "$PROGRAMS/published.c" -o published -pthread -rdynamic || exit 1
$CC -O2 -I"$TOP/libldb/include" "$PROGRAMS/published.c" -o plain -pthread -rdynamic || exit 1
cc_ldb -O2 -I"$TOP/libldb/include" "$PROGRAMS/published.c" -o hidden -pthread || exit 1
$CC -O2 -shared -fPIC -x c - -o libcontext.so <<'END2' || exit 1
__thread void *volatile otel_thread_ctx_v1;
END2
sed 's/^__attribute__.*\(__thread.*otel_thread_ctx_v1;\)/extern \1/' "$PROGRAMS/published.c" >library.c
cc_ldb -O2 -g library.c -o library -pthread -L. -lcontext -Wl,-rpath,"$PWD" || exit 1

nr_found()	# file trace
{
	ldb-timeline -i "$1" --trace "$2" --json 2>found.err | jq length
}

for program in published library; do
	check "$program: requests by socket" \
		"ldb-record -q --kernel none --request=socket -o $program.data -- ./$program 200" 0 '^served$'
	ok "half of each thread's had a context" test "$(nr_found $program.data a1a1a1a1)$(nr_found $program.data a2a2a2a2)" = 100100
	ok "one trace id, one request" test "$(nr_found $program.data a2a2a2a2a2a2a2a2a2a2a2a200000007)" = 1
	check "one that nobody published" \
		"ldb-timeline -i $program.data --trace a2a2a2a2a2a2a2a2a2a2a2a200000008" 0 'no request was linked'
done

# The variable of this library is not near the thread pointer, because a constructor has loaded the
# library.
sed 's/^__attribute__.*\(__thread.*otel_thread_ctx_v1;\)/static \1/' "$PROGRAMS/published.c" >private.c
$CC -O2 -shared -fPIC -x c - -o libplug.so <<'END2' || exit 1
__thread void *volatile otel_thread_ctx_v1;
void touch(void) { otel_thread_ctx_v1 = 0; }
END2
$CC -O2 -shared -fPIC -x c - -o libctor.so <<'END2' || exit 1
#include <dlfcn.h>
__attribute__((constructor)) static void load(void)
{
	void *plug = dlopen("libplug.so", RTLD_NOW);

	((void (*)(void))dlsym(plug, "touch"))();
}
END2
cc_ldb -O2 -g private.c -o private -pthread -Wl,--no-as-needed -L. -lctor -Wl,-rpath,"$PWD" || exit 1
check "a library that a constructor has loaded" "LD_LIBRARY_PATH=. ldb-record -q --kernel none -o ctor.data -- ./private 20 tags" 0 '^served$'

check "requests by tags" "ldb-record -q --kernel none -o tags.data -- ./published 100 tags" 0 '^served$'
ok "the program's own links count more" test "$(nr_found tags.data 7361696473616964)" = 40
ok "than what its threads published" test "$(nr_found tags.data a1a1a1a1)" = 50

check "what is published wrongly" \
	"ldb-record -q --kernel none --request=socket -o bad.data -- ./published 400 bad" 0 '^served$'
check "is not read" "ldb-timeline -i bad.data --trace bbbbbbbb" 0 'no request was linked'
check "a variable that the loader does not know" \
	"ldb-record -q --kernel none --request=socket -o hidden.data -- ./hidden 20" 0 '^served$'
check "is not found" "ldb-timeline -i hidden.data --trace a1a1a1a1" 0 'no request was linked'

# This program was started without the runtime, and is not instrumented.
./plain 1000000000 slow >plain.out &
pid=$!
at_end "kill $pid 2>/dev/null || :"
wait_for 5 "test -S published.sock"
check "a program that was started without ldb" \
	"ldb-record -q --kernel none --request=socket -p $pid -d 0.3 -o attached.data" 0
kill "$pid"
wait "$pid" 2>/dev/null
found=$(nr_found attached.data a1a1a1a1)
ok "its requests have theirs" test "${found:-0}" -gt 0
finish
