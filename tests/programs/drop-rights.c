// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This daemon gives up its privileges in one of several ways, and then examines, or attacks, the
 * threads that it did not create.
 *
 *	drop-rights HOW [attack FILE | wait FILE]
 *
 * HOW: keep glibc syscall raw seccomp caps chroot userns dumpable fork impersonate again
 *
 * It prints "changed", or why nothing was changed, and then one line for each other thread: "NAME
 * uid=U caps=HEX nnp=N root=same|other", and their number.
 *
 * With DROP_RIGHTS_STOP in the environment its parent, a recorder, is stopped during the change.
 *
 * attack FILE: overwrites the code of ldb's runtime with code that creates FILE, waits until ldb's
 * threads execute it (at most 3 s), and prints who owns FILE.  wait FILE: runs until FILE exists.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY	65534

static volatile unsigned long sum;

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 1000000; i++)
		sum += i;
}

static long raw(long nr, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}

/* Installs a filter that allows every system call except ptrace(). */
static int filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static int drop_caps(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	return syscall(SYS_capset, &h, none);
}

static int impersonate(void)
{
	int rc = 0;

	for (int i = 0; i < 20; i++) {
		rc |= seteuid(NOBODY);
		work();
		rc |= seteuid(0);
	}
	return rc;
}

/* Changes the user ten times, at intervals that are shorter than the recording. */
static int change_again(void)
{
	int rc = 0;

	for (int i = 0; i < 5; i++) {
		usleep(300000);
		rc |= seteuid(NOBODY);
		usleep(300000);
		rc |= seteuid(0);
	}
	return rc;
}

static int change(const char *how)
{
	if (!strcmp(how, "keep"))
		return 0;
	if (!strcmp(how, "glibc"))
		return setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY);
	if (!strcmp(how, "syscall"))
		return syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	if (!strcmp(how, "raw"))
		return raw(SYS_setresuid, NOBODY, NOBODY, NOBODY);
	if (!strcmp(how, "seccomp"))
		return filter();
	if (!strcmp(how, "caps"))
		return drop_caps();
	if (!strcmp(how, "chroot"))
		return mkdir("jail", 0755) || chroot("jail") || chdir("/");
	if (!strcmp(how, "userns"))
		return unshare(CLONE_NEWUSER);
	if (!strcmp(how, "dumpable"))
		return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (!strcmp(how, "impersonate"))
		return impersonate();
	if (!strcmp(how, "again"))
		return change_again();
	errno = EINVAL;
	return -1;
}

/* Stores the value of the field `name` of a thread's status in out; "?": not known. */
static void field(int tasks, const char *tid, const char *name, char *out, size_t size)
{
	char path[300], text[4096], *at;
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/status", tid);
	snprintf(out, size, "?");
	fd = openat(tasks, path, O_RDONLY);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, name);
	if (at)
		sscanf(at + strlen(name), "%*[:\t]%31s", out);
}

static void same_root(int tasks, const char *tid, const struct stat *own, char *out)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/root/.", tid);
	if (fstatat(tasks, path, &st, 0))
		strcpy(out, "?");
	else
		strcpy(out, st.st_ino == own->st_ino && st.st_dev == own->st_dev ? "same" : "other");
}

/*
 * Waits until the threads have their names: a new thread first has its creator's.  With
 * DROP_RIGHTS_SCANNER in the environment, also waits for the scanner, because on a busy machine
 * ldb's threads may start seconds after a change.
 */
static void wait_names(int tasks, DIR *dir)
{
	char last[32] = "", name[32];
	struct dirent *d;

	for (int i = 0; i < 1000; i++) {
		bool again = false, has_scanner = !getenv("DROP_RIGHTS_SCANNER");

		*last = '\0';
		rewinddir(dir);
		while ((d = readdir(dir))) {
			if (d->d_name[0] == '.' || atoi(d->d_name) == getpid())
				continue;
			field(tasks, d->d_name, "Name", name, sizeof(name));
			again |= !strcmp(name, last);
			has_scanner |= !strcmp(name, "ldb-scan");
			strcpy(last, name);
		}
		rewinddir(dir);
		if (!again && has_scanner)
			return;
		usleep(10000);
	}
}

/* Stops the parent, a recorder, for half a second. */
static void stop_parent(void)
{
	char wake[64];

	snprintf(wake, sizeof(wake), "(sleep 0.5; kill -CONT %d) &", getppid());
	if (system(wake))
		exit(2);
	kill(getppid(), SIGSTOP);
}

/*
 * Prints the other threads.  `tasks` was opened before the change, because it may be out of reach
 * afterwards.
 */
static void look(int tasks)
{
	DIR *dir = fdopendir(dup(tasks));
	struct dirent *d;
	struct stat own;
	int nr = 0;

	if (stat("/", &own) || !dir)
		return;
	rewinddir(dir);
	wait_names(tasks, dir);
	while ((d = readdir(dir))) {
		char name[32], uid[32], caps[32], nnp[32], root[8];

		if (d->d_name[0] == '.' || atoi(d->d_name) == getpid())
			continue;
		field(tasks, d->d_name, "Name", name, sizeof(name));
		field(tasks, d->d_name, "\nUid", uid, sizeof(uid));
		field(tasks, d->d_name, "\nCapPrm", caps, sizeof(caps));
		field(tasks, d->d_name, "\nNoNewPrivs", nnp, sizeof(nnp));
		same_root(tasks, d->d_name, &own, root);
		printf("%s uid=%s caps=%s nnp=%s root=%s\n", name, uid, caps, nnp, root);
		nr++;
	}
	closedir(dir);
	printf("%d other threads\n", nr);
	fflush(stdout);
}

/*
 * Writes code for openat(AT_FDCWD, path, O_CREAT | O_WRONLY, 0600), and then exit() of the
 * thread.
 */
static void write_code(unsigned char *p, const char *path)
{
	static const unsigned char open_it[] = {
		0x48, 0xc7, 0xc7, 0x9c, 0xff, 0xff, 0xff,	/* mov $-100, %rdi */
		0xba, 0x41, 0, 0, 0,				/* mov $O_CREAT|O_WRONLY, %edx */
		0x41, 0xba, 0x80, 0x01, 0, 0,			/* mov $0600, %r10d */
		0xb8, 0x01, 0x01, 0, 0,				/* mov $257, %eax */
		0x0f, 0x05,
		0x31, 0xff, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05,	/* exit(0) */
	};

	*p++ = 0x48;
	*p++ = 0xbe;
	memcpy(p, &path, 8);	/* movabs path, %rsi */
	memcpy(p + 8, open_it, sizeof(open_it));
}

static int patch_runtime(const char *path)
{
	static char keep[4096];
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	int patched = 0;

	snprintf(keep, sizeof(keep), "%s", path);
	while (maps && fgets(line, sizeof(line), maps)) {
		unsigned long from, to;
		char perms[8];

		if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3 || perms[2] != 'x' ||
		    !strstr(line, "libldbtrace.so"))
			continue;
		if (mprotect((void *)from, to - from, PROT_READ | PROT_WRITE | PROT_EXEC))
			return -1;
		write_code((unsigned char *)to - 64, keep);
		/*
		 * The loop writes from the end, so a thread that enters the overwritten text runs
		 * through it to the code.
		 */
		for (volatile unsigned char *p = (unsigned char *)to - 65; p >= (unsigned char *)from; p--)
			*p = 0x90;
		patched = 1;
	}
	if (maps)
		fclose(maps);
	return patched ? 0 : -1;
}

static void attack(const char *path)
{
	struct stat st;

	if (patch_runtime(path)) {
		puts("no runtime to attack");
		exit(0);
	}
	/* From here on no libc function is called that could lead through the runtime. */
	for (int i = 0; i < 30 && raw(SYS_stat, (long)path, (long)&st, 0); i++)
		raw(SYS_nanosleep, (long)&(struct timespec){ 0, 100000000 }, 0, 0);
	if (raw(SYS_stat, (long)path, (long)&st, 0))
		raw(SYS_write, 1, (long)"nothing made\n", 13);
	else if (st.st_uid)
		raw(SYS_write, 1, (long)"made as nobody\n", 15);
	else
		raw(SYS_write, 1, (long)"made as root\n", 13);
	raw(SYS_exit_group, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY), status;

	if (argc < 2)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < 20; i++)
		work();
	if (!strcmp(argv[1], "fork")) {
		if (fork())
			return wait(&status) < 0 || status;
		argv[1] = (char *)"glibc";
		tasks = open("/proc/self/task", O_RDONLY | O_DIRECTORY);
	}
	if (getenv("DROP_RIGHTS_STOP"))
		stop_parent();
	if (change(argv[1]))
		printf("not changed: %s\n", strerror(errno));
	else
		puts("changed");
	if (!strcmp(argv[1], "raw"))
		usleep(2500000);	/* ldb may notice the change a second later */
	for (int i = 0; i < 20; i++)
		work();
	look(tasks);
	if (argc > 3 && !strcmp(argv[2], "attack"))
		attack(argv[3]);
	while (argc > 3 && access(argv[3], F_OK))
		work();
	return 0;
}
