#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# make check-distro tests README's first commands and the packages on a bare Debian.
#
#	tests/distro/run.sh [-c] [SUITE]...	default: bookworm trixie
#
#	-c	also runs "make deps check" there, which takes half an hour more for each
#
# It makes each suite's system with debootstrap, once (LDB_CACHE, or ~/.cache/ldb), copies it, and
# runs what a new user would in the copy: the demo, "make deb" twice, lintian; and in a second copy,
# which has a compiler and kernel headers but not ldb's sources, the packages: install, compile,
# record, report, build the module, remove.  It needs root, debootstrap, the network, 4 GB in
# LDB_DISTRO_DIR (default /var/tmp), and ten minutes for each suite.  It prints TAP.

TMPDIR=${LDB_DISTRO_DIR:-/var/tmp}
export TMPDIR
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/kmod.sh"
with_check=
[ "${1:-}" != -c ] || { with_check=1; shift; }
[ $# -gt 0 ] || set -- bookworm trixie
[ "$(id -u)" -eq 0 ] || cannot "needs root"
command -v debootstrap >/dev/null || cannot "no debootstrap: package debootstrap"

result()	# text command...
{
	result_of="$suite: $1"
	shift
	ok "$result_of" "$@"
}

# Runs a command with this folder as its root, and unmounts everything when the command ends, also
# by a signal.  chroot(1) is not used, because a process in a chroot may not make a user namespace.
inside()	# root command
{
	unshare -m sh -c 'mount --bind "$1" "$1" && cd "$1" && mount -t proc proc proc && mount --rbind /dev dev &&
		mount --rbind /sys sys && mount -t tmpfs tmpfs tmp && mkdir tmp/old && pivot_root . tmp/old && cd / &&
		umount -l tmp/old && rmdir tmp/old &&
		exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
			http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" CI="${CI:-}" sh -c "$2"' sh "$1" "$2" </dev/null
}

# Runs a command, stores its output, and shows the end of that when it fails.
run_inside()	# text root command
{
	log=$work/log.$nr
	began=$(date +%s)
	inside "$2" "$3" >"$log" 2>&1
	rc=$?
	result "$1" test "$rc" -eq 0
	diag "$(echo "$(($(date +%s) - began)) s: $3" | head -n 1)"
	[ "$rc" -eq 0 ] || diag "$(tail -n 15 "$log")"
}

bare_root()	# folder
{
	base=$CACHE/distro-$suite
	if [ ! -d "$base" ]; then
		mkdir -p "$CACHE" && rm -rf "$base.part" &&
		debootstrap --variant=minbase "$suite" "$base.part" >"$work/debootstrap" 2>&1 && mv "$base.part" "$base" ||
			{ diag "$(tail -n 5 "$work/debootstrap")"; return 1; }
	fi
	cp -a "$base" "$1" && cp /etc/resolv.conf "$1/etc/" &&
	# Adds the security updates to the mirror that debootstrap has used, as on a real system.
	sed -n "s|^\(deb .*/debian\)/* $suite main.*|&\n\1-security $suite-security main|p" \
		"$base/etc/apt/sources.list" >"$1/etc/apt/sources.list" && [ -s "$1/etc/apt/sources.list" ]
}

# Prints the size of the installed packages, in KB.
installed()	# root
{
	inside "$1" "dpkg-query -W -f '\${Installed-Size}\n'" | awk '{ n += $1 } END { print n + 0 }'
}

sources()	# root
{
	git clone -q "$TOP" "$1/ldb" 2>/dev/null || cp -a "$TOP" "$1/ldb"
	rm -rf "$1/ldb/build"
}

# Runs README's first line, on a machine that has nothing installed.
demo()
{
	inside "$root" "apt-get -q update && apt-get install -s --no-install-recommends gcc g++" 2>/dev/null |
		awk '/^Inst / { print $2 }' >"$work/compilers"
	rm -rf "$root/var/lib/apt/lists/"*
	before=$(installed "$root")
	run_inside "the demo" "$root" "cd /ldb && sh tests/scripts/deps.sh demo && make demo"
	diag "$(grep '^ldb: for demo' "$log")"
	result "which names the lock's holder" grep -q 'held by snapshot' "$log"
	of_gcc=$(inside "$root" "dpkg-query -W -f '\${Installed-Size} \${Package}\n'" |
		awk 'NR == FNR { of[$1] = 1; next } $2 in of { n += $1 } END { print n + 0 }' "$work/compilers" -)
	beyond=$((($(installed "$root") - before - of_gcc) / 1024))
	diag "$beyond MB of packages beyond gcc and g++, which are $((of_gcc / 1024))"
	result "needs at most 250 MB beyond gcc and g++" test "$beyond" -le 250
	run_inside "and once more calls no apt-get" "$root" \
		"cd /ldb && mkdir /tmp/bin && for p in apt-get apt apt-cache; do ln -s /bin/false /tmp/bin/\$p; done &&
		PATH=/tmp/bin:\$PATH make demo"
}

packages()
{
	run_inside "make deb" "$root" "cd /ldb && make deb"
	run_inside "again, elsewhere" "$root" "cp -a /ldb /var/other && rm -rf /var/other/build && cd /var/other && make deb"
	(cd "$root/ldb/build/deb" && sha256sum -- *.deb) >"$work/one"
	(cd "$root/var/other/build/deb" && sha256sum -- *.deb) >"$work/two"
	result "both builds are identical" eval '[ -s "$work/one" ] && cmp -s "$work/one" "$work/two"'
	diag "$(diff "$work/one" "$work/two")"
	run_inside "lintian is there" "$root" "apt-get install -y --no-install-recommends lintian"
	run_inside "lintian has no errors and no warnings" "$root" \
		"cd /ldb/build/deb && lintian --allow-root --fail-on error,warning *.changes"
}

# Lists every file, except what apt and dpkg store for themselves, the test's own files, and what is
# not on disk.
listing()	# root
{
	(cd "$1" && find . -xdev \( -path ./var/debs -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg \
		-o -path ./var/log -o -path ./tmp -o -path ./root -o -path ./dev -o -path ./proc \) -prune -o -print | sort)
}

use_packages()
{
	user=$work/user
	bare_root "$user" || return
	mkdir "$user/var/debs" && cp "$root/ldb/build/deb/"*.deb "$user/var/debs" && rm -f "$user/var/debs/"*-dbgsym_*
	cp "$TOP/tests/programs/figure1.cc" "$user/root/"
	run_inside "a machine with a compiler and kernel headers" "$user" "apt-get -q update &&
		apt-get install -y --no-install-recommends gcc g++ libc6-dev dkms make linux-headers-cloud-amd64 man-db"
	listing "$user" >"$work/before"
	run_inside "the packages install, with the plugins of the compilers that are here" "$user" \
		"set --; for n in 12 13 14; do command -v gcc-\$n >/dev/null && set -- \"\$@\" /var/debs/gcc-\$n-plugin-ldb_*.deb; done
		apt-get install -y --no-install-recommends \"\$@\" /var/debs/ldb*.deb /var/debs/lib*.deb"
	kernel=$(basename "$(echo "$user"/usr/src/linux-headers-*-cloud-amd64)" | sed 's/^linux-headers-//')
	result "the module is built for $kernel" test -n "$(find "$user/lib/modules/$kernel" -name 'ldb.ko*' 2>/dev/null)"
	result "the group is there" grep -q '^ldb:' "$user/etc/group"
	run_inside "g++ -fplugin=ldb.so" "$user" "cd /root && g++ -O2 -g -fplugin=ldb.so figure1.cc -o figure1 -pthread"
	run_inside "g++ -fplugin=ldb, as GCC's own" "$user" "cd /root && g++ -O2 -fplugin=ldb figure1.cc -o other -pthread"
	run_inside "ldb-gcc" "$user" "cd /root && echo 'int main(void) { return 0; }' >a.c && ldb-gcc a.c -o a && ./a"
	run_inside "record" "$user" "cd /root && ldb-record -- ./figure1"
	run_inside "why" "$user" "cd /root && ldb-why --slowest 1 && ldb-report --top 5"
	run_inside "pages" "$user" "cd /root && ldb-why -q -o why.html && ldb-report -q -o report.html && ldb-timeline -q -o slow.html"
	run_inside "man" "$user" "man -w ldb-record ldb-g++ ldb_req_end ldb-intro 4 ldb"
	listing "$user" >"$work/with"
	run_inside "all is removed" "$user" "apt-get purge -y --auto-remove \$(dpkg-query -W -f '\${Package} \${Maintainer}\n' | sed -n 's/ The authors of ldb.*//p')"
	listing "$user" >"$work/after"
	diff "$work/before" "$work/after" | grep '^[<>]' >"$work/left"
	result "and nothing is left" eval 'grep -q bin/ldb-why "$work/with" && ! grep "ldb" "$work/left" && ! grep "^ldb" "$user/etc/group"'
}

for suite; do
	work=$WORK/$suite
	root=$work/root
	mkdir "$work"
	if bare_root "$root"; then
		sources "$root"
		demo
		packages
		use_packages
		if [ -n "$with_check" ]; then
			run_inside "make deps check" "$root" "cd /ldb && make deps check"
			diag "$(tail -n 1 "$log")" "$(grep '^FAIL\|^  not ok' "$log")"
		fi
	else
		result "debootstrap" false
	fi
	rm -rf --one-file-system "$work"
done
finish
