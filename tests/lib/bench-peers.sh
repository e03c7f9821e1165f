# SPDX-License-Identifier: GPL-2.0-or-later
# The sections of make bench use this file to compare ldb with other tools that show where a
# program's time goes.  It knows what these tools need, and how a program is built for them and run
# under them.  If one is not installed its rows say so, and nothing fails.
# shellcheck shell=sh

# shellcheck disable=SC2034	# for the sections
peers="xray-off xray-patched xray-basic xray-fdr uftrace gprof cyg perf coz"
# These tools record each call with its time; the others count, sample, or do nothing.
recording_peers="xray-basic,xray-fdr,uftrace"
peer_timeout=60

peer_title()
{
	case $1 in
	xray-off) echo "XRay, sleds not patched" ;;
	xray-patched) echo "XRay, patched, no handler" ;;
	xray-basic) echo "XRay, basic log, every call" ;;
	xray-fdr) echo "XRay, FDR log, every call" ;;
	uftrace) echo "uftrace record" ;;
	gprof) echo "gprof (-pg)" ;;
	cyg)	echo "-finstrument-functions, empty hooks" ;;
	perf)	echo "perf record (samples)" ;;
	coz)	echo "coz run (samples)" ;;
	esac
}

# These print the build that another tool (a peer) runs, and the build with which its cost is
# compared.
peer_variant()
{
	case $1 in
	xray-*) echo xray ;;
	uftrace | gprof) echo pg ;;
	perf)	echo base ;;
	*)	echo "$1" ;;
	esac
}

peer_base()
{
	case $1 in
	xray-*) echo clang ;;
	*)	echo base ;;
	esac
}

# Prints by what the number of calls is divided, because some tools are slow.
peer_share()
{
	case $1 in
	xray-basic) echo 100 ;;
	xray-fdr | uftrace) echo 30 ;;
	xray-patched | gprof) echo 5 ;;
	*)	echo 1 ;;
	esac
}

peer_package()
{
	case $1 in
	xray* | clang) command -v clang >/dev/null || echo "clang libclang-rt-dev" ;;
	uftrace) command -v uftrace >/dev/null || echo uftrace ;;
	perf)	command -v perf >/dev/null || echo linux-perf ;;
	coz)	command -v coz >/dev/null || echo coz-profiler ;;
	esac
}

peer_settings()
{
	note "gcc $($cc -dumpfullversion) -O2 -g, for gprof and uftrace with -pg, for coz with -gdwarf-4 (it reads no DWARF 5)"
	[ -n "$(peer_package xray-off)" ] ||
		note "XRay: clang $(clang -dumpversion) -fxray-instrument -fxray-instruction-threshold=1, against clang's own plain build; logs: func_duration_threshold_us=0; FDR: 256 buffers of 1 MiB"
	[ -n "$(peer_package uftrace)" ] || note "$(uftrace --version | cut -d' ' -f1,2): uftrace record, no options"
	[ -n "$(peer_package perf)" ] || note "$(perf version): perf record, its default frequency"
	[ -n "$(peer_package coz)" ] ||
		note "coz $(dpkg-query -W -f '${Version}' coz-profiler 2>/dev/null): coz run, one progress point"
	note "the peers write to $(df --output=fstype "$scratch" | tail -n 1)"
}

# Finds out which tools are installed.  This is done in each section, because a failure may be due
# to the section's program.
peer_look()
{
	scratch=$(mktemp -d "${BENCH_SCRATCH:-/dev/shm}/ldb-bench.XXXXXX" 2>/dev/null) ||
		scratch=$(mktemp -d "$OUT/scratch.XXXXXX") || exit 1
	trap 'rm -rf "$scratch"' EXIT
	trap 'exit 1' INT TERM HUP
	for peer in $peers clang xray; do
		package=$(peer_package "$peer")
		if [ -n "$package" ]; then
			echo "not here: apt-get install $package" >"$peer.why"
		else
			rm -f "$peer.why"
		fi
	done
}

peer_done()
{
	rm -rf "$scratch" ./*.why
}

# Writes to PEER.why, for each tool of a variant, why it has no rows; not for the variant base.
variant_why()	# variant text
{
	for peer in $peers $1; do
		[ "$(peer_variant "$peer")" != "$1" ] || [ "$1" = base ] || echo "$2" >"$peer.why"
	done
}

# Compiles NAME-VARIANT for each variant, unless it exists, is newer than its sources, and was
# made by the same command.
compile()	# name c|c++ source variants [flag...]
{
	name=$1
	lang=$2
	source=$3
	variants=$4
	shift 4
	for variant in $variants; do
		[ -s "$variant.why" ] || compile_variant "$@"
	done
}

compile_variant()	# flag...
{
	out=$name-$variant
	compiler=$cc
	[ "$lang" = c ] || compiler=$cxx
	case $variant in
	ldb)	set -- "$plugin" "$@" ;;
	pg)	set -- -pg "$@" ;;
	cyg)	set -- -finstrument-functions "$@" ;;
	coz)	set -- -gdwarf-4 -DBENCH_COZ "$@" ;;
	xray)	set -- -fxray-instrument -fxray-instruction-threshold=1 "$@" ;;
	esac
	case $variant-$lang in
	clang-c | xray-c) compiler=clang ;;
	clang-* | xray-*) compiler=clang++ ;;
	esac
	set -- "$compiler" -O2 -g "$inc" "$source" cpu-time.o -Wl,--wrap=main "$@" -pthread
	newest=cpu-time.o
	[ "$variant" != ldb ] || newest=$BUILD/plugin/ldb.so
	if [ "$(cat "$out.cmd" 2>/dev/null)" = "$*" ] &&
	   [ -n "$(find "$out" -newer "$source" -newer "$newest" -newer cpu-time.o 2>/dev/null)" ]; then
		return 0
	fi
	if "$@" -o "$out.new" >"$out.log" 2>&1; then
		mv "$out.new" "$out"
		echo "$*" >"$out.cmd"
		return 0
	fi
	case $variant in
	base | ldb) echo "bench: cannot compile $out: see $OUT/$out.log" >&2; exit 1 ;;
	esac
	variant_why "$variant" "does not compile: see $out.log in build/bench"
}

# Runs NAME under another tool in the scratch folder, which is emptied afterwards.
peer_run()	# peer name args...
{
	peer=$1
	prog=$OUT/$2-$(peer_variant "$1")
	shift 2
	(
		cd "$scratch" || exit 1
		limit="timeout $peer_timeout"
		case $peer in
		xray-off | gprof | cyg | clang) $limit "$prog" "$@" ;;
		xray-*) BENCH_XRAY=${peer#xray-} XRAY_OPTIONS="verbosity=0 xray_logfile_base=$scratch/xray-" \
				$limit "$prog" "$@" ;;
		uftrace) $limit uftrace record -d "$scratch/uftrace" "$prog" "$@" ;;
		perf)	$limit perf record -q -o "$scratch/perf.data" "$prog" "$@" ;;
		coz)	$limit coz run -o "$scratch/profile.coz" --- "$prog" "$@" ;;
		*)	echo "no such configuration" >&2; exit 2 ;;
		esac
	) 2>"$peer.log"
	peer_status=$?
	find "$scratch" -mindepth 1 -delete
	return "$peer_status"
}
