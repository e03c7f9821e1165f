// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Creates the files that the tools write; see outfile.h.
 *
 * The directory is opened once, and then everything is done in it by name, so that it cannot be
 * exchanged between two steps.  The file is created with O_EXCL, which follows no link.  A link is
 * followed only if no other user can exchange it: its directory must belong to root or to this
 * user; if others may write to the directory, it must be sticky, and the link, too, must belong to
 * root or to this user.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/outfile.h"

#define MODE		0600
#define MODE_FOLDER	0700
/* attempts to create a file that another user may create again and again */
#define TRIES_MAX	16

struct place {
	int dir;
	struct stat dir_stat;
	char name[NAME_MAX + 1];
};

const char *outfile_why(int rc)
{
	return rc == OUTFILE_OTHERS ? "another user's file is there" : strerror(-rc);
}

/* Places */

static int place_open(struct place *p, const char *path)
{
	size_t len = strlen(path);
	char folder[PATH_MAX];
	const char *slash;

	if (!len)
		return -ENOENT;
	if (len >= sizeof(folder))
		return -ENAMETOOLONG;
	if (path[len - 1] == '/')
		return -EISDIR;
	slash = strrchr(path, '/');
	if (strlen(slash ? slash + 1 : path) >= sizeof(p->name))
		return -ENAMETOOLONG;
	strcpy(p->name, slash ? slash + 1 : path);
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash + 1 - path) : 1,
		 slash ? path : ".");
	p->dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (p->dir < 0)
		return -errno;
	if (!fstat(p->dir, &p->dir_stat))
		return 0;
	close(p->dir);
	return -EIO;
}

static bool is_trusted(const struct stat *st)
{
	return !st->st_uid || st->st_uid == geteuid();
}

static bool is_open_to_others(const struct place *p)
{
	return p->dir_stat.st_mode & (S_IWGRP | S_IWOTH);
}

static bool is_sticky(const struct place *p)
{
	return p->dir_stat.st_mode & S_ISVTX;
}

/* Returns true if it is certain that no other user has created this file, or can exchange it. */
static bool is_safe(const struct place *p, const struct stat *st)
{
	return is_trusted(&p->dir_stat) &&
	       (!is_open_to_others(p) || (is_sticky(p) && is_trusted(st)));
}

/*
 * Returns 0 if the file may be removed, or does not exist, else OUTFILE_OTHERS or -errno.  Files of
 * other users in a sticky directory where others may write must not be removed.
 */
static int check_removal(const struct place *p, const char *name)
{
	struct stat st;

	if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : -errno;
	return is_open_to_others(p) && is_sticky(p) && !is_trusted(&st) ? OUTFILE_OTHERS : 0;
}

static int make_room(const struct place *p, enum outfile_old old)
{
	char old_name[NAME_MAX + 1];
	int rc = check_removal(p, p->name);

	if (rc)
		return rc;
	if (old == OUTFILE_REPLACE)
		return unlinkat(p->dir, p->name, 0) && errno != ENOENT ? -errno : 0;
	if ((size_t)snprintf(old_name, sizeof(old_name), "%s.old", p->name) >= sizeof(old_name))
		return -ENAMETOOLONG;
	rc = check_removal(p, old_name);
	if (rc)
		return rc;
	return renameat(p->dir, p->name, p->dir, old_name) && errno != ENOENT ? -errno : 0;
}

/* Opens the existing file with O_PATH; a link is followed unless flags has O_NOFOLLOW. */
static int open_handle(const struct place *p, int flags, struct stat *st)
{
	int fd = openat(p->dir, p->name, O_PATH | O_CLOEXEC | flags);

	if (fd < 0)
		return -errno;
	if (!fstat(fd, st))
		return fd;
	close(fd);
	return -EIO;
}

/*
 * Opens for writing the file to which `held` refers, even if another file has replaced it at its
 * path.  Closes `held`.
 */
static int reopen_handle(int held)
{
	char link[64];
	int fd;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	fd = open(link, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(held);
	return fd;
}

static bool is_stdout(const struct stat *st)
{
	struct stat own;

	return !fstat(STDOUT_FILENO, &own) && own.st_dev == st->st_dev && own.st_ino == st->st_ino;
}

/*
 * Opens an existing device or pipe for writing, also by a safe link, and standard output by a safe
 * link to it.  Returns -EEXIST if there is a regular file or another link, which must be removed
 * first, or no file any more; or another error.
 */
static int open_odd(const struct place *p)
{
	struct stat st;
	bool is_followed;
	int fd = open_handle(p, O_NOFOLLOW, &st);

	if (fd < 0)
		return fd == -ENOENT ? -EEXIST : fd;
	is_followed = S_ISLNK(st.st_mode) && is_safe(p, &st);
	if (is_followed) {
		close(fd);
		fd = open_handle(p, 0, &st);
		if (fd < 0)
			return fd == -ENOENT ? -EEXIST : fd;
		if (is_stdout(&st)) {
			close(fd);
			fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
			return fd < 0 ? -errno : fd;
		}
	}
	if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) {
		close(fd);
		return -EEXIST;
	}
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return -EISDIR;
	}
	if (is_followed || is_trusted(&st) || is_safe(p, &st))
		return reopen_handle(fd);
	close(fd);
	return OUTFILE_OTHERS;
}

/*
 * As place_open().  But if the path is a safe symbolic link to a regular file, opens the place of
 * this file, so that the file is replaced, and not the link.
 */
static int place_open_target(struct place *p, const char *path)
{
	int rc = place_open(p, path);
	char real[PATH_MAX];
	struct stat st;

	if (rc || fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISLNK(st.st_mode) ||
	    !is_safe(p, &st) || fstatat(p->dir, p->name, &st, 0) || !S_ISREG(st.st_mode) ||
	    is_stdout(&st) || !realpath(path, real))
		return rc;
	close(p->dir);
	return place_open(p, real);
}

int outfile_open(const char *path, enum outfile_old old, bool *is_regular)
{
	struct place p;
	int fd = old == OUTFILE_REPLACE ? place_open_target(&p, path) : place_open(&p, path);

	*is_regular = false;
	if (fd)
		return fd;
	for (int i = 0; i < TRIES_MAX; i++) {
		fd = openat(p.dir, p.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    MODE);
		*is_regular = fd >= 0;
		if (fd < 0)
			fd = errno == EEXIST ? open_odd(&p) : -errno;
		if (fd != -EEXIST)
			break;
		fd = make_room(&p, old);
		if (fd)
			break;
		fd = -EEXIST;
	}
	close(p.dir);
	return fd;
}

FILE *outfile_stream(const char *path, int *why)
{
	bool is_regular;
	int fd = outfile_open(path, OUTFILE_REPLACE, &is_regular);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	*why = fd < 0 ? fd : -ENOMEM;
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

/* Files that get their names later */

/*
 * Returns true if a rename to this name would replace a device, a pipe, a directory, or a safe link
 * to one of these or to standard output.
 */
static bool is_odd(const struct place *p)
{
	struct stat st, target;

	if (fstatat(p->dir, p->name, &st, AT_SYMLINK_NOFOLLOW) || S_ISREG(st.st_mode))
		return false;
	/* place_open_target() has followed safe links to regular files, except standard output. */
	return !S_ISLNK(st.st_mode) || (is_safe(p, &st) && !fstatat(p->dir, p->name, &target, 0));
}

int outfile_begin(struct outfile *o, const char *path)
{
	struct place p;
	uint64_t number;
	int rc = place_open_target(&p, path);

	if (rc)
		return rc;
	rc = -EINVAL;
	if (is_odd(&p))
		goto err_close;
	rc = check_removal(&p, p.name);
	if (rc)
		goto err_close;
	rc = -EIO;
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		goto err_close;
	strcpy(o->name, p.name);
	rc = -ENAMETOOLONG;
	if ((size_t)snprintf(o->temporary, sizeof(o->temporary), "%s.%016llx.tmp", p.name,
			     (unsigned long long)number) >= sizeof(o->temporary))
		goto err_close;
	o->dir = p.dir;
	o->fd = openat(o->dir, o->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       MODE);
	rc = -errno;
	if (o->fd >= 0)
		return 0;
err_close:
	close(p.dir);
	return rc;
}

int outfile_commit(struct outfile *o)
{
	int rc = 0;

	if (renameat(o->dir, o->temporary, o->dir, o->name)) {
		rc = -errno;
		unlinkat(o->dir, o->temporary, 0);
	}
	if (close(o->fd) && !rc)
		rc = -errno;
	close(o->dir);
	return rc;
}

void outfile_drop(struct outfile *o)
{
	unlinkat(o->dir, o->temporary, 0);
	close(o->fd);
	close(o->dir);
}

/* Folders */

int outfile_folder(const char *path, bool *is_new)
{
	char copy[PATH_MAX];
	struct place p;
	struct stat st;
	int fd, rc;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", path) >= sizeof(copy))
		return -ENAMETOOLONG;
	for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	rc = place_open(&p, copy);
	if (rc)
		return rc;
	*is_new = !mkdirat(p.dir, p.name, MODE_FOLDER);
	if (!*is_new && errno != EEXIST) {
		rc = -errno;
		goto err_close;
	}
	fd = openat(p.dir, p.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = -errno;
	if (fd < 0)
		goto err_close;
	close(p.dir);
	/* A directory of another user may have replaced it. */
	rc = fstat(fd, &st) || st.st_uid != geteuid() ? OUTFILE_OTHERS : fd;
	if (rc < 0)
		close(fd);
	return rc;

err_close:
	close(p.dir);
	return rc;
}
