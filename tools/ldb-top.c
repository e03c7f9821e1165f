// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the command line of ldb-top, and connects recorder, history and screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli/error.h"
#include "cli/opts.h"
#include "cli/outfile.h"
#include "record/launch/launch.h"
#include "record/process/proc.h"
#include "record/run/request-option.h"
#include "top/top.h"
#include "trace/request-words.h"

/* greatest length of a period of the history; the window begins at the beginning of a period */
#define PERIOD_NS	1000000000ULL
#define WINDOW_NS	10000000000ULL	/* default window on a screen */

static struct record_options record = {
	RECORD_DEFAULTS,
	.kernel = KERNEL_NONE,
	.quiet = true,
};

static struct top_options options = { .interval_ns = 2000000000, .nr_rows = 10, .dump = "ldb.data" };
static uint64_t pid, scanner_cpu, memory = 256 << 20;
static bool pid_given, scanner_cpu_given, window_given, is_batch;
static const char *output;
static struct cli_list debug_dirs, requests;

/* In the order of enum stats_by. */
static const char *const by_names[] = { "callsite", "function", "module", NULL };
static int sort;

static const struct cli_option table[] = {
	{ .letter = 'p', .name = "pid", .type = CLI_NUMBER, .value = &pid, .given = &pid_given,
	  .arg = "PID", .min = 1, .max = INT32_MAX,
	  .help = "observe the running process PID" },
	{ .letter = 'd', .name = "interval", .type = CLI_DURATION, .value = &options.interval_ns,
	  .arg = "SEC", .min = 100000000, .max = 3600000000000, .unit_ns = 1000000000,
	  .help = "show new numbers every SEC seconds (2), or for example every 500ms" },
	{ .letter = 'w', .name = "window", .type = CLI_DURATION, .value = &options.window_ns,
	  .arg = "SEC", .min = 100000000, .max = 3600000000000, .unit_ns = 1000000000,
	  .given = &window_given,
	  .help = "show what ended in the last SEC seconds (10; with --batch and --json: the interval)" },
	{ .letter = 'n', .name = "times", .type = CLI_NUMBER, .value = &options.times, .arg = "N",
	  .min = 1, .help = "stop after showing N times" },
	{ .name = "by", .type = CLI_CHOICE, .value = &options.by, .arg = "WHAT",
	  .help = "one row for each callsite (function and call site; default), function or module",
	  .choices = by_names },
	{ .name = "sort", .type = CLI_CHOICE, .value = &sort, .arg = "KEY",
	  .help = "p9999 (default), p999, p99, p50, max, mean, total, count or another of ldb-report's",
	  .choice = functions_sort_key },
	{ .name = "top", .type = CLI_NUMBER, .value = &options.nr_rows, .arg = "N",
	  .help = "--batch: at most N rows of each table (10)", .max = 1000000000 },
	{ .letter = 'b', .name = "batch", .type = CLI_FLAG, .value = &is_batch,
	  .help = "plain lines, one table after the other, also on a terminal" },
	{ .letter = 'j', .name = "json", .type = CLI_FLAG, .value = &options.is_json,
	  .help = "JSON: one object in a line each time, times in ns" },
	{ .letter = 'o', .name = "output", .type = CLI_STRING, .value = &output, .arg = "FILE",
	  .help = "write tables or JSON to FILE instead of stdout" },
	{ .name = "dump", .type = CLI_STRING, .value = &options.dump, .arg = "FILE", .given = &options.dumps_last,
	  .help = "at the end, write the events shown last into FILE.1, a trace; the key d does so at any time (ldb.data.1)" },
	{ .name = "memory", .type = CLI_SIZE, .value = &memory, .arg = "SIZE", .min = 1 << 20,
	  .help = "retain at most SIZE of events (256M); if there are more, the window is shorter" },
	{ .name = "request", .type = CLI_LIST, .value = &requests, .arg = "WHAT",
	  .help = "the requests of a program that tags none: socket, from its connections; or FUNCTION (a name, or a glob), each call of it (may be repeated)" },
	{ .name = "budget", .type = CLI_PERCENT, .value = &record.budget_ppm, .arg = "PCT", .min = 1,
	  .help = "slow each thread down by at most PCT of its time (5%)" },
	{ .name = "mutex", .type = CLI_CHOICE, .value = &record.mutex_level, .arg = "LEVEL",
	  .choices = record_mutex_levels,
	  .help = "lock events: off, wait (contended acquisitions, the default), hold (every hold too)" },
	{ .name = "scanner-cpu", .type = CLI_NUMBER, .value = &scanner_cpu,
	  .given = &scanner_cpu_given, .arg = "N", .max = 4095, .help = "pin the scanner to CPU N" },
	{ .name = "debug-dir", .type = CLI_LIST, .value = &debug_dirs, .arg = "DIR",
	  .help = "search DIR for debug files, too (may be repeated)" },
	{ .name = "sysroot", .type = CLI_STRING, .value = &options.symbols.sysroot, .arg = "DIR",
	  .help = "search below DIR for the files of the program" },
	{ .name = "no-demangle", .type = CLI_FLAG, .value = &options.symbols.no_demangle,
	  .help = "C++ names as the linker has them" },
	{ .name = "libldb", .type = CLI_STRING, .value = &record.libldb, .arg = "FILE",
	  .help = "preload this libldbtrace.so.0 instead of the one that belongs to ldb-top" },
	{ 0 },
};

static const struct cli_tool tool = {
	.name = "ldb-top",
	.synopsis = "-p PID [OPTION]...\n[OPTION]... [--] CMD [ARG...]",
	.summary = "Shows the slowest functions and requests, and the locks most waited for, of the "
		   "last seconds of a running program.",
	.options = table,
	.examples = "ldb-top -p $(pidof server)                 q quits, h shows the other keys\n"
		    "ldb-top -p $(pidof server) -d 1 -w 60      of the last minute, every second\n"
		    "ldb-top -p $(pidof server) --batch -n 1    two seconds, once\n"
		    "ldb-top -p $(pidof server) --json | jq -c '.functions[0] | [.function, .max_ns]'\n"
		    "ldb-top -- ./server --port 80",
	.takes_command = true,
};

/* State for the recorder's callbacks. */
static struct {
	struct history *history;
	struct ui *ui;
	int stop_fd;
	int64_t next_ns;
	bool has_failed;
	char end[32];
	pid_t pid;
} top;

static int on_block(void *arg, const void *data, size_t size)
{
	return history_block(top.history, data, size);
}

static void on_anew(void *arg)
{
	history_anew(top.history);
}

static void show_snapshot(const struct record_status *status)
{
	struct snapshot *before = options.is_screen ? NULL : ui_take_back(top.ui);
	struct snapshot *s = history_snapshot(top.history, before);

	snapshot_free(before);
	if (s)
		ui_give(top.ui, s);
	top.next_ns += options.interval_ns;
	if (top.next_ns < status->now_ns)
		top.next_ns = status->now_ns + options.interval_ns;
}

static void on_period(void *arg, const struct record_status *status)
{
	static char root[64];

	history_period(top.history, status);
	top.pid = status->pid;
	if (status->end)
		snprintf(top.end, sizeof(top.end), "%s", status->end);
	/*
	 * Recording begins here, and so does the use of the screen: errors before this are printed
	 * as plain lines.
	 */
	if (!top.ui && !top.has_failed) {
		if (!options.symbols.sysroot)
			options.symbols.sysroot = proc_root(status->pid, root, sizeof(root));
		top.ui = ui_start(&options, top.stop_fd);
		top.has_failed = !top.ui;
		top.next_ns = status->begin_ns + options.interval_ns;
		if (top.has_failed && eventfd_write(top.stop_fd, 1))
			abort();
	}
	/* The recording was ended in the middle of an interval, which is not shown. */
	if (status->end && !strcmp(status->end, "detached"))
		return;
	/*
	 * A period that ends up to PERIOD_NS / 50 before the interval is long enough; otherwise its
	 * snapshot would be shown a whole period late.
	 */
	if (top.ui && (status->end || status->now_ns + (int64_t)PERIOD_NS / 50 >= top.next_ns))
		show_snapshot(status);
}

static void check_arguments(int argc, char **argv, int i)
{
	if (pid_given && i < argc)
		cli_usage("give either -p PID or a command, not both");
	if (!pid_given && i == argc)
		cli_usage("nothing to observe: give -p PID, or a command after --");
	if (scanner_cpu_given && scanner_cpu >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF))
		cli_usage("--scanner-cpu: this machine has no such CPU");
	if (pid_given && pid == (uint64_t)getpid())
		cli_usage("%d is ldb-top itself", getpid());
	if (scanner_cpu_given)
		record.scanner_cpu = scanner_cpu;
	record.pid = pid;
	record.argv = i < argc ? argv + i : NULL;
	request_option_set(&requests, &record);
	if (record.request && !strcmp(record.request, REQUEST_LOOP))
		cli_usage("--request=loop needs system calls, which ldb-top does not record: use ldb-record --metrics");
	options.sort = sort;
	options.is_screen = !is_batch && !options.is_json && !output && screen_is_possible();
	if (!window_given)
		options.window_ns = options.is_screen && options.interval_ns < WINDOW_NS ? WINDOW_NS :
				    options.interval_ns;
	options.symbols.debug_dirs = debug_dirs.items;
	options.symbols.nr_debug_dirs = debug_dirs.nr;
}

static void say_end(void)
{
	if (!strncmp(top.end, "signal:", 7))
		cli_note("ldb-top: process %d was ended by signal %s", top.pid, top.end + 7);
	else if (!strncmp(top.end, "exit:", 5))
		cli_note("ldb-top: process %d has ended with status %s", top.pid, top.end + 5);
	else if (!strcmp(top.end, "exec"))
		cli_note("ldb-top: process %d runs another program now", top.pid);
	else if (!strcmp(top.end, "ended"))
		cli_note("ldb-top: process %d has ended", top.pid);
}

int main(int argc, char **argv)
{
	struct record_live live = { .block = on_block, .anew = on_anew, .period = on_period };
	int status, why;

	check_arguments(argc, argv, cli_parse(&tool, argc, argv));
	options.out = output ? outfile_stream(output, &why) : stdout;
	if (!options.out) {
		cli_error("cannot write %s: %s: give another file with -o", output, outfile_why(why));
		return CLI_FAILURE;
	}
	top.history = history_alloc(options.window_ns, memory);
	top.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!top.history || top.stop_fd < 0) {
		cli_error("out of memory");
		return CLI_FAILURE;
	}
	live.period_ns = options.interval_ns < PERIOD_NS ? options.interval_ns : PERIOD_NS;
	live.stop_fd = top.stop_fd;
	record.live = &live;
	if (options.is_screen)
		launch_hide_output();
	status = record_run(&record);
	if (top.ui && !ui_finish(top.ui))
		status = CLI_FAILURE;
	if (top.has_failed)
		status = CLI_FAILURE;
	if (options.is_screen)
		say_end();
	if (output && fclose(options.out) && status == CLI_OK) {
		cli_error("cannot write %s: %s", output, strerror(errno));
		status = CLI_FAILURE;
	}
	free(debug_dirs.items);
	history_free(top.history);
	return status;
}
