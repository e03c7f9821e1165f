/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Declares the request tags' functions shared between the files of this folder. */
#ifndef REQUEST_REQUEST_H
#define REQUEST_REQUEST_H

#pragma GCC visibility push(hidden)

/* stack.c implements ldb_stack_register() of <ldb/ldb.h> and its partner. */
int stack_register(void *lo, void *hi);
void stack_unregister(void *lo);
/*
 * Memory is about to be unmapped, and so are the stacks that are registered there.  Returns true
 * if there were some.
 */
bool stack_unregister_within(uintptr_t lo, uintptr_t hi);

#pragma GCC visibility pop
#endif /* REQUEST_REQUEST_H */
