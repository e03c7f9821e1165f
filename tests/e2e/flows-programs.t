# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that programs as the distribution ships them do the same when the calls between their
# libraries are followed: output, files and exit status.
. "$(dirname "$0")/../lib/engine.sh"
need_build
head -c 3000000 "$BUILD/lib/libldbtools.a" >input
cp input input-2
cat >throws.cc <<'END'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, int> m;
	std::vector<int> v(3);
	int n = 0;
	for (int i = 0; i < 2000; i++) {
		try { m[std::to_string(i)] = v.at(i % 6); } catch (std::out_of_range &) { n++; }
		try { n += std::stoi(i % 2 ? "x" : "1"); } catch (std::invalid_argument &) { n++; }
	}
	printf("%d %zu\n", n, m.size());
	return n % 100;
}
END
$CXX -O2 throws.cc -o throws || exit 1

# Each runs in a folder of its own.
same()	# program arguments...
{
	command -v "$1" >/dev/null || { skip "$1" "it is not here"; return; }
	rm -rf alone followed
	mkdir alone followed
	(cd alone && timeout 60 "$@" >out 2>err)
	alone=$?
	(cd followed && timeout 60 ldb-record --flows -q -o ../p.data -- "$@" >out 2>err)
	followed=$?
	sed -i '/^ldb-record: /d' followed/err
	diff -r alone followed >"$WORK/list" 2>&1
	[ $alone = $followed ] || echo "exit status $alone and $followed" >>"$WORK/list"
	ok_empty "$1: the same output, files and exit status"
	check "$1: calls were followed" "ldb-flows -q -i p.data --json | jq .calls" 0 '^[1-9][0-9]+$'
}

same "$PWD/throws"
same sqlite3 f.db 'create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < 20000) insert into t select x, hex(x) from c; create index i on t(b); select count(*), sum(a), max(b) from t'
same sqlite3 f.db 'select nothing'
same xz -T2 -1 -k -c ../input
same zstd -q -T2 -c ../input
same gzip -c ../input
same cmp ../input ../input-2
same sort ../throws.cc
same perl -MPOSIX -e 'my %h; $h{$_ % 97} .= sprintf("%.2f", floor($_ / 3)) for 1..20000; print map { "$_=" . length($h{$_}) . "\n" } sort keys %h; exit 3'
same /usr/bin/python3 -c 'import json, zlib, threading
t = [threading.Thread(target=lambda: json.dumps(list(range(1000)))) for i in range(5)]
[x.start() for x in t]; [x.join() for x in t]
print(zlib.crc32(json.dumps(list(range(20000))).encode()))'
same /usr/bin/python3 -c 'import subprocess, multiprocessing
print(subprocess.check_output(["echo", "child"]), multiprocessing.Pool(2).map(abs, range(-5, 5)))'
same "$($CC -print-prog-name=cc1plus)" -quiet -fpreprocessed -O2 /dev/null -o none.s
same git --version
git init -q repository && cd repository && for i in 1 2 3 4 5; do
	seq $((i * 300)) >file && git add file &&
		git -c user.name=a -c user.email=a@b commit -q -m "$i" --date "2026-01-0$i"
done
cd "$WORK" || exit 1
same git -C "$WORK/repository" --no-pager log -p --stat
same bash -c 'for i in 1 2 3; do ls / | wc -l; done; exit 4'
same convert-im6.q16 rose: -resize 200x200 -blur 0x3 ppm:-
same openssl dgst -sha256 ../input
finish
