# SPDX-License-Identifier: GPL-2.0-or-later
# Everything that is linked with libldbtools.a needs these: $(TOOLS_LIBS).

# BPF programs record kernel events where clang compiles for BPF and libbpf is installed.
BPF_CLANG ?= $(notdir $(firstword $(foreach c,clang clang-19 clang-16 clang-15 clang-14,$(shell command -v $c))))
HAVE_BPF := $(shell pkg-config --exists 'libbpf >= 0.8' 2>/dev/null && \
	echo 'int x;' | $(BPF_CLANG) -target bpf -x c -c -o /dev/null - 2>/dev/null && echo 1)

TOOLS_LIBS := -Wl,--as-needed -lzstd -ldw -lelf -ltraceevent -lsqlite3 -lz -lstdc++ \
	-lpthread -lm -ldl $(if $(HAVE_BPF),-lbpf)
