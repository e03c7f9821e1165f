/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls have numbers, names, and arguments of which some are recorded. */
#ifndef RECORD_CALLS_H
#define RECORD_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <linux/ldb.h>
#include "record/bpf/shared.h"

/* Sets what is recorded of each; see bpf_config.calls. */
void calls_describe(uint8_t calls[BPF_CALLS_MAX]);

/* Returns the name of a call; "": it is not known. */
const char *calls_name(uint32_t nr);

/*
 * Writes what the descriptor of an LDB_EV_SYSCALL_FD is: "svc.dat", "a pipe", "eventfd",
 * "socket 10.0.0.1:80"; 24 bytes of a name are there at most.
 */
void calls_descriptor(const struct ldb_syscall_rec *r, char *text, size_t size);

#endif
