#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds a kernel of "make check-kmod-debug" from Debian's linux-source-6.1, once: it stays in
# the cache under a name that is a hash of the sources' version, the compiler and the
# configuration.
#
#	tests/kmod/debug-kernel.sh [kasan | kcsan]
#
# It prints the folder, which contains bzImage and a tree to build modules against.  Building takes
# 7 minutes on two cores.  kasan, the default, has kmemleak too, and both have lockdep and KCOV.
# Messages go to stderr.  What make prints is in the folder's build.log.

. "$(dirname "$0")/../lib/kmod.sh"
series=6.1
kind=${1:-kasan}
package=linux-source-$series

configs="$KMOD/debug.config $KMOD/$kind.config"
instrument=
case $kind in
kasan) ;;
kcsan) instrument=KCSAN_SANITIZE=n ;;	# see kcsan.config
*) die "which kernel? kasan or kcsan" ;;
esac

version=$(newest_version "$package")
[ -n "$version" ] || die "no $package: run apt-get update?"
# shellcheck disable=SC2086	# a list
hash=$({ echo "$version"; $CC --version | head -n 1; cat $configs; echo "$instrument"; } |
	sha256sum | cut -c1-16)
tree=$CACHE/$kind-$series-$hash
if [ -f "$tree/complete" ]; then
	echo "$tree"
	exit 0
fi

for tool in flex bison bc make xz; do
	command -v "$tool" >/dev/null || die "no $tool: run sh tests/scripts/deps.sh debug"
done
# Two runs must not build in the same folder.
mkdir -p "$CACHE"
exec 9>"$CACHE/$kind-$series.lock"
flock 9
if [ -f "$tree/complete" ]; then
	echo "$tree"
	exit 0
fi

rm -rf "$tree"
deb=$CACHE/deb-$package-$version
unpack_deb "$package=$version" "$deb" || exit 1
note "unpacking $package $version"
mkdir "$tree" || exit 1
tar -C "$tree" --strip-components=1 -xf "$deb/usr/src/$package.tar.xz" || die "cannot unpack $package"
log=$tree/build.log

kmake()
{
	nice -n 19 make -C "$tree" ARCH=x86_64 CC="$CC" HOSTCC="$CC" "$@" >>"$log" 2>&1 9>&- ||
		die "make $1 failed: see $log"
}

kmake tinyconfig
# shellcheck disable=SC2086
cat $configs >>"$tree/.config"
kmake olddefconfig
# If an option is dropped because another is missing, a check would be left out silently.
# shellcheck disable=SC2086
sed -n 's/^\(CONFIG_[A-Z0-9_]*=.*\)/\1/p' $configs | while read -r option; do
	grep -qx "$option" "$tree/.config" || echo "$option"
done >"$tree/dropped"
[ ! -s "$tree/dropped" ] || die "not accepted by this kernel: $(tr '\n' ' ' <"$tree/dropped")"
note "building it, which takes minutes: tail -f $log"
# shellcheck disable=SC2086	# none is no argument
kmake -j"$(nproc)" $instrument bzImage modules
cp "$tree/arch/x86/boot/bzImage" "$tree/bzImage" || exit 1

# Building modules needs headers, scripts and symbols; the other files are a gigabyte that nothing
# uses.
rm -f "$tree/vmlinux" "$tree/vmlinux.o" "$tree"/.tmp_vmlinux*
find "$tree" \( -path "$tree/scripts" -o -path "$tree/tools" \) -prune -o -type f \
	\( -name '*.o' -o -name '*.a' -o -name '*.c' -o -name '.*.cmd' \) -exec rm -f {} +
for other in "$CACHE/$kind-$series-"*; do
	[ "$other" = "$tree" ] || [ ! -d "$other" ] || rm -rf "$other"
done
: >"$tree/complete"
echo "$tree"
