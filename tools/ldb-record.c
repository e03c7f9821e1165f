// SPDX-License-Identifier: GPL-2.0-or-later
/* This is the command line of ldb-record.  The work is done in record/. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "analysis/partition/parts.h"
#include "analysis/tracks/request-source.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "cli/progress.h"
#include "names/names.h"
#include "record/filter/filter.h"
#include "record/flight/triggers.h"
#include "record/metrics/scrape.h"
#include "record/probes/queue-words.h"
#include "record/process/proc.h"
#include "record/process/select.h"
#include "record/run/children.h"
#include "record/run/record.h"
#include "record/run/request-option.h"
#include "symbol/argument.h"
#include "symbol/elffile.h"
#include "symbol/usdt.h"
#include "top/top.h"

/*
 * The child that looks up names yields to all other tasks (giveway.h), but no longer than LOW_MS:
 * on a busy machine it would hardly run, and the user waits for it.  Then it gets the policy of
 * this process, which the watcher (giveway.h) has raised meanwhile, and the nice value NAMES_NICE.
 */
#define LOW_MS		1000
#define NAMES_NICE	5
#define POLL_MS		2
#define SAMPLES_HZ_MAX	10000
#define HISTORY_NS	60000000000	/* the last minute, whose slowest requests are explained */
#define HISTORY_BYTES	(32 << 20)
#define METRICS_RINGS	(16 << 20)
#define METRICS_PPM	2000	/* share of a core, and of each thread's CPU time */

static struct record_options options = {
	.output = "ldb.data",
	RECORD_DEFAULTS,
	.samples_hz = 199,
	.flows_threshold_ns = 20000,
	.max_bytes = 2ULL << 30,
	.flight = { .bytes = 256 << 20, .after_ns = 1000000000, .max_dumps = 10, .max_per_minute = 2 },
};

/* Looking up names ends if the user wants to stop: without names the recording is still valid. */
static bool goes_on(void *arg)
{
	sigset_t pending;

	return sigpending(&pending) || !(sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM) ||
					 sigismember(&pending, SIGQUIT));
}

static void warn_interrupted(const char *path)
{
	cli_warn("interrupted: %s contains no names, keep the program's files as they are", path);
}

/* Looks up names; runs in a separate process.  Returns 0, or 1 after printing a warning. */
static int look_up(const char *path, const char *name, pid_t pid)
{
	char err[512] = "", root[64];
	struct names_options o = { .goes_on = goes_on };
	struct names_done done;
	int rc;

	o.symbols.sysroot = proc_root(pid, root, sizeof(root));
	rc = names_store(path, &o, &done, err, sizeof(err));
	if (rc == -EINTR)
		warn_interrupted(name);
	else if (rc && rc != -EEXIST)
		cli_warn("%s contains no names: %s", name, *err ? err : "out of memory");
	return rc && rc != -EEXIST;
}

/*
 * Waits for the child that looks up names.  A signal that ends this process ends the search, too:
 * the child checks after each file whether to continue, and is killed if a file takes long.
 */
static int wait_for(pid_t child, bool *interrupted)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };
	const struct sched_param none = { 0 };
	unsigned int left = 250, waits = 0;
	int status = 0;

	while (!waitpid(child, &status, WNOHANG)) {
		if (!goes_on(NULL)) {
			kill(child, left ? SIGTERM : SIGKILL);
			if (left)
				left--;
		}
		if (++waits == LOW_MS / POLL_MS)
			sched_setscheduler(child, sched_getscheduler(0), &none);
		nanosleep(&pause, NULL);
	}
	*interrupted = !left;
	return status;
}

/*
 * Debug information comes from the program and is not trusted; reading it may crash.  So a child
 * process reads it.  If the child fails, the trace has no names but is valid.
 */
static uint64_t store_names(const char *path, const char *name, pid_t pid)
{
	struct stat before, after;
	bool interrupted = false;
	pid_t child;
	int status;

	if (stat(path, &before) || !S_ISREG(before.st_mode))
		return 0;
	if (!options.flight.ns)
		progress_line("looking up names for %s", name);
	child = fork();
	if (!child) {
		/*
		 * If the recorder has ended, nobody gives a dump its final name, so names for it
		 * are useless.
		 */
		if (options.flight.ns)
			prctl(PR_SET_PDEATHSIG, SIGKILL);
		else
			setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NAMES_NICE);
		status = look_up(path, name, pid);
		fflush(NULL);
		_exit(status);
	}
	status = child > 0 ? wait_for(child, &interrupted) : W_EXITCODE(0, SIGKILL);
	if (WIFSIGNALED(status) && interrupted)
		warn_interrupted(name);
	else if (WIFSIGNALED(status))
		cli_warn("%s contains no names: the process that looked them up was ended by "
			 "signal %d", name,
			 WTERMSIG(status));
	/* A file that is incomplete must not replace a dump. */
	if (options.flight.ns && status)
		return 0;
	return stat(path, &after) || after.st_size < before.st_size ? 0 : after.st_size - before.st_size;
}

static uint64_t pid, scanner_cpu;
static bool output_given, budget_given, pid_given, scanner_cpu_given, after_given, size_given, dumps_given, rate_given, frames_given;
static int clock_kind;
static bool no_symbols, children, no_children;
static const char *of_name, *of_cgroup;
static struct cli_list triggers, requests, queues;
static const char *samples;

/* In the order of enum kernel_choice. */
static const char *const kernels[] = { "auto", "module", "bpf", "perf", "schedstat", "none", NULL };
static const char *const calls[] = { "off", "sleep", "all", NULL };
static const char *const frames[] = { "off", "on", "auto", NULL };
static const char *const clocks[] = { "auto", "monotonic", NULL };

static const struct cli_option table[] = {
	{ .letter = 'o', .name = "output", .type = CLI_STRING, .value = &options.output, .given = &output_given,
	  .arg = "FILE", .help = "write the trace to FILE (ldb.data); an existing file is renamed to FILE.old" },
	{ .letter = 'p', .name = "pid", .type = CLI_NUMBER, .value = &pid, .given = &pid_given,
	  .arg = "PID", .min = 1, .max = INT32_MAX,
	  .help = "record the running process PID" },
	{ .name = "name", .type = CLI_STRING, .value = &of_name, .arg = "NAME",
	  .help = "record all running processes of that name, and their children, in one trace" },
	{ .name = "cgroup", .type = CLI_STRING, .value = &of_cgroup, .arg = "PATH",
	  .help = "record all processes in a control group, or with --name those of that name in it, and their children" },
	{ .letter = 'd', .name = "duration", .type = CLI_DURATION, .value = &options.duration_ns,
	  .arg = "SEC", .min = 1, .unit_ns = 1000000000,
	  .help = "stop after SEC seconds (or 500ms, ...); a program that was started continues" },
	{ .name = "budget", .type = CLI_PERCENT, .value = &options.budget_ppm, .given = &budget_given,
	  .arg = "PCT", .min = 1,
	  .help = "slow each thread down by at most PCT of its time (5%); 100%: poll as often as possible" },
	{ .name = "kernel-budget", .type = CLI_PERCENT, .value = &options.kernel_budget_ppm, .arg = "PCT", .min = 1,
	  .help = "leave out soft interrupts (with perf, all interrupts) if they cost more than PCT of the program's CPU time (1%)" },
	{ .name = "mutex", .type = CLI_CHOICE, .value = &options.mutex_level, .arg = "LEVEL",
	  .choices = record_mutex_levels,
	  .help = "lock events: off, wait (contended acquisitions, the default), hold (every hold too)" },
	{ .name = "lock-threshold", .type = CLI_DURATION, .value = &options.lock_threshold_ns,
	  .arg = "DUR", .help = "leave out lock waits and holds shorter than DUR (1us)" },
	{ .name = "func-threshold", .type = CLI_DURATION, .value = &options.func_threshold_ns,
	  .arg = "DUR", .help = "only count calls that were certainly shorter than DUR (0)" },
	{ .name = "scan-interval", .type = CLI_DURATION, .value = &options.scan_interval_ns,
	  .arg = "DUR", .max = UINT32_MAX, .help = "do not sample a thread for DUR after its stack has changed (0: as the budget allows)" },
	{ .name = "scanners", .type = CLI_NUMBER, .value = &options.nr_scanners, .arg = "N", .min = 1,
	  .max = 4, .help = "number of scanner threads, 1 to 4 (1)" },
	{ .name = "scanner-cpu", .type = CLI_NUMBER, .value = &scanner_cpu,
	  .given = &scanner_cpu_given, .arg = "N", .max = 4095, .help = "pin the scanner to CPU N" },
	{ .name = "ring-size", .type = CLI_SIZE, .value = &options.ring_bytes,
	  .given = &options.ring_given, .arg = "SIZE", .min = 1 << 20, .max = 16ULL << 30,
	  .help = "buffer for events of all CPUs together (64M; with --flows, 256K for each CPU, unless an instrumented program is started); each scanner has another 32M" },
	{ .name = "max-size", .type = CLI_SIZE, .value = &options.max_bytes, .arg = "SIZE",
	  .min = 1 << 20, .help = "stop recording when the trace has this size (2G)" },
	{ .name = "flight", .type = CLI_DURATION, .value = &options.flight.ns, .arg = "SEC", .min = 1000000000,
	  .max = 86400000000000, .unit_ns = 1000000000,
	  .help = "retain only the last SEC seconds, and write them to FILE.1, FILE.2, ... when a --trigger is met" },
	{ .name = "trigger", .type = CLI_LIST, .value = &triggers, .arg = "WHEN",
	  .help = "with --flight, make a dump when: request>50ms, class:NAME>5ms, p99:NAME>2ms, lock>10ms, stall>100ms, signal:USR1, crash, end (may be repeated)" },
	{ .name = "after", .type = CLI_DURATION, .value = &options.flight.after_ns, .arg = "SEC",
	  .max = 3600000000000, .unit_ns = 1000000000, .given = &after_given,
	  .help = "a dump ends SEC seconds after its trigger (1)" },
	{ .name = "flight-size", .type = CLI_SIZE, .value = &options.flight.bytes, .arg = "SIZE", .min = 1 << 20,
	  .max = 1ULL << 40, .given = &size_given,
	  .help = "retain at most SIZE of events (256M); if there are more, the time is shorter" },
	{ .name = "flight-file", .type = CLI_STRING, .value = &options.flight.file, .arg = "FILE",
	  .help = "retain the events in FILE, whose size is --flight-size, and not in memory" },
	{ .name = "max-dumps", .type = CLI_NUMBER, .value = &options.flight.max_dumps, .arg = "N", .min = 1,
	  .given = &dumps_given, .help = "make no dump when there are N already (10); --max-size limits their size together" },
	{ .name = "max-dumps-per-minute", .type = CLI_NUMBER, .value = &options.flight.max_per_minute, .arg = "N",
	  .min = 1, .max = 10000, .given = &rate_given, .help = "make at most N dumps a minute (2)" },
	{ .name = "kernel", .type = CLI_CHOICE, .value = &options.kernel, .arg = "SOURCE",
	  .choices = kernels,
	  .help = "kernel events (switches, wake-ups, futexes) from: module (ldb.ko), bpf, perf; schedstat (no events, but counters that need no privilege); none; or auto, the first of these that works" },
	{ .name = "kernel-frames", .type = CLI_CHOICE, .value = &options.kernel_frames, .arg = "WHEN", .given = &frames_given,
	  .choices = frames,
	  .help = "read the functions of a thread at each switch and in between (with the module or bpf): off (the default), on, or auto: in between only while hardly any CPU is free for the scanner" },
	{ .name = "kernel-only", .type = CLI_FLAG, .value = &options.kernel_only,
	  .help = "record only kernel events, of any program: it need not be compiled with the plugin" },
	{ .name = "syscalls", .type = CLI_CHOICE, .value = &options.calls, .arg = "WHICH", .choices = calls,
	  .help = "system calls: off, sleep (those in which a thread sleeps, the default), all" },
	{ .name = "syscall-threshold", .type = CLI_DURATION, .value = &options.call_threshold_ns,
	  .arg = "DUR", .help = "with --syscalls=all, only count system calls shorter than DUR (10us)" },
	{ .name = "request", .type = CLI_LIST, .value = &requests, .arg = "WHAT",
	  .help = "the requests of a program that tags none: socket, from what the program reads from connections until it has written the answer; FUNCTION (a name, or a glob), each call of it (may be repeated), FUNCTION(r->id), with the id from an argument; loop, each turn of an event loop: see ldb-why(1)" },
	{ .name = "queue", .type = CLI_LIST, .value = &queues, .arg = "WHAT",
	  .help = "items of a queue are requests: PROVIDER:PUT[:N],TAKE[:N][,END[:N]][,name=N] are the program's probes (USDT) at which an item is put into the queue, taken out and done, and argument N is the item; or folly, for folly's ThreadPoolExecutor (may be repeated)" },
	{ .name = "only-requests", .type = CLI_FLAG, .value = &options.only_requests,
	  .help = "count the calls of a thread that works on no request, but do not write them" },
	{ .name = "metrics", .type = CLI_STRING, .value = &options.metrics, .arg = "FILE",
	  .help = "every five seconds, replace FILE by OpenMetrics text (FILE.json: OTLP) of durations; without -o, write no trace and poll rarely" },
	{ .name = "metrics-listen", .type = CLI_STRING, .value = &options.metrics_listen, .arg = "WHERE",
	  .help = "serve the metrics by HTTP on a port of this machine (:9464), or a socket (./metrics.sock)" },
	{ .name = "functions", .type = CLI_STRING, .value = &options.functions, .arg = "WORDS",
	  .help = "record only some functions: \"+GLOB -GLOB file:GLOB module:GLOB\", see ldb-ctl(1)" },
	{ .name = "classes", .type = CLI_STRING, .value = &options.classes, .arg = "WORDS",
	  .help = "record only requests of some classes: \"+GLOB -GLOB\"" },
	{ .name = "paused", .type = CLI_FLAG, .value = &options.paused,
	  .help = "begin with a pause, until ldb-ctl or the program resumes" },
	{ .name = "children", .type = CLI_FLAG, .value = &children,
	  .help = "with -p, record the process's children, too: those that run, and those to come" },
	{ .name = "no-children", .type = CLI_FLAG, .value = &no_children,
	  .help = "do not record the processes that CMD forks and the programs that it executes" },
	{ .name = "flows", .type = CLI_FLAG, .value = &options.flows,
	  .help = "count and time the calls between libraries, of any program: it need not be compiled with the plugin" },
	{ .name = "flows-threshold", .type = CLI_DURATION, .value = &options.flows_threshold_ns,
	  .arg = "DUR", .help = "with --flows, also record each call that took DUR or longer (20us)" },
	{ .name = "samples", .type = CLI_STRING, .value = &samples, .arg = "HZ",
	  .help = "sample the program's running threads HZ times a second on each CPU (199, with CAP_PERFMON), or off" },
	{ .name = "clock", .type = CLI_CHOICE, .value = &clock_kind, .arg = "CLOCK", .choices = clocks,
	  .help = "time stamps: auto (the TSC where the kernel trusts it) or monotonic" },
	{ .name = "libldb", .type = CLI_STRING, .value = &options.libldb, .arg = "FILE",
	  .help = "preload this libldbtrace.so.0 instead of the one that belongs to ldb-record" },
	{ .name = "no-symbols", .type = CLI_FLAG, .value = &no_symbols,
	  .help = "do not write names into the trace when it ends: they are looked up in the program's files later" },
	{ .letter = 'q', .name = "quiet", .type = CLI_FLAG, .value = &options.quiet,
	  .help = "no progress line and no summary" },
	{ .letter = 'v', .name = "verbose", .type = CLI_FLAG, .value = &options.verbose,
	  .help = "print more messages" },
	{ 0 },
};

static void set_samples(const char *text)
{
	char *end;

	errno = 0;
	options.may_slow_samples = true;
	options.samples_hz = strcmp(text, "off") ? strtoull(text, &end, 10) : 0;
	if (strcmp(text, "off") && (errno || *end || *text == '-' || !options.samples_hz ||
				    options.samples_hz > SAMPLES_HZ_MAX))
		cli_usage("--samples: give a number from 1 to %d, or off", SAMPLES_HZ_MAX);
}

/* Runs in a separate process. */
static void look_names_up(const struct record_lookup *l)
{
	struct symtab_options o = { .sysroot = l->root };
	struct symtab *st = symtab_open(&o);

	for (size_t i = 0; st && i < l->nr_modules; i++)
		symtab_add_module(st, &l->modules[i]);
	for (size_t i = 0; st && i < l->nr_asks; i++) {
		const struct record_ask *a = &l->asks[i];
		const struct symbol *s = a->is_data ? symtab_lookup_data(st, a->addr, l->tick) :
					 symtab_lookup(st, a->addr, l->tick);

		l->name(l->arg, a->addr, a->is_data && !s->known ? "" : s->function, s->func_file, s->path);
	}
	symtab_close(st);
}

/* Runs in a separate process, which frees everything at its end. */
static int find_id(const char *root, const char *file, const char *word, struct request_place found[REQUEST_PLACES_MAX],
		   char *why, size_t why_size)
{
	static const char *const debug_dirs[] = { "/usr/lib/debug" };
	struct elffile_search search = { .sysroot = root ?: "", .debug_dirs = debug_dirs, .nr_debug_dirs = 1 };
	struct elffile *f = elffile_open(&search, file, "");
	char *function = request_bare_name(word);
	struct request_id id;

	if (!f || !function || request_id_parse(word, &id))
		return 0;
	return argument_find(f, function, &id, found, why, why_size);
}

static void set_queues(void)
{
	if (queues.nr > QUEUE_WORDS_MAX)
		cli_usage("--queue: at most %d", QUEUE_WORDS_MAX);
	for (size_t i = 0; i < queues.nr; i++) {
		struct queue_words words;
		const char *wrong = queue_words_parse(queues.items[i], &words);

		if (wrong)
			cli_usage("--queue=%s: %s", queues.items[i], wrong);
		free(words.text);
	}
	if (queues.nr && (options.request || options.socket_requests))
		cli_usage("--queue: its items are the requests: leave out --request");
	if (queues.nr && options.kernel_only)
		cli_usage("--queue needs the runtime: leave out --kernel-only");
	options.queues = queues.items;
	options.nr_queues = queues.nr;
	options.find_probes = usdt_find;
}

/*
 * Metrics without a trace: only the last minute is retained, in memory, to explain its slowest
 * requests.
 */

static struct history *history;

static int on_block(void *arg, const void *data, size_t size)
{
	return history_block(history, data, size);
}

static void on_anew(void *arg)
{
	history_anew(history);
}

static void on_period(void *arg, const struct record_status *status)
{
	history_period(history, status);
}

static const struct record_live retaining = {
	.block = on_block, .anew = on_anew, .period = on_period, .period_ns = 5000000000, .stop_fd = -1,
};

static void explain_one(void *arg, size_t request, const struct part *parts, size_t nr)
{
	const struct record_explain *e = arg;

	for (size_t i = 0; i < nr; i++)
		e->part(e->arg, request, leaf_kinds[parts[i].kind].name, parts[i].name, parts[i].ns);
}

/* Runs in a separate process, which frees everything at its end. */
static void explain(const struct record_explain *e)
{
	struct symtab_options so = { .known = e->known, .known_arg = e->known_arg };
	struct parts_request requests[e->nr + 1];
	struct snapshot_range ranges[e->nr + 1];
	struct snapshot *s = history_snapshot(history, NULL);
	char path[64], err[256];
	struct reader *r;
	struct model *m;
	int fd;

	for (size_t i = 0; i < e->nr; i++) {
		requests[i] = (struct parts_request){ e->ids[i], e->ends[i], e->tids[i], e->starts[i] };
		ranges[i] = (struct snapshot_range){ e->starts[i], e->ends[i] };
	}
	fd = s ? snapshot_file_of(s, ranges, e->nr) : -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = fd < 0 ? NULL : reader_open(path, err, sizeof(err));
	m = r ? model_open(r, symtab_open(&so), err, sizeof(err)) : NULL;
	if (m && request_source_open(m, NULL, 0, err, sizeof(err)))
		parts_each(m, requests, e->nr, explain_one, (void *)e);
}

/*
 * Sets the options for recordings that may run for ever: the scanner has no core of its own, and
 * uses hardly any CPU time.
 */
static void only_metrics(void)
{
	history = history_alloc(HISTORY_NS, HISTORY_BYTES);
	if (!history)
		cli_usage("out of memory");
	options.live = &retaining;
	options.explain = explain;
	options.quiet = true;
	options.slow_scanner = true;
	options.samples_hz = samples ? options.samples_hz : 0;
	if (!budget_given)
		options.budget_ppm = METRICS_PPM;
	/*
	 * Such a recording writes to the whole ring sooner or later, and then all of it takes
	 * memory, so the ring is small.
	 */
	if (!options.ring_given)
		options.ring_bytes = METRICS_RINGS;
}

static void check_words(const char *option, const char *words, const char *(*set)(struct filter *f, const char *words))
{
	struct filter *f = words ? filter_alloc(1) : NULL;
	const char *why = f ? set(f, words) : NULL;

	if (why)
		cli_usage("--%s: %s", option, why);
	filter_free(f);
}

static void set_requests(void)
{
	request_option_set(&requests, &options);
	/*
	 * If the scanner hardly runs, the kernel reads the frames, so that calls are observed all
	 * the same.  While the scanner runs, it reads them only at switches.
	 */
	if (options.request && !frames_given && strcmp(options.request, REQUEST_LOOP))
		options.kernel_frames = FRAMES_AUTO;
}

static void check_flight(void)
{
	const char *wrong;

	if (!options.flight.ns && (triggers.nr || after_given || size_given || dumps_given || rate_given ||
				   options.flight.file))
		cli_usage("--trigger, --after, --flight-* and --max-dumps* need --flight");
	for (size_t i = 0; i < triggers.nr; i++) {
		wrong = flight_triggers_check(triggers.items[i]);
		if (wrong)
			cli_usage("--trigger %s: %s", triggers.items[i], wrong);
	}
	options.flight.triggers = triggers.items;
	options.flight.nr_triggers = triggers.nr;
}

static const struct cli_tool tool = {
	.name = "ldb-record",
	.synopsis = "[options] [--] CMD [ARG...]\n"
		    "[options] -p PID [-d SEC]\n"
		    "[options] --name NAME|--cgroup PATH [-d SEC]",
	.summary = "Records what a program compiled with gcc -fplugin=ldb.so does: its functions, lock "
		   "waits and requests. Read the trace with ldb-report and ldb-timeline.",
	.options = table,
	.examples = "ldb-record -- ./server --port 80       run and record until it ends\n"
		    "ldb-record -o slow.data -d 10 -- ./app  the first ten seconds\n"
		    "ldb-record -p $(pidof server) -d 10    ten seconds of a running process\n"
		    "ldb-record --name nginx -d 10          all processes of that name, and their children\n"
		    "ldb-record --mutex=hold --budget 20% -- ./app\n"
		    "ldb-record --kernel-only -p $(pidof nginx) -d 5   any program's scheduling\n"
		    "ldb-record --flight 60s --trigger 'request>50ms' -p $(pidof server)   a minute around each",
	.takes_command = true,
};

/*
 * The options are those of the first recorder.  Resets the options that must not apply to the
 * recorder of a child.
 */
static void become_child(struct child_options *child)
{
	char root[64];

	/*
	 * The kernel has named this process "exe", after /proc/self/exe, and reports on running
	 * tasks would show that name.
	 */
	prctl(PR_SET_NAME, cli_tool_name());
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	/* The signal is sent only if the parent ends after prctl(). */
	if (getppid() != child->parent)
		exit(CLI_FAILURE);
	options.child = child;
	options.argv = NULL;
	options.pid = child->pid;
	options.output = child->output;
	options.quiet = true;
	options.duration_ns = 0;
	options.metrics = options.metrics_listen = NULL;
	options.flight.file = NULL;
	options.slow_scanner |= child->is_crowded;
	/* In this root directory, the first recorder finds the files, and adds the names. */
	if (!proc_root(child->pid, root, sizeof(root)))
		options.store_names = NULL;
}

/*
 * Finds the processes of --name and --cgroup.  The first one is recorded as with -p, and the others
 * beside it.
 */
static void select_programs(void)
{
	pid_t *pids;
	const char *wrong = select_check(of_name, of_cgroup);
	size_t nr;

	if (wrong)
		cli_usage("%s", wrong);
	nr = select_processes(of_name, of_cgroup, &pids);
	if (!nr) {
		cli_error("no process%s%s%s%s%s: pgrep, or /proc/PID/cgroup, says what there is",
			  of_name ? " is called " : "", of_name ? of_name : "",
			  of_name && of_cgroup ? " and" : "", of_cgroup ? " is in control group " : "", of_cgroup ? of_cgroup : "");
		exit(CLI_FAILURE);
	}
	pid = pids[0];
	children = true;
	options.more = pids + 1;
	options.nr_more = nr - 1;
	options.of_name = of_name;
	options.of_cgroup = of_cgroup;
}

int main(int argc, char **argv)
{
	static struct child_options child;
	const char *is_child = getenv(CHILD_ENV);
	int i = cli_parse(&tool, argc, argv);
	const char *wrong;

	if (pid_given + (of_name || of_cgroup) + (i < argc) > 1)
		cli_usage("%s exclude each other: give one of them",
			  !pid_given ? "--name or --cgroup and a command" :
			  i < argc ? "-p PID and a command" : "-p PID and --name or --cgroup");
	if (!pid_given && !of_name && !of_cgroup && i == argc)
		cli_usage("nothing to record: give a command after --, or -p PID");
	if ((of_name || of_cgroup) && options.kernel_only)
		cli_usage("--kernel-only is for one process: give -p PID");
	if ((of_name || of_cgroup) && !is_child)
		select_programs();
	if (scanner_cpu_given && scanner_cpu >= (uint64_t)sysconf(_SC_NPROCESSORS_CONF))
		cli_usage("--scanner-cpu: this machine has no such CPU");
	if (scanner_cpu_given)
		options.scanner_cpu = scanner_cpu;
	if (options.kernel_only && options.kernel >= KERNEL_SCHEDSTAT)
		cli_usage("--kernel-only and --kernel %s leave nothing to record", kernels[options.kernel]);
	if (options.flows && (options.kernel_only || clock_kind == 1))
		cli_usage("--flows needs the runtime and the time stamp counter: leave out --%s",
			  options.kernel_only ? "kernel-only" : "clock=monotonic");
	if (samples)
		set_samples(samples);
	set_requests();
	set_queues();
	check_words("functions", options.functions, filter_set_functions);
	check_words("classes", options.classes, filter_set_classes);
	wrong = options.metrics_listen ? scrape_check(options.metrics_listen) : NULL;
	if (wrong)
		cli_usage("--metrics-listen %s: %s", options.metrics_listen, wrong);
	if ((options.metrics || options.metrics_listen) && !output_given && !options.flight.ns)
		only_metrics();
	options.lookup = look_names_up;
	options.find_id = find_id;
	check_flight();
	options.pid = pid;
	options.monotonic = clock_kind == 1;
	options.argv = i < argc ? argv + i : NULL;
	options.store_names = no_symbols || options.live ? NULL : store_names;
	options.children = !options.live && !options.kernel_only && (options.argv ? !no_children : children);
	options.self = argv;
	if (is_child && child_options_read(is_child, &child))
		become_child(&child);
	return record_run(&options);
}
