/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of threads are made here. */
#ifndef FACTS_SYSCALLS_H
#define FACTS_SYSCALLS_H

#include "model.h"

/* This does what faults_each() of interruptions.h does. */
int syscalls_each(struct model *m, const struct reader_filter *filter,
		  int (*call)(void *arg, const struct syscall *c), void *arg);

#endif
