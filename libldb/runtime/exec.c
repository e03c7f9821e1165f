// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Wraps the functions that execute a program, so that the new program is recorded, too: its
 * environment gets the variables that ldb-record put into the environment of the first program, and
 * that runtime/init.c has removed from it.
 *
 * While children are not recorded a wrapper costs only a few instructions.  It may run in the child
 * of a vfork() or in a signal handler, so it allocates memory only on the stack (system() and
 * popen() map some).  If the environment is too large for that, or the runtime cannot be preloaded
 * into the program (exec-file.c), nothing is added.
 *
 * system() and popen() execute the shell inside of libc, which does not call the wrappers below,
 * and with the program's own environment.  For these two the command is changed so that the shell
 * executes itself again with the extended environment.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime.h"
#include "exec.h"
#include "shim/symbol.h"

#define ROOM_MAX	(16 * 1024)	/* most memory for extending an environment */
#define NAME_VARIABLE	"LD_PRELOAD="

enum { PRELOAD, PRELOADED, RECORD, CHILDREN, FLOWS, NR_ADDED };

static char runtime[EXEC_PATH_MAX / 2];		/* the path of this library; "": nothing is added */
static char record[80], secret[64];
static bool flows;

static void concat(char *to, size_t size, const char *a, const char *b)
{
	raw_strcpy(to, a, size);
	raw_strcpy(to + strlen(to), b, size - strlen(to));
}

static void set(const char *path)
{
	concat(record, sizeof(record), LDB_ENV_RECORD "=", children.recorder);
	concat(secret, sizeof(secret), LDB_ENV_CHILDREN "=+", children.secret);
	if (strlen(path) < sizeof(runtime))
		raw_strcpy(runtime, path, sizeof(runtime));
}

/*
 * Remembers the path of the runtime, which is the last path in the list `front`, possibly followed
 * by a colon.
 */
void exec_init(const char *front, bool with_flows)
{
	char path[sizeof(runtime)];
	size_t begin = 0, n = 0;

	flows = with_flows;
	for (size_t i = 0; front[i]; i++)
		if (front[i] == ':' && front[i + 1])
			begin = i + 1;
	for (const char *c = front + begin; *c && *c != ':' && n < sizeof(path) - 1; c++)
		path[n++] = *c;
	path[n] = 0;
	set(path);
}

void exec_init_attached(void)
{
	uint32_t n = order_list_count(&nr_modules);

	if (!children_wanted())
		return;
	flows = flow_is_mapped();
	if (runtime[0]) {
		set(runtime);	/* the recorder may be another one than before */
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct module *m = module_at(i);

		if ((uintptr_t)runtime >= m->start && (uintptr_t)runtime < m->end)
			set(m->path);
	}
}

static const char *value(char *const env[], const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (!memcmp(*env, name, n))
			return *env + n;
	return NULL;
}

/*
 * Returns how many bytes extending the environment takes, besides its strings; 0: it must not be
 * extended.
 */
static size_t room_for(char *const env[])
{
	const char *old = value(env, NAME_VARIABLE);
	size_t nr = 0, room;

	/* Another recorder has prepared this environment for a program that it executes. */
	if (value(env, LDB_ENV_RECORD "="))
		return 0;
	if (!children_wanted() || !runtime[0] || sys(SYS_faccessat, AT_FDCWD, runtime, R_OK))
		return 0;
	while (env && env[nr])
		nr++;
	room = (nr + NR_ADDED + 1) * sizeof(char *) + 2 * (sizeof(runtime) + 32) + (old ? strlen(old) : 0);
	return room < ROOM_MAX ? room : 0;
}

static bool is_added(const char *variable)
{
	static const char *const names[] = {
		NAME_VARIABLE, LDB_ENV_PRELOADED "=", LDB_ENV_RECORD "=", LDB_ENV_CHILDREN "=", LDB_ENV_FLOWS "=",
	};

	for (unsigned i = 0; i < NR_ADDED; i++)
		if (!memcmp(variable, names[i], strlen(names[i])))
			return true;
	return false;
}

static char **extend(void *memory, char *const env[])
{
	const char *old = value(env, NAME_VARIABLE);
	char **list = memory, **to = list, *text;
	size_t nr = 0;

	while (env && env[nr])
		nr++;
	text = (char *)(list + nr + NR_ADDED + 1);
	for (size_t i = 0; i < nr; i++)
		if (!is_added(env[i]))
			*to++ = env[i];
	*to++ = text;
	concat(text, sizeof(runtime) + 32, NAME_VARIABLE, runtime);
	text += strlen(text);
	if (old) {
		*text++ = ':';
		memcpy(text, old, strlen(old) + 1);
		text += strlen(old);
	}
	*to++ = ++text;
	concat(text, sizeof(runtime) + 32, LDB_ENV_PRELOADED "=", runtime);
	if (old)
		raw_strcpy(text + strlen(text), ":", 2);
	*to++ = record;
	*to++ = secret;
	if (flows)
		*to++ = LDB_ENV_FLOWS "=1";
	*to = NULL;
	return list;
}

/* The environment for a program; it is valid until the calling function returns. */
#define ENV_FOR(takes, env) ({						\
	size_t room = children_wanted() && (takes) ? room_for(env) : 0;	\
									\
	room ? extend(__builtin_alloca(room), env) : (char **)(env);	\
})

static bool found_takes(const char *name)
{
	return exec_takes_runtime_in(value(environ, "PATH="), name);
}

#define NEXT(name) ({							\
	DORMANT_PAGE static void *slot;					\
	typeof(&name) fn = (typeof(&name))symbol_cached(&slot, #name);	\
									\
	fn ? fn : (typeof(&name))(void *)no_such_function;		\
})

static int no_such_function(void)
{
	errno = ENOSYS;
	return -1;
}

/*
 * The exported functions do not call each other, because the program may define functions with the
 * same names.
 */
static int exec_path(const char *path, char *const argv[], char *const env[])
{
	char **with = ENV_FOR(exec_takes_runtime(path), env);

	return NEXT(execve)(path, argv, with);
}

EXPORT int execve(const char *path, char *const argv[], char *const env[])
{
	return exec_path(path, argv, env);
}

EXPORT int execv(const char *path, char *const argv[])
{
	if (!children_wanted())
		return NEXT(execv)(path, argv);
	return exec_path(path, argv, environ);
}

static int exec_file(const char *file, char *const argv[], char *const env[])
{
	char **with = ENV_FOR(found_takes(file), env);

	return NEXT(execvpe)(file, argv, with);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const env[])
{
	return exec_file(file, argv, env);
}

EXPORT int execvp(const char *file, char *const argv[])
{
	if (!children_wanted())
		return NEXT(execvp)(file, argv);
	return exec_file(file, argv, environ);
}

EXPORT int fexecve(int fd, char *const argv[], char *const env[])
{
	char path[32] = "/proc/self/fd/", **with;

	if (fd >= 0)
		raw_decimal(path + strlen(path), fd);
	with = ENV_FOR(exec_takes_runtime(path), env);
	return NEXT(fexecve)(fd, argv, with);
}

EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *restrict attr, char *const argv[restrict],
		       char *const env[restrict])
{
	char **with = ENV_FOR(exec_takes_runtime(path), env);

	return NEXT(posix_spawn)(pid, path, actions, attr, argv, with);
}

EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file,
			const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *restrict attr,
			char *const argv[restrict], char *const env[restrict])
{
	char **with = ENV_FOR(found_takes(file), env);

	return NEXT(posix_spawnp)(pid, file, actions, attr, argv, with);
}

/* Counts the arguments up to NULL, the first one included. */
#define COUNT_ARGS(first) ({						\
	size_t count = 1;						\
	va_list list;							\
									\
	va_start(list, first);						\
	while (va_arg(list, const char *))				\
		count++;						\
	va_end(list);							\
	count;								\
})

#define LIST_ARGS(argv, nr, first, list)				\
	do {								\
		argv[0] = (char *)first;				\
		for (size_t i = 1; i <= nr; i++)			\
			argv[i] = va_arg(list, char *);			\
	} while (0)

EXPORT int execl(const char *path, const char *arg, ...)
{
	size_t nr = COUNT_ARGS(arg);
	char *argv[nr + 1];
	va_list list;

	va_start(list, arg);
	LIST_ARGS(argv, nr, arg, list);
	va_end(list);
	return exec_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *arg, ...)
{
	size_t nr = COUNT_ARGS(arg);
	char *argv[nr + 1];
	va_list list;

	va_start(list, arg);
	LIST_ARGS(argv, nr, arg, list);
	va_end(list);
	return exec_file(file, argv, environ);
}

EXPORT int execle(const char *path, const char *arg, ...)
{
	size_t nr = COUNT_ARGS(arg);
	char *argv[nr + 1], *const *env;
	va_list list;

	va_start(list, arg);
	LIST_ARGS(argv, nr, arg, list);
	env = va_arg(list, char *const *);
	va_end(list);
	return exec_path(path, argv, env);
}

/* The shell */

#define ARGUMENT_MAX	(128 * 1024)	/* the kernel's MAX_ARG_STRLEN */

struct line {
	char *text;		/* mapped; NULL: the command remains as it is */
	size_t size;
};

static char *append(char *to, const char *text)
{
	size_t n = strlen(text);

	memcpy(to, text, n + 1);
	return to + n;
}

/* Appends text in single quotes.  A quote within the text takes four characters. */
static char *append_quoted(char *to, const char *text)
{
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = append(to, "'\\'");
		*to++ = *text;
	}
	return append(to, "'");
}

static struct line line_for(const char *command)
{
	const char *old = value(environ, NAME_VARIABLE);
	struct line l = { NULL, 0 };
	char *to;
	long at;

	if (!command || !room_for(environ) || !exec_takes_runtime("/bin/sh"))
		return l;
	l.size = 4 * strlen(command) + 2 * sizeof(runtime) + sizeof(record) + sizeof(secret) + 256;
	if (l.size >= ARGUMENT_MAX)
		return l;
	at = sys(SYS_mmap, 0, l.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096)
		return l;
	to = l.text = (char *)at;
	to = append(append(to, "export "), record);
	to = append(append(to, " "), secret);
	to = append_quoted(append(append(to, " "), NAME_VARIABLE), runtime);
	to = append(to, old ? ":\"$LD_PRELOAD\"" : "");
	to = append_quoted(append(append(to, " "), LDB_ENV_PRELOADED "="), runtime);
	to = append(to, old ? ":" : "");
	to = append(to, flows ? " " LDB_ENV_FLOWS "=1" : "");
	to = append_quoted(append(to, "; exec /bin/sh -c "), command);
	append(to, " sh");	/* $0, as libc has it */
	return l;
}

static void line_free(struct line *l)
{
	if (l->text)
		sys(SYS_munmap, l->text, l->size);
}

EXPORT int system(const char *command)
{
	struct line l = line_for(command);
	int status = NEXT(system)(l.text ? l.text : command);

	line_free(&l);
	return status;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	struct line l = line_for(command);
	FILE *f = NEXT(popen)(l.text ? l.text : command, mode);

	line_free(&l);
	return f;
}
