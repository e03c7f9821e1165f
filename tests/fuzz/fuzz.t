# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the fuzz targets for a short time: inputs that once broke a target are always run again, and,
# where clang has libFuzzer, each target also executes new inputs.  make fuzz runs for longer.
. "$(dirname "$0")/../lib/engine.sh"

FUZZ=$BUILD/fuzz

# The targets are built here and not before all tests, because that takes long.
check "the targets build" "${MAKE:-make} -s --no-print-directory -C $TOP/tests/fuzz QUICK=1 all" 0

for target in trace perf control symbol runtime; do
	# git stores no empty folders, so a target without findings has no folder.
	known=$TOP/tests/fuzz/corpus/$target
	[ -d "$known" ] || known=
	nr_known=0
	[ -z "$known" ] || nr_known=$(find "$known" -type f | wc -l)
	check "$target: $nr_known inputs that once broke it" \
		"$BUILD/tests/fuzz/helpers/replay-$target $known $FUZZ/seeds/$target" 0 'replayed$'
done

# The corpus of make fuzz is not used: each run of this test begins with an empty one in out/fuzz,
# so that it is the same each time except for its seed.
mkdir -p out/fuzz
for f in "$FUZZ/quick"/fuzz-* "$FUZZ/seeds"; do
	[ ! -e "$f" ] || ln -s "$f" out/fuzz/
done

# Each target runs as many inputs as take a few seconds.
while read -r target runs; do
	if ! [ -x "$FUZZ/quick/fuzz-$target" ]; then
		skip "$target: $runs executions" "no clang with libFuzzer: make deps"
		continue
	fi
	check "$target: $runs executions with sanitizers" \
		"FUZZ_RUNS=$runs FUZZ_TARGETS=$target BUILD=$WORK/out sh $TOP/tests/fuzz/long.sh" 0 'nothing found'
	diag "$(printf '%s\n' "$out" | head -n 1)"
done <<END
trace 1500
perf 10000
control 3000
symbol 3000
runtime 3000
END
finish
