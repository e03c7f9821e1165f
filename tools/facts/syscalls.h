/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the system calls of a trace. */
#ifndef FACTS_SYSCALLS_H
#define FACTS_SYSCALLS_H

#include "model.h"

/*
 * Calls call() for each system call, and each sleep in one, that has a row, as faults_each() of
 * interruptions.h does for faults.
 */
int syscalls_each(struct model *m, const struct reader_filter *filter,
		  int (*call)(void *arg, const struct syscall *c), void *arg);

#endif
