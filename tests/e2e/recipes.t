# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the recipes of ldb-intro(7): each build system makes an instrumented program.
. "$(dirname "$0")/../lib/engine.sh"
need_build

has_records()	# program: note type 1, which readelf calls NT_VERSION
{
	readelf -nW "$1" 2>/dev/null | grep -q '^ *LDB .*NT_VERSION'
}

cp "$PROGRAMS/app.c" app.c
ok "ldb-gcc" eval "ldb-gcc -O2 -g app.c -o app && has_records ./app"
$CC -O2 app.c -o bare
ok "the check itself can fail" eval "! has_records ./bare"
check "the program runs" "./app 20" 0 'app: end'

cat >Makefile <<'END'
app-make: app.o
	$(CC) $^ -o $@
END
ok "make CC=ldb-gcc, -j" eval "make -s -j2 CC=ldb-gcc CFLAGS='-O2 -g' app-make && has_records ./app-make && rm app-make"

ok "-flto" eval "ldb-gcc -O2 -g -flto app.c -o app-lto && has_records ./app-lto"
ok "-flto in two steps" eval "ldb-gcc -O2 -g -flto -c app.c -o lto.o && ldb-gcc -O2 -flto lto.o -o app-lto2 && has_records ./app-lto2"
ok "-flto without the plugin at the link has none" eval "$CC -O2 -flto lto.o -o app-lto3 && ! has_records ./app-lto3"
run_cmd "ldb-record -o lto.data -- ./app-lto3 100"
ok "and ldb-record says why" eval 'printf "%s\n" "$out" | grep -q -e "-flto"'
diag "$out"

if command -v cmake >/dev/null; then
	mkdir cmake && cp app.c cmake/ || exit 1
	cat >cmake/CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.10)
		project(app C)
		add_executable(app app.c)
		find_library(LIBRARY zstd)
		message(STATUS "library: ${LIBRARY}")
	END
	ok "CMake, wrapper" eval "cmake -S cmake -B cmake/b1 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=ldb-gcc -DCMAKE_LIBRARY_ARCHITECTURE=\$($CC -print-multiarch) >cmake.log 2>&1 && cmake --build cmake/b1 >>cmake.log 2>&1 && has_records cmake/b1/app"
	if [ -e "/usr/lib/$($CC -print-multiarch)/libzstd.so" ]; then
		check "CMake, wrapper: it finds a library" "cat cmake.log" 0 'library: /.*libzstd\.so'
	else
		skip "CMake, wrapper: it finds a library" "libzstd is not where Debian has it"
	fi
	ok "CMake, flags" eval "cmake -S cmake -B cmake/b2 -DCMAKE_C_FLAGS=-fplugin='$PLUGIN' >cmake.log 2>&1 && cmake --build cmake/b2 >>cmake.log 2>&1 && has_records cmake/b2/app"
else
	skip "CMake" "cmake is not installed"
fi

if command -v autoconf >/dev/null && command -v autoreconf >/dev/null; then
	mkdir auto && cp app.c auto/ && cd auto || exit 1
	printf 'AC_INIT([app],[1])\nAC_PROG_CC\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n' >configure.ac
	printf 'app: app.o\n\t@CC@ app.o -o app\napp.o: app.c\n\t@CC@ @CFLAGS@ -c app.c\n' >Makefile.in
	ok "autoconf" eval "autoreconf -i >../auto.log 2>&1 && ./configure CC=ldb-gcc >>../auto.log 2>&1 && make >>../auto.log 2>&1 && has_records ./app"
	cd .. || exit 1
else
	skip "autoconf" "autoconf is not installed"
fi

if command -v ccache >/dev/null; then
	CCACHE_DIR=$WORK/ccache
	export CCACHE_DIR
	ok "ccache, plugin by path" eval "ccache $CC -fplugin='$PLUGIN' -O2 -g -c app.c -o cc1.o && $CC cc1.o -o app-cc && has_records ./app-cc"
	ok "ccache: the second time from the cache" eval \
		"ccache -z >/dev/null && ccache $CC -fplugin='$PLUGIN' -O2 -g -c app.c -o cc2.o && ccache -s -v | grep -E '^ *Hits: +1 ' >/dev/null && cmp cc1.o cc2.o"
	cp "$PLUGIN" other.so
	printf x >>other.so
	ok "ccache: another plugin is not taken from the cache" eval \
		"ccache -z >/dev/null && ccache $CC -fplugin='$WORK/other.so' -O2 -g -c app.c -o cc3.o && ccache -s -v | grep -E '^ *Misses: +1 ' >/dev/null"
	ok "make CC=\"ccache gcc -fplugin=PATH\"" eval "rm -f app.o && make -s CC='ccache $CC -fplugin=$PLUGIN' CFLAGS='-O2 -g' app-make && has_records ./app-make"
else
	skip "ccache" "ccache is not installed"
fi

finish
