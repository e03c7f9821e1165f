/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LDB_ARCH_FLOWS_H
#define LDB_ARCH_FLOWS_H

#if defined(__x86_64__)
#include "arch/x86_64/flows.h"
#else
#error "libldb does not know this CPU: it needs an arch/<cpu>/"
#endif

#endif
