// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests files that the tools make: they are new, private, and never an existing file, or the target
 * of a link, of another user.  Directories of another user are made with chown(), so only root runs
 * all tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/outfile.h"
#include "tap.h"

#define OTHER	65534

static char dir[] = "/tmp/ldb-outfile.XXXXXX";

static void put(const char *name, const char *text, uid_t owner)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || (!geteuid() && fchown(fd, owner, owner)))
		bail_out("cannot write a file");
	close(fd);
}

static void put_link(const char *text, const char *name, uid_t owner)
{
	if (symlink(text, name) || (!geteuid() && lchown(name, owner, owner)))
		bail_out("cannot make a link");
}

static void make_folder(const char *name, mode_t mode, uid_t owner)
{
	if (mkdir(name, 0700) || chmod(name, mode) || (!geteuid() && chown(name, owner, owner)))
		bail_out("cannot make a folder");
}

static const char *content(const char *name)
{
	static char text[64];
	int fd = open(name, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n < 0 ? "(none)" : text;
}

/* Writes "new" to path.  Returns 0, or the error of outfile_open(). */
static int write_new(const char *path, enum outfile_old old, bool *is_regular)
{
	int fd = outfile_open(path, old, is_regular);

	if (fd < 0)
		return fd;
	if (write(fd, "new", 3) != 3)
		bail_out("cannot write what was opened");
	close(fd);
	return 0;
}

static bool is_private(const char *name)
{
	struct stat st;

	return !lstat(name, &st) && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0600 &&
	       st.st_uid == geteuid();
}

static void test_own(void)
{
	bool is_regular;

	umask(0);
	make_folder("own", 0755, geteuid());
	is_int(write_new("own/a", OUTFILE_REPLACE, &is_regular), 0, "a new file");
	ok(is_private("own/a") && is_regular, "only its owner may read it, whatever the umask");
	put("own/b", "old", geteuid());
	is_int(write_new("own/b", OUTFILE_REPLACE, &is_regular), 0, "over an old one");
	ok(is_private("own/b"), "which everybody could read: the new one is private");
	is_str(content("own/b"), "new", "and has what was written");
	put("own/c", "old", geteuid());
	is_int(write_new("own/c", OUTFILE_KEEP, &is_regular), 0, "an old one is kept");
	is_str(content("own/c.old"), "old", "under another name");
	put("own/target", "old", geteuid());
	put_link("target", "own/link", geteuid());
	is_int(write_new("own/link", OUTFILE_REPLACE, &is_regular), 0, "one's own link");
	is_str(content("own/target"), "new", "leads to the new file");
	ok(is_private("own/target"), "which is private");
	put_link("target", "own/kept", geteuid());
	is_int(write_new("own/kept", OUTFILE_KEEP, &is_regular), 0, "a link, with the old one kept");
	ok(is_private("own/kept") && is_regular, "makes room for a file");
	put_link("nowhere", "own/dangling", geteuid());
	is_int(write_new("own/dangling", OUTFILE_REPLACE, &is_regular), 0, "a link to nothing");
	is_int(write_new("own", OUTFILE_REPLACE, &is_regular), -EISDIR, "a folder");
	is_int(write_new("own/", OUTFILE_KEEP, &is_regular), -EISDIR, "a folder, with its slash");
	is_int(write_new("missing/a", OUTFILE_KEEP, &is_regular), -ENOENT, "no such folder");
}

static void test_devices(void)
{
	bool is_regular = true;
	char text[16] = "";
	int ends[2], fd, saved;
	struct stat st;

	is_int(write_new("/dev/null", OUTFILE_KEEP, &is_regular), 0, "/dev/null");
	ok(!is_regular && !stat("/dev/null", &st) && S_ISCHR(st.st_mode), "stays what it is");
	if (mkfifo("own/fifo", 0600))
		bail_out("cannot make a FIFO");
	fd = open("own/fifo", O_RDONLY | O_NONBLOCK);
	is_int(write_new("own/fifo", OUTFILE_REPLACE, &is_regular), 0, "one's own FIFO");
	ok(!is_regular && read(fd, text, sizeof(text)) == 3, "gets what is written");
	close(fd);
	if (pipe(ends))
		bail_out("no pipe");
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(ends[1], STDOUT_FILENO);
	fd = write_new("/dev/stdout", OUTFILE_REPLACE, &is_regular);
	dup2(saved, STDOUT_FILENO);
	is_int(fd, 0, "/dev/stdout, a pipe");
	is_int(read(ends[0], text, sizeof(text)), 3, "has it");
	put("own/stdout", "before ", geteuid());
	fd = open("own/stdout", O_WRONLY | O_APPEND);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	fd = write_new("/dev/stdout", OUTFILE_REPLACE, &is_regular);
	dup2(saved, STDOUT_FILENO);
	is_int(fd, 0, "/dev/stdout, a file");
	is_str(content("own/stdout"), "before new", "is written on");
}

/* The folder belongs to another user, who waits for root to write there. */
static void test_others_folder(void)
{
	bool is_regular;

	put("precious", "old", 0);
	make_folder("theirs", 0755, OTHER);
	put_link("../precious", "theirs/a", OTHER);
	is_int(write_new("theirs/a", OUTFILE_REPLACE, &is_regular), 0, "a link of another user");
	ok(is_private("theirs/a") && is_regular, "is replaced");
	put_link("../precious", "theirs/b", 0);
	is_int(write_new("theirs/b", OUTFILE_REPLACE, &is_regular), 0,
	       "root's own link, which another user can exchange");
	ok(is_private("theirs/b"), "is replaced");
	put_link("../precious", "theirs/c", OTHER);
	is_int(write_new("theirs/c", OUTFILE_KEEP, &is_regular), 0, "a link to be kept");
	ok(is_private("theirs/c"), "makes room");
	put_link("/dev/zero", "theirs/d", OTHER);
	is_int(write_new("theirs/d", OUTFILE_REPLACE, &is_regular), 0, "a link to a device");
	ok(is_private("theirs/d"), "is replaced");
	is_str(content("precious"), "old", "nothing of root's was written over");
	if (mkfifo("theirs/fifo", 0666) || chown("theirs/fifo", OTHER, OTHER))
		bail_out("cannot make a FIFO");
	is_int(write_new("theirs/fifo", OUTFILE_REPLACE, &is_regular), OUTFILE_OTHERS,
	       "a pipe is not waited for");
}

static void test_everybodys_folder(void)
{
	struct outfile o;
	bool is_regular;

	make_folder("all", 01777, 0);
	put("all/a", "theirs", OTHER);
	is_int(write_new("all/a", OUTFILE_REPLACE, &is_regular), OUTFILE_OTHERS, "another user's file");
	is_int(write_new("all/a", OUTFILE_KEEP, &is_regular), OUTFILE_OTHERS, "or to keep it");
	is_str(content("all/a"), "theirs", "is as it was");
	put_link("../precious", "all/b", OTHER);
	is_int(write_new("all/b", OUTFILE_REPLACE, &is_regular), OUTFILE_OTHERS, "another user's link");
	is_int(outfile_begin(&o, "all/b"), OUTFILE_OTHERS, "or with a name that comes later");
	put("all/c", "own", 0);
	put("all/c.old", "theirs", OTHER);
	is_int(write_new("all/c", OUTFILE_KEEP, &is_regular), OUTFILE_OTHERS,
	       "another user's file where the old one would go");
	is_str(content("all/c.old"), "theirs", "is as it was");
	put_link("../precious", "all/d", 0);
	is_int(write_new("all/d", OUTFILE_REPLACE, &is_regular), 0, "root's own link");
	is_str(content("precious"), "new", "is good here: nobody else can exchange it");
	put("precious", "old", 0);
	make_folder("free", 0777, 0);
	put_link("../precious", "free/a", 0);
	is_int(write_new("free/a", OUTFILE_REPLACE, &is_regular), 0,
	       "root's own link where everybody can exchange it");
	is_str(content("precious"), "old", "is not");
}

static volatile bool stop;

/* Alternately makes a file, a link to root's file, and neither, at the same path. */
static void *flip(void *arg)
{
	while (!stop) {
		put("theirs/x", "", OTHER);
		unlink("theirs/x");
		if (symlink("../precious", "theirs/x"))
			continue;
		unlink("theirs/x");
	}
	return NULL;
}

static void test_race(void)
{
	unsigned nr_made = 0;
	pthread_t thread;
	bool is_regular, is_new = true;

	pthread_create(&thread, NULL, flip, NULL);
	for (int i = 0; i < 5000; i++) {
		int fd = outfile_open("theirs/x", i & 1 ? OUTFILE_KEEP : OUTFILE_REPLACE, &is_regular);

		if (fd < 0)
			continue;
		nr_made++;
		is_new &= is_regular;
		if (write(fd, "new", 3) != 3)
			bail_out("cannot write");
		close(fd);
	}
	stop = true;
	pthread_join(thread, NULL);
	ok(nr_made > 1000, "%u files made while another user changes what is there", nr_made);
	ok(is_new, "each is a new one");
	is_str(content("precious"), "old", "and no link was followed");
}

static void test_later(void)
{
	struct outfile o;
	struct stat st;

	put("own/db", "old", geteuid());
	is_int(outfile_begin(&o, "own/db"), 0, "a file that gets its name later");
	is_str(content("own/db"), "old", "the old one is there");
	ok(write(o.fd, "new", 3) == 3 && !outfile_commit(&o), "until it is complete");
	is_str(content("own/db"), "new", "then the new one is");
	ok(is_private("own/db"), "and private");
	is_int(outfile_begin(&o, "own/db"), 0, "one that fails");
	outfile_drop(&o);
	is_str(content("own/db"), "new", "leaves what was there");
	ok(fstatat(AT_FDCWD, "own/db.tmp", &st, 0), "and nothing else");
	is_int(outfile_begin(&o, "own/fifo"), -EINVAL, "not over a FIFO");
	ok(!symlink("fifo", "own/to-fifo"), "a link to the FIFO");
	is_int(outfile_begin(&o, "own/to-fifo"), -EINVAL, "nor over a link to one");
	ok(!symlink("/proc/self/fd/1", "own/to-stdout"), "a link to standard output");
	is_int(outfile_begin(&o, "own/to-stdout"), -EINVAL, "nor over that, as /dev/stdout is");
	ok(!symlink("nothing", "own/to-nothing") && !outfile_begin(&o, "own/to-nothing"),
	   "but over a link to nothing");
	outfile_drop(&o);
}

static void test_folder(void)
{
	bool is_new = false;
	struct stat st;
	int fd = outfile_folder("own/ctf/", &is_new);

	ok(fd >= 0 && is_new && !fstat(fd, &st) && (st.st_mode & 0777) == 0700, "a new folder is private");
	close(fd);
	fd = outfile_folder("own/ctf", &is_new);
	ok(fd >= 0 && !is_new, "one that is there is taken");
	close(fd);
	put_link("ctf", "own/ctf-link", geteuid());
	ok(outfile_folder("own/ctf-link", &is_new) < 0, "not by a link");
	is_int(outfile_folder("own/a", &is_new), -ENOTDIR, "nor a file");
	if (geteuid()) {
		skip(1, "not root");
		return;
	}
	make_folder("theirs/ctf", 0777, OTHER);
	is_int(outfile_folder("theirs/ctf", &is_new), OUTFILE_OTHERS, "nor another user's");
}

int main(void)
{
	char command[64];

	alarm(120);
	if (!mkdtemp(dir) || chdir(dir) || chmod(dir, 0755))
		bail_out("cannot make a folder");
	test_own();
	test_devices();
	if (geteuid()) {
		skip(1, "not root: no other users");
	} else {
		test_others_folder();
		test_everybodys_folder();
		test_race();
	}
	test_later();
	test_folder();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok(!chdir("/") && !system(command), "cleaned up");
	return done();
}
