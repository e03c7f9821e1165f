# SPDX-License-Identifier: GPL-2.0-or-later
# Attaching to python3, as packaged, while it works: its output and exit status are the same as
# without ldb.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/inject.sh"
need_build

python=$(PATH=/usr/bin:/bin command -v python3)
[ -n "$python" ] || skip_all "no python3 as packaged"
oracle_off "the program has no records, and may end at any time"
cat >load.py <<'END'
import hashlib, threading, time
total, lock = 0, threading.Lock()
def work():
    global total
    for i in range(60000):
        h = int(hashlib.sha256(str(i).encode()).hexdigest()[:4], 16)
        with lock:
            total += h
        if i % 500 == 0:
            time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(total, sum(i * i % 7 for i in range(1000000)))
END

run_program()
{
	exec "$python" load.py
}

inject_same_output python3 0. 4
finish
