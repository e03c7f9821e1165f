# SPDX-License-Identifier: GPL-2.0-or-later
# Tests make install: into DESTDIR always; into the running system, as a user does it, only as
# root and when CI=true or LDB_TEST_INSTALL=1 says so.
# Long: it installs three times.
. "$(dirname "$0")/../lib/engine.sh"
need_build
: "${MAKE:=make}"

# Installs into DESTDIR.  The installed recorder must find the installed runtime.
stage=$WORK/stage
check "make install DESTDIR=" "$MAKE -C '$TOP' install DESTDIR='$stage' PREFIX=/opt/ldb" 0
root=$stage/opt/ldb
for f in bin/ldb-record bin/ldb-report bin/ldb-timeline bin/ldb-why bin/ldb-flows bin/ldb-ctl bin/ldb-top bin/ldb-gcc bin/ldb-g++ \
	 lib/libldbtrace.so.0 lib/libldbtrace.so lib/pkgconfig/ldbtrace.pc \
	 include/ldb/ldb.h include/ldb/arch.h include/ldb/abi.h \
	 share/man/man1/ldb-record.1 share/man/man1/ldb-report.1 share/man/man1/ldb-timeline.1 share/man/man1/ldb-why.1 share/man/man1/ldb-flows.1 share/man/man1/ldb-ctl.1 \
	 share/man/man1/ldb-top.1 \
	 share/bash-completion/completions/ldb-record share/zsh/site-functions/_ldb-record \
	 share/man/man5/ldb.data.v2.5 share/man/man7/ldb-intro.7 \
	 share/ldb/schemas/ldb-why.json share/ldb/schemas/common.json; do
	ok "installs $f" test -e "$root/$f"
done
ok "nothing outside PREFIX but GCC's plugin folder" eval \
	"! find '$stage' ! -type d | grep -v -e '^$root/' -e '/lib/gcc/.*/plugin/' | grep ."
ok "nothing depends on the build folder" eval "! grep -rl '$BUILD' '$root/lib/pkgconfig' '$root/bin/ldb-gcc' '$root/bin/ldb-g++'"

plugin=$(find "$stage" -name ldb.so | head -n 1)
runtime=$root/lib/libldbtrace.so.0
ok "the plugin is there by its name" test -n "$plugin"
check "an app compiles with the installed plugin" "$CC -O2 -g -fplugin='$plugin' '$PROGRAMS/app.c' -o app && ./app 20" 0 'app: end'
oracle_add t.data
check "the installed recorder finds the installed runtime" "env PATH='$root/bin:/usr/bin:/bin' ldb-record -o t.data -- ./app 500" 0 'app: end'
check "the installed report" "env PATH='$root/bin:/usr/bin:/bin' ldb-report -i t.data" 0 'spin_us'
pc="PKG_CONFIG_PATH='$root/lib/pkgconfig' pkg-config --define-variable=prefix='$root' --define-variable=libdir='$root/lib'"
check "pkg-config links the runtime" \
	"$CC -O2 -g -fplugin='$plugin' \$($pc --cflags ldbtrace) '$PROGRAMS/server.c' -o server -pthread \$($pc --libs ldbtrace) && readelf -d server" 0 \
	'NEEDED.*libldbtrace\.so\.0'
check "and the program runs with it" "LD_LIBRARY_PATH='$root/lib' ./server 1" 0 '^server: served'
check "ldb-gcc" "env PATH='$root/bin:/usr/bin:/bin' ldb-gcc -O2 -flto '$PROGRAMS/app.c' -o app-lto && ./app-lto 20" 0 'app: end'

check "make uninstall" "$MAKE -C '$TOP' uninstall DESTDIR='$stage' PREFIX=/opt/ldb" 0
ok "leaves no file" eval "! find '$stage' ! -type d | grep ."

list_files()	# prefix
{
	find "$1"/bin "$1"/lib "$1"/include "$1"/share/man "$1"/share/bash-completion "$1"/share/zsh \
		"$(gcc -print-file-name=plugin)" ! -type d 2>/dev/null |
		grep -v '/mandb\|/__pycache__/' | sort
}

# Installs into the system, and uses only the paths that the system has.
real_install()	# prefix
{
	list_files "$1" >"$WORK/before"
	check "make install PREFIX=$1" "$MAKE -C '$TOP' install PREFIX=$1 DESTDIR=" 0
	at_end "$MAKE -C '$TOP' uninstall PREFIX=$1 DESTDIR= >/dev/null 2>&1"
	mkdir -p "real$1" && cd "real$1" || exit 1
	cp "$PROGRAMS/app.c" "$PROGRAMS/server.c" .
	saved_path=$PATH
	PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	check "gcc -fplugin=ldb.so app.c -o app" "gcc -fplugin=ldb.so app.c -o app" 0
	check "./app" "./app 20" 0 'app: end'
	oracle_add ldb.data
	check "ldb-record -- ./app" "ldb-record -- ./app 500 && ldb-report" 0 'spin_us'
	check "g++ -fplugin=ldb.so" "g++ -O2 -g -fplugin=ldb.so '$PROGRAMS/figure1.cc' -o figure1 -pthread && ./figure1 -n 1000" 0 '^figure1: 1000 requests'
	check "gcc, pkg-config" "gcc -O2 -g -fplugin=ldb.so server.c -o server -pthread \$(pkg-config --cflags --libs ldbtrace)" 0
	./server >server.out 2>&1 &
	pid=$!
	at_end "kill $pid 2>/dev/null || :"
	sleep 0.2
	for i in 1 2 3; do
		oracle_add ldb.data
		check "ldb-record -p PID -d 1, time $i" "ldb-record -p $pid -d 1 && ldb-report" 0 'handle'
	done
	kill -TERM "$pid"
	wait "$pid"
	status=$?
	ok "the program was not disturbed" test "$status" -eq 0 -a "$(cat server.out)" = "server: served, 0 stalls"
	check "make uninstall PREFIX=$1" "$MAKE -C '$TOP' uninstall PREFIX=$1 DESTDIR=" 0
	list_files "$1" >"$WORK/after"
	ok "leaves no file" cmp "$WORK/before" "$WORK/after"
	PATH=$saved_path
	cd "$WORK" || exit 1
}

if [ "$(id -u)" -ne 0 ]; then
	skip "install into the running system" "not root"
elif [ "${CI:-}" != true ] && [ "${LDB_TEST_INSTALL:-}" != 1 ]; then
	skip "install into the running system" "LDB_TEST_INSTALL=1 or CI=true not set"
elif [ -e /usr/local/bin/ldb-record ] || [ -e /usr/bin/ldb-record ]; then
	skip "install into the running system" "ldb is installed already"
else
	real_install /usr/local
	real_install /usr
fi

finish
