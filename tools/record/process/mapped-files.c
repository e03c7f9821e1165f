// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the files that a program has mapped as code; see mapped-files.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/array.h"
#include "record/process/mapped-files.h"
#include "record/process/proc.h"

static bool is_known(const struct mapped_files *f, const char *path)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->at[i].path, path))
			return true;
	return false;
}

/*
 * Adds a mapped file.  Its link in map_files works for the kernel, whatever the path is, and even
 * if the file was deleted.
 */
static void add_mapping(struct mapped_files *f, pid_t pid, char *line)
{
	char *path = strchr(line, '/'), *access = strchr(line, ' ');
	uint64_t from, to;
	struct mapped_file m;

	if (!path || !access || access[3] != 'x' || sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) != 2)
		return;
	path[strcspn(path, "\n")] = '\0';
	if (is_known(f, path))
		return;
	m.path = strdup(path);
	/* The names in map_files have no leading zeros. */
	if (asprintf(&m.link, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, from, to) < 0)
		m.link = NULL;
	if (m.path && m.link && !array_push(f->at, f->nr, f->room, m))
		return;
	free(m.path);
	free(m.link);
}

void mapped_files_list(struct mapped_files *f, pid_t pid)
{
	FILE *maps = proc_open(pid, 0, "maps");
	char *line = NULL;
	size_t size = 0;

	*f = (struct mapped_files){ 0 };
	while (maps && getline(&line, &size, maps) > 0)
		add_mapping(f, pid, line);
	free(line);
	if (maps)
		fclose(maps);
}

void mapped_files_free(struct mapped_files *f)
{
	for (size_t i = 0; i < f->nr; i++) {
		free(f->at[i].path);
		free(f->at[i].link);
	}
	free(f->at);
}

const char *mapped_files_why_not(const char *root, const struct mapped_file *m)
{
	char path[4096];
	struct stat now, mapped;

	if (stat(m->link, &mapped))
		return "it cannot be asked which file the program has mapped: run ldb-record as root";
	if ((size_t)snprintf(path, sizeof(path), "%s%s", root ?: "", m->path) < sizeof(path) &&
	    !stat(path, &now) && proc_is_same(&now, &mapped))
		return NULL;
	return "its file is not the one that the program has mapped: it was replaced";
}
