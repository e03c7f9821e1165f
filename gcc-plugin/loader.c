// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb.so finds the plugin for the GCC that has loaded it.
 *
 * A plugin works only in the version of GCC that it was compiled for.  ldb.so needs no symbol of
 * GCC, so every version can load it.  From its own directory it loads ldb-gcc-N.so, where N is the
 * major version of GCC, and passes control to it.  So one ldb.so serves all compilers of a machine.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * gcc-plugin.h's struct plugin_gcc_version begins with basever in all versions of GCC;
 * plugin_name_args is only passed on.
 */
struct plugin_name_args;
struct plugin_gcc_version {
	const char *basever;
};
typedef int init_fn(struct plugin_name_args *args, struct plugin_gcc_version *gcc);

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;
__attribute__((visibility("default"))) init_fn plugin_init;

/*
 * Makes the compilation fail with one line of text; without a further message of GCC, if its
 * error() is found.
 */
static int fail(const char *format, ...)
{
	void (*error)(const char *, ...);
	char text[1024];
	va_list ap;

	/* The text of dlerror() is valid only until the next call, so it is formatted first. */
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	error = (void (*)(const char *, ...))dlsym(RTLD_DEFAULT, "_Z5errorPKcz");
	if (!error) {
		fprintf(stderr, "%s\n", text);
		return 1;
	}
	error("%s", text);
	return 0;
}

/* Returns the directory of ldb.so, or NULL. */
static const char *own_folder(char *path)
{
	Dl_info info;

	if (!dladdr(&plugin_is_GPL_compatible, &info) || !realpath(info.dli_fname, path))
		return NULL;
	return dirname(path);
}

static int by_number(const struct dirent **a, const struct dirent **b)
{
	return atoi((*a)->d_name + 8) - atoi((*b)->d_name + 8);
}

static int is_plugin(const struct dirent *d)
{
	size_t len = strlen(d->d_name);

	return !strncmp(d->d_name, "ldb-gcc-", 8) && len > 11 && !strcmp(d->d_name + len - 3, ".so");
}

/* Writes a list such as "GCC 12, GCC 13 and GCC 14"; "no GCC" if there is no plugin. */
static void list_plugins(const char *folder, char *text, size_t size)
{
	struct dirent **found;
	int nr = scandir(folder, &found, is_plugin, by_number), len = 0;

	snprintf(text, size, "no GCC");
	for (int i = 0; i < nr; i++) {
		len += snprintf(text + len, size - len, "%sGCC %d", !i ? "" : i == nr - 1 ? " and " : ", ",
				atoi(found[i]->d_name + 8));
		free(found[i]);
		if (len >= (int)size)
			break;
	}
	if (nr >= 0)
		free(found);
}

int plugin_init(struct plugin_name_args *args, struct plugin_gcc_version *gcc)
{
	char own[PATH_MAX], path[PATH_MAX + 32], there[256];
	const char *folder = own_folder(own);
	int major = atoi(gcc->basever);
	init_fn *init;
	void *plugin;

	if (!folder)
		return fail("ldb.so: its own folder cannot be found");
	snprintf(path, sizeof(path), "%s/ldb-gcc-%d.so", folder, major);
	if (access(path, F_OK)) {
		list_plugins(folder, there, sizeof(there));
		return fail("ldb.so: this is GCC %s, there are plugins for %s: build one with 'make plugin CC=gcc-%d' in the sources of ldb",
			    gcc->basever, there, major);
	}
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	init = plugin ? (init_fn *)dlsym(plugin, "plugin_init") : NULL;
	if (!init)
		return fail("ldb.so: %s: build it again with 'make plugin CC=gcc-%d' in the sources of ldb",
			    dlerror(), major);
	return init(args, gcc);
}

/*
 * Clang loads any plugin that it is given, and prints no error if the plugin is not one for Clang.
 */
__attribute__((constructor)) static void refuse_clang(void)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n <= 0)
		return;
	exe[n] = '\0';
	if (strncmp(basename(exe), "clang", 5))
		return;
	fputs("ldb.so is a plugin for GCC, and this is clang: compile with gcc or g++\n", stderr);
	_exit(1);
}
