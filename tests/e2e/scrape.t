# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-record --metrics-listen: the sums can be fetched from a port and from a socket, in both
# formats; the slowest requests come with what they spent their time on; hostile clients keep nobody
# else away.
. "$(dirname "$0")/../lib/engine.sh"
need_build

cc_ldb -O2 -g "$PROGRAMS/steady.c" -o steady -pthread || exit 1
$CC -O2 -Wall "$PROGRAMS/scrape.c" -o scrape || exit 1

port=$((20000 + ($$ * 7 + 3) % 20000))
record()	# seconds options...
{
	record_s=$1
	shift
	rm -f out.txt
	"$BUILD/bin/ldb-record" --metrics out.txt "$@" -- ./steady "$record_s" 2000 500 >steady.out 2>rec.err &
	rec=$!
}

record 60 --metrics-listen ":$port"
wait_for 20 "./scrape $port get 'GET /metrics HTTP/1.0' | grep 'ldb_request_duration_seconds_count{class=\"GET\"} [1-9]'"
./scrape "$port" get 'GET /metrics HTTP/1.1' 'Host: localhost:9464' >plain.txt
check "a port: the document" "head -n 1 plain.txt" 0 '^HTTP/1\.0 200 OK'
check "as Prometheus' text" "cat plain.txt" 0 'Content-Type: text/plain; version=0\.0\.4'
size=$(sed -n 's/^Content-Length: \([0-9]*\).*/\1/p' plain.txt)
sed '1,/^.$/d' plain.txt >body.txt
ok "of the length that it says" test "$(wc -c <body.txt)" -eq "$size"
check_not "without exemplars" "cat body.txt" 0 ' # \{'
check "TYPE lines name counters as their samples do" "cat body.txt" 0 '^# TYPE ldb_calls_total counter'
if command -v promtool >/dev/null; then
	check "Prometheus' own parser takes it" "promtool check metrics <body.txt" 0
else
	skip "Prometheus' own parser takes it" "no promtool: apt-get install prometheus"
fi
./scrape "$port" get 'GET / HTTP/1.0' 'Accept: application/openmetrics-text; version=1.0.0' >open.txt
check "or OpenMetrics" "cat open.txt" 0 'Content-Type: application/openmetrics-text'
ok "which ends as it should" test "$(tail -n 1 open.txt)" = '# EOF'
check "HEAD has no document" "./scrape $port get 'HEAD /metrics HTTP/1.0' | tail -n 2" 0 '^Connection: close'
for line in 'GET /other HTTP/1.0|404' 'GET /metricsx HTTP/1.0|404' 'PUT /metrics HTTP/1.0|405' 'nonsense|405'; do
	check "${line%|*}: ${line#*|}" "./scrape $port get '${line%|*}' | head -n 1" 0 "^HTTP/1\\.0 ${line#*|} "
done
check "a page of another site may not read it" "./scrape $port get 'GET /metrics HTTP/1.0' 'Host: evil.example' | head -n 1" 0 ' 403 '
check_one_line "the port is taken" "$BUILD/bin/ldb-record --metrics-listen :$port -- ./steady 1 10" 1 'cannot listen on'
ok "hostile clients: others are served" ./scrape "$port" hostile
before=$(awk '{ print $14 + $15 }' "/proc/$rec/stat")
descriptors=$(find "/proc/$rec/fd" -mindepth 1 | wc -l)
diag "$descriptors descriptors; $before ticks of CPU"
ok "it limits the number of open connections" test "$descriptors" -lt 120
check "the recorder serves on" "./scrape $port get 'GET /metrics HTTP/1.0' | head -n 1" 0 '200 OK'
kill "$rec"
wait "$rec"
check "locks have names" "cat out.txt" 0 '^ldb_lock_wait_seconds_count\{lock="table"\}'
check "classes, too" "cat out.txt" 0 '^ldb_request_duration_seconds_count\{class="SET"\}'

# When the recording ends, the slowest requests are explained.
record 8 --metrics-listen ./sock
wait_for 20 "test -S sock"
ok "only its owner may connect to a socket" test "$(stat -c %a sock)" = 600
wait "$rec"
status=$?
ok "recorded" test "$status" -eq 0
ok "the socket is gone" test ! -e sock
grep '^ldb_slowest_request_seconds' out.txt | sed 's/.*request="\([0-9]*\)".* \([0-9.]*\)$/\1 \2/' | sort >whole
grep '^ldb_slowest_request_part_seconds' out.txt | sed 's/.*request="\([0-9]*\)".* \([0-9.]*\)$/\1 \2/' |
	awk '{ sum[$1] += $2 } END { for (r in sum) printf "%s %.9f\n", r, sum[r] }' | sort >parts
diag "$(grep '^ldb_slowest_request_part' out.txt | head -n 3)"
ok "the slowest requests have parts" test -s parts
# Each value is rounded.
ok "which add up to them" eval "join whole parts | awk '{ d = (\$2 - \$3) * 1e9; if (d < -5 || d > 5) bad = 1; n++ } END { exit bad || n != 5 }'"
check "such as the sleep in which they wait" "cat out.txt" 0 \
	'^ldb_slowest_request_part_seconds\{class="[A-Z]*",request="[0-9]*",rank="[1-5]",state="[a-z_]+",name="[^"]*"\} 0\.0'
check_not "functions have names, main() too, which has not ended" "grep ^ldb_slowest_request_part out.txt" 0 'state="function",name="[^"]*\+0x'
check "the exemplar of its bucket has the first part" "cat out.txt" 0 \
	'^ldb_request_duration_seconds_bucket\{class="[A-Z]*",le="[^"]*"\} [0-9]+ # \{request="[0-9]+",state="[a-z_]+",name="[^"]*"\} 0\.'

# A socket that a killed recorder has left does not prevent listening; any other file does.
record 30 --metrics-listen ./sock
wait_for 20 "test -S sock"
kill -9 "$rec"
wait "$rec" 2>/dev/null
ok "a recorder that was killed leaves its socket" test -S sock
pkill -P $$ -x steady 2>/dev/null
check "the next one takes its place" "$BUILD/bin/ldb-record --metrics-listen ./sock -- ./steady 1 10" 0
echo mine >sock
check_one_line "a file stays" "$BUILD/bin/ldb-record --metrics-listen ./sock -- ./steady 1 10" 1 'cannot listen on ./sock: Address already in use'
ok "as it was" test "$(cat sock)" = mine
check_one_line "no such place" "$BUILD/bin/ldb-record --metrics-listen 9464 -- ./steady 1" 2 'give a port of this machine'
finish
