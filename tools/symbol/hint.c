// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Says what to do about missing symbols.  The hint names a package or a command, and the user
 * decides; nothing is downloaded.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/hint.h"

#define DPKG_LISTS	"/var/lib/dpkg/info/*.list"

/*
 * Returns true if the path is a line of the list of a package's files. /lib/x and /usr/lib/x are
 * the same file if /lib is a link to /usr/lib.
 */
static bool list_has(const char *list, const char *path)
{
	const char *merged = strncmp(path, "/usr/", 5) ? NULL : path + 4;
	char *line = NULL;
	bool found = false;
	size_t room = 0;
	FILE *f = fopen(list, "re");

	while (f && !found && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, path) || (merged && !strcmp(line, merged)) ||
			(!strncmp(line, "/usr/", 5) && !strcmp(line + 4, path));
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/*
 * Finds the Debian package with the file's symbols; returns false if the file or the system is
 * not Debian's.
 */
static bool debug_package(const char *path, char *name, size_t size)
{
	const char *found = NULL;
	glob_t lists;

	if (glob(DPKG_LISTS, GLOB_NOSORT, NULL, &lists))
		return false;
	for (size_t i = 0; i < lists.gl_pathc && !found; i++)
		if (list_has(lists.gl_pathv[i], path))
			found = strrchr(lists.gl_pathv[i], '/') + 1;
	if (found) {
		/* The names of lists are "libfoo1:amd64.list" and "bar.list". */
		int len = strcspn(found, ":");

		if (found[len] != ':')
			len = strlen(found) - strlen(".list");
		snprintf(name, size, "%.*s%s", len, found,
			 len == 5 && !strncmp(found, "libc6", 5) ? "-dbg" : "-dbgsym");
	}
	globfree(&lists);
	return found;
}

/* Writes "install libfoo1-dbgsym" for a file of a package. */
static void put_package(const struct hint *h, const char *sysroot, char *buf, size_t size)
{
	char package[160], fetch[200] = "";
	bool is_debian = !*sysroot && h->is_there && debug_package(h->path, package, sizeof(package));

	if (*h->build_id)
		snprintf(fetch, sizeof(fetch), ", fetch it (debuginfod-find debuginfo %.64s)",
			 h->build_id);
	snprintf(buf, size, "install %s%s, or use --debug-dir or --sysroot",
		 is_debian ? package : "its debug package", fetch);
}

/* Functions of libraries that only call main() and the start functions of threads need no names. */
bool hint_is_of_use(const char *path)
{
	static const char *const starters[] = { "libc.so", "libc-", "libpthread", "libstdc++.so" };
	const char *name = basename(path);

	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
		if (!strncmp(name, starters[i], strlen(starters[i])))
			return false;
	return true;
}

void hint_text(const struct hint *h, const char *sysroot, char *buf, size_t size)
{
	char more[48] = "", what[512];

	if (h->nr > 1)
		snprintf(more, sizeof(more), " and %u more", h->nr - 1);
	switch (h->problem) {
	case SYMTAB_STALE:
		snprintf(what, sizeof(what), "changed since the recording, its names are left out: give the old file with --debug-dir or --sysroot");
		break;
	case SYMTAB_MISSING:
		snprintf(what, sizeof(what), h->has_symbols ? "not all symbols are in it: " : "no symbols found: ");
		if (!h->is_there)
			strcat(what, "the file is not here: give its directory with --debug-dir, or that of all files with --sysroot");
		else if (h->is_instrumented)
			strcat(what, "compile with -g and do not strip it, or use --debug-dir or --sysroot");
		else
			put_package(h, sysroot, what + strlen(what), sizeof(what) - strlen(what));
		break;
	case SYMTAB_NO_LINES:
		snprintf(what, sizeof(what), "no line numbers in it: compile with -g, or use --debug-dir");
		break;
	default:
		snprintf(what, sizeof(what), "a part of its debug information is missing (a .dwo file, or what dwz took out): use --debug-dir or --sysroot");
	}
	snprintf(buf, size, "%s%s: %s", h->path, more, what);
}
