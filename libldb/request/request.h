/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Request tags: prototypes between the files of this folder. */
#ifndef REQUEST_REQUEST_H
#define REQUEST_REQUEST_H

#pragma GCC visibility push(hidden)

/* stack.c; what <ldb/ldb.h> promises of ldb_stack_register() and its partner. */
int stack_register(void *lo, void *hi);
void stack_unregister(void *lo);
/* Memory is about to go: so do the stacks that are registered there.  True: there were some. */
bool stack_unregister_within(uintptr_t lo, uintptr_t hi);

#pragma GCC visibility pop
#endif /* REQUEST_REQUEST_H */
