#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Finds the Debian kernels of the tests, and fetches the image of one that is not
# installed: into the cache, because installing it would build an initrd.
#
#	tests/kmod/kernels.sh SERIES [release | image | headers]
#	tests/kmod/kernels.sh list	the series that this Debian has
#
# SERIES is 6.1, 6.12, kasan or kcsan (debug-kernel.sh: built when it is not there).  It prints
# the three words, or the one asked for.  The release is that of the newest installed headers
# (tests/scripts/deps.sh installs them) whose image is available.  Exit status 1 and one line
# when there is none.

. "$(dirname "$0")/../lib/kmod.sh"

answer()	# release image headers
{
	case $what in
	release) echo "$1" ;;
	image) echo "$2" ;;
	headers) echo "$3" ;;
	*) echo "$1 $2 $3" ;;
	esac
	exit 0
}

fetch_image()	# release
{
	fetch_to=$CACHE/vmlinuz-$1
	[ ! -f "$fetch_to" ] || return 0
	may_fetch "the image of $1" || return 1
	# The signed image differs in the signature only, and is published some days later.
	for fetch_package in "linux-image-$1" "linux-image-$1-unsigned"; do
		[ -n "$(newest_version "$fetch_package")" ] || continue
		fetch_tree=$CACHE/image.$$
		unpack_deb "$fetch_package" "$fetch_tree" &&
		mv "$fetch_tree/boot/vmlinuz-$1" "$fetch_to"
		rm -rf "$fetch_tree"
		[ ! -f "$fetch_to" ] || return 0
	done
	return 1
}

series=${1:-}
what=${2:-all}
case $series in
6.1 | 6.12) ;;
list)
	grep -q '^VERSION_ID="*13' /etc/os-release || echo 6.1
	echo 6.12
	exit 0
	;;
kasan | kcsan)
	tree=$(sh "$KMOD/debug-kernel.sh" "$series") || exit 1
	answer "$(cat "$tree/include/config/kernel.release")" "$tree/bzImage" "$tree"
	;;
*) die "which kernel? 6.1, 6.12, kasan or kcsan" ;;
esac

found=
for headers in $(printf '%s\n' /usr/src/linux-headers-"$series".*-cloud-amd64 | sort -rV); do
	[ -d "$headers" ] || continue
	release=${headers#/usr/src/linux-headers-}
	found="$found $release"
	[ ! -r "/boot/vmlinuz-$release" ] || answer "$release" "/boot/vmlinuz-$release" "$headers"
	! fetch_image "$release" || answer "$release" "$CACHE/vmlinuz-$release" "$headers"
done
[ -n "$found" ] || die "no headers of a $series kernel: make deps"
die "no image can be had for the $series headers installed:$found"
