# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

lock_pairs=1000000
cold_rounds=3000
cold_kinds="first-near all-near first-far all-far"
lock_kinds="mutex recursive alone std read write spin own sem nested turns"

# The plain program is not instrumented and has no runtime.
lock_config()	# config program argument lines: prints "KIND-CONFIG NS"
{
	case $1 in
	base | base2) out=$("./$2-base" "$3" "$cpu") ;;
	dormant) out=$(LD_PRELOAD=$BUILD/lib/libldbtrace.so.0 "./$2-ldb" "$3" "$cpu") ;;
	record)	out=$(record -o locks.data -- "./$2-ldb" "$3" "$cpu") ;;
	hold)	out=$(record --mutex=hold -o locks.data -- "./$2-ldb" "$3" "$cpu") ;;
	esac || return
	echo "$out" | awk -v c="$1" -v lines="$4" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n != lines }'
}

lock_run()	# config
{
	lock_config "$1" locks "$lock_pairs" 12
}

cold_run()	# config
{
	lock_config "$1" cold "$cold_rounds" 4
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
	own)	echo "spin lock of the program's own, which says so" ;;
	sem)	echo "semaphore" ;;
	nested)	echo "four mutexes at once" ;;
	turns)	echo "two threads, in turns" ;;
	esac
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

# Prints, for each kind of lock, how many ns each configuration adds.
lock_rows()	# file kinds label bounded bound; "bounded" is the kind with a bound, or all
{
	for kind in $2; do
		bound=
		case $4 in all | "$kind") bound=$5 ;; esac
		note "$("$3" "$kind"): $(mean "$1" "$kind-base" %.1f) ns without ldb"
		added "$1" "$kind-base2" "$kind-base" "  the same again"
		added "$1" "$kind-dormant" "$kind-base" "  runtime loaded, not recorded"
		added "$1" "$kind-record" "$kind-base" "  recorded" "$bound"
		added "$1" "$kind-hold" "$kind-base" "  recorded with --mutex=hold"
	done
}

lock_programs()	# source name
{
	$cxx -O2 -g "$inc" "$programs/$1.cc" -o "$2-base" -pthread &&
	$cxx -O2 -g "$inc" "$plugin" "$programs/$1.cc" -o "$2-ldb" -pthread || exit 1
}

# The first program locks and unlocks without contention; the second does so between other
# work, which evicts the data of a lock from the caches.
bench_locks()
{
	lock_programs lock-storm locks
	interleave locks.txt "$rounds" lock_run base base2 dormant record hold
	heading "uncontended lock and unlock: ns added to those without ldb"
	lock_rows locks.txt "$lock_kinds" lock_label all 5.0
	added locks.txt own-base own_bare-base "to say so, without the runtime"
	lock_programs lock-cold cold
	interleave cold.txt "$((rounds * 2))" cold_run base base2 dormant record hold
	heading "the same in cold caches: ns added to those without ldb, and to reading the clock"
	lock_rows cold.txt "$cold_kinds" cold_label all-near 10.0
}
