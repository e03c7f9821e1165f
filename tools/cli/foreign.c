// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens files that another user has named; see foreign.h.
 *
 * Below another root directory, the kernel resolves the path (openat2, since Linux 5.6).  If it
 * cannot, or if a container's seccomp filter forbids that, walk_path() resolves the path component
 * by component, and reads links as text.  It refuses "..", because a simultaneous rename could make
 * ".." lead out of the root directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/foreign.h"

#define LINKS_MAX	40	/* links in a path, the same limit as the kernel's */
/* attempts to open a path: EAGAIN means that something was renamed or mounted meanwhile */
#define TRIES_MAX	16

static bool is_kernels(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	switch ((unsigned long)fs.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case TRACEFS_MAGIC:
	case DEBUGFS_MAGIC:
	case SECURITYFS_MAGIC:
	case BPF_FS_MAGIC:
		return true;
	default:
		return false;
	}
}

/*
 * Checks the file to which an O_PATH descriptor refers.  Returns 0, or -errno if the file must not
 * be opened.
 */
static int check_handle(int held)
{
	struct stat st;

	if (fstat(held, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) && st.st_size && !is_kernels(held) ? 0 : -EINVAL;
}

/*
 * Opens for reading the file to which the O_PATH descriptor `held` refers, and closes `held`.  The
 * flag O_NONBLOCK is needed because open() could otherwise wait for another process that has a
 * lease on the file.
 */
static int reopen(int held)
{
	char link[64];
	int fd, rc;

	if (held < 0)
		return held;
	rc = check_handle(held);
	if (!rc) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
		fd = open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		rc = fd < 0 ? -errno : fd;
	}
	close(held);
	return rc;
}

static int open_handle(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, O_PATH | O_CLOEXEC | flags);

	return fd < 0 ? -errno : fd;
}

int foreign_open(const char *path)
{
	return reopen(open_handle(AT_FDCWD, path, 0));
}

/*
 * Puts the link's text before the rest of the path.  Returns 0 if the path is absolute now, so that
 * it begins at the root again, 1 if it is relative, or -errno.
 */
static int follow_link(int link, const char *rest, char *path)
{
	char text[PATH_MAX], joined[PATH_MAX];
	ssize_t n = readlinkat(link, "", text, sizeof(text));

	if (n <= 0)
		return n ? -errno : -ENOENT;
	if ((size_t)snprintf(joined, sizeof(joined), "%.*s/%s", (int)n, text, rest) >= sizeof(joined))
		return -ENAMETOOLONG;
	strcpy(path, joined);
	return *path != '/';
}

/* Resolves the path component by component.  Returns an O_PATH descriptor, or -errno. */
static int walk_path(int root, const char *given)
{
	char buf[PATH_MAX], *rest = buf, *name;
	int at = dup(root), next, rc, nr_links = 0;
	struct stat st;

	if ((size_t)snprintf(buf, sizeof(buf), "%s", given) >= sizeof(buf)) {
		rc = -ENAMETOOLONG;
		goto err_close;
	}
	while ((name = strsep(&rest, "/"))) {
		if (!*name || !strcmp(name, "."))
			continue;
		rc = -EXDEV;
		if (!strcmp(name, ".."))
			goto err_close;
		next = rc = open_handle(at, name, O_NOFOLLOW);
		if (rc < 0)
			goto err_close;
		if (!fstat(next, &st) && S_ISLNK(st.st_mode)) {
			rc = ++nr_links > LINKS_MAX || is_kernels(next) ? -ELOOP :
			     follow_link(next, rest ? rest : "", buf);
			close(next);
			if (rc < 0)
				goto err_close;
			next = dup(rc ? at : root);
			rest = buf;
		}
		close(at);
		at = next;
	}
	return at;

err_close:
	close(at);
	return rc;
}

static int open_handle_below(int root, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = -1;

	for (int i = 0; i < TRIES_MAX; i++) {
		fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	if (fd >= 0)
		return fd;
	/* Seccomp filters that do not know openat2() may return EPERM. */
	return errno == ENOSYS || errno == EPERM ? walk_path(root, path) : -errno;
}

int foreign_open_below(const char *root, const char *path)
{
	int dir = open_handle(AT_FDCWD, root, O_DIRECTORY), fd;

	if (dir < 0)
		return dir;
	fd = open_handle_below(dir, path);
	close(dir);
	return reopen(fd);
}

int foreign_open_of(pid_t pid, const char *path)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	return foreign_open_below(root, path);
}

int foreign_open_mapped(pid_t pid, uint64_t start, uint64_t end, const char *name)
{
	char link[96];
	int fd;

	snprintf(link, sizeof(link), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	fd = foreign_open(link);
	return fd < 0 ? foreign_open_of(pid, foreign_name(pid, name)) : fd;
}

const char *foreign_name(pid_t pid, const char *path)
{
	char link[64], root[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/root", pid);
	n = readlink(link, root, sizeof(root) - 1);
	if (n <= 1)
		return path;
	root[n] = '\0';
	return !strncmp(path, root, n) && path[n] == '/' ? path + n : path;
}
