// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds separate debug files; see debugfile.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <elfutils/libdwelf.h>
#include <zlib.h>

#include "cli/foreign.h"
#include "symbol/debugfile.h"

#define SYSTEM_DEBUG_DIR	"/usr/lib/debug"
#define NR_NAMES		3

/* The file that is searched for, and what identifies it. */
struct wanted {
	const struct debugfile *d;
	const char *file;		/* the file that was opened; NULL: none */
	const char *names[NR_NAMES];	/* NULL: not known */
	char own_name[256];
	/* build-id; "": not known, so the checksum identifies the file */
	const char *build_id;
	uint32_t crc;
	char **found;			/* NULL: the caller does not need the path */
};

int debugfile_open(const struct elffile_search *search, const char *path)
{
	size_t len = strlen(search->sysroot);
	bool is_below = len && !strncmp(path, search->sysroot, len) && path[len] == '/';
	int fd = is_below ? foreign_open_below(search->sysroot, path + len) : foreign_open(path);

	return fd < 0 ? -1 : fd;
}

static void to_hex(const void *id, size_t size, char *hex, size_t room)
{
	const unsigned char *bytes = id;

	*hex = '\0';
	for (size_t i = 0; i < size && 2 * i + 2 < room; i++)
		snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static bool has_build_id(int fd, const char *wanted)
{
	char hex[130] = "";
	const void *id;
	ssize_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!elf)
		return false;
	size = dwelf_elf_gnu_build_id(elf, &id);
	if (size > 0)
		to_hex(id, size, hex, sizeof(hex));
	elf_end(elf);
	return *hex && !strcmp(hex, wanted);
}

static bool has_crc(int fd, uint32_t wanted)
{
	unsigned char buf[65536];
	uint32_t crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		crc = crc32(crc, buf, n);
		at += n;
	}
	return n == 0 && crc == wanted;
}

static bool is_same_file(const struct wanted *w, int fd)
{
	int file = w->file ? debugfile_open(w->d->search, w->file) : -1;
	struct stat a, b;
	bool is_same;

	if (file < 0)
		return false;
	is_same = !fstat(fd, &a) && !fstat(file, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	close(file);
	return is_same;
}

/* Opens the file whose path is a, b, c and d together, if it is the wanted one. */
static int try_path(const struct wanted *w, const char *a, const char *b, const char *c,
		    const char *d)
{
	size_t bytes = strlen(a) + strlen(b) + strlen(c) + strlen(d) + 1;
	char *path = malloc(bytes);
	int fd = -1;

	if (!path)
		return -1;
	snprintf(path, bytes, "%s%s%s%s", a, b, c, d);
	fd = debugfile_open(w->d->search, path);
	if (fd >= 0 && (is_same_file(w, fd) ||
			!(*w->build_id ? has_build_id(fd, w->build_id) : has_crc(fd, w->crc)))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0 && w->found)
		*w->found = path;
	else
		free(path);
	return fd;
}

/* Returns the directory of a path, with a slash at its end. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strndup(path, slash ? (size_t)(slash + 1 - path) : 0);
}

static int try_names(const struct wanted *w, const char *a, const char *b, const char *c)
{
	int fd = -1;

	for (size_t i = 0; i < NR_NAMES && fd < 0; i++)
		if (w->names[i])
			fd = try_path(w, a, b, c, w->names[i]);
	return fd;
}

/* Returns true if this is a build-id, and not a path that leads out of the directory. */
static bool is_id(const char *id)
{
	size_t len = strlen(id);

	return len > 2 && len <= 128 && !id[strspn(id, "0123456789abcdef")];
}

static int try_dir(const struct wanted *w, const char *root, const char *dir)
{
	char name[192];
	char *folder;
	int fd = -1;

	if (is_id(w->build_id)) {
		snprintf(name, sizeof(name), "/.build-id/%.2s/%s.debug", w->build_id,
			 w->build_id + 2);
		fd = try_path(w, root, dir, name, "");
	}
	if (fd < 0 && w->d->path[0] == '/' && (folder = folder_of(w->d->path))) {
		fd = try_names(w, root, dir, folder);
		free(folder);
	}
	return fd < 0 ? try_names(w, root, dir, "/") : fd;
}

static int try_dirs(const struct wanted *w)
{
	const struct elffile_search *search = w->d->search;
	int fd = -1;

	for (size_t i = 0; i < search->nr_debug_dirs && fd < 0; i++)
		fd = try_dir(w, "", search->debug_dirs[i]);
	if (fd < 0 && *search->sysroot)
		fd = try_dir(w, search->sysroot, SYSTEM_DEBUG_DIR);
	return fd < 0 ? try_dir(w, "", SYSTEM_DEBUG_DIR) : fd;
}

static int try_beside(const struct wanted *w)
{
	char *folder = folder_of(w->file);
	int fd = -1;

	if (!folder)
		return -1;
	fd = try_names(w, folder, "", "");
	if (fd < 0)
		fd = try_names(w, folder, ".debug/", "");
	free(folder);
	return fd;
}

static void set_own_names(struct wanted *w)
{
	const char *base = basename(w->d->path);

	if (!*base)
		return;
	snprintf(w->own_name, sizeof(w->own_name), "%.240s.debug", base);
	w->names[1] = w->own_name;
	w->names[2] = base;
}

int debugfile_instead(const struct debugfile *d, char **found)
{
	struct wanted w = { .d = d, .build_id = d->build_id, .found = found };
	int fd = -1;

	/* Without a build-id, any file with that name would be accepted. */
	if (!*d->build_id)
		return -1;
	set_own_names(&w);
	/*
	 * If a sysroot was given, the file outside of it may also be the wanted one: machines often
	 * have the same libraries.
	 */
	if (*d->search->sysroot && d->path[0] == '/')
		fd = try_path(&w, d->path, "", "", "");
	return fd < 0 ? try_dirs(&w) : fd;
}

int debugfile_link(const struct debugfile *d, const char *file, const char *link, uint32_t crc,
		   char **found)
{
	struct wanted w = { .d = d, .file = file, .build_id = d->build_id, .crc = crc, .found = found };
	int fd;

	/* Only the last part of the link is used. */
	if (link && *basename(link))
		w.names[0] = basename(link);
	if (!*w.build_id && !w.names[0])
		return -1;
	if (*w.build_id)
		set_own_names(&w);
	fd = try_beside(&w);
	return fd < 0 ? try_dirs(&w) : fd;
}

int debugfile_alt(const struct debugfile *d, const char *file, const char *link,
		  const void *id, size_t id_size)
{
	char hex[130];
	struct wanted w = { .d = d, .file = file, .build_id = hex };
	char *folder;
	int fd = -1;

	to_hex(id, id_size, hex, sizeof(hex));
	if (!*hex)
		return -1;
	w.names[0] = basename(link);
	/* dwz -m writes a path, absolute or relative to the directory of the file with the link. */
	if (*link == '/') {
		fd = try_path(&w, d->search->sysroot, link, "", "");
		for (size_t i = 0; i < d->search->nr_debug_dirs && fd < 0; i++)
			fd = try_path(&w, d->search->debug_dirs[i], link, "", "");
	} else if ((folder = folder_of(file))) {
		fd = try_path(&w, folder, link, "", "");
		free(folder);
	}
	if (fd < 0)
		fd = try_beside(&w);
	for (size_t i = 0; i < d->search->nr_debug_dirs && fd < 0; i++)
		fd = try_names(&w, d->search->debug_dirs[i], "/.dwz/", "");
	return fd < 0 ? try_dirs(&w) : fd;
}
