/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers places in the kernel, and names the functions there when a recording ends: reading
 * /proc/kallsyms takes a tenth of a second.  Only names leave this file, no addresses.
 */
#ifndef RECORD_KSYMS_H
#define RECORD_KSYMS_H

#include <stdint.h>

struct ksyms;

struct ksyms *ksyms_alloc(void);
void ksyms_free(struct ksyms *k);

/* Returns a copy for ksyms_name(), which another thread may use, or NULL. */
struct ksyms *ksyms_copy(const struct ksyms *k);

/* Returns the number of an address, from 2 on; LDB_SAMPLE_KERNEL: there are too many. */
uint32_t ksyms_number(struct ksyms *k, uint64_t addr);

/* Calls name() for each number whose function's name may be known to this user. */
void ksyms_name(struct ksyms *k, void (*name)(void *arg, uint32_t number, const char *text), void *arg);

#endif
