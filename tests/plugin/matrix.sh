# SPDX-License-Identifier: GPL-2.0-or-later
# matrix.sh LEVEL ROW tests that control.c and cxx.cc print the same and exit alike when they
# are compiled with and without the plugin; with it they check their own chain.
. "$TOP/tests/lib/engine.sh"
src=$TOP/tests/plugin
level=$1
row=$2

case $level in
Os) number=2 ;;
*) number=${level#O} ;;
esac
flags="-$level -DLEVEL=$number -w"
sanitized=
case $row in
plain) ;;
flto) flags="$flags -flto" ;;
shared) flags="$flags -fPIC -DAS_LIBRARY" ;;
stack-protector) flags="$flags -fstack-protector-strong" ;;
address | thread | undefined)
	sanitized="-fsanitize=$row -DSANITIZED"
	# GCC 13 moves locals to the heap, where nested functions cannot be called.
	ASAN_OPTIONS=detect_stack_use_after_return=0
	export ASAN_OPTIONS ;;
masm-intel) flags="$flags -masm=intel" ;;
no-pie) flags="$flags -no-pie" ;;
# These rows are additional: flags that change frames, exceptions or calls.
cet) flags="$flags -fcf-protection=full -fno-omit-frame-pointer" ;;
native) flags="$flags -march=native -mno-red-zone" ;;
non-call) flags="$flags -fnon-call-exceptions -fno-ipa-icf" ;;
split-stack) flags="$flags -fsplit-stack" ;;
clash) flags="$flags -fstack-clash-protection -fpatchable-function-entry=5" ;;
lto-fat) flags="$flags -flto -ffat-lto-objects -g" ;;
*) echo "Bail out! unknown row $row"; exit 1 ;;
esac
flags="$flags $sanitized"
cat >main.c <<'END'
int subject_main(int argc, char **argv);
int main(int argc, char **argv) { return subject_main(argc, argv); }
END

build()	# output compiler sources flags...
{
	output=$1
	compiler=$2
	source=$3
	shift 3
	# Nested functions need an executable stack, with or without ldb.
	if [ "$row" = shared ]; then
		$compiler $flags "$@" -shared -z execstack "$source" \
			-o "lib$output.so" &&
		$CC $flags "$@" -z execstack main.c "./lib$output.so" -o "$output"
	else
		$compiler $flags "$@" -rdynamic -z execstack "$source" -o "$output"
	fi
}

run()	# name cmd...: writes $name.out and $name.status; kills a hung command
{
	run_name=$1
	shift
	timeout -s KILL 60 "$@" >"$run_name.out" 2>"$run_name.err"
	echo $? >"$run_name.status"
}

same()	# a b
{
	cmp "$1.out" "$2.out" && cmp "$1.status" "$2.status" &&
		grep -qx 42 "$1.status" && ! [ -s "$2.err" ] && return
	diag "status $(cat "$1.status") and $(cat "$2.status")"
	diag "$(head -n 10 "$2.err")"
	return 1
}

subject()	# name compiler source flags...
{
	name=$1
	compiler=$2
	source=$3
	shift 3
	title="$level $row: $name"
	build plain "$compiler" "$source" "$@" 2>build.err &&
	build ldb "$compiler" "$source" "$@" -fplugin="$PLUGIN" -DWITH_LDB 2>>build.err
	if [ $? -ne 0 ] || [ -s build.err ]; then
		fail "$title: compiles without a word"
		diag "$(head -n 10 build.err)"
		return
	fi
	run plain ./plain
	run ldb ./ldb
	ok "$title: same output and exit status, chain right" same plain ldb
	if [ "${LDB_MATRIX_RECORD:-}" = 1 ]; then
		run recorded ldb-record -q -o ldb.data -- ./ldb
		ok "$title: the same while recorded" same plain recorded
	fi
}

subject C "$CC" "$src/control.c"
subject C++ "$CXX" "$src/cxx.cc" -std=gnu++20
finish
