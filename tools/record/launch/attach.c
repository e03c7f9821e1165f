// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the runtime in a running process, or loads it there, and makes it connect; or explains why
 * that is not possible.
 */
#include <poll.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "arch/program.h"
#include "cli/error.h"
#include "record/inject/inject.h"
#include "record/inject/libc.h"
#include "record/inject/regs.h"
#include "record/launch/attach.h"
#include "record/launch/control.h"
#include "record/launch/launch.h"
#include "record/process/image.h"
#include "record/process/proc.h"
#include "record/session/session.h"

#define CALL_MS	3000	/* timeout for the runtime's thread to connect */
#define CALL_POLL_MS	100
/* timeout for a program that was just executed to map its C library */
#define STARTS_MS	300
#define STARTS_POLL_MS	10
/* if the process executes programs one after another, this many are tried */
#define PROGRAMS_MAX	10

/* Loading the runtime into a program that was started without it */

/*
 * Returns true if the program has more privileges than its user (set-user-ID): then the runtime
 * does nothing.
 */
static bool is_secure(pid_t pid)
{
	FILE *f = proc_open(pid, 0, "auxv");
	unsigned long entry[2];
	bool secure = false;

	while (f && fread(entry, sizeof(entry), 1, f) == 1)
		secure |= entry[0] == AT_SECURE && entry[1];
	if (f)
		fclose(f);
	return secure;
}

/* Returns true if the runtime's file exists below the root directory of the process. */
static bool is_visible(pid_t pid, const char *library)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, library);
	return !access(path, R_OK);
}

static bool may_load(pid_t pid, const char *library, enum libc_found found)
{
	if (found != LIBC_FOUND && inject_say_ended(pid))
		return false;
	switch (found) {
	case LIBC_OTHER_CPU:
		cli_error("process %d is not a 64-bit " PROGRAM_MACHINE_NAME " program: it cannot be recorded, except with ldb-record --kernel-only",
			  pid);
		return false;
	case LIBC_STATIC:
		cli_error("process %d is a static executable, these run but cannot be recorded: link it without -static, or use --kernel-only",
			  pid);
		return false;
	case LIBC_MUSL:
		cli_error("process %d uses musl, and the ldb runtime needs glibc: it cannot be recorded, except with ldb-record --kernel-only",
			  pid);
		return false;
	case LIBC_STRANGE:
		cli_error("the C library of process %d is not one that ldb knows: start the program with ldb-record -- CMD",
			  pid);
		return false;
	case LIBC_UNREADABLE:
		cli_error("no permission to read process %d, it has privileges that you do not have, or is not dumpable: run %s as root",
			  pid, cli_tool_name());
		return false;
	case LIBC_FOUND:
		break;
	}
	if (is_secure(pid)) {
		cli_error("process %d is set-user-ID or has capabilities, so the runtime would do nothing there: run the program as its owner",
			  pid);
		return false;
	}
	if (inject_has_shadow_stack(pid)) {
		cli_error("process %d uses a shadow stack, so the runtime cannot be loaded into it: start it with ldb-record -- CMD",
			  pid);
		return false;
	}
	if (!is_visible(pid, library)) {
		if (inject_say_ended(pid))
			return false;
		cli_error("process %d has another root, and does not see the runtime %s: copy it to that place there",
			  pid, library);
		return false;
	}
	return true;
}

static bool refuse_filtered(pid_t pid)
{
	if (!inject_is_filtered(pid))
		return false;
	if (inject_say_ended(pid))
		return true;
	cli_error("process %d has put its own seccomp filter on all its threads, which could kill it if ldb attached: record it without the filter",
		  pid);
	return true;
}

/*
 * Returns a living thread of the process: the memory of one that has ended cannot be read.  Returns
 * pid if there is none.
 */
static pid_t thread_of(pid_t pid)
{
	pid_t tid = proc_living_thread(pid);

	return tid ? tid : pid;
}

/*
 * Returns true if the process executes another program than `id`; false if `id` is not known,
 * because the memory could not be read, or if the process has ended.
 */
static bool is_another(pid_t pid, const struct image_id *id)
{
	return id->at && !proc_ends(pid) && !image_is(thread_of(pid), id);
}

/*
 * Retries, because a program that is just being executed has no memory and no C library for a
 * moment.
 */
static void read_image(pid_t pid, struct image *image)
{
	image_read(thread_of(pid), image);
	for (int ms = 0; !image->readable && ms < STARTS_MS && !proc_ends(pid); ms += STARTS_POLL_MS) {
		usleep(STARTS_POLL_MS * 1000);
		image_read(thread_of(pid), image);
	}
}

static enum libc_found find_libc(pid_t pid, struct libc *libc)
{
	enum libc_found found = libc_find(thread_of(pid), libc);

	for (int ms = 0; found != LIBC_FOUND && ms < STARTS_MS && !proc_ends(pid); ms += STARTS_POLL_MS) {
		usleep(STARTS_POLL_MS * 1000);
		found = libc_find(thread_of(pid), libc);
	}
	return found;
}

static enum inject_end load_runtime(pid_t pid, const struct attach_options *o, const struct image *image)
{
	char library[PATH_MAX];
	static struct libc_code code;
	struct libc libc;
	enum libc_found found = find_libc(pid, &libc);
	enum inject_end end;

	if (is_another(pid, &image->id))
		return INJECT_ANOTHER;
	if (!launch_find_runtime(o->libldb, library, sizeof(library)) ||
	    !may_load(pid, library, found) || refuse_filtered(pid))
		return INJECT_FAILED;
	if (!libc_code_read(thread_of(pid), &code)) {
		cli_error("process %d has too many executable mappings (%d or more): start it with ldb-record -- CMD",
			  pid, LIBC_CODE_MAX);
		return INJECT_FAILED;
	}
	end = inject_load(pid, &libc, &code, library);
	/*
	 * In a program without instrumented functions it usually suffices to know the threads that
	 * wait for locks, which register themselves.  Threads that read requests do not.
	 */
	if (end == INJECT_OK && (image->records || o->must_adopt))
		inject_adopt(pid, &libc, &code);
	return end;
}

/* Explains why the process cannot be attached to: it has no runtime that can be used. */
static void explain(pid_t pid, const struct image *image)
{
	if (inject_say_ended(pid))
		return;
	if (!image->readable)
		cli_error("no permission to read process %d, it has privileges that you do not have, or is not dumpable: run %s as root",
			  pid, cli_tool_name());
	else if (!image->door && image->runtime)
		cli_error("the ldb runtime in process %d is of an older release than this %s: use those of one release",
			  pid, cli_tool_name());
	else if (!image->door)
		cli_error("process %d has loaded the runtime, but does not contain it: start the program with ldb-record -- CMD",
			  pid);
	else if (image->copy.magic != LDB_DOOR_MAGIC)
		cli_error("the ldb runtime in process %d has not started yet, or the program is set-user-ID: try again, or run the program as its owner",
			  pid);
	else
		cli_error("the runtime in process %d is of version %.16s (protocol %u), this %s needs protocol %d: use those of one release",
			  pid, image->copy.release, image->copy.version, cli_tool_name(),
			  LDB_CONTROL_VERSION);
}

static bool check_process(pid_t pid, struct proc_status *s)
{
	if (!proc_status(pid, 0, s)) {
		cli_error("there is no process %d", pid);
		return false;
	}
	/*
	 * If main() ended with pthread_exit(), the first thread is a zombie while other threads
	 * continue.
	 */
	if (!proc_is_alive(s) && !proc_living_thread(pid)) {
		cli_error("process %d has ended", pid);
		return false;
	}
	if (s->leader != pid) {
		cli_error("%d is a thread of process %d: give that number", pid, s->leader);
		return false;
	}
	if (geteuid() && geteuid() != s->uid) {
		cli_error("no permission: process %d belongs to user %u: run %s as that user or as root",
			  pid, s->uid, cli_tool_name());
		return false;
	}
	return true;
}

bool attach_check(pid_t pid)
{
	struct proc_status s;

	return check_process(pid, &s);
}

/* Connects to a program that was started with LDB=listen.  Returns -1 if it does not listen. */
static int connect_listener(pid_t pid, const struct proc_status *s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct stat st = { .st_ino = 0 };
	pid_t peer;
	uid_t uid;
	int fd, n;

	if (!proc_stat(pid, "ns/pid", &st) && !proc_stat(0, "ns/pid", &st))
		return -1;
	n = snprintf(sa.sun_path + 1, sizeof(sa.sun_path) - 1, LDB_CONTROL_NAME,
		     (unsigned long long)st.st_ino, s->depth ? (int)s->inner : pid);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	/*
	 * Any process may take the name of an abstract socket, so check which process is at its
	 * other end.
	 */
	if (!connect(fd, (struct sockaddr *)&sa, offsetof(struct sockaddr_un, sun_path) + 1 + n) &&
	    control_peer(fd, &peer, &uid) && peer == pid)
		return fd;
	close(fd);
	return -1;
}

void attach_no_records(pid_t pid)
{
	cli_error("process %d is not instrumented: compile it with gcc -fplugin=ldb.so", pid);
}

/* Accepts the connection of the runtime after it was asked to connect. */
static enum inject_end accept_runtime(pid_t pid, const struct image_id *id, int listen_fd, int *fd)
{
	struct pollfd p = { .fd = listen_fd, .events = POLLIN };
	int64_t until = clock_mono_ns() + CALL_MS * 1000000LL;

	while (clock_mono_ns() < until) {
		pid_t peer;
		uid_t uid;

		if (poll(&p, 1, CALL_POLL_MS) <= 0) {
			if (is_another(pid, id))
				return INJECT_ANOTHER;
			continue;
		}
		*fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (*fd >= 0 && control_peer(*fd, &peer, &uid) && peer == pid)
			return INJECT_OK;
		if (*fd >= 0)
			close(*fd);
	}
	if (!inject_say_ended(pid))
		cli_error("the ldb runtime in process %d does not answer: it may be forbidden to open sockets",
			  pid);
	return INJECT_FAILED;
}

/* Loads the runtime if the process does not have it. */
static enum inject_end have_runtime(pid_t pid, const struct attach_options *o, struct image *image)
{
	struct image_id id;
	enum inject_end end;

	read_image(pid, image);
	id = image->id;
	if (image->readable && !image->door && !image->runtime) {
		if (o->must_have_records && !image->records) {
			attach_no_records(pid);
			return INJECT_FAILED;
		}
		end = load_runtime(pid, o, image);
		if (end != INJECT_OK)
			return end;
		read_image(pid, image);
	}
	if (image->copy.magic == LDB_DOOR_MAGIC && image->copy.version == LDB_CONTROL_VERSION)
		return INJECT_OK;
	if (is_another(pid, &id))
		return INJECT_ANOTHER;
	explain(pid, image);
	return INJECT_FAILED;
}

static enum inject_end connect_program(pid_t pid, int listen_fd, const char *name,
				       const struct attach_options *o, int *fd)
{
	struct image image;
	enum inject_end end = have_runtime(pid, o, &image);

	if (end != INJECT_OK)
		return end;
	if (refuse_filtered(pid))
		return INJECT_FAILED;
	end = inject_enter(pid, &image, name);
	return end == INJECT_OK ? accept_runtime(pid, &image.id, listen_fd, fd) : end;
}

int attach_connect(pid_t pid, int listen_fd, const char *name, const struct attach_options *o)
{
	struct proc_status s;
	int fd;

	if (!check_process(pid, &s))
		return -1;
	fd = connect_listener(pid, &s);
	if (fd >= 0)
		return fd;
	/* When the process executes another program, it loses the loaded runtime. */
	for (int n = 0; n < PROGRAMS_MAX; n++) {
		switch (connect_program(pid, listen_fd, name, o, &fd)) {
		case INJECT_OK:
			return fd;
		case INJECT_FAILED:
			return -1;
		case INJECT_ANOTHER:
			break;
		}
	}
	cli_error("process %d executes one program after another: start it with ldb-record -- CMD", pid);
	return -1;
}

bool attach_flows(pid_t pid, void (*meanwhile)(void *arg), void *arg)
{
	static struct libc_code code;
	pid_t tid = proc_living_thread(pid);
	enum inject_end end;
	struct libc libc;

	if (!tid)
		return false;
	if (inject_has_shadow_stack(pid)) {
		cli_error("process %d uses a shadow stack, which does not let calls return to other code", pid);
		return false;
	}
	if (libc_find(tid, &libc) != LIBC_FOUND || refuse_filtered(pid) || !libc_code_read(tid, &code))
		return false;
	end = inject_flows(pid, &libc, &code, meanwhile, arg);
	if (end == INJECT_ANOTHER)
		cli_error("process %d executes another program now", pid);
	return end == INJECT_OK;
}
