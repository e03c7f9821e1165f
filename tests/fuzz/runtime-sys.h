/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * This file is included before each source file of the runtime (-include) for the fuzz target:
 * it replaces system calls, threads and clocks by those of runtime-machine.c.
 */
#ifndef TESTS_FUZZ_RUNTIME_SYS_H
#define TESTS_FUZZ_RUNTIME_SYS_H

#include <string.h>
#include "runtime-machine.h"

/* raw.c has its own memcpy() and the like; a sanitizer knows only libc's. */
#define memcpy	raw_memcpy
#define memset	raw_memset
#define memcmp	raw_memcmp
#define strlen	raw_strlen
#include "runtime/raw.h"
#ifndef FUZZ_RAW
#undef memcpy
#undef memset
#undef memcmp
#undef strlen
#endif

#define sys_call6		machine_call
#define sys_clone_thread	machine_clone
#define cpu_tsc			machine_tick
#define cpu_tsc_fenced		machine_tick
#define cpu_tsc_before		machine_tick
#define cpu_tsc_after_stores	machine_tick
#define cpu_thread_pointer	machine_thread_pointer
#define cpu_number		machine_cpu
#define cpu_relax()		((void)0)
#define cpu_prefetch(addr)	((void)(addr))
#define cpu_prefetch_write(p)	((void)(p))

/* a scanner calls this function once in each of its rounds: other threads may run then */
#ifdef FUZZ_SCANNER
#include "runtime/runtime.h"
#define control_is_leaving	machine_is_leaving
#endif

/* The runtime's wrappers of these functions must not replace libc's in the fuzz target. */
#define pthread_create	runtime_pthread_create
#define thrd_create	runtime_thrd_create
#define munmap		runtime_munmap
#define mprotect	runtime_mprotect
#define mremap		runtime_mremap

#endif
