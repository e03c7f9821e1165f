# SPDX-License-Identifier: GPL-2.0-or-later
# Tests ldb-export pprof: go tool pprof reads it back, and its sums must be those of ldb-report.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/export-same.sh"
PATH=$BUILD/tests/tools/helpers:$PATH
command -v go >/dev/null || skip_all "no go tool pprof: apt-get install golang-go"
# The caches of pprof and its index of profiles must not be the user's.
HOME=$WORK
export HOME
report-trace figure1 ldb.data && report-trace sched sched.data && report-trace hostile hostile.data &&
	report-trace empty empty.data && bench-trace many.data 60000 >many.txt || exit 1

pprof()	# args...
{
	go tool pprof -nodefraction=0 -edgefraction=0 -nodecount=0 "$@" 2>/dev/null
}

# Prints rows of -top, without the head: name, flat, cum.
top()	# unit file [args...]
{
	top_unit=$1
	top_file=$2
	shift 2
	pprof -top -unit="$top_unit" "$@" "$top_file" | sed '1,/ flat  flat%/d' |
		awk '{ sub(/ns$/, "", $1); sub(/ns$/, "", $4); flat = $1; cum = $4; $1 = $2 = $3 = $4 = $5 = ""
		       sub(/^ +/, ""); print $0 "\t" flat "\t" cum }' | sort
}

for trace in ldb sched many; do
	check "$trace: exported" "ldb-export -q -i $trace.data -o $trace.pb.gz pprof" 0 '^$'
	ok "$trace: as gzip" gzip -t $trace.pb.gz
	ldb-export -q -i $trace.data -o $trace.db sqlite
	# No function calls itself here, so the time below a name is the sum of its spans.
	rows $trace.db 'SELECT f.name, sum(self_ns), sum(end_ns - start_ns) FROM span s
		JOIN function f ON f.id = s.function GROUP BY f.name HAVING sum(end_ns) > sum(start_ns)' >want
	# If the estimated end of a function comes before the end of a wait in it, the profile
	# attributes the wait to the function, but in spans it belongs to the caller.
	[ $trace != many ] || ldb-export -q -i many.data --causes -o many.folded folded
	[ $trace != many ] || sed 's/;\[[^;]*\]\( [0-9]*\)$/\1/' many.folded | awk '{ n = split($1, f, ";"); if (n > 1) ns[f[n]] += $2 }
			END { for (k in ns) if (ns[k]) print k "\t" ns[k] }' | sort >want
	top ns $trace.pb.gz | if [ $trace = many ]; then cut -f1,2; else cat; fi >got
	same "$trace: -top: the same times as in the spans" want got
	ldb-report -q -i $trace.data --by=function --json | jq -r '.functions[] | select(.count > 0) | [.function, .count] | @tsv' |
		sort >want
	top auto $trace.pb.gz -sample_index=count | cut -f1,2 | grep -v '	0$' >got
	same "$trace: -top: the same counts as in the report" want got
done
# These estimates were not clipped, so the profile has the counted values.
ldb-report -q --by=function --json | jq -r '.functions[] | [.function, .total_ns] | @tsv' | sort >want
top ns ldb.pb.gz | cut -f1,3 >got
same "and the same totals" want got

check "a label says what was waited for" "pprof -tags sched.pb.gz" 0 'cause: Total'
check "for whom" "pprof -tags -unit=ns sched.pb.gz" 0 '10010000.0ns \([0-9. ]*%\): \[lock db_lock\]'
check "and by whom it was kept off its CPU" "pprof -tags -unit=ns sched.pb.gz" 0 '9995000.0ns \([0-9. ]*%\): \[preempted by hog\]'
check "and the class of the request" "pprof -tags ldb.pb.gz | sed -n '/class:/,/^\$/p'" 0 'SET'
check "and the thread" "pprof -tags sched.pb.gz | sed -n '/thread:/,/^\$/p'" 0 'snapshotter'
check "time by class, taken apart" "pprof -top -unit=ns -tagfocus=class=GET ldb.pb.gz" 0 '90000ns .* request_handler$'
check "a function's line" "pprof -top -lines ldb.pb.gz" 0 'request_handler .*report-trace\.c:[0-9]+$'
check "-list finds the source" "pprof -list='^snapshot$' ldb.pb.gz" 0 'void snapshot\(void\)'
check "the callers" "pprof -traces many.pb.gz | sed -n '/-----/,/-----/p'" 0 'work_'
check "the module" "pprof -raw ldb.pb.gz | sed -n '/^Mappings/,\$p'" 0 'report-trace +\[FN\]\[FL\]\[LN\]$'
check "when" "pprof -raw many.pb.gz" 0 '^Time: 1970-01-01'
check "--causes: as frames" "ldb-export -q -i sched.data -o c.pb.gz --causes pprof && pprof -top -unit=ns c.pb.gz" 0 \
	'10010000ns .* \[lock db_lock\]$'
check "--thread" "ldb-export -q -i sched.data -o c.pb.gz --thread='snap*' pprof && pprof -top c.pb.gz | grep -c handler" 1 '^0$'
check "--req" "ldb-export -q -o c.pb.gz --req=4711 pprof && pprof -top -unit=ns c.pb.gz" 0 '12699900ns .* request_handler$'
report-trace twice twice.data
check "--req: a call is one, also where the request was in a queue meanwhile" "ldb-export -q -i twice.data -o c.pb.gz --req=1 pprof &&
	pprof -top -sample_index=count c.pb.gz" 0 '^ *1 .* lookup$'
check "and that time is not the request's" "pprof -top -unit=ns c.pb.gz" 0 '^ *18000ns .* lookup$'
check "--class: the label is its own" "ldb-export -q -o c.pb.gz --class=GET pprof && pprof -tags c.pb.gz | sed -n '/class:/,/^\$/p' | grep -c ': [GS]ET'" \
	0 '^1$'
check "--req and --thread" "ldb-export -q -i sched.data -o c.pb.gz --req=1 --thread='snap*' pprof && pprof -raw c.pb.gz | grep -c 'thread:'" 1 '^0$'
check "--from" "ldb-export -q -o c.pb.gz --from=29ms pprof && pprof -top -unit=ns c.pb.gz" 0 '12699900ns .* request_handler$'
check "hostile names" "ldb-export -q -i hostile.data -o h.pb.gz pprof && pprof -top h.pb.gz" 0 'flat%'
check "an empty trace" "ldb-export -q -i empty.data -o e.pb.gz pprof && pprof -raw e.pb.gz" 0 '^Samples:'

# A build-id identifies the file.
printf 'int main(void) { volatile int x = 0; while (x < 1000) x++; return 0; }\n' >id.c
if cc_ldb -g -O0 -Wl,--build-id=0x1234567890abcdef id.c -o id && ldb-record -o id.data -- ./id >/dev/null 2>&1; then
	check "mappings have build ids" "ldb-export -q -i id.data -o id.pb.gz pprof && pprof -raw id.pb.gz" 0 '/id 1234567890abcdef \['
else
	fail "a program with a build id is recorded"
fi

check_one_line "nowhere to write" "ldb-export -o no/such/folder pprof" 1 'no/such/folder'
[ ! -w /dev/full ] || check_one_line "a full disk" "ldb-export -o /dev/full pprof" 1 'cannot write'

finish
