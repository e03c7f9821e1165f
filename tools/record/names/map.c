// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of mappings is read when an address is in no known mapping, and again after some time,
 * because another file may have been mapped at the address.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "record/names/map.h"
#include "record/process/proc.h"
#include "record/session/session.h"

#define MAPS_MAX	65536
#define TOLD_MAX	256
#define NEW_NS		20000000	/* least time between two readings for unknown addresses */
#define OLD_NS		1000000000

struct map_names {
	pid_t pid;
	uint64_t read_ns;
	struct mapping {
		uint64_t from, to;
		const char *name;
		bool is_shared;
		unsigned major, minor;
		uint64_t inode, offset;
	} *maps;		/* by address */
	size_t nr, room;
	struct intern names, told;
};

struct map_names *map_names_alloc(pid_t pid)
{
	struct map_names *m = calloc(1, sizeof(*m));

	if (m) {
		m->pid = pid;
		m->names.max = MAPS_MAX;
		m->told.max = TOLD_MAX;
	}
	return m;
}

void map_names_free(struct map_names *m)
{
	if (!m)
		return;
	intern_free(&m->names);
	intern_free(&m->told);
	free(m->maps);
	free(m);
}

/* line: "7f00-7f10 r--p 00000000 fd:00 1234    /var/lib/data.bin (deleted)" */
static void add(struct map_names *m, char *line)
{
	struct mapping map = { .name = "" };
	char *path, rights[8];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64, &map.from, &map.to, rights,
		   &map.offset, &map.major, &map.minor, &map.inode) != 7)
		return;
	map.is_shared = rights[3] == 's' && map.inode;
	path = strchr(line, '/');
	if (path) {
		path[strcspn(path, "\n")] = '\0';
		map.name = intern_text(&m->names, proc_file_name(path));
	}
	if (!map.name)
		map.name = "";
	if (array_room(&m->maps, &m->room, m->nr, sizeof(*m->maps)))
		m->maps[m->nr++] = map;
}

static void read_maps(struct map_names *m)
{
	FILE *f = proc_open(m->pid, 0, "maps");
	char line[4352];

	if (!f)
		return;
	m->nr = 0;
	while (m->nr < MAPS_MAX && fgets(line, sizeof(line), f))
		add(m, line);
	fclose(f);
}

static const struct mapping *find(const struct map_names *m, uint64_t address)
{
	size_t i = search(m->nr, j, m->maps[j].to <= address);

	return i < m->nr && m->maps[i].from <= address ? &m->maps[i] : NULL;
}

static const struct mapping *look_up(struct map_names *m, uint64_t address)
{
	const struct mapping *map = find(m, address);
	uint64_t now = clock_mono_ns();

	if (now - m->read_ns > (map ? OLD_NS : NEW_NS)) {
		read_maps(m);
		m->read_ns = now;
		map = find(m, address);
	}
	return map;
}

const char *map_names_get(struct map_names *m, uint64_t address)
{
	const struct mapping *map = look_up(m, address);

	return map ? map->name : "";
}

const char *map_names_shared(struct map_names *m, uint64_t address)
{
	const struct mapping *map = look_up(m, address);
	bool is_new = false;
	char text[128];
	int64_t n;

	if (!map || !map->is_shared)
		return NULL;
	snprintf(text, sizeof(text), "%" PRIx64 " %" PRIx64 " %x:%x %" PRIu64 " %" PRIx64, map->from, map->to,
		 map->major, map->minor, map->inode, map->offset);
	n = intern_get(&m->told, text, strlen(text) + 1, &is_new);
	return n >= 0 && is_new ? intern_key(&m->told, n) : NULL;
}
