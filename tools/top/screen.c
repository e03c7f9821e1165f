// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Controls the terminal by escape sequences.  The terminal is restored at a normal end by
 * screen_close(), at exit() by atexit(), and at a crash by a signal handler; after SIGKILL it is
 * not restored.  While the screen is in use, messages on stderr are stored; screen_close() prints
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include "base/write.h"
#include "cli/error.h"
#include "top/top.h"

#define ENTER	"\033[?1049h\033[?25l\033[?7l\033[H\033[2J"	/* ?7l: lines do not wrap */
#define LEAVE	"\033[0m\033[?7h\033[?25h\033[?1049l"

#define ESCAPE_MS	20	/* longest pause between the bytes of one key */

static struct {
	int fd;			/* the terminal */
	int said_fd, stderr_fd;	/* -1: stderr is not a terminal */
	struct termios old;
	atomic_bool is_taken;	/* the screen is in use, and the cursor is hidden */
} screen = { .fd = -1, .said_fd = -1, .stderr_fd = -1 };

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS };

bool screen_is_possible(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

static void put(const char *text, size_t size)
{
	write_all(screen.fd, text, size, NULL);
}

/* Async-signal-safe: called from signal handlers. */
void screen_leave(void)
{
	if (!atomic_exchange(&screen.is_taken, false))
		return;
	put(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(screen.fd, TCSAFLUSH, &screen.old);
}

static void on_crash(int sig)
{
	screen_leave();
	if (screen.stderr_fd >= 0)
		dup2(screen.stderr_fd, STDERR_FILENO);
	raise(sig);		/* because of SA_RESETHAND, this ends the process */
}

void screen_enter(void)
{
	struct termios raw;

	if (atomic_exchange(&screen.is_taken, true))
		return;
	tcgetattr(screen.fd, &screen.old);
	raw = screen.old;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(screen.fd, TCSAFLUSH, &raw);
	put(ENTER, sizeof(ENTER) - 1);
}

/* Stores messages on stderr, which would otherwise overwrite the screen and disappear with it. */
static void keep_stderr(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	screen.said_fd = memfd_create("ldb-top-stderr", MFD_CLOEXEC);
	screen.stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (screen.said_fd >= 0 && screen.stderr_fd >= 0)
		dup2(screen.said_fd, STDERR_FILENO);
}

int screen_open(void)
{
	struct sigaction sa = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER };

	screen.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (screen.fd < 0)
		screen.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (screen.fd < 0 || tcgetattr(screen.fd, &screen.old)) {
		cli_error("cannot use the terminal: %s: --batch needs none", strerror(errno));
		return -1;
	}
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &sa, NULL);
	atexit(screen_leave);
	keep_stderr();
	screen_enter();
	return screen.fd;
}

void screen_close(void)
{
	char text[4096];
	ssize_t n;

	if (screen.fd < 0)
		return;
	screen_leave();
	if (screen.said_fd >= 0 && screen.stderr_fd >= 0) {
		fflush(stderr);
		dup2(screen.stderr_fd, STDERR_FILENO);
		lseek(screen.said_fd, 0, SEEK_SET);
		while ((n = read(screen.said_fd, text, sizeof(text))) > 0)
			if (write(STDERR_FILENO, text, n) != n)
				break;
	}
	close(screen.fd);
	screen.fd = -1;
}

void screen_size(unsigned *columns, unsigned *lines)
{
	struct winsize ws;

	*columns = 80;
	*lines = 24;
	if (!ioctl(screen.fd, TIOCGWINSZ, &ws) && ws.ws_col && ws.ws_row) {
		*columns = ws.ws_col;
		*lines = ws.ws_row;
	}
}

void screen_show(const char *text, unsigned lines)
{
	char *buf = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&buf, &size);

	if (!f)
		return;
	fputs("\033[H", f);
	for (unsigned i = 0; i < lines && *text; i++) {
		size_t n = strcspn(text, "\n");

		/* The last line has no newline, which would scroll the screen. */
		fprintf(f, "%s%.*s\033[0m\033[K", i ? "\r\n" : "", (int)n, text);
		text += n + (text[n] == '\n');
	}
	fputs("\033[J", f);
	if (!fclose(f))
		put(buf, size);
	free(buf);
}

/* Returns the next byte from the keyboard; -1: there was none within wait_ms. */
static int next_byte(int wait_ms, bool *is_gone)
{
	struct pollfd p = { .fd = screen.fd, .events = POLLIN };
	unsigned char c;
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return -1;
	n = read(screen.fd, &c, 1);
	if (n == 1)
		return c;
	*is_gone |= (p.revents & (POLLHUP | POLLERR)) || (n < 0 && errno != EINTR && errno != EAGAIN);
	return -1;
}

/* The bytes of a key: one byte; or "ESC [" or "ESC O", perhaps a number, and a byte. */
static const struct key {
	bool is_escape;
	/* first digit of the number; 0: there is no number, or it does not matter */
	char number;
	char byte;
	enum screen_key key;
} keys[] = {
	{ false, 0, 'q', KEY_QUIT }, { false, 0, 'Q', KEY_QUIT },
	{ false, 0, 's', KEY_SORT }, { false, 0, '>', KEY_SORT },
	{ false, 0, 'S', KEY_SORT_BACK }, { false, 0, '<', KEY_SORT_BACK },
	{ false, 0, 'p', KEY_PAUSE }, { false, 0, ' ', KEY_PAUSE },
	{ false, 0, 'd', KEY_DUMP }, { false, 0, 'h', KEY_HELP }, { false, 0, '?', KEY_HELP },
	{ false, 0, 'k', KEY_UP }, { false, 0, 'j', KEY_DOWN },
	{ true, 0, 'A', KEY_UP }, { true, 0, 'B', KEY_DOWN },
	{ true, 0, 'C', KEY_SORT }, { true, 0, 'D', KEY_SORT_BACK }, { true, 0, 'H', KEY_HOME },
	{ true, '5', '~', KEY_PAGE_UP }, { true, '6', '~', KEY_PAGE_DOWN },
	{ true, '1', '~', KEY_HOME },
};

enum screen_key screen_key(bool *is_gone)
{
	int byte = next_byte(0, is_gone), number = 0;
	bool is_escape = byte == '\033';

	if (is_escape) {
		byte = next_byte(ESCAPE_MS, is_gone);
		if (byte != '[' && byte != 'O')
			return KEY_NONE;
		number = byte = next_byte(ESCAPE_MS, is_gone);
		while (byte >= 0 && (byte < '@' || byte > '~'))
			byte = next_byte(ESCAPE_MS, is_gone);
	}
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].is_escape == is_escape && keys[i].byte == byte &&
		    (!keys[i].number || keys[i].number == number))
			return keys[i].key;
	return KEY_NONE;
}
