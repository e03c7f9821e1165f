// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds functions of the compiler's unwinder (libgcc_s) when the stack is unwound.  At that time
 * the unwinder is loaded, by a C++ program, or by glibc for a cancellation.  If the runtime were
 * linked with it, every C program would load it, with five mappings and as many page faults.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unwind.h>
#include "internal.h"
#include "next.h"

void *libgcc_function(const char *name)
{
	void *lib = dlopen("libgcc_s.so.1", RTLD_LAZY);

	return lib ? dlsym(lib, name) : NULL;
}

static void *libgcc_find(void **slot, const char *name)
{
	void *fn = order_any_load_word(slot);

	if (fn)
		return fn;
	fn = dlsym(RTLD_DEFAULT, name);
	/* libgcc_s is not in the global scope: glibc has loaded it, or a plugin in C++ needs it */
	if (!fn) {
		dlerror();
		fn = libgcc_function(name);
	}
	if (!fn)
		abort();	/* as glibc does when it cannot unwind */
	order_any_store_word(slot, fn);
	return fn;
}

#define FIND(name) ({								\
		static void *slot_;						\
		(__typeof__(&name))libgcc_find(&slot_, #name);			\
	})

/* These functions are hidden, despite unwind.h, because dlsym() above must not find them. */
__asm__(".hidden __gcc_personality_v0, _Unwind_Resume, _Unwind_GetCFA");

/* The unwind tables of wrappers with cleanup functions refer to this function. */
_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
						_Unwind_Exception_Class class,
						struct _Unwind_Exception *exception,
						struct _Unwind_Context *context);

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions,
					 _Unwind_Exception_Class class,
					 struct _Unwind_Exception *exception,
					 struct _Unwind_Context *context)
{
	return FIND(__gcc_personality_v0)(version, actions, class, exception, context);
}

/* Landing pads end with a call of this function, and unwinding continues. */
void _Unwind_Resume(struct _Unwind_Exception *exception)
{
	FIND(_Unwind_Resume)(exception);
	__builtin_unreachable();
}

_Unwind_Word _Unwind_GetCFA(struct _Unwind_Context *context)
{
	return FIND(_Unwind_GetCFA)(context);
}
