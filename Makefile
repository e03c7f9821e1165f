# SPDX-License-Identifier: GPL-2.0-or-later
# ldb: builds everything into build/.  See README.md.
#
#	make			plugin, runtime and tools
#	make plugin CC=gcc-13	the plugin for one more compiler
#	make demo		records the program of the paper's Figure 1 and explains it
#	make deps		installs what tests need (sh tests/scripts/deps.sh PURPOSE: what others do)
#	make check		the tests for each change; the last line is "N passed, N failed"
#	make check-all		all of them: also what takes long, and is seldom the first to fail
#	make check-quick	those that detect most: five minutes
#	make mutate		changes one thing at a time and checks whether they notice it:
#				N=200 SEED=, ONLY="scan shim", TIME=600 for a slice
#	make check-kmod		the kernel module's tests in all kernels; make check runs
#				those that do not depend on the kernel in one of them
#	make check-kmod-debug	the kernel module's tests and more of its stress, in
#				kernels with KASAN, KCSAN, lockdep and kmemleak (built once)
#	make check-distro	README's commands and the packages on bare Debians; as root, ten
#				minutes for each
#	make check-suites	memcached's, redis's, sqlite's and zstd's own tests, recorded; long
#	make corpus		how often ldb-why names what was planted, in some 300 cases,
#				a quarter of an hour; CASES="lock-*", SLICE=1/4 or QUICK=1
#				does a part
#	make fuzz		libFuzzer on readers, recorder and runtime: FUZZ_TIME=60 seconds or
#				FUZZ_RUNS=N of each of FUZZ_TARGETS="trace perf control symbol runtime"
#	make bench		costs, as ratios measured in one run; ROUNDS=5 is quicker,
#				SECTIONS="calls sqlite" does a part
#	make style		what clang-format, codespell and shellcheck would say
#	make install		PREFIX=/usr/local DESTDIR=
#	make uninstall		removes what the same install would have put there
#	make deb		packages for Debian, in build/deb
#	make modules		ldb.ko for the running kernel, or KDIR=/lib/modules/.../build
#				(LDB_UNTESTED=1: also one newer than what was tested)
#	make modules_install	installs it (INSTALL_MOD_PATH=), its udev rule and group
#	make dkms		installs its sources for dkms(8), which builds it for each
#				kernel: /usr/src/ldb-VERSION, rule and group
#
# Each part has a Makefile of its own with the targets all and install.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= $(CURDIR)/build
# make's own default for CC is cc, which may not be the gcc of the plugin headers.
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin CXX),default)
CXX := g++
endif
export VERSION PREFIX DESTDIR BUILD CC CXX

PARTS := gcc-plugin libldb tools
MAN_PAGES = $(wildcard Documentation/*.[1-8])

all: $(PARTS)

$(PARTS): hint
	+$(MAKE) -C $@ all

# This only checks; the targets below that call deps.sh without --check install what is missing.
hint:
	@sh tests/scripts/deps.sh --check demo

plugin:
	+@$(MAKE) --no-print-directory -C gcc-plugin plugin

deps:
	@sh tests/scripts/deps.sh check

demo:
	@sh tests/scripts/deps.sh demo
	+@$(MAKE) --no-print-directory all
	@sh tests/scripts/demo.sh

# This only checks, as hint does.  In "make -j deps check" it waits for deps.
ready: $(filter deps,$(MAKECMDGOALS))
	@sh tests/scripts/deps.sh --check check

check check-quick check-all: ready
	+@$(MAKE) --no-print-directory all
	+@MAKE="$(MAKE)" sh tests/run.sh $(patsubst check-%,--%,$(filter-out check,$@))

mutate: all
	@sh tests/mutate/run.sh $(if $(N),-n $(N)) $(if $(SEED),-s $(SEED)) $(if $(TIME),-t $(TIME)) \
		$(foreach part,$(ONLY),-p $(part))

check-kmod: ready
	+@$(MAKE) --no-print-directory all
	+@MAKE="$(MAKE)" LDB_KMOD_ALL=1 sh tests/run.sh kmod

check-kmod-debug:
	@sh tests/scripts/deps.sh debug
	+@$(MAKE) --no-print-directory all
	+@MAKE="$(MAKE)" sh tests/kmod/debug.sh

check-distro:
	@sh tests/distro/run.sh $(SUITES)

check-suites:
	@sh tests/scripts/deps.sh bench
	+@$(MAKE) --no-print-directory all
	+@MAKE="$(MAKE)" sh tests/suites/run.sh $(SUITES)

corpus: ready
	+@$(MAKE) --no-print-directory all
	@sh tests/corpus/run.sh

fuzz: ready
	+@$(MAKE) --no-print-directory all
	+@$(MAKE) --no-print-directory -C tests/fuzz all
	@sh tests/fuzz/long.sh

bench:
	@sh tests/scripts/deps.sh bench
	+@$(MAKE) --no-print-directory all
	+@MAKE="$(MAKE)" sh tests/bench/run.sh $(SECTIONS)

style:
	@sh tests/scripts/style.sh

install: all
	+@for part in $(PARTS); do $(MAKE) -C $$part install || exit 1; done
	@# A page is installed under each of the names it has.
	@for page in $(MAN_PAGES); do \
		dir="$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}"; \
		install -d "$$dir" && install -m 644 "$$page" "$$dir/" || exit 1; \
		for name in $$(sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9._+-]*\).*/\1/p' "$$page"); do \
			alias="$$dir/$$name.$${page##*.}"; \
			[ -e "$$alias" ] || ln -s "$${page##*/}" "$$alias" || exit 1; \
		done; \
	done
	@# What is in the JSON that the tools print.
	@install -d "$(DESTDIR)$(PREFIX)/share/ldb/schemas"
	@install -m 644 Documentation/schemas/*.json "$(DESTDIR)$(PREFIX)/share/ldb/schemas/"
	@$(refresh)

# Without DESTDIR this is the running system: its loader and man must see the files.
define refresh
if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" -eq 0 ]; then ldconfig; fi
endef

# An install into a scratch folder gives the list of files to remove, so that there is no
# second list to maintain.  Only folders that are ldb's own are removed.
uninstall: all
	rm -rf $(BUILD)/uninstall
	+$(MAKE) --no-print-directory install DESTDIR=$(BUILD)/uninstall >/dev/null
	cd $(BUILD)/uninstall && find . ! -type d | sed 's/^\.//' | while read -r file; do \
		rm -f "$(DESTDIR)$$file" || exit 1; \
	done
	cd $(BUILD)/uninstall && find . -depth -type d \( -name '*ldb*' -o -path '*/ldb/schemas' \) | sed 's/^\.//' | while read -r dir; do \
		rmdir "$(DESTDIR)$$dir" 2>/dev/null || :; \
	done
	rm -rf $(BUILD)/uninstall
	@$(refresh)

# kbuild writes beside the sources, so it gets links to them in a separate folder for each
# kernel.  The module has no BTF: that would need pahole, and only debuggers use it.
KDIR ?= /lib/modules/$(shell uname -r)/build
KRELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)".*/\1/p' $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KMOD_BUILD = $(BUILD)/kmod/$(KRELEASE)
KBUILD = $(MAKE) -C $(KDIR) M=$(KMOD_BUILD) LDB_VERSION=$(VERSION) CONFIG_DEBUG_INFO_BTF_MODULES=

modules:
	@if ! [ -f "$(KDIR)/include/generated/utsrelease.h" ]; then \
		echo "ldb: no kernel headers in $(KDIR): apt-get install linux-headers-$$(uname -r), or KDIR=" >&2; \
		exit 1; \
	fi
	@mkdir -p $(KMOD_BUILD)
	@ln -sfn $(addprefix $(CURDIR)/kmod/,Kbuild uapi arch $(notdir $(wildcard kmod/*.[ch]))) $(KMOD_BUILD)/
	+@flock $(KMOD_BUILD)/.lock $(KBUILD) modules

modules_install: modules
	+$(KBUILD) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) KERNELRELEASE=$(KRELEASE) modules_install
	$(call install_access,$(or $(DESTDIR),$(INSTALL_MOD_PATH)))
	@# Debian's headers lack the file that kbuild's own depmod wants.
	$(if $(DESTDIR)$(INSTALL_MOD_PATH),,depmod $(KRELEASE))

# These files determine who may use the module.
define install_access
	install -D -m 644 kmod/60-ldb.rules "$1/usr/lib/udev/rules.d/60-ldb.rules"
	install -D -m 644 kmod/ldb.sysusers "$1/usr/lib/sysusers.d/ldb.conf"
	$(if $1,,if command -v systemd-sysusers >/dev/null; then systemd-sysusers ldb.conf; fi)
endef

deb:
	@sh tests/scripts/deps.sh deb
	@sh debian/build.sh

DKMS_SOURCE = $(DESTDIR)/usr/src/ldb-$(VERSION)

dkms:
	rm -rf "$(DKMS_SOURCE)"
	install -D -m 644 -t "$(DKMS_SOURCE)" kmod/Kbuild $(wildcard kmod/*.[ch])
	install -D -m 644 -t "$(DKMS_SOURCE)/arch" $(wildcard kmod/arch/*.h)
	install -D -m 644 -t "$(DKMS_SOURCE)/uapi/linux" kmod/uapi/linux/ldb.h kmod/uapi/linux/ldb-records.h
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf.in >"$(DKMS_SOURCE)/dkms.conf"
	$(call install_access,$(DESTDIR))
	@$(if $(DESTDIR),,echo "now: dkms install ldb/$(VERSION)")

clean:
	rm -rf $(BUILD)

.PHONY: all plugin $(PARTS) hint ready deps demo check check-quick check-all mutate check-kmod check-kmod-debug check-distro check-suites corpus fuzz bench style install uninstall modules modules_install dkms deb clean
