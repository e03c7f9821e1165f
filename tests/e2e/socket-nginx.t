# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's nginx, built with the plugin and not edited, is a proxy of a server that is sometimes
# slow, and lists a folder of many files, which blocks its event loop.  All requests must be in the
# trace.  ldb-why must name the slow server first, and say what ran in the blocked loop.
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
mkdir -p logs html/many
echo hello >html/index.html
seq 1 20000 | (cd html/many && xargs touch)
cat >nginx.conf <<END
daemon off; master_process off; error_log logs/error.log; pid logs/nginx.pid;
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
events { worker_connections 256; }
http {
	access_log off; client_body_temp_path t1; proxy_temp_path t2;
	fastcgi_temp_path t3; uwsgi_temp_path t4; scgi_temp_path t5;
	upstream other { server 127.0.0.1:$((port + 1)); keepalive 4; }
	server {
		listen 127.0.0.1:$port; root html; keepalive_requests 100000;
		location / { }
		location /many/ { autoindex on; }
		location /asks { proxy_pass http://other; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
}
END
./peers serve $((port + 1)) &
peer=$!
at_end "kill $peer 2>/dev/null"

# Records nginx while the command in the arguments runs.
record()	# FILE CMD...
{
	file=$1
	shift
	rm -f logs/nginx.pid
	ldb-record --request=socket -o "$file" -- "$nginx" -p "$WORK" -c nginx.conf >"$file.log" 2>&1 &
	recorder=$!
	wait_for 20 'test -s logs/nginx.pid'
	"$@"
	loaded=$?
	kill "$(cat logs/nginx.pid)"
	wait "$recorder"
	diag "$(grep 'requests from connections' "$file.log")"
	return "$loaded"
}

upstream_load()
{
	./peers load "$port" /asks 400 1000 >/dev/null
}

loop_load()
{
	./peers load "$port" /index.html 400 2000 >/dev/null &
	victim=$!
	./peers load "$port" /many/ 5 150000 >/dev/null &&
	wait "$victim"
}

ok "a proxy is recorded" record up.data upstream_load
check "each request is there" "cat up.data.log" 0 'requests from connections: 400$'
ldb-why -i up.data --class GET --json >up.json 2>up.err || diag "$(cat up.err)"
diag "$(jq -c '.causes[:3][] | [.cause, .first, .median_ns]' up.json)"
share=$(jq '[.requests[].first | select(.cause == "queue")] | length' up.json)
all=$(jq '.requests | length' up.json)
ok "a slow server behind it is the first cause of the slow ones" test "$((share * 10))" -ge "$((all * 8))"
check "... which have its queue, by name" "ldb-why -i up.data --class GET" 0 'queue upstream'

ok "a blocked event loop is recorded" record loop.data loop_load
check "each request is there, too" "cat loop.data.log" 0 'requests from connections: 405$'
check "it is said that requests waited behind others, or for which function" "ldb-why -i loop.data --class GET" 0 \
	'behind other requests|ngx_http_autoindex_handler'
ldb-why -i loop.data --class GET --json >loop.json 2>loop.err || diag "$(cat loop.err)"
diag "$(jq -c '.causes[:3][] | [.cause, .first, .median_ns]' loop.json)"
finish
