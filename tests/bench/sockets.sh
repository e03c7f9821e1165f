# SPDX-License-Identifier: GPL-2.0-or-later
# This section of make bench is sourced by run.sh, which says how rows are made.
# shellcheck shell=sh

# Prints "KIND-CONFIG NS": what a read or write costs the program.
sockets_run()	# config
{
	case $1 in
	base | base2) set -- "$1" ./socket-loop-plain ;;
	dormant) set -- "$1" env LD_PRELOAD="$BUILD/lib/libldbtrace.so.0" ./socket-loop-ldb ;;
	record) set -- "$1" ldb-record -q --kernel none --samples off -o sockets.data -- ./socket-loop-ldb ;;
	socket) set -- "$1" ldb-record -q --kernel none --samples off --request=socket -o sockets.data -- ./socket-loop-ldb ;;
	esac
	config=$1
	shift
	"$@" 20000 | awk -v c="$config" 'NF == 2 { print $1 "-" c, $2; n++ } END { exit n < 3 }'
}

bench_sockets()
{
	$cc -O2 -g "$programs/socket-loop.c" -o socket-loop-plain &&
	$cc -O2 -g "$plugin" "$programs/socket-loop.c" -o socket-loop-ldb || exit 1
	interleave sockets.txt "$rounds" sockets_run base base2 dormant record socket
	heading "a read or write of a program with ldb / the same without"
	for kind in pipe http own ring; do
		grep -q "^$kind-base " sockets.txt || continue
		note "$kind: $(mean sockets.txt "$kind-base" %.0f) ns"
		row sockets.txt "$kind-base2" "$kind-base" "  the same again"
		row sockets.txt "$kind-dormant" "$kind-base" "  carrying ldb" 1.02
		row sockets.txt "$kind-record" "$kind-base" "  recording"
		row sockets.txt "$kind-socket" "$kind-record" "  recording, --request=socket / recording"
		added sockets.txt "$kind-socket" "$kind-record" "  the same, ns more for each call"
	done
}
