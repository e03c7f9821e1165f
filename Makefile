# SPDX-License-Identifier: GPL-2.0-or-later
# ldb: builds everything into build/.  See README.md.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= $(CURDIR)/build
CC ?= gcc
CXX ?= g++
export VERSION PREFIX DESTDIR BUILD CC CXX

PARTS := gcc-plugin libldb tools

all: $(PARTS)

$(PARTS):
	+$(MAKE) -C $@ all

clean:
	rm -rf $(BUILD)

.PHONY: all clean $(PARTS)
