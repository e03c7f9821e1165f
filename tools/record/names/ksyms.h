/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Assigns numbers to addresses in the kernel, and finds the names of the functions there when a
 * recording ends or a dump is made, because reading /proc/kallsyms takes a tenth of a second.  Only
 * names leave this file, never addresses.
 */
#ifndef RECORD_NAMES_KSYMS_H
#define RECORD_NAMES_KSYMS_H

#include <stdint.h>

struct ksyms;

struct ksyms *ksyms_alloc(void);
void ksyms_free(struct ksyms *k);

/* Returns a copy on which another thread may call ksyms_name(), or NULL. */
struct ksyms *ksyms_copy(const struct ksyms *k);

/*
 * Returns the number of an address, from 2 on; LDB_SAMPLE_KERNEL if there are too many addresses.
 */
uint32_t ksyms_number(struct ksyms *k, uint64_t addr);

/* Calls name() for each number whose function's name this user may know. */
void ksyms_name(struct ksyms *k, void (*name)(void *arg, uint32_t number, const char *text), void *arg);

#endif
