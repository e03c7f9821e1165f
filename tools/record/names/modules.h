/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists mapped ELF files: those that the runtime reports, and others from /proc. */
#ifndef RECORD_NAMES_MODULES_H
#define RECORD_NAMES_MODULES_H

#include <stdbool.h>
#include <ldb/control.h>
#include "trace/writer.h"

struct modules;

struct modules *modules_alloc(struct writer *w, uint64_t t0, int pid);
void modules_free(struct modules *m);

void modules_loaded(struct modules *m, const struct ldb_msg_module *msg);
void modules_unloaded(struct modules *m, const struct ldb_msg_unloaded *msg);

/* Writes again the rows of the modules that are mapped now. */
void modules_write(struct modules *m);

/* Calls fn for each module that is mapped now. */
void modules_each(const struct modules *m, void (*fn)(void *arg, const struct ldb_row_module *row), void *arg);

/* Returns true if the address is in a module that has instrumented functions. */
bool modules_have_records(const struct modules *m, uint64_t addr);

/* Adds executable mappings of ELF files that the runtime has not reported. */
void modules_complete(struct modules *m);

#endif
