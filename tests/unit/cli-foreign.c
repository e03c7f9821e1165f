// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests opening files that another user has named: anything but a regular file is not even
 * opened (inotify shows that), and no path leads out of a root.  Everything is tested twice: with
 * the kernel's resolution of paths, and without openat2().
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cli/foreign.h"
#include "tap.h"

static char dir[] = "/tmp/ldb-foreign.XXXXXX";
static const char *how;

static void put(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail_out("cannot write a file");
	close(fd);
}

static void make_files(void)
{
	char away[64];

	if (!mkdtemp(dir) || chdir(dir) || mkdir("root", 0755) || mkdir("root/lib", 0755) ||
	    mkdir("root/lib/sub", 0755) || mkfifo("root/fifo", 0644))
		bail_out("cannot make a folder");
	put("secret", "outside");
	put("root/lib/real.so", "inside");
	put("root/secret", "its own");
	put("root/empty", "");
	snprintf(away, sizeof(away), "%s/secret", dir);
	if (symlink("real.so", "root/lib/link.so") || symlink("/lib/real.so", "root/absolute.so") ||
	    symlink(away, "root/away.so") || symlink("../secret", "root/up.so") ||
	    symlink("../../../../../../../../../../etc/passwd", "root/far.so") ||
	    symlink("lib", "root/lib64") || symlink("loop.so", "root/loop.so") ||
	    symlink("/dev/zero", "root/device.so") || symlink("fifo", "root/to-fifo.so"))
		bail_out("cannot make a link");
}

/* Returns the contents of the file, or the name of the error. */
static const char *got(int fd)
{
	static char text[64];
	ssize_t n;

	if (fd < 0)
		return strerrorname_np(-fd);
	n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd);
	return text;
}

static const char *named(const char *what)
{
	static char name[128];

	snprintf(name, sizeof(name), "%s%s", how, what);
	return name;
}

static void test_root(void)
{
	static const struct {
		const char *path, *want;
	} files[] = {
		{ "/lib/real.so", "inside" }, { "lib/real.so", "inside" }, { "//lib/./real.so", "inside" },
		{ "/lib/link.so", "inside" }, { "/absolute.so", "inside" }, { "/lib64/real.so", "inside" },
		{ "/away.so", "ENOENT" }, { "/far.so", NULL }, { "/up.so", NULL },
		{ "/../secret", NULL }, { "/lib/../../secret", NULL },
		{ "/fifo", "EINVAL" }, { "/to-fifo.so", "EINVAL" }, { "/device.so", "ENOENT" },
		{ "/lib", "EISDIR" }, { "/", "EISDIR" }, { "/loop.so", "ELOOP" },
		{ "/nothing", "ENOENT" }, { "/empty", "EINVAL" }, { "/lib/real.so/x", "ENOTDIR" },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *is = got(foreign_open_below("root", files[i].path));

		if (files[i].want)
			is_str(is, files[i].want, named(files[i].path));
		else if (!ok(strcmp(is, "outside") && !strstr(is, "root:"), "%s%s stays inside", how,
			     files[i].path))
			diag("%s", is);
	}
}

static void test_odd(void)
{
	pid_t self = getpid();
	char page[4096] = "mapped";
	void *map;
	int fd;

	is_str(got(foreign_open("secret")), "outside", named("a file"));
	is_str(got(foreign_open("root/fifo")), "EINVAL", named("a FIFO is not waited for"));
	is_str(got(foreign_open("/dev/zero")), "EINVAL", named("a device"));
	is_str(got(foreign_open("/proc/kmsg")), "EINVAL", named("a file of procfs"));
	is_str(got(foreign_open("/sys/kernel/uevent_seqnum")), "EINVAL", named("a file of sysfs"));
	is_str(got(foreign_open_below("/", "/proc/self/cwd/secret")), "ELOOP",
	       named("a link of procfs is not followed below a root"));
	is_str(got(foreign_open_of(self, "/dev/nothing/there")), "ENOENT", named("a process's file"));
	fd = open("mapped", O_RDWR | O_CREAT, 0644);
	if (write(fd, page, sizeof(page)) != sizeof(page))
		bail_out("cannot write a file");
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	unlink("mapped");
	if (geteuid())
		skip(1, "not root");
	else
		is_str(got(foreign_open_mapped(self, (uint64_t)map, (uint64_t)map + 4096, "/nowhere")),
		       "mapped", named("what is mapped, without its name"));
	is_str(got(foreign_open_mapped(self, 4096, 8192, "/nowhere")), "ENOENT",
	       named("what is not mapped"));
	munmap(map, 4096);
}

/* Checks with inotify that these files are not opened, and that inotify reports it if one is. */
static void test_unopened(void)
{
	char buf[4096];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC), fd;

	if (inotify_add_watch(watch, "root/fifo", IN_OPEN) < 0 ||
	    inotify_add_watch(watch, "/dev/zero", IN_OPEN) < 0)
		bail_out("cannot watch a file");
	foreign_open("root/fifo");
	foreign_open("/dev/zero");
	foreign_open_below("root", "/to-fifo.so");
	foreign_open_below("/", "/dev/zero");
	ok(read(watch, buf, sizeof(buf)) < 0, "%sno FIFO and no device is opened, be it for a moment",
	   how);
	fd = open("/dev/zero", O_RDONLY);
	ok(read(watch, buf, sizeof(buf)) > 0, "%s(an opening would be observed)", how);
	close(fd);
	close(watch);
}

/* The file's owner has a lease, so opening the file would wait for 45 seconds. */
static void test_lease(void)
{
	int fd = open("secret", O_RDWR);

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		skip(1, "no leases here");
	else
		is_str(got(foreign_open("secret")), "EAGAIN", named("a lease is not waited for"));
	fcntl(fd, F_SETLEASE, F_UNLCK);
	close(fd);
}

static void test_all(const char *name)
{
	how = name;
	test_root();
	test_odd();
	test_unopened();
	test_lease();
}

/* Makes openat2() fail, as before Linux 5.6 and with the filter of a container. */
static bool forbid_openat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(void)
{
	char command[64];

	alarm(60);
	make_files();
	test_all("");
	if (forbid_openat2())
		test_all("without openat2: ");
	else
		skip(1, "no filters here");
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ok(!chdir("/") && !system(command), "cleaned up");
	return done();
}
