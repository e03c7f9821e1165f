// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a snapshot into a trace, like a dump of a flight recorder. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <ldb/trace-format.h>
#include "names/names.h"
#include "record/flight/file.h"
#include "record/process/proc.h"
#include "top/top.h"

static uint64_t store_names(const char *path, const char *name, pid_t pid)
{
	struct names_options o = { 0 };
	struct names_done done = { 0 };
	char err[256], root[64];

	/*
	 * Failure is not reported: a dump without names can be read while the program's files
	 * exist.
	 */
	o.symbols.sysroot = proc_root(pid, root, sizeof(root));
	names_store(path, &o, &done, err, sizeof(err));
	return done.bytes;
}

static void write_metas(struct writer *w, const struct snapshot_info *i)
{
	char text[64];

	writer_add_meta(w, "trigger", "what ldb-top showed");
	snprintf(text, sizeof(text), "%.6f 0", i->window_ns / 1e9);
	writer_add_meta(w, "flight", text);
	snprintf(text, sizeof(text), "%lld", (long long)i->from);
	writer_add_meta(w, "flight_from", text);
	writer_add_meta(w, "warning", "calls and observed calls of threads are those of all the time that ldb-top ran");
	if (!i->status.end)
		writer_add_meta(w, "end", "dump");
}

/* Copies the blocks of the trace in memory, which consists of a header and complete blocks. */
static int copy_blocks(struct writer *w, const char *from, size_t size)
{
	struct ldb_block_header h;
	int rc = 0;

	for (size_t at = sizeof(struct ldb_file_header); at < size && !rc; at += sizeof(h) + h.bytes) {
		memcpy(&h, from + at, sizeof(h));
		rc = writer_add_block(w, from + at, sizeof(h) + h.bytes);
	}
	return rc;
}

static int64_t write_file(const struct snapshot *s, const char *name, const char *from, size_t size, char *path,
			  size_t path_size)
{
	struct flight_file f;
	char err[PATH_MAX];
	int64_t bytes;
	int rc;

	rc = flight_file_open(&f, name, (const struct ldb_file_header *)from, err, sizeof(err));
	if (rc)
		return rc;
	write_metas(f.writer, snapshot_info(s));
	rc = copy_blocks(f.writer, from, size);
	if (rc) {
		writer_close(f.writer);
		outfile_drop(&f.out);
		return rc;
	}
	rc = flight_file_close(&f);
	bytes = rc ? rc : flight_file_publish(&f, path, path_size);
	return bytes < 0 ? bytes : flight_file_name(&f, store_names, snapshot_info(s)->status.pid, path, NULL);
}

int64_t dump_write(const struct snapshot *s, const char *name, char *path, size_t path_size)
{
	int fd = snapshot_file(s, true);
	struct stat st;
	int64_t rc;
	char *at;

	if (fd < 0)
		return fd;
	at = fstat(fd, &st) ? MAP_FAILED : mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	rc = at == MAP_FAILED ? -errno : write_file(s, name, at, st.st_size, path, path_size);
	if (at != MAP_FAILED)
		munmap(at, st.st_size);
	close(fd);
	return rc;
}
