#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Changes one thing at a time in the sources and checks whether the tests notice it.
#
#	tests/mutate/run.sh [-n N] [-s SEED] [-p PART]... [-t SECONDS] [-l LEVEL]
#	tests/mutate/run.sh -a [-p PART]... [-t SECONDS] [-l LEVEL]
#	tests/mutate/run.sh -r
#
#	-n	how many mutants (default 200); each part gets a share by its number of lines
#	-s	seed of the draw (default: a new one); it is printed
#	-p	analysis, trace, scan, shim, module (default: all)
#	-t	stops after so many seconds; results so far are in the log, and the next run with
#		the same seed continues
#	-l	fast: only tests that take twelve seconds at most; unit: only those that do not
#		depend on the machine's load; default: all of make check-quick that can test
#		the part
#	-a	tries the mutants again that survived: after a test was written
#	-r	prints the score
#
# A draw is a place in a file (mutate.c).  A mutant that does not compile is drawn again, and
# so is one whose objects are the same: no test can notice it.  The others are run under the
# tests, the likeliest first, until one fails.  A test that does not end in four times its
# usual time and ten seconds has noticed it, too: for a program that is CPU time, or three
# times as much by the clock, as the machine may be busy.  A mutant that is noticed by the
# clock, or by a test other than those of tests/unit and tests/runtime/scan-*, must be noticed
# twice, because there may be another reason.
#
# All of this happens in a copy, $BUILD/mutate/tree, of the sources as they are at the first
# run; later runs update the tests, not the mutated sources.  Remove the folder to begin anew.
# Its log has one line for each mutant: part, file, place, line, kind, result, seconds, test.
# Mutants that survived are in diffs/; the file equivalent beside this one lists those that no
# test can notice, each with the reason.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
WORK=$BUILD/mutate
TREE=$WORK/tree
LOG=$WORK/log
LC_ALL=C
KCFLAGS=-g0
export LC_ALL KCFLAGS
unset LDB_TEST_TIMEOUT

die()
{
	echo "mutate: $*" >&2
	exit 1
}

number=200
seed=
parts=
seconds=0
level=all
mode=draw
while getopts n:s:p:t:l:ar option; do
	case $option in
	n) number=$OPTARG ;;
	s) seed=$OPTARG ;;
	p) parts="$parts $OPTARG" ;;
	t) seconds=$OPTARG ;;
	l) level=$OPTARG ;;
	a) mode=again ;;
	r) mode=score ;;
	*) exit 2 ;;
	esac
done
PARTS="analysis trace scan shim module"
parts=${parts:-$PARTS}
began=$(date +%s)

files_of()	# part, in the current folder
{
	case $1 in
	analysis) find tools/base tools/facts tools/analysis -name '*.[ch]' | sort ;;
	trace) ls tools/trace/*.[ch] ;;
	scan | shim) ls "libldb/$1"/*.[ch] ;;
	module) ls kmod/*.[ch] ;;
	*) die "unknown part $1: see the head of $0" ;;
	esac
}

# Mutated sources have no debug info, or none with columns: two objects count as the same if their
# code is the same.
build()	# folder
{
	case $1 in
	kmod)
		make --no-print-directory -C "$TREE" modules BUILD="$TREE/build" \
			KDIR="$(sh "$TREE/tests/kmod/kernels.sh" 6.1 headers)" </dev/null
		return ;;
	tests/unit | tests/tools) flags="-O2 -g -fPIC" ;;
	tools) flags="-O2 -g0 -fPIC" ;;
	*) flags="-O2 -g -gno-column-info -fPIC" ;;
	esac
	make -j2 --no-print-directory -C "$TREE/$1" all BUILD="$TREE/build" CFLAGS="$flags" \
		AR="sh $TREE/tests/mutate/ar.sh" </dev/null
}

# Copies only files that differ, with the present time, so that make knows what to do.
copy_sources()	# what
{
	(cd "$TOP" && git ls-files -co --exclude-standard -- "$@") | while read -r file; do
		if ! [ -f "$TOP/$file" ] || cmp -s "$TOP/$file" "$TREE/$file"; then continue; fi
		mkdir -p "$(dirname "$TREE/$file")" && cp "$TOP/$file" "$TREE/$file" ||
			die "cannot copy $file to $TREE"
	done
}

# Prints what must be built if a file changes, or any file of a part; the tests of the tools are
# linked with a shared library.
folders_of()	# part [file]
{
	case $1 in
	analysis | trace)
		echo tools
		case ${2:-all.h} in *.c) return ;; esac
		echo "tests/unit"
		[ "$level" != all ] || echo "tests/tools" ;;
	scan | shim)
		echo "tests/runtime"
		[ "$level" != all ] || echo "libldb" ;;
	module) echo kmod ;;
	esac
}

tests_of()	# part
{
	case $1 in
	analysis | trace)
		words="analysis render export top"
		[ "$1" = analysis ] || words="trace analysis record"
		for word in $words; do
			ls "$TREE/tests/unit/$word"-*.c | sed "s|.*/\(.*\)\.c\$|build/tests/unit/\1|"
		done
		[ "$level" != all ] || (cd "$TREE" && ls tests/tools/*.t) ;;
	scan | shim)
		(cd "$TREE/tests/runtime" && ls scan-*.c shim-*.c request-*.c unwind-*.c* |
			grep -v -e '-plain' -e harness | sed 's|\(.*\)\.cc*$|build/tests/runtime/\1|')
		[ "$level" != all ] || (cd "$TREE" && ls tests/runtime/*.t tests/e2e/truth.t) ;;
	module) echo tests/kmod/run.sh ;;
	esac
}

# Runs a test: returns true if it passed; sets $result otherwise.  tests/run.sh is not used, because
# it would build other things, too.
run_test()	# test seconds
{
	case $1 in
	*/run.sh) set -- "$2" sh "$1" quick ;;
	*.t) set -- "$2" sh "$1" ;;
	*) set -- "$2" "./$1" ;;
	esac
	seconds_most=$1
	cpu_most=unlimited
	shift
	[ "$1" = sh ] || { cpu_most=$seconds_most; seconds_most=$((3 * seconds_most)); }
	(cd "$TREE" && { [ "$1" = sh ] || ulimit -v 12000000; } && ulimit -t "$cpu_most" &&
		TOP=$TREE BUILD=$TREE/build timeout -k 5 "$seconds_most" "$@") >"$WORK/out" 2>&1 </dev/null
	status=$?
	[ "$status" -ne 0 ] || grep -q '^not ok\|^Bail out' "$WORK/out" || return 0
	result=caught
	[ "$status" -ne 124 ] && [ "$status" -ne 137 ] || result=timeout
	return 1
}

# Measures each test's usual time, and finds which ones pass at all.
baseline()	# part
{
	for test in $(tests_of "$1"); do
		stamp=$(stat -c %Y "$TREE/$test" 2>/dev/null)
		! grep -q "^$test $stamp " "$WORK/times" 2>/dev/null || continue
		if [ "$level" = fast ] && awk -v t="$test" '$1 == t && $3 > 12 { slow = 1 } END { exit !slow }' \
			"$WORK/times" 2>/dev/null; then continue; fi
		at=$(date +%s)
		if run_test "$test" 600; then
			sed -i "\|^$test |d" "$WORK/times" 2>/dev/null
			echo "$test $stamp $(($(date +%s) - at))" >>"$WORK/times"
		else
			echo "mutate: $test fails without any mutant: left out" >&2
			grep -A 3 '^not ok\|^Bail out' "$WORK/out" | sed -n '1,20s/^/  | /p' >&2
		fi
	done
}

# Finds which lines each test of the tools executes: the others need not be run for a change
# there.  It writes lines "file line count test"; a test about which nothing is known has none.
cover()
{
	[ ! -f "$WORK/covered" ] || return 0
	echo "mutate: looking which test executes what" >&2
	rm -rf "$WORK/cover" "$WORK/profile" && mkdir -p "$WORK/cover" &&
	(cd "$TREE" && find . -path ./build -prune -o -type f -print | cpio -pdm --quiet "$WORK/cover") || return 1
	for folder in tools tests/unit; do
		MUTATE_CC="${CC:-gcc} --coverage" make --no-print-directory -C "$WORK/cover/$folder" all \
			BUILD="$WORK/cover/build" CC="${CC:-gcc} --coverage" CFLAGS="-O1 -g -fPIC" \
			AR="sh $TREE/tests/mutate/ar.sh" </dev/null >"$WORK/build.log" 2>&1 || return 1
	done
	for test in $(tests_of analysis; tests_of trace); do
		case $test in build/tests/unit/*) ;; *) continue ;; esac
		to=$WORK/profile/${test##*/}
		[ ! -d "$to" ] || continue
		mkdir -p "$to"
		(cd "$WORK/cover" && GCOV_PREFIX=$to timeout 600 "./$test") >/dev/null 2>&1 </dev/null
		notes=$(find "$to" -name obj -type d)/tools
		find "$notes/analysis" "$notes/base" "$notes/facts" "$notes/trace" -name "*.gcda" 2>/dev/null | while read -r data; do
			ln -s "$(echo "${data#"$to"}" | sed 's/\.gcda$/.gcno/')" "${data%.gcda}.gcno"
			(cd "$WORK/cover/tools" && gcov -t "$data" 2>/dev/null)
		done | awk -v test="$test" -F: '
			$2 + 0 == 0 && $3 == "Source" { file = $4; sub(/^\.\//, "", file); next }
			{ gsub(/[ *]/, "", $1) }
			$1 != "-" && file ~ /^(analysis|base|facts|trace)\// {
				key = "tools/" file " " $2 + 0
				n = $1 ~ /^[0-9]/ ? 1 : 0
				if (!(key in seen) || n > seen[key]) seen[key] = n
			}
			END { for (key in seen) print key, seen[key], test }'
		rm -rf "${to:?}"/*
	done >"$WORK/covered.new"
	mv "$WORK/covered.new" "$WORK/covered"
	rm -rf "$WORK/cover" "$WORK/profile"
}

# Prints the likeliest tests first: those named as the file, then as the first word of its
# name, then those that noticed most mutants of this file and of this part, then the quickest.
order()	# part file line
{
	stem=${2##*/}
	stem=${stem%.*}
	tests_of "$1" | awk -v part="$1" -v file="$2" -v stem="$stem" -v times="$WORK/times" -v log_file="$LOG" \
		-v line_nr="$3" -v covered="$WORK/covered" -v most="$([ "$level" = fast ] && [ "$1" != module ] && echo 12 || echo 1000)" '
	# Takes the line, or the one in which its statement begins; a macro is executed where
	# it is used.
	function find_covering(from, to,   n, t) {
		if (!knows_file) return
		for (n = from; n >= to; n--) {
			if (!(n in is_code)) continue
			for (t in knows) if (!((n, t) in runs)) skip[t] = 1
			return
		}
		for (t in knows) if (!(t in runs_file)) skip[t] = 1
	}
	BEGIN {
		while ((getline line < covered) > 0) {
			split(line, f, " ")
			knows[f[4]] = 1
			if (f[1] != file) continue
			is_code[f[2]] = 1
			knows_file = 1
			if (f[3]) { runs[f[2], f[4]] = 1; runs_file[f[4]] = 1 }
		}
		find_covering(line_nr, line_nr - 6)
		while ((getline line < times) > 0) { split(line, f, " "); took[f[1]] = f[3] }
		while ((getline line < log_file) > 0) {
			split(line, f, " ")
			if (f[6] != "caught" && f[6] != "timeout") continue
			if (f[1] == part) seen[f[8]] += 1
			if (f[2] == file) seen[f[8]] += 20
		}
		word = stem
		sub(/-.*/, "", word)
	}
	$1 in took && !($1 in skip) && took[$1] <= most {
		name = $1
		sub(/.*\//, "", name)
		score = seen[$1] - took[$1]
		if (name ~ "-" stem "$") score += 1000
		if (index(name, "-" word)) score += 500
		print -score, $1, took[$1] * 4 + 10
	}' | sort -n | cut -d' ' -f2-
}

# Restores the file that the last mutant changed, with its time: make then has nothing to do.
restore()
{
	(cd "$TREE" && find . -newer "$WORK/stamp" ! -path './build/tests/log/*' \( -type f -o -type l \)) |
	while read -r file; do
		if [ -e "$WORK/clean/$file" ]; then
			cp -p "$WORK/clean/$file" "$TREE/$file"
		else
			rm -f "$TREE/$file"
		fi
	done
}

is_same()
{
	(cd "$TREE" && find build -newer "$WORK/stamp" -type f ! -name '*.d' ! -path 'build/tests/log/*') >"$WORK/changed"
	while read -r file; do
		cmp -s "$TREE/$file" "$WORK/clean/$file" || return 1
	done <"$WORK/changed"
}

# Runs one mutant; sets $result and $test.
try()	# part file place line
{
	test=-
	touch "$WORK/stamp"
	# The changed file must be newer than the stamp and than every object.
	sleep 0.02
	"$WORK/mutate" apply "$TREE/$2" "$3" >"$WORK/mutant" || die "cannot change $2"
	diff -u --label "a/$2" --label "b/$2" "$TREE/$2" "$WORK/mutant" >"$WORK/diff"
	cat "$WORK/mutant" >"$TREE/$2"
	for folder in $(folders_of "$1" "$2"); do
		build "$folder" >"$WORK/build.log" 2>&1 && continue
		result=broken
		return
	done
	if is_same; then
		result=same
		return
	fi
	order "$1" "$2" "$4" >"$WORK/order"
	result=survived
	while read -r test limit; do
		run_test "$test" "$limit" && continue
		case $test in build/tests/unit/* | build/tests/runtime/scan-*) [ "$status" = 124 ] || return ;; esac
		run_test "$test" "$limit" || return
		result=survived
	done <"$WORK/order"
	test=-
}

is_over()
{
	[ "$seconds" -gt 0 ] && [ $(($(date +%s) - began)) -ge "$seconds" ]
}

one()	# part file place line kind
{
	at=$(date +%s)
	try "$@"
	restore
	echo "$1 $2 $3 $4 $5 $result $(($(date +%s) - at)) $test" >>"$LOG"
	diff=$WORK/diffs/$(echo "$2" | tr / -).$3
	if [ "$result" = survived ]; then
		cp "$WORK/diff" "$diff"
	else
		rm -f "$diff"
	fi
	echo "$1 $2:$4 $5 $result $test"
}

# The last result of each place counts.
results()
{
	[ ! -f "$LOG" ] || awk '{ key = $2 " " $3; if (!(key in last)) order[++nr] = key; last[key] = $0 }
	END { for (i = 1; i <= nr; i++) print last[order[i]] }' "$LOG"
}

# Prints how many mutants each part gets.
quotas()
{
	(cd "$TREE" && for part in $PARTS; do
		# shellcheck disable=SC2046	# the words of a list
		echo "$part $("$WORK/mutate" lines $(files_of "$part"))"
	done) | awk -v n="$number" '{ part[NR] = $1; lines[NR] = $2; sum += $2 }
	END { for (i = 1; i <= NR; i++) { upto += lines[i]; now = int(n * upto / sum + 0.5); print part[i], now - was; was = now } }'
}

draw()	# part quota
{
	have=$(results | awk -v part="$1" '$1 == part && $6 != "same" && $6 != "broken"' | wc -l)
	# shellcheck disable=SC2046
	(cd "$TREE" && "$WORK/mutate" draw "$seed" 100000 "$1" $(files_of "$1")) >"$WORK/draws.$1"
	while [ "$have" -lt "$2" ] && read -r part file place line kind; do
		! results | grep -q "^$part $file $place " || continue
		! is_over || return
		one "$part" "$file" "$place" "$line" "$kind"
		case $result in same | broken) ;; *) have=$((have + 1)) ;; esac
	done <"$WORK/draws.$1"
}

# Prints a string that identifies a survivor even if lines have moved: the file, and the change.
signature()	# diff
{
	sed -n 's|^--- a/||p; 3,$s/^[-+]/&/p' "$1" | tr -s ' \t\n' ' '
	echo
}

# Prints the survivors that tests/mutate/equivalent lists: file and place.
known()
{
	grep -v '^#' "$TOP/tests/mutate/equivalent" | awk '/^[^-+]/ { sub(/:.*/, ""); text = $0 "\n" }
		/^[-+]/ { text = text $0 "\n" } /^$/ { gsub(/[ \t\n]+/, " ", text); print text; text = "" }
		END { gsub(/[ \t\n]+/, " ", text); print text }' >"$WORK/equivalent"
	results | awk '$6 == "survived" { print $2, $3 }' | while read -r file place; do
		signature "$WORK/diffs/$(echo "$file" | tr / -).$place" >"$WORK/signature"
		! grep -qxFf "$WORK/signature" "$WORK/equivalent" || echo "$file $place"
	done
}

score()
{
	echo "seed $(cat "$WORK/seed")"
	known >"$WORK/known"
	results | awk -v equivalent="$WORK/known" '
	BEGIN { while ((getline line < equivalent) > 0) known[line] = 1 }
	{ drawn++ }
	$6 == "same" || $6 == "broken" { again[$6]++; next }
	{ nr[$1]++; all++ }
	$6 == "survived" { left[$1]++; lost++; if (($2 " " $3) in known) same++ }
	$6 == "caught" || $6 == "timeout" { by[$8]++; if ($6 == "timeout") late++ }
	END {
		if (!all) { print "nothing was tried"; exit }
		printf "%d drawn: %d did not compile, %d compiled to the same, %d tried\n", drawn, again["broken"], again["same"], all
		for (p in nr) printf "  %-10s %4d tried, %4d caught (%.0f %%)\n", p, nr[p], nr[p] - left[p], 100 * (nr[p] - left[p]) / nr[p]
		for (t in by) printf "  %4d by %s\n", by[t], t | "sort -k1,1nr -k3"
		close("sort -k1,1nr -k3")
		printf "%d of %d caught (%.1f %%), %d of them by a test that did not end; %d survived, %d of them equivalent\n",
			all - lost, all, 100 * (all - lost) / all, late, lost, same
	}'
}

prepare()
{
	mkdir -p "$WORK/diffs"
	${CC:-gcc} -O2 -Wall -Wextra -o "$WORK/mutate" "$TOP/tests/mutate/mutate.c" "$TOP/tests/mutate/source.c" ||
		die "mutate.c does not compile"
	# An interrupted run leaves its mutant behind.
	[ ! -f "$WORK/stamp" ] || [ ! -d "$WORK/clean" ] || restore
	mkdir -p "$TREE"
	if [ -f "$LOG" ]; then copy_sources tests; else copy_sources .; fi
	for part in $parts; do
		case $level.$part in
		*.module) folders= ;;
		all.*) folders="gcc-plugin libldb tools" ;;
		*) folders= ;;
		esac
		for folder in $folders $(folders_of "$part"); do
			build "$folder" >"$WORK/build.log" 2>&1 ||
				{ tail -n 20 "$WORK/build.log" >&2; die "$folder does not build"; }
		done
	done
	# restore() takes files from this copy.
	rm -rf "$WORK/clean" && cp -Rp "$TREE" "$WORK/clean" || die "cannot copy $TREE"
	for part in $parts; do
		baseline "$part"
		case $part in analysis | trace) cover || die "cannot see which test executes what" ;; esac
	done
}

if [ "$mode" = score ]; then
	[ -f "$WORK/seed" ] || die "nothing was tried yet: run tests/mutate/run.sh"
	score
	exit
fi
prepare
if [ "$mode" = again ]; then
	results | awk -v parts="$parts" 'BEGIN { n = split(parts, p, " "); for (i = 1; i <= n; i++) is[p[i]] = 1 }
		$6 == "survived" && $1 in is { print $1, $2, $3, $4, $5 }' >"$WORK/again"
	while read -r part file place line kind; do
		! is_over || break
		one "$part" "$file" "$place" "$line" "$kind"
	done <"$WORK/again"
else
	[ -n "$seed" ] || seed=$(cat "$WORK/seed" 2>/dev/null) ||
		seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
	[ ! -f "$WORK/seed" ] || [ "$(cat "$WORK/seed")" = "$seed" ] ||
		die "the last draw had seed $(cat "$WORK/seed"): remove $WORK for another one"
	echo "$seed" >"$WORK/seed"
	echo "seed $seed"
	quotas >"$WORK/quotas"
	for part in $parts; do
		draw "$part" "$(awk -v part="$part" '$1 == part { print $2 }' "$WORK/quotas")"
	done
fi
score
