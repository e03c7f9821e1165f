/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds numbers and names of system calls, and which of their arguments are recorded. */
#ifndef RECORD_NAMES_CALLS_H
#define RECORD_NAMES_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <linux/ldb.h>
#include "record/bpf/shared.h"

/* Sets what is recorded of each system call; see bpf_config.calls. */
void calls_describe(uint8_t calls[LDB_CALLS_MAX]);

/* Returns the name of a system call, or of another LDB_SYSCALL_NR_*; "" if it is not known. */
const char *calls_name(uint32_t nr);

/* Returns the number of the system call with this name, or -1. */
int64_t calls_number(const char *name);

/*
 * Describes the descriptor of an LDB_EV_SYSCALL_FD record: "svc.dat", "a pipe", "eventfd", "socket
 * 10.0.0.1:80".  The record has at most 24 bytes of a name.
 */
void calls_descriptor(const struct ldb_syscall_rec *r, char *text, size_t size);

/* Writes "socket 10.0.0.1:80" or "socket [::1]:80"; the numbers are in network byte order. */
void calls_address(int family, const void *address, uint16_t port, char *text, size_t size);

#endif
