# SPDX-License-Identifier: GPL-2.0-or-later
# Tests "make dkms" and dkms(8): the module is built and installed for each kernel of the guests, in
# scratch trees, and the installed module is loaded in a guest.  It also tests for which kernels
# the module refuses to be built.
# Slow: few changes concern the package; the guests' tests build the module by make modules.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/kmod.sh"

# Preprocesses compat.h alone, without any kernel headers, for a given version.
mkdir -p "$WORK/stub/linux/sched"
for header in ftrace ldb mm sched version sched/isolation; do
	: >"$WORK/stub/linux/$header.h"
done
compat()	# version option...: prints the first #error, if there is one
{
	compat_code=$(echo "$1" | awk -F. '{ print $1 * 65536 + $2 * 256 + $3 }')
	shift
	$CC -E -I"$WORK/stub" -DLINUX_VERSION_CODE="$compat_code" '-DKERNEL_VERSION(a,b,c)=((a)*65536+(b)*256+(c))' \
		'-DIS_ENABLED(x)=1' "$@" -x c "$TOP/kmod/compat.h" 2>&1 >/dev/null | grep '#error' | head -n 1
}
ok "6.1 and 6.12 are accepted" test -z "$(compat 6.1.0)$(compat 6.12.117)"
ok "6.0 is refused" eval "compat 6.0.19 | grep -q 'needs Linux 6.1'"
ok "so is a kernel that was not tested" eval "compat 6.13.0 | grep -q 'make modules LDB_UNTESTED=1'"
ok "unless LDB_UNTESTED is set" test -z "$(compat 6.13.0 -DLDB_UNTESTED_KERNEL)"
ok "a real-time kernel is refused" eval "compat 6.12.0 -DCONFIG_PREEMPT_RT=1 | grep -q PREEMPT_RT"
ok "also if LDB_UNTESTED is set" eval "compat 6.12.0 -DCONFIG_PREEMPT_RT=1 -DLDB_UNTESTED_KERNEL | grep -q PREEMPT_RT"

if ! command -v dkms >/dev/null; then
	skip "dkms" "no dkms: package dkms"
	finish
	exit
fi
need_guests
version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
check "make dkms" "make -s -C $TOP dkms DESTDIR=$WORK/root" 0
ok "with the rule" test -f "$WORK/root/usr/lib/udev/rules.d/60-ldb.rules"
ok "and the group" grep -q '^g ldb ' "$WORK/root/usr/lib/sysusers.d/ldb.conf"
mkdir "$WORK/tree"
# Without this, dkms would create a key in another place.
mok_signing_key=$WORK/mok.key
mok_certificate=$WORK/mok.pub
export mok_signing_key mok_certificate

scratch_dkms()	# command argument...
{
	dkms --dkmstree "$WORK/tree" --sourcetree "$WORK/root/usr/src" --installtree "$WORK/lib/modules" \
		"$@" -m ldb -v "$version"
}

check "dkms add" "scratch_dkms add" 0
for series in $(sh "$KMOD/kernels.sh" list); do
	if ! triple=$(sh "$KMOD/kernels.sh" $series 2>kernels.err); then
		skip "$series" "$(tail -n 1 kernels.err)"
		continue
	fi
	release=$(echo "$triple" | cut -d' ' -f1)
	image=$(echo "$triple" | cut -d' ' -f2)
	for_this="-k $release --kernelsourcedir $(echo "$triple" | cut -d' ' -f3)"
	mkdir -p "$WORK/lib/modules/$release"
	check "$series: dkms build" "scratch_dkms build $for_this" 0
	check "$series: dkms install" "scratch_dkms install --no-depmod $for_this" 0
	ko=$(find "$WORK/lib/modules/$release" -name 'ldb.ko*')
	case $ko in
	*.xz) xz -d "$ko"; ko=${ko%.xz} ;;
	esac
	ok "$series: it is for $release" eval "modinfo -F vermagic $ko | grep -q '^$release '"
	check "$series: what was installed loads in the guest" \
		"sh $KMOD/vm.sh -f $ko:/ldb.ko $image 'insmod /ldb.ko && cat /sys/module/ldb/version && stat -c %a /dev/ldb && rmmod ldb && echo gone'" \
		0 "gone"
	ok "$series: of this version, for a group" test "$(printf '%s\n' "$out" | head -n 2 | tr '\n' ' ')" = "$version 660 "
	check "$series: dkms uninstall" "scratch_dkms uninstall --no-depmod $for_this" 0
	ok "$series: nothing is left" test -z "$(find "$WORK/lib/modules/$release" -name 'ldb.ko*')"
done
check "dkms remove" "scratch_dkms remove --all" 0
finish
