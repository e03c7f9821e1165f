// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the files of dumps; see file.h.
 *
 * The temporary name has the form of outfile.h.  The file is locked while the recorder, or its
 * child that looks up names, exists.  A file without a lock was left by a recorder that was killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/error.h"
#include "record/flight/file.h"

#define TMP_DIGITS	16	/* length of the random part of a name made by outfile.c */
#define TRIES_MAX	8

/*
 * Creates and locks the file.  Retries if another recorder, which takes it for a file that was
 * left, removes it before it is locked.
 */
static int begin(struct outfile *o, const char *name)
{
	struct stat st;
	int rc;

	for (int i = 0; i < TRIES_MAX; i++) {
		rc = outfile_begin(o, name);
		if (rc)
			return rc;
		if (!flock(o->fd, LOCK_EX | LOCK_NB) && !fstat(o->fd, &st) && st.st_nlink)
			return 0;
		close(o->fd);
		close(o->dir);
	}
	return -EBUSY;
}

int flight_file_open(struct flight_file *f, const char *name, const struct ldb_file_header *header, char *err,
		     size_t err_size)
{
	int rc = begin(&f->out, name), fd;

	if (rc) {
		snprintf(err, err_size, "cannot create %s.*: %s", name, outfile_why(rc));
		return rc;
	}
	snprintf(f->name, sizeof(f->name), "%s", name);
	fd = fcntl(f->out.fd, F_DUPFD_CLOEXEC, 0);
	f->writer = fd < 0 ? NULL : writer_open_fd(fd, header, err, err_size);
	if (f->writer)
		return 0;
	outfile_drop(&f->out);
	return -EIO;
}

int flight_file_close(struct flight_file *f)
{
	int rc = writer_close(f->writer);

	f->writer = NULL;
	if (rc)
		outfile_drop(&f->out);
	return rc;
}

/*
 * Renames a file without replacing an existing one.  If the file system cannot do this, makes a
 * hard link, which does not replace a file either.
 */
static int rename_new(int dir, const char *from, const char *to)
{
	if (!renameat2(dir, from, dir, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dir, from, dir, to, 0))
		return -errno;
	unlinkat(dir, from, 0);
	return 0;
}

static void end(struct flight_file *f)
{
	close(f->out.fd);
	close(f->out.dir);
}

int64_t flight_file_publish(struct flight_file *f, char *path, size_t path_size)
{
	struct flight_files files = { 0 };
	struct stat st;
	int rc;

	flight_file_count(f->name, &files);
	rc = fstat(f->out.fd, &st) ? -errno : -EEXIST;
	for (uint64_t n = files.last + 1; rc == -EEXIST; n++) {
		snprintf(f->own, sizeof(f->own), "%s.%" PRIu64, f->out.name, n);
		snprintf(path, path_size, "%s.%" PRIu64, f->name, n);
		rc = rename_new(f->out.dir, f->out.temporary, f->own);
	}
	if (!rc)
		return st.st_size;
	unlinkat(f->out.dir, f->out.temporary, 0);
	end(f);
	return rc;
}

/* Names */

static int copy_all(int from, int to, int64_t size)
{
	bool is_plain = false;
	off_t at = 0;

	while (at < size) {
		ssize_t n = is_plain ? sendfile(to, from, &at, size - at) :
			    copy_file_range(from, &at, to, NULL, size - at, 0);

		if (n > 0)
			continue;
		if (!n || is_plain)
			return n ? -errno : -EIO;
		is_plain = true;	/* this file system cannot clone files */
	}
	return 0;
}

static int begin_copy(const struct flight_file *f, struct outfile *copy, int64_t size)
{
	char path[NAME_MAX + 64];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", f->out.dir, f->out.name);
	rc = begin(copy, path);
	if (rc)
		return rc;
	rc = copy_all(f->out.fd, copy->fd, size);
	if (rc)
		outfile_drop(copy);
	return rc;
}

static bool is_same(int fd, int dir, const char *name)
{
	struct stat own, st;

	return !fstat(fd, &own) && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
	       own.st_ino == st.st_ino && own.st_dev == st.st_dev;
}

/*
 * Exchanges the names again: the user has put another file at the dump's name, and it has the
 * temporary name now.  The user may remove files, or create new ones, at the same time.  Returns
 * -ESTALE, or another error if the names could not be exchanged.
 */
static int put_back(const struct flight_file *f, const struct outfile *copy)
{
	int dir = f->out.dir;

	for (int i = 0; i < TRIES_MAX; i++)
		if (!renameat2(dir, copy->temporary, dir, f->own, RENAME_EXCHANGE) ||
		    !rename_new(dir, copy->temporary, f->own))
			return -ESTALE;
	return -errno;
}

/*
 * Replaces the file by its copy.  If the user has put another file at its name, that file is put
 * back.
 */
static int replace(const struct flight_file *f, const struct outfile *copy)
{
	int dir = f->out.dir;

	if (!renameat2(dir, copy->temporary, dir, f->own, RENAME_EXCHANGE)) {
		if (is_same(f->out.fd, dir, copy->temporary))
			return unlinkat(dir, copy->temporary, 0) ? -errno : 0;
		return put_back(f, copy);
	}
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!is_same(f->out.fd, dir, f->own))
		return -ESTALE;
	return renameat(dir, copy->temporary, dir, f->own) ? -errno : 0;
}

static void name_place(void *writer, uint32_t number, const char *name)
{
	writer_add_ksym(writer, &(struct ldb_row_ksym){ number, name });
}

static int name_places(const char *path, struct ksyms *places)
{
	char err[256];
	struct writer *w = writer_reopen(path, err, sizeof(err));

	if (!w)
		return -EIO;
	ksyms_name(places, name_place, w);
	return writer_close(w);
}

/* Adds all names to the copy, and replaces the file by it.  Returns 0 or -errno. */
static int add_names(struct flight_file *f, const struct outfile *copy, flight_names_fn *store, pid_t pid,
		     const char *name, struct ksyms *places)
{
	char path[NAME_MAX + 64];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", copy->dir, copy->temporary);
	rc = places ? name_places(path, places) : 0;
	if (rc)
		return rc;
	/*
	 * If store() returns 0, it had nothing to add, or has failed, and the copy may be
	 * incomplete: the dump remains without names.
	 */
	if (store ? !store(path, name, pid) : !places)
		return -ENODATA;
	return replace(f, copy);
}

int64_t flight_file_name(struct flight_file *f, flight_names_fn *store, pid_t pid, const char *path,
			 struct ksyms *places)
{
	struct outfile copy;
	struct stat st;
	int64_t size = fstat(f->out.fd, &st) ? 0 : st.st_size;
	int rc = store || places ? begin_copy(f, &copy, size) : -ENODATA;

	if (!rc) {
		rc = add_names(f, &copy, store, pid, path, places);
		/* The temporary name may be that of a user's file that could not be put back. */
		if (rc && is_same(copy.fd, copy.dir, copy.temporary))
			unlinkat(copy.dir, copy.temporary, 0);
		if (!rc && !fstat(copy.fd, &st))
			size = st.st_size;
		close(copy.fd);
		close(copy.dir);
	}
	/* It is not an error if the user has removed or replaced the file. */
	if (rc && rc != -ENODATA && rc != -ENOENT && rc != -ESTALE)
		cli_warn("%s contains no names: %s", path, outfile_why(rc));
	end(f);
	return size;
}

/* Returns true if the rest of the name is 16 hexadecimal digits and ".tmp". */
static bool is_temporary(const char *rest)
{
	return strlen(rest) == TMP_DIGITS + 4 && strspn(rest, "0123456789abcdef") == TMP_DIGITS &&
	       !strcmp(rest + TMP_DIGITS, ".tmp");
}

static void remove_left(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB))
		unlinkat(dir, name, 0);
	close(fd);
}

static void clean_one(int dir, const char *name, const char *rest, struct flight_files *files)
{
	if (is_temporary(rest))
		remove_left(dir, name);
}

static void count_one(int dir, const char *name, const char *rest, struct flight_files *files)
{
	struct stat st;
	uint64_t n;

	if (!isdigit((unsigned char)*rest) || *rest == '0' || rest[strspn(rest, "0123456789")] || strlen(rest) > 18 ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	n = strtoull(rest, NULL, 10);
	files->last = n > files->last ? n : files->last;
	files->nr++;
	files->bytes += st.st_size;
}

typedef void each_fn(int dir, const char *name, const char *rest, struct flight_files *files);

/* Calls fn() for each file NAME.REST. */
static int each(const char *name, each_fn *fn, struct flight_files *files)
{
	const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
	char folder[PATH_MAX];
	size_t len = strlen(last);
	struct dirent *e;
	DIR *d;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - name) : 1, slash ? name : ".");
	d = opendir(folder);
	if (!d)
		return -errno;
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, last, len) && e->d_name[len] == '.')
			fn(dirfd(d), e->d_name, e->d_name + len + 1, files);
	closedir(d);
	return 0;
}

int flight_file_count(const char *name, struct flight_files *files)
{
	*files = (struct flight_files){ 0 };
	return each(name, count_one, files);
}

void flight_file_clean(const char *name)
{
	each(name, clean_one, NULL);
}
