// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes a recording that is running: sends commands to the ldb-record of a process. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "cli/command-name.h"
#include "cli/error.h"
#include "cli/json.h"
#include "cli/opts.h"

#define WAIT_S	10

static bool is_json;

static const struct cli_option table[] = {
	{ .letter = 'j', .name = "json", .type = CLI_FLAG, .value = &is_json, .help = "print the status as JSON" },
	{ 0 },
};


static const struct cli_tool tool = {
	.name = "ldb-ctl",
	.synopsis = "[options] PID COMMAND [ARG...]\n"
		    "[options] PID < COMMANDS",
	.summary = "Changes the recording of process PID while it runs: pauses and resumes it, chooses functions, "
		   "classes of requests and thresholds. Without a command, reads commands from its input, one a line.",
	.options = table,
	.examples = "ldb-ctl 4711 status\n"
		    "ldb-ctl 4711 pause                       nothing is recorded until: resume\n"
		    "ldb-ctl 4711 functions +handle_* -*hash* record only these\n"
		    "ldb-ctl 4711 functions +file:*/store.c   of one source file; module:NAME; all\n"
		    "ldb-ctl 4711 min-latency '*' 100us       only count shorter calls\n"
		    "ldb-ctl 4711 threshold lock 10us\n"
		    "ldb-ctl 4711 classes +GET -SET\n"
		    "ldb-ctl 4711 inside-requests on\n"
		    "ldb-ctl 4711 triggers add 'request>5ms'  of a flight recorder; triggers remove; triggers\n"
		    "ldb-ctl 4711 snapshot                    write the sums: its trace can be read now\n"
		    "ldb-ctl 4711 stop",
	.takes_command = true,
};

static bool is_trusted(int fd)
{
	struct ucred c;
	socklen_t size = sizeof(c);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c, &size) && (!c.uid || c.uid == geteuid());
}

static int call(pid_t pid)
{
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct sockaddr_un sa;
	socklen_t len = command_name(pid, &sa);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, len)) {
		cli_error("process %d is not being recorded, or by a recorder in another container: start ldb-record -p %d",
			  pid, pid);
		exit(CLI_FAILURE);
	}
	if (!is_trusted(fd)) {
		cli_error("process %d is being recorded by another user", pid);
		exit(CLI_FAILURE);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	return fd;
}

/* Prints each "key=value" of "key=value; key=value" on a line of its own, or all as JSON. */
static void print_status(char *text)
{
	struct json j;

	if (is_json) {
		json_init(&j, stdout);
		json_flat(&j);
		json_object_begin(&j, NULL);
	}
	for (char *pair = text, *next; pair; pair = next) {
		char *value;

		/* The last value is a path, which may contain "; ". */
		next = strncmp(pair, "output=", 7) ? strstr(pair, "; ") : NULL;
		if (next) {
			*next = '\0';
			next += 2;
		}
		value = strchr(pair, '=');
		if (!value)
			continue;
		*value++ = '\0';
		if (!is_json)
			printf("%-18s %s\n", pair, value);
		else if (!strcmp(pair, "output") || !*value || value[strspn(value, "0123456789.")])
			json_string(&j, pair, value);
		else if (strchr(value, '.'))
			json_double(&j, pair, strtod(value, NULL));
		else
			json_u64(&j, pair, strtoull(value, NULL, 10));
	}
	if (is_json) {
		json_object_end(&j);
		json_end(&j);
	}
}

static void print_answer(char *answer, const char *command)
{
	if (!strncmp(answer, "ok ", 3) && !strncmp(command, "status", 6))
		print_status(answer + 3);
	else if (!strncmp(answer, "ok ", 3))
		printf("%s\n", answer + 3);
}

/* Sends a command and prints the answer.  Returns the exit status. */
static int ask(int fd, const char *command)
{
	static char answer[16384];
	size_t len = strlen(command), nr = 0;
	char *end = NULL;
	ssize_t got;

	if (send(fd, command, len, MSG_NOSIGNAL) != (ssize_t)len || send(fd, "\n", 1, MSG_NOSIGNAL) != 1) {
		cli_error("the recorder has ended");
		return CLI_FAILURE;
	}
	while (!end && nr < sizeof(answer) - 1) {
		got = recv(fd, answer + nr, sizeof(answer) - 1 - nr, 0);
		if (got <= 0) {
			cli_error(got ? "the recorder does not answer: %s" : "the recorder has ended", strerror(errno));
			return CLI_FAILURE;
		}
		nr += got;
		end = memchr(answer, '\n', nr);
	}
	if (end)
		*end = '\0';
	answer[nr < sizeof(answer) ? nr : sizeof(answer) - 1] = '\0';
	if (!strncmp(answer, "error: ", 7)) {
		cli_error("%s", answer + 7);
		return CLI_FAILURE;
	}
	print_answer(answer, command);
	return CLI_OK;
}

static int ask_all(int fd)
{
	char line[4096];
	int status = CLI_OK;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && ask(fd, line))
			status = CLI_FAILURE;
	}
	return status;
}

/* Sends the words, joined by blanks, as a command. */
static int ask_words(int fd, int nr, char **words)
{
	char line[4096] = "";
	size_t n = 0;

	for (int i = 0; i < nr; i++) {
		n += snprintf(line + n, sizeof(line) - n, "%s%s", i ? " " : "", words[i]);
		if (n >= sizeof(line) || strchr(words[i], '\n'))
			cli_usage("the command is too long, or has more than one line");
	}
	return ask(fd, line);
}

int main(int argc, char **argv)
{
	int i = cli_parse(&tool, argc, argv), status;
	char *end;
	long pid;

	if (i == argc)
		cli_usage("which process? give its number");
	errno = 0;
	pid = strtol(argv[i], &end, 10);
	if (errno || *end || pid <= 0 || pid > INT32_MAX)
		cli_usage("%s is not the number of a process", argv[i]);
	status = i + 1 < argc ? ask_words(call(pid), argc - i - 1, argv + i + 1) : ask_all(call(pid));
	return cli_flush() ? status : CLI_FAILURE;
}
