# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that servers as the distribution ships them answer the same, and end in the same way, when
# the calls between their libraries are followed: redis with its benchmark, memcached, and nginx
# with a worker process.  In both runs one client sends the same requests and stores the answers;
# other clients load the server meanwhile, or, with redis, afterwards.
. "$(dirname "$0")/../lib/engine.sh"
need_build
command -v python3 >/dev/null || skip_all "python3 is not here"

cat >client.py <<'END'
import socket, sys, threading, time

kind, where = sys.argv[1:3]

def connect():
    for i in range(400):
        try:
            if where.isdigit():
                return socket.create_connection(("127.0.0.1", int(where)))
            s = socket.socket(socket.AF_UNIX)
            s.connect(where)
            return s
        except OSError:
            time.sleep(0.05)
    sys.exit("nobody listens")

def ask(s, question, end):
    s.sendall(question)
    answer = b""
    while not answer.endswith(end):
        part = s.recv(65536)
        if not part:
            break
        answer += part
    return answer

def memcached(s, n, prefix):
    for i in range(n):
        value = b"v" * (i * 37 % 3000)
        key = b"%s%d" % (prefix, i % 50)
        yield ask(s, b"set %s 0 0 %d\r\n%s\r\n" % (key, len(value), value), b"\r\n")
        yield ask(s, b"get %s\r\n" % key, b"END\r\n")

def nginx(n):
    for i in range(n):
        s = connect()
        s.sendall(b"GET /%s HTTP/1.0\r\n\r\n" % (b"index.html" if i % 5 else b"none"))
        answer = b""
        while True:
            part = s.recv(65536)
            if not part:
                break
            answer += part
        yield answer.split(b"\r\n\r\n", 1)[-1]

def run(n, prefix, out):
    for answer in nginx(n) if kind == "nginx" else memcached(connect(), n, prefix):
        if out:
            out.write(answer)

threads = [threading.Thread(target=run, args=(300, b"load%d-" % i, None)) for i in range(3)]
[t.start() for t in threads]
run(500, b"key", sys.stdout.buffer)
[t.join() for t in threads]
END

redis_asks()
{
	wait_for 20 "test -S sock && redis-cli -s $PWD/sock ping"
	python3 -c '
for i in range(2000):
    print("set key:%d %s" % (i % 300, "x" * (i % 700)))
    print("lpush list %d" % i)
    print("zadd set %d member:%d" % (i * 7919 % 1000, i))
print("zrange set 0 -1 withscores\nlrange list 0 -1\nstrlen key:299\nobject encoding list\nget key:123")' |
		redis-cli -s "$PWD/sock"
	redis-benchmark -q -s "$PWD/sock" -n 3000 -c 20 -t set,get,lpush,zadd >/dev/null && echo "benchmark done"
	redis-cli -s "$PWD/sock" dbsize
	redis-cli -s "$PWD/sock" shutdown nosave
}

pid=	# pid of the running server
at_end '[ -z "$pid" ] || kill $pid 2>/dev/null || :'
# Arguments: the name of a server, the function that sends requests to it, and its command.
server()	# name function command...
{
	name=$1 asks=$2
	shift 2
	command -v "$1" >/dev/null || { skip "$name" "it is not here"; return; }
	rm -f p.data
	for how in alone followed; do
		rm -rf run
		mkdir run
		case $how in
		alone) (cd run && exec "$@" >log 2>&1) & ;;
		followed) (cd run && exec ldb-record --flows -q -o ../p.data -- "$@" >log 2>&1) & ;;
		esac
		pid=$!
		(cd run && $asks >../$how.out 2>&1)
		wait $pid
		echo "exit status $?" >>$how.out
		pid=
	done
	ok "$name: the same answers, and exit status" cmp alone.out followed.out
	ok "$name: it has answered" test "$(wc -c <alone.out)" -gt 10000
	check "$name: calls were followed" "ldb-flows -q -i p.data --json | jq .calls" 0 "$least"
}

ends()	# ends the server, whose pid is in a file
{
	kill -TERM "$(cat pid)"
}

memcached_asks()
{
	python3 ../client.py memcached "$PWD/sock"
	ends
}

nginx_asks()
{
	python3 ../client.py nginx $port
	ends
}

port=$((20000 + $$ % 10000))
cat >nginx.conf <<END
user root;
daemon off;
worker_processes 1;
pid $PWD/run/pid;
error_log $PWD/errors;
events { worker_connections 200; }
http { access_log off; server { listen 127.0.0.1:$port; root $PWD; } }
END
seq 20000 >index.html

least='^[1-9][0-9]{3,}$'
server redis redis_asks redis-server --port 0 --unixsocket "$PWD/run/sock" --save ''
# The server changes its user at the start; on a busy machine the recording may end at that time.
least='^[1-9]'
server memcached memcached_asks memcached -u root -s "$PWD/run/sock" -t 2 -P "$PWD/run/pid"
least='^[1-9][0-9]{3,}$'
PATH=$PATH:/usr/sbin server nginx nginx_asks nginx -p "$PWD" -c "$PWD/nginx.conf"
finish
