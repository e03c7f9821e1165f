# SPDX-License-Identifier: GPL-2.0-or-later
# --only-requests leaves out what runs outside of requests, also where the kernel reads the frames,
# although the kernel does not know the requests.
. "$(dirname "$0")/../lib/engine.sh"
need_build
"$CC" -fplugin="$PLUGIN" -I"$TOP/libldb/include" -O2 -g -Wall "$PROGRAMS/in-and-out.c" -o in-and-out || exit 1

for only in "" --only-requests; do
	# shellcheck disable=SC2086	# nothing, or an option
	check "all $only: recorded" "ldb-record -q --kernel=bpf --kernel-frames=on $only -o all$only.data -- ./in-and-out 300" 0
	ok "... reported" eval "ldb-report -i all$only.data --json >all$only.json"
	jq -c '[.functions[] | [.function, .count]]' "all$only.json" | sed 's/^/# /'
done

count()	# file function: prints how many of its calls were observed
{
	jq --arg f "$2" '[.functions[] | select(.function == $f) | .count] | add // 0' "$1"
}
outside=$(count all.json outside)
ok "each call sleeps, so the kernel reads most" test "$outside" -ge 150
# If the scanner has no CPU for a while, it finds some calls only when the next request has begun.
ok "with --only-requests there are fewer than half as many calls outside" test "$(count all--only-requests.json outside)" -lt "$((outside / 2))"
finish
