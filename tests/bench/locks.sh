# SPDX-License-Identifier: GPL-2.0-or-later
# Section of make bench: sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

lock_pairs=1000000
cold_rounds=3000
cold_kinds="first-near all-near first-far all-far"
lock_kinds="mutex recursive alone std read write spin sem nested turns"

# The plain program is not instrumented and has no runtime.
lock_run()	# config: prints "KIND-CONFIG NS"
{
	case $1 in
	base)	out=$(./locks-base "$lock_pairs" "$cpu") ;;
	base2)	out=$(./locks-base "$lock_pairs" "$cpu") ;;
	dormant) out=$(LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./locks-ldb "$lock_pairs" "$cpu") ;;
	record)	out=$(record -o locks.data -- ./locks-ldb "$lock_pairs" "$cpu") ;;
	hold)	out=$(record --mutex=hold -o locks.data -- ./locks-ldb "$lock_pairs" "$cpu") ;;
	esac || return
	echo "$out" | awk -v c="$1" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n != 10 }'
}

lock_label()	# kind
{
	case $1 in
	mutex)	echo "pthread_mutex_t" ;;
	recursive) echo "recursive mutex" ;;
	alone)	echo "pthread_mutex_t, in a process of one thread" ;;
	std)	echo "std::mutex" ;;
	read)	echo "rwlock, reading" ;;
	write)	echo "rwlock, writing" ;;
	spin)	echo "spin lock" ;;
	sem)	echo "semaphore" ;;
	nested)	echo "four mutexes at once" ;;
	turns)	echo "two threads, in turns" ;;
	esac
}

cold_run()	# config: prints "KIND-CONFIG NS"
{
	case $1 in
	base | base2) out=$(./cold-base "$cold_rounds" "$cpu") ;;
	dormant) out=$(LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 ./cold-ldb "$cold_rounds" "$cpu") ;;
	record)	out=$(record -o locks.data -- ./cold-ldb "$cold_rounds" "$cpu") ;;
	hold)	out=$(record --mutex=hold -o locks.data -- ./cold-ldb "$cold_rounds" "$cpu") ;;
	esac || return
	echo "$out" | awk -v c="$1" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n != 4 }'
}

cold_label()	# kind
{
	case $1 in
	first-near) echo "the first lock after 64 KiB of data and 64 of code" ;;
	all-near) echo "each of seven, one after the other" ;;
	first-far) echo "the first lock after 1 MiB of data and 256 KiB of code" ;;
	all-far) echo "each of seven, one after the other" ;;
	esac
}

# The same between other work: the caches have lost what a lock needs.
bench_cold_locks()
{
	$cxx -O2 -g "$inc" "$programs/lock-cold.cc" -o cold-base -pthread &&
	$cxx -O2 -g "$inc" "$plugin" "$programs/lock-cold.cc" -o cold-ldb -pthread || exit 1
	interleave cold.txt "$((rounds * 2))" cold_run base base2 dormant record hold
	heading "the same in cold caches: ns added to those without ldb, and to reading the clock"
	for kind in $cold_kinds; do
		bound=
		[ "$kind" != all-near ] || bound=10.0
		note "$(cold_label "$kind"): $(mean cold.txt "$kind-base" %.1f) ns without ldb"
		added cold.txt "$kind-base2" "$kind-base" "  the same again"
		added cold.txt "$kind-dormant" "$kind-base" "  runtime loaded, nobody looking"
		added cold.txt "$kind-record" "$kind-base" "  recorded" "$bound"
		added cold.txt "$kind-hold" "$kind-base" "  recorded with --mutex=hold"
	done
}

# Lock and unlock, uncontended: what is added, in ns.
bench_locks()
{
	$cxx -O2 -g "$inc" "$programs/lock-storm.cc" -o locks-base -pthread &&
	$cxx -O2 -g "$inc" "$plugin" "$programs/lock-storm.cc" -o locks-ldb -pthread || exit 1
	interleave locks.txt "$rounds" lock_run base base2 dormant record hold
	heading "uncontended lock and unlock: ns added to those without ldb"
	for kind in $lock_kinds; do
		note "$(lock_label "$kind"): $(mean locks.txt "$kind-base" %.1f) ns without ldb"
		added locks.txt "$kind-base2" "$kind-base" "  the same again"
		added locks.txt "$kind-dormant" "$kind-base" "  runtime loaded, nobody looking"
		added locks.txt "$kind-record" "$kind-base" "  recorded" 5.0
		added locks.txt "$kind-hold" "$kind-base" "  recorded with --mutex=hold"
	done
	bench_cold_locks
}
