# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's nginx, built with the plugin and not edited, with two worker processes and a load from
# several clients.  Three things are planted that make requests slow: a server behind it, a disk,
# and a listing of a large folder, which blocks the event loop of a worker.  ldb-why must name each
# of them first for 90 % of the slow requests: those that caused it, and those that had to wait.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
need_build

sh "$TOP/tests/bench/source.sh" nginx >source.out 2>&1 || skip_all "$(tail -n 1 source.out)"
run_cmd "sh $TOP/tests/bench/servers/build.sh nginx unedited"
ok "nginx builds" test "$status" -eq 0
nginx=$(printf '%s\n' "$out" | tail -n 1)
if ! [ -x "$nginx" ]; then
	diag "$out"
	finish
fi
$CC -O2 -Wall -pthread "$PROGRAMS/http-peers.c" -o peers || exit 1
port=$((20000 + $$ % 10000 * 2))
mkdir -p logs html/many html/disk
echo hello >html/index.html
seq 1 20000 | (cd html/many && xargs touch)
cat >nginx.conf <<END
daemon off; worker_processes 2; error_log logs/error.log; pid logs/nginx.pid;
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
events { worker_connections 256; }
http {
	access_log off; client_body_temp_path t1; proxy_temp_path t2;
	fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
	upstream other { server 127.0.0.1:$((port + 1)); keepalive 4; }
	server {
		listen 127.0.0.1:$port reuseport; root html; keepalive_requests 100000;
		location / { }
		location /many/ { autoindex on; }
		location /slow { directio 512; directio_alignment 4k; }
		location /asks { proxy_pass http://other; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
}
END
./peers serve $((port + 1)) &
peer=$!
at_end "kill $peer 2>/dev/null"

# Records nginx while the command in the arguments runs.  The recorder's process executes $inside
# first.
record()	# FILE CMD...
{
	file=$1
	shift
	rm -f logs/nginx.pid clients.*
	(
		$inside
		exec ldb-record --request=socket -o "$file" -- "$nginx" -p "$WORK" -c nginx.conf >"$file.log" 2>&1
	) &
	recorder=$!
	wait_for 20 'test -s logs/nginx.pid'
	# The server, and a recorder for each of the workers.
	wait_for 20 'test "$(pgrep -c -P $recorder)" -ge 3'
	sleep 1
	"$@"
	loaded=$?
	kill "$(cat logs/nginx.pid)"
	wait "$recorder"
	return "$loaded"
}

# Each client has one connection, which the kernel assigns to one of the workers.  Of ten clients,
# some get the blocked worker.
clients()	# CLIENTS peers' arguments: for each
{
	how_many=$1
	shift
	pids=
	for i in $(seq "$how_many"); do
		./peers "$@" >"clients.$i" &
		pids="$pids $!"
	done
}

wait_all()
{
	for pid in $pids; do
		wait "$pid" || return 1
	done
}

upstream_load()
{
	clients 4 load "$port" /asks 100 1000
	wait_all
}

loop_load()
{
	clients 10 load "$port" /index.html 200 4000
	./peers load "$port" /many/ 5 150000 >clients.slow && wait_all
}

visit_load()
{
	clients 4 visit "$port" /index.html 200 4000
	./peers load "$port" /many/ 5 150000 >clients.slow && wait_all
}

disk_load()
{
	clients 10 load "$port" /index.html 200 4000
	./peers load "$port" /slow 20 50000 >clients.slow && wait_all
}

# Counts the requests that took 20 ms: by the trace, and by the clients, which on a busy machine
# also wait for a CPU.
judge_slow()	# FILE
{
	truth=$(cat clients.* | awk '{ n += $1 } END { print n + 0 }')
	ldb-report -i "$1" --requests --top 100000 --json >all.json 2>all.err
	known=$(jq '[.requests[] | select(.class == null) | .slowest[] | select(.latency_ns >= 20000000)] | length' all.json)
	ldb-why -i "$1" --slowest "$known" --class GET --json >why.json 2>why.err
	# A client also measures waits outside of the server, so the trace may not have more such
	# requests than the clients.
	ok "$1: no request is slow that no client saw as slow" test "$known" -le "$truth"
	diag "$truth were slow for the clients, $known in the trace; $(jq -c '[.requests[].first.cause] | group_by(.) | map({(.[0]): length}) | add' why.json)"
}

# Prints the percentage of the slow requests for which a jq condition is true.
share()
{
	jq "100 * ([.requests[] | select($1)] | length) / (.requests | length) | floor" why.json
}

# Writes the ids of the requests of a path.
path_ids()	# FILE PATH
{
	ldb-report -i "$1" --requests --top 100000 --note "path=$2" --json >path.json 2>path.err
	jq '[.requests[].slowest[]?.req | tostring]' path.json >ids.json
}

# Prints the percentage of the slow requests that are caused by a listing: the request waited for
# others, executed the listing itself, or is a listing that was preempted.
share_of_listings()	# FILE PATH
{
	path_ids "$1" "$2"
	jq --slurpfile ids ids.json '100 * ([.requests[] | select(.first.cause == "head_of_line" or
		(.sentence | test("ngx_http_autoindex_handler|ngx_read_dir|ngx_vslprintf")) or
		(.first.cause == "preempted" and (.req | tostring | IN($ids[0][]))))] | length) /
		(.requests | length) | floor' why.json
}

# Prints for which percentage of the slow requests that waited for others a request of this path is
# named as the reason.
told()	# FILE PATH
{
	path_ids "$1" "$2"
	jq --slurpfile ids ids.json '[.requests[] | select(.first.cause == "head_of_line")] |
		100 * ([.[] | select(any(.chain[]; .kind == "request" and (.label | IN($ids[0][]))))] | length) /
		([length, 1] | max) | floor' why.json
}

ok "a slow server behind it" record up.data upstream_load
judge_slow up.data
ok "which are some" test "$known" -ge 5
ok "is the first cause of 90 % of the slow requests" \
	test "$(share '.first.cause == "queue" and (.sentence | contains("queue upstream"))')" -ge 90

for load in loop_load visit_load; do
	ok "a blocked event loop, $load" record loop.data "$load"
	judge_slow loop.data
	ok "which makes more requests slow than those for the listing" test "$known" -ge 8
	ok "is the first cause of 90 % of the slow requests: others' or their own work" \
		test "$(share_of_listings loop.data /many/)" -ge 90
	ok "90 % of the requests that waited have the name of the listing" test "$(told loop.data /many/)" -ge 90
	check "... and for what the worker did" "jq -r '.requests[].sentence' why.json" 0 \
		'behind other requests.*(ngx_http_autoindex_handler|ngx_read_dir|ngx_vslprintf|preempted)'
done

# Makes a disk that does 20 operations a second: a file is used as a device, and the kernel delays
# the reads of a control group from it.  nginx reads the file with directio, which bypasses the page
# cache, so each request reads from the disk.
disk=
group=/sys/fs/cgroup/blkio/ldb-slow-$$
slow_disk()
{
	[ "$(id -u)" -eq 0 ] && [ -f /sys/fs/cgroup/blkio/blkio.throttle.read_iops_device ] || return 1
	truncate -s 16M disk.img && mkfs.ext4 -q -F disk.img && disk=$(losetup -f --show disk.img) || return 1
	at_end "umount $WORK/html/disk 2>/dev/null; losetup -d $disk; rmdir $group 2>/dev/null"
	mount "$disk" html/disk && ln -s disk/a html/slow && head -c 65536 /dev/urandom >html/disk/a && sync && mkdir "$group" &&
		echo "$(cat "/sys/block/${disk#/dev/}/dev") 20" >"$group/blkio.throttle.read_iops_device"
}

enter_group()
{
	sh -c "echo \$PPID >$group/cgroup.procs"
}

if slow_disk 2>disk.err; then
	inside=enter_group
	ok "a slow disk" record disk.data disk_load
	judge_slow disk.data
	ok "which makes more requests slow than those for its file" test "$known" -ge 25
	ok "is the first cause of 90 % of the slow requests: in I/O, or behind those" \
		test "$(share '.first.cause == "io" or .first.cause == "head_of_line" or
			(.first.label | contains("ngx_read_file"))')" -ge 90
	ok "90 % of the requests that waited have the name of the file" test "$(told disk.data /slow)" -ge 90
	check "... and that it was I/O, or without kernel events in which function" "jq -r '.requests[].sentence' why.json" 0 \
		'behind other requests.*(in I/O \(pread64 of a\)|ngx_read_file)'
else
	skip "a slow disk" "none can be planted here: root, loop devices and blkio.throttle are needed"
fi
finish
