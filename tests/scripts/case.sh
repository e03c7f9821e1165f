#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Repeats a case of Documentation/cases: records the server before and after its fix, and prints
# what ldb reports about both.  The recordings stay in the folder, which is created.
#
#	sh tests/scripts/case.sh nginx|xapian|ngtcp2|memcached [FOLDER]
#
# The servers are built from Debian's sources, with nothing edited.  nginx's needs root, for a disk
# that is slow.

TOP=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$TOP/build}
PATH=$BUILD/bin:$PATH
case=${1:-}
dir=${2:-/tmp/ldb-case-$case}
port=${PORT:-18700}

fail()
{
	echo "case.sh: $*" >&2
	exit 1
}

server_of()	# PACKAGE
{
	server=$(sh "$TOP/tests/bench/servers/build.sh" "$1" unedited) || exit 1
}

# Prints "$ COMMAND", and the output of the command.
show()
{
	echo "    \$ $*"
	"$@" 2>&1 | sed 's/^/    /'
	echo
}

# nginx: small pages, and a file on a slow disk, which is read by each worker itself or by a pool of
# threads.

nginx_conf()	# AIO
{
	cat <<END
daemon off; user root; worker_processes 2; error_log logs/error.log; pid logs/nginx.pid;
events { worker_connections 256; }
http {
	access_log off;
	server {
		listen 127.0.0.1:$port reuseport; root html; keepalive_requests 100000;
		location /film { directio 512; directio_alignment 4k; aio $1; }
	}
}
END
}

# Makes a device of a file, from which the kernel lets a control group read 20 times a second.
slow_disk()
{
	group=/sys/fs/cgroup/blkio/ldb-case-$$
	[ "$(id -u)" -eq 0 ] || fail "a slow disk needs root"
	disk=
	trap 'umount "$dir/html/disk"; [ -z "$disk" ] || losetup -d "$disk"; rmdir "$group"' EXIT
	mkdir "$group" && [ -f "$group/blkio.throttle.read_iops_device" ] ||
		fail "a slow disk needs the kernel's blkio.throttle, of cgroup v1"
	truncate -s 16M disk.img && mkfs.ext4 -q -F disk.img && disk=$(losetup -f --show disk.img) || exit 1
	mount "$disk" html/disk && ln -sf disk/film html/film && head -c 65536 /dev/urandom >html/disk/film && sync &&
		echo "$(cat "/sys/block/${disk#/dev/}/dev") 20" >"$group/blkio.throttle.read_iops_device" || exit 1
}

nginx_record()	# NAME
{
	rm -f logs/nginx.pid
	sh -c "echo \$\$ >$group/cgroup.procs; exec ldb-record --request=socket -o $1.data -- $server -p $dir -c $1.conf" \
		>"$1.log" 2>&1 &
	recorder=$!
	while ! [ -s logs/nginx.pid ]; do
		kill -0 "$recorder" || fail "nginx did not start: see $dir/$1.log"
		sleep 0.1
	done
	sleep 2		# time for the recorders of the workers
	pids=
	for _ in 1 2 3 4; do
		./peers load "$port" /index.html 500 3000 &
		pids="$pids $!"
	done
	./peers load "$port" /film 20 50000 >/dev/null
	# shellcheck disable=SC2086	# several pids
	wait $pids
	kill "$(cat logs/nginx.pid)"
	wait "$recorder"
}

case_nginx()
{
	server_of nginx
	gcc -O2 -pthread "$TOP/tests/programs/http-peers.c" -o peers || exit 1
	mkdir -p logs html/disk && echo hello >html/index.html
	slow_disk
	nginx_conf off >before.conf
	nginx_conf threads >after.conf
	for name in before after; do
		echo "$name, small pages that took 20 ms or longer, by client:"
		nginx_record "$name"
		show ldb-why -q -i "$name.data"
	done
	show ldb-report -q -i before.data --requests --note path=/index.html
	show ldb-report -q -i after.data --requests --note path=/index.html
}

# xapian: a search whose last word is not complete yet.

case_xapian()
{
	server_of xapian-core
	ldb-g++ -O2 -g -I"${server%/.libs/*}/include" "$TOP/Documentation/cases/xapian-search.cc" "$server" \
		-o xapian-search -lz -luuid -lpthread || fail "cannot build: apt-get install zlib1g-dev uuid-dev"
	[ -d words ] || ./xapian-search index words || exit 1
	echo before:
	ldb-record -q --request=search -o before.data -- ./xapian-search serve words 1 3000
	show ldb-why -q -i before.data
	echo after:
	ldb-record -q --request=search -o after.data -- ./xapian-search serve words 1 3000 50
	show ldb-why -q -i after.data
	show ldb-report -q -i before.data --requests
	show ldb-report -q -i after.data --requests
}

# Records the server while it runs; the file pid has its process id.
record_server()	# NAME OPTION... -- ARG...
{
	name=$1
	shift
	options=
	while [ "$1" != -- ]; do
		options="$options $1"
		shift
	done
	shift
	rm -f pid
	# shellcheck disable=SC2016,SC2086	# the inner shell's; several words
	ldb-record $options -o "$name.data" -- sh -c 'echo $$ >pid; exec "$@"' sh "$server" "$@" >"$name.log" 2>&1 &
	recorder=$!
	sleep 2
	kill -0 "$(cat pid)" 2>/dev/null || fail "the server did not start: see $dir/$name.log"
}

end_server()	# SIGNAL
{
	kill -s "$1" "$(cat pid)"
	wait "$recorder"
}

# ngtcp2: many small pages on one connection, and clients that connect, with a key of RSA or of an
# elliptic curve.

client()	# OPTION...
{
	gtlsclient -q --exit-on-all-streams-close "$@" 127.0.0.1 "$port" "https://localhost/page" >/dev/null 2>&1
}

ngtcp2_record()	# NAME
{
	record_server "$1" --request=loop --kernel-frames=on -- -q -d html 127.0.0.1 "$port" "$1.key" "$1.crt"
	rm -f "$1.qlog" connected
	client -n "${PAGES:-200000}" --qlog-file="$1.qlog" &
	pages=$!
	for _ in 1 2; do
		while kill -0 "$pages" 2>/dev/null; do
			client && echo >>connected
			sleep 0.02
		done &
	done
	wait "$pages" || fail "not all pages came: see $dir/$1.log"
	end_server INT
	echo "$(wc -l <connected) connections beside it; until its client has an acknowledgement, in ms:"
	grep -o '"latest_rtt":[0-9]*' "$1.qlog" | cut -d: -f2 | sort -n |
		awk '{ ms[NR] = $1 } END { print "    " NR " of them, p50 " ms[int(NR / 2) + 1] ", p99 " ms[int(NR * 0.99) + 1] ", max " ms[NR] }'
}

key()	# NAME ALGORITHM...
{
	name=$1
	shift
	[ -f "$name.crt" ] || openssl req -x509 -nodes -newkey "$@" -keyout "$name.key" -out "$name.crt" -days 3650 \
		-subj /CN=localhost 2>/dev/null || fail "openssl made no key"
}

case_ngtcp2()
{
	command -v gtlsclient >/dev/null || fail "no client: apt-get install ngtcp2-client"
	server_of ngtcp2
	mkdir -p html && echo hello >html/page
	key before rsa:4096
	key after ec -pkeyopt ec_paramgen_curve:P-256
	for name in before after; do
		echo "$name:"
		ngtcp2_record "$name"
		show ldb-why -q -i "$name.data"
		show ldb-report -q -i "$name.data" --requests
	done
	show ldb-why -q --compare before.data after.data
}

# memcached: GETs one at a time, and another client's batches.  The server handles 20 requests of a
# connection in a row, or, after the fix, 1.

memcached_record()	# NAME OPTION...
{
	name=$1
	shift
	record_server "$name" --request=socket -- -l 127.0.0.1 -p "$port" -U 0 -t 1 -m 64 "$@"
	./batches "$port" "${SECONDS_EACH:-6}" gets || fail "not all answers came: see $dir/$name.log"
	end_server TERM
}

case_memcached()
{
	server_of memcached
	gcc -O2 "$TOP/tests/bench/servers/batches.c" -o batches || exit 1
	[ "$(id -u)" -ne 0 ] || user="-u root"
	for name in before after; do
		[ "$name" = before ] && fix= || fix="-R 1"
		echo "$name:"
		# shellcheck disable=SC2086	# several words
		memcached_record "$name" $fix ${user:-}
		show ldb-why -q -i "$name.data" --class get
		show ldb-report -q -i "$name.data" --requests
	done
	show ldb-why -q --compare before.data after.data --class get
}

case $case in
nginx | xapian | ngtcp2 | memcached) ;;
*) fail "usage: case.sh nginx|xapian|ngtcp2|memcached [FOLDER]" ;;
esac
mkdir -p "$dir" && cd "$dir" && dir=$PWD || exit 1
"case_$case"
