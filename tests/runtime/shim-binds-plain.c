// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints every interposed function that a reference from this program does not
 * bind to the runtime; exit status 0 if there is none.  The references carry
 * libc's symbol versions, as those of any program do.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>

struct _Unwind_Context;
void _Unwind_SetIP(struct _Unwind_Context *context, uintptr_t ip);
void __longjmp_chk(struct __jmp_buf_tag env[1], int val);

static int check(const char *name, void *fn)
{
	Dl_info info;

	if (dladdr(fn, &info) && strstr(info.dli_fname, "libldbtrace.so"))
		return 0;
	printf("%s is not the runtime's\n", name);
	return 1;
}

int main(void)
{
	int bad = 0, nr = 0;

#define CHECK(name)	nr++; bad += check(#name, (void *)name);
#define ACQUIRE(name, ...)	CHECK(name)
#define TRY(name, ...)		CHECK(name)
#define RELEASE(name, ...)	CHECK(name)
#define COND(name, ...)		CHECK(name)
#define SEM(name, ...)		CHECK(name)
#define WAIT(name, ...)		CHECK(name)
#define WAKE(name, ...)		CHECK(name)
#define JUMP(name, ...)		CHECK(name)
#define UNWIND(name, ...)	CHECK(name)
#include "shim/list.h"
	CHECK(pthread_create)
	CHECK(thrd_create)
	printf("%d functions, %d not interposed\n", nr, bad);
	return bad != 0;
}
