// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs trace-varint.c for the decoder of a CPU without a folder in tools/arch/: its definitions
 * come before those of the tools' archive.
 */
#define ARCH_CPU_H	/* the definitions for this machine must not be used */
#include "arch/generic/cpu.h"
#include "../../tools/trace/varint.c"
#include "trace-varint.c"
