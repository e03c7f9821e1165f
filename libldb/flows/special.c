// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Lists functions whose calls must not return to a stub, or must not go through a stub at all.
 */
#include "flows.h"

/*
 * Calls of these functions are counted, but not timed:
 *
 *	jumps		they do not return, or return twice, or to another place: the slot would be
 *			lost, or used twice
 *	unwinding	the unwinder begins at its caller's frame
 *	the loader	it reads its return address, to know whose search path and namespace count
 *	no return	they end the thread or the program
 */
static const char *const never_timed[] = {
	"setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "longjmp", "_longjmp", "siglongjmp",
	"__longjmp_chk", "getcontext", "setcontext", "swapcontext", "makecontext",
	"vfork", "__vfork", "clone", "__clone", "clone3", "rfork",
	"__cxa_throw", "__cxa_rethrow", "__cxa_call_unexpected", "__cxa_bad_cast",
	"__cxa_bad_typeid", "__cxa_throw_bad_array_new_length", "__cxa_end_cleanup",
	"dlopen", "dlmopen", "dlvsym", "__libc_dlopen_mode",
	"exit", "_exit", "_Exit", "quick_exit", "abort", "pthread_exit", "thrd_exit",
	"execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
	"err", "errx", "verr", "verrx", "__assert_fail", "__assert_perror_fail", "__assert",
	"__stack_chk_fail", "__chk_fail", "__fortify_fail", "rt_sigreturn", "sigreturn",
	NULL
};

/*
 * Calls of these functions are not even counted, because they have a calling convention of their
 * own, or are called before the runtime has started or after it has ended.
 */
static const char *const never_touched[] = {
	"__tls_get_addr", "___tls_get_addr", "mcount", "_mcount", "__fentry__", "__gmon_start__",
	"__libc_start_main", "__cxa_finalize", "_ITM_registerTMCloneTable",
	"_ITM_deregisterTMCloneTable", "__cyg_profile_func_enter", "__cyg_profile_func_exit",
	"_dl_runtime_resolve", "_dl_runtime_profile", NULL
};

/*
 * Prefixes of functions whose calls are not counted either: those of the loader and the unwinder,
 * of sanitizers, which read their return address, and of ldb.
 */
static const char *const never_touched_start[] = {
	"_Unwind_", "_dl_", "__asan_", "__tsan_", "__ubsan_", "__msan_", "__sanitizer_",
	"__ldb_", NULL
};

static bool is_same(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

static bool begins_with(const char *name, const char *start)
{
	while (*start && *name == *start)
		name++, start++;
	return !*start;
}

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (is_same(*list, name))
			return true;
	return false;
}

enum flow_special flow_special_of(const char *name)
{
	if (is_same(name, "dlsym"))
		return FLOW_DLSYM;
	if (is_in(never_timed, name))
		return FLOW_NEVER_TIMED;
	if (is_in(never_touched, name))
		return FLOW_NEVER_TOUCHED;
	for (const char *const *start = never_touched_start; *start; start++)
		if (begins_with(name, *start))
			return FLOW_NEVER_TOUCHED;
	return FLOW_USUAL;
}
