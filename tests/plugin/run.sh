#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the plugin's tests: tests/plugin/run.sh [quick | most | full]
#
# full is the whole matrix of levels and rows, and the default in make check-all (LDB_TEST_ALL=1).
# most is the default elsewhere: all levels of the row plain, -O2 of each other row, and of a few
# rows one more level.  quick is a small part.  LDB_MATRIX_RECORD=1 runs each program of the matrix
# under ldb-record as well.  Each job is a script of this folder with arguments, which prints TAP;
# two run at a time, or $LDB_TEST_JOBS, and their results are numbered consecutively here.
#
# The compilers are $CC and each other gcc-N for which a plugin is built.

here=$(cd "$(dirname "$0")" && pwd)
TOP=$(cd "$here/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
export TOP BUILD
mode=${1:-most}
[ $# -gt 0 ] || [ -z "${LDB_TEST_ALL:-}" ] || mode=full

case $mode in
quick)	levels="O0 O2" rows="plain flto shared address masm-intel" extra= ;;
most | full)
	levels="O0 O1 O2 O3 Os"
	rows="plain flto shared stack-protector address thread undefined
	      masm-intel no-pie"
	extra="cet native non-call split-stack clash lto-fat" ;;
*)	echo "usage: run.sh [quick | most | full]" >&2; exit 2 ;;
esac

if ! [ -e "$BUILD/plugin/ldb.so" ]; then
	echo "Bail out! not built: $BUILD/plugin/ldb.so"
	exit 1
fi

: "${CC:=gcc}" "${CXX:=g++}"
export CC CXX
major=$($CC -dumpversion | cut -d. -f1)
compilers=$CC
for so in "$BUILD/plugin/"ldb-gcc-*.so; do
	n=${so##*-}
	n=${n%.so}
	[ "$n" = "$major" ] || ! command -v "gcc-$n" >/dev/null || compilers="$compilers gcc-$n"
done

results=$(mktemp -d "${TMPDIR:-/tmp}/ldb-plugin.XXXXXX") || exit 1
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM HUP

# The matrix comes first, so that both processors finish at about the same time.
for compiler in $compilers; do
	for row in $rows; do
		for level in $levels; do
			case $mode-$level-$row in
			most-*-plain | most-O2-* | most-O0-shared | most-O0-address | most-O3-flto) ;;
			most-*) continue ;;
			esac
			echo "$compiler matrix.sh $level $row"
		done
	done
	for row in $extra; do
		echo "$compiler matrix.sh O2 $row"
	done
	[ "$mode" != full ] || echo "$compiler debug-info-apps.sh"
	for script in self.sh select.sh short.sh tail.sh debug-info.sh asm.sh link.sh install.sh; do
		echo "$compiler $script"
	done
done >"$results/jobs"

# shellcheck disable=SC2016 # expanded by the inner shell
xargs -P "${LDB_TEST_JOBS:-2}" -I '{}' sh -c '
	set -- {}
	log=$2/$(echo "$3 $4${5:+ $5}${6:+ $6}" | tr " /" "--")
	if [ "$3" != "$CC" ]; then
		CC=$3 CXX=$(echo "$3" | sed s/gcc/g++/)
	fi
	cd "$1" && sh "./$4" $5 $6 >"$log.out" 2>&1
	echo $? >"$log.status"
	times >"$log.times"
' <<EOF
$(sed "s|^|$here $results |" "$results/jobs")
EOF

while read -r job; do
	log=$results/$(echo "$job" | tr ' /' '--')
	case $job in
	"$CC "*) cat "$log.out" ;;
	*)	sed "s/^\(\(not \)\{0,1\}ok [0-9]* - \)/\1${job%% *}: /" "$log.out" ;;
	esac
	echo "# $job: CPU $(sed -n '2s/ / + /p' "$log.times")"
	# A script that printed no plan, or fewer or more results than planned, ended too early.
	plan=$(sed -n 's/^1\.\.//p' "$log.out")
	count=$(grep -c -E '^(not )?ok ' "$log.out")
	if [ "${plan:-none}" != "$count" ]; then
		echo "not ok 0 - $job: ended after $count results (exit status $(cat "$log.status"))"
	fi
done <"$results/jobs" | awk '
	/^1\.\./ { next }
	/^ok / { sub(/^ok [0-9]+/, "ok " ++nr) }
	/^not ok / { sub(/^not ok [0-9]+/, "not ok " ++nr); failed++ }
	{ print }
	END { print "1.." nr + 0; exit failed || !nr }'
