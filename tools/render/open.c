// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens and closes the trace and the output for every tool that shows a trace; see open.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/spill.h"
#include "cli/error.h"
#include "cli/outfile.h"
#include "cli/progress.h"
#include "analysis/tracks/request-source.h"
#include "render/open.h"
#include "trace/join.h"

#define INPUT_DEFAULT	"ldb.data"

void open_fail_memory(void)
{
	cli_error("out of memory: take a part of the recording with --from and --to");
	exit(CLI_FAILURE);
}

/* Returns true if the text is the process's pid, its name, or NAME@HOST with its name and host. */
static bool is_process(const struct process *p, const struct cli_part *part)
{
	char text[300];

	if (snprintf(text, sizeof(text), "%" PRIu32, model_kernel_tid(p->pid)) == part->of_length &&
	    !strncmp(text, part->of, part->of_length))
		return true;
	if (strlen(p->name) == (size_t)part->of_length && !strncmp(p->name, part->of, part->of_length))
		return true;
	return snprintf(text, sizeof(text), "%s@%s", p->name, p->host) == part->of_length &&
	       !strncmp(text, part->of, part->of_length);
}

bool open_req(const struct model *m, const struct cli_part *part, uint64_t *id)
{
	char list[300] = "";
	size_t used = 0, nr = 0;

	*id = part->number;
	if (!part->of_length)
		return true;
	for (size_t i = 0; i < m->nr_processes; i++) {
		const struct process *p = &m->processes[i];

		if (is_process(p, part) && !nr++)
			*id = p->id_base + part->number;
		if (used < sizeof(list))
			used += snprintf(list + used, sizeof(list) - used, "%s%" PRIu32 " (%s%s%s)", i ? ", " : "",
					 model_kernel_tid(p->pid), p->name, *p->host ? "@" : "", p->host);
	}
	if (nr == 1)
		return true;
	if (!m->nr_processes)
		cli_error("this is a recording of one process: --req=%" PRIu64, part->number);
	else
		cli_error("%s process %.*s in this recording: it has %s", nr ? "more than one" : "no", part->of_length,
			  part->of, list);
	return false;
}

int64_t open_from(const struct open_options *o, const struct model *m)
{
	return o->has_from ? reader_tick(m->reader, o->from_ns) : INT64_MIN;
}

int64_t open_to(const struct open_options *o, const struct model *m)
{
	return o->has_to ? reader_tick(m->reader, o->to_ns) : INT64_MAX;
}

bool open_is_same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return !stat(a, &of_a) && !stat(b, &of_b) && of_a.st_dev == of_b.st_dev &&
	       of_a.st_ino == of_b.st_ino;
}

const char *open_input(const struct open_options *options)
{
	return options->input ? options->input : INPUT_DEFAULT;
}

void open_files(struct open_options *o, int argc, char **argv, int first)
{
	if (first < argc && o->inputs.nr)
		cli_usage("unexpected argument '%s': give traces with -i or as arguments, not both",
			  argv[first]);
	if (first == argc && !o->inputs.nr)
		return;
	o->files = first < argc ? (const char *const *)argv + first : o->inputs.items;
	o->nr_files = first < argc ? (size_t)(argc - first) : o->inputs.nr;
	o->input = o->files[0];
}

bool open_is_input(const struct open_options *o, const char *file)
{
	for (size_t i = 0; i < o->nr_files; i++)
		if (open_is_same_file(o->files[i], file))
			return true;
	return open_is_same_file(open_input(o), file);
}

/* State for reporting the progress of joining; nothing is reported in the first second. */
struct joining {
	int64_t start, last;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static bool on_progress(void *arg, uint64_t done, uint64_t all)
{
	struct joining *j = arg;
	int64_t now = now_ns();

	if (now - j->start < 1000000000 || now - j->last < 100000000)
		return true;
	j->last = now;
	progress_line("joining the traces: %3.0f %%", all ? 100.0 * done / all : 100.0);
	return true;
}

int open_join(const struct open_options *o, int fd)
{
	struct joining joining = { .start = now_ns() };
	struct join_options options = { .progress = on_progress, .arg = &joining };
	char err[512];
	int rc;

	progress_init(!o->is_quiet);
	rc = trace_join(o->files, o->nr_files, fd, &options, err, sizeof(err));
	progress_clear();
	if (rc)
		cli_error("%s", err);
	return rc;
}

/* Ends the tool after printing an error if the trace cannot be read. */
static struct reader *open_reader(const struct open_options *o)
{
	int fd = o->nr_files > 1 ? spill_file() : -1;
	struct reader *r;
	char err[512], path[64];

	if (fd < 0 && o->nr_files > 1) {
		cli_error("cannot join the traces: no temporary file: %s (TMPDIR says where)", strerror(-fd));
		exit(CLI_FAILURE);
	}
	if (fd >= 0 && open_join(o, dup(fd)))
		exit(CLI_FAILURE);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = reader_open(fd < 0 ? open_input(o) : path, err, sizeof(err));
	if (!r) {
		cli_error("%s", err);
		exit(CLI_FAILURE);
	}
	if (fd >= 0)
		close(fd);
	return r;
}

void open_trace(struct opened *o, const struct open_options *options)
{
	struct symtab_options symbols = {
		.sysroot = options->sysroot, .debug_dirs = options->debug_dirs.items,
		.nr_debug_dirs = options->debug_dirs.nr, .no_demangle = options->no_demangle,
	};
	FILE *out = stdout;
	char err[512];
	int why;

	if (options->is_json && options->is_csv)
		cli_usage("--json and --csv: give one");
	*o = (struct opened){ .options = options };
	o->reader = open_reader(options);
	o->symtab = symtab_open(&symbols);
	if (!o->symtab)
		open_fail_memory();
	o->model = model_open(o->reader, o->symtab, err, sizeof(err));
	if (!o->model)
		open_fail_memory();
	if (!request_source_open(o->model, options->request.items, options->request.nr, err, sizeof(err))) {
		cli_error("%s", err);
		exit(CLI_FAILURE);
	}
	/*
	 * The output is opened last, so that an existing file is not replaced if the trace cannot
	 * be read.
	 */
	if (options->output) {
		if (open_is_input(options, options->output)) {
			cli_error("%s is the trace itself: give another file with -o", options->output);
			exit(CLI_FAILURE);
		}
		out = outfile_stream(options->output, &why);
		if (!out) {
			cli_error("cannot write %s: %s: give another file with -o", options->output,
				  outfile_why(why));
			exit(CLI_FAILURE);
		}
	}
	render_init(&o->render, out);
	if (open_is_data(options))
		o->render.form = options->is_json ? RENDER_JSON : RENDER_CSV;
	o->render.is_verbose = options->is_verbose;
	o->render.has_estimates = o->model->requests_of != NULL;
	o->render.is_kernel_only = o->model->is_kernel_only;
}

static bool close_output(struct opened *o)
{
	bool failed;

	if (o->render.out == stdout)
		return cli_flush();
	failed = ferror(o->render.out);
	if (fclose(o->render.out) || failed) {
		cli_error("cannot write %s: %s", o->options->output, strerror(errno));
		return false;
	}
	return true;
}

int open_finish(struct opened *o, bool found, bool check_all)
{
	int status = close_output(o) ? CLI_OK : CLI_FAILURE;
	bool is_quiet = o->options->is_quiet || !found;
	char text[1024];

	/*
	 * Now checks the parts of the trace that the report did not need, so that all damage is
	 * reported.  If there is damage, hints about missing names are not printed, because names
	 * may be missing for that reason.
	 */
	if (check_all && reader_check(o->reader)) {
		cli_error("out of memory: the trace was not checked for damage");
		status = CLI_FAILURE;
	}
	if (reader_is_damaged(o->reader)) {
		cli_error("%s", reader_damage_text(o->reader, text, sizeof(text)));
		if (status == CLI_OK)
			status = CLI_DAMAGED;
		is_quiet = true;
	}
	for (int i = 0; i < SYMTAB_NR_PROBLEMS && !is_quiet; i++) {
		symtab_problem_text(o->symtab, i, text, sizeof(text));
		if (*text)
			cli_warn("%s", text);
	}
	model_close(o->model);
	symtab_close(o->symtab);
	reader_close(o->reader);
	free(o->options->debug_dirs.items);
	free(o->options->request.items);
	return found ? status : CLI_FAILURE;
}

void open_say_empty(const struct render *r, const char *format, ...)
{
	va_list ap;

	if (r->is_kernel_only) {
		fputs("this recording has kernel events only: ldb-report --sched\n", r->out);
		return;
	}
	va_start(ap, format);
	vfprintf(r->out, format, ap);
	va_end(ap);
	fputc('\n', r->out);
}

void open_notes(const struct cli_list *list, struct requests_options *o)
{
	static struct note_filter filters[OPEN_NOTES_MAX];

	if (list->nr > OPEN_NOTES_MAX)
		cli_usage("--note: at most %d", OPEN_NOTES_MAX);
	for (size_t i = 0; i < list->nr; i++)
		if (!note_filter_parse(list->items[i], &filters[i]))
			cli_usage("--note=%s: give KEY=GLOB, KEY<NUMBER or KEY>NUMBER (64K is 65536)",
				  list->items[i]);
	o->notes = filters;
	o->nr_notes = list->nr;
}
