# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to memcached, as packaged and under load: its clients get the right answers, and it
# exits with status 0.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build
command -v memcached >/dev/null || skip_all "no memcached"

python=$(PATH=/usr/bin:/bin command -v python3)
[ -n "$python" ] || skip_all "no python3 as packaged"
oracle_off "the program has no records"
cat >mc.py <<'END'
import socket, sys, threading
bad = []
def work(n):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    f = s.makefile('rb')
    for i in range(1500):
        v = b'%d' % (i * 7919 + n)
        s.sendall(b'set k%d.%d 0 0 %d\r\n%s\r\nget k%d.%d\r\n' % (n, i, len(v), v, n, i))
        got = [f.readline() for _ in range(4)]
        if got[0] != b'STORED\r\n' or got[2] != v + b'\r\n' or got[3] != b'END\r\n':
            bad.append(got)
threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
sys.exit(len(bad) > 0)
END

one()
{
	memcached -u "$(id -un)" -s "$WORK/mc.sock" -t 4 >mc.log 2>&1 &
	pid=$!
	at_end "kill -9 $pid 2>/dev/null || :"
	wait_for 10 "test -S $WORK/mc.sock"
	"$python" mc.py "$WORK/mc.sock" >bench.out 2>&1 &
	load=$!
	sleep "0.$(($1 * 7 % 4))"
	said="$said$(inject -d 50ms)"
	wait "$load" || said="$said its client: $? $(tail -1 bench.out)."
	kill -TERM "$pid"
	wait "$pid" || said="$said memcached: exit status $?."
	rm -f mc.sock
}

inject_rounds "memcached" one
finish
