// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Starts the runtime, in one constructor.  The constructor registers the main thread, searches for
 * instrumented modules and enables the door for later recorders.  It starts a control thread only
 * under ldb-record, and with LDB=listen.  Under ldb-record, in an instrumented program or with
 * --flows, it returns when the recording runs or has failed, so that nothing of main() is missed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/auxv.h>
#include <unistd.h>
#include "runtime.h"

/*
 * The library is linked without the compiler's start files, of which only this variable is needed.
 * The other code of these files is for libraries that can be unloaded, and would write to a page.
 */
HIDDEN void *__dso_handle = &__dso_handle;

/* the name of the socket of the recorder that launched the program */
static char recorder[64];

/* The runtime's own memcmp() stops at the first difference, so it never reads past a NUL. */
static char *env_find(char **env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)	/* clearenv() sets environ to NULL */
		if (!memcmp(*env, name, n) && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

static void env_remove(char **env, const char *name)
{
	size_t n = strlen(name);
	char **to = env;

	for (; *env; env++)
		if (memcmp(*env, name, n) || (*env)[n] != '=')
			*to++ = *env;
	*to = NULL;
}

/*
 * Restores the environment the user gave to the program: LD_PRELOAD without what ldb-record put
 * in front, and none of the variables that ldb-record added.
 */
static void env_restore(char **env)
{
	char *added = env_find(env, LDB_ENV_PRELOADED);
	char *preload = env_find(env, "LD_PRELOAD");
	size_t n = added ? strlen(added) : 0;

	if (added && preload && !memcmp(preload, added, n)) {
		if (preload[n] == '\0')
			env_remove(env, "LD_PRELOAD");
		else
			for (char *d = preload; (*d = d[n]); d++)
				;
	}
	env_remove(env, LDB_ENV_PRELOADED);
	env_remove(env, LDB_ENV_RECORD);
	env_remove(env, LDB_ENV_FLOWS);
	env_remove(env, LDB_ENV_CHILDREN);
}

static const char *env_value(char **env, const char *name)
{
	const char *value = env_find(env, name);

	return value ? value : "";
}

/*
 * Stores the variables that env_restore() removes, because exec.c adds them when another program is
 * executed.
 */
static void children_init(char **env)
{
	const char *secret = env_find(env, LDB_ENV_CHILDREN);

	if (!secret)
		return;
	children.waits = *secret != '+';
	children_set(recorder, secret + !children.waits);
	exec_init(env_value(env, LDB_ENV_PRELOADED), env_find(env, LDB_ENV_FLOWS));
}

/*
 * Called for the first instrumented module, which may be loaded after the start of the program;
 * with --flows called at the start in any case.
 */
static void call_recorder(void)
{
	module_on_first = NULL;
	control_launched(recorder);
	flow_begin(false);
}

__attribute__((constructor)) static void ldb_init(void)
{
	char **env = environ;	/* an earlier constructor may have replaced environ */
	int saved = errno;
	const char *name;

	shim_init();
	if (getauxval(AT_SECURE)) {
		inert = true;
		errno = saved;
		return;
	}
	initialised = true;
	session_init((const void *)getauxval(AT_SYSINFO_EHDR));
	create_init();
	fork_init();
	module_init();
	name = env_find(env, LDB_ENV_RECORD);
	if (name) {
		raw_strcpy(recorder, name, sizeof(recorder));
		children_init(env);
		module_on_first = call_recorder;
	}
	/*
	 * If neither of the two following conditions is true, the variables stay in the
	 * environment, because a program that this one executes, or a library that it loads, may be
	 * instrumented.
	 */
	if (name && (module_nr_instrumented() || env_find(env, LDB_ENV_FLOWS))) {
		env_restore(env);
		call_recorder();
	} else if (name && children_wanted()) {
		env_restore(env);
		children_say_plain();
	}
	door_open();
	if (raw_str_equal(env_value(env, LDB_ENV), "listen"))
		control_listen();
	errno = saved;
}
