// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the META rows of a recording: what is recorded of which program, and how. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/hash.h"
#include "cli/error.h"
#include "record/output/output.h"
#include "record/process/proc.h"

const char *const record_mutex_levels[] = { "off", "wait", "hold", NULL };

void output_meta_number(struct output *out, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	writer_add_meta(out->writer, key, text);
}

pid_t output_living(const struct output *out)
{
	return proc_living_thread(out->pid) ?: out->pid;
}

/* Writes the program's arguments, joined by blanks. */
static void meta_cmdline(struct output *out)
{
	FILE *f = proc_open(output_living(out), 0, "cmdline");
	char text[8192];
	size_t n = 0;

	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	while (n && !text[n - 1])
		n--;
	text[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	writer_add_meta(out->writer, "cmdline", text);
}

void output_program(struct output *out)
{
	char text[PATH_MAX];

	meta_cmdline(out);
	if (proc_link(output_living(out), "exe", text, sizeof(text)))
		writer_add_meta(out->writer, "exe", text);
	modules_complete(out->modules);
}

static bool read_boot(char *text, size_t size)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");

	*text = '\0';
	if (f) {
		if (fgets(text, size, f))
			text[strcspn(text, "\n")] = '\0';
		fclose(f);
	}
	return *text;
}

uint64_t output_network(const struct output *out)
{
	char boot[64], network[PATH_MAX];

	/*
	 * If the boot id or the namespace cannot be read, local addresses are taken to be known to
	 * this process only.
	 */
	if (!read_boot(boot, sizeof(boot)) || !proc_link(output_living(out), "ns/net", network, sizeof(network)))
		return hash_mix(out->t0, out->pid) | 1;
	return hash_mix(hash_text(boot), hash_text(network)) | 1;
}

/* Recordings of the same boot have a common clock (trace/join.h). */
static void meta_boot(struct output *out)
{
	char text[64];

	if (read_boot(text, sizeof(text)))
		writer_add_meta(out->writer, "boot", text);
}

void output_write_metas(struct output *out)
{
	const struct record_options *o = out->o;
	char text[PATH_MAX];
	struct utsname u;

	writer_add_meta(out->writer, "version", LDB_VERSION);
	writer_add_meta(out->writer, "attached", o->pid ? "pid" : "launch");
	output_meta_number(out, "pid", out->pid);
	if (proc_parent(out->pid))
		output_meta_number(out, "ppid", proc_parent(out->pid));
	if (proc_line(output_living(out), 0, "comm", text, sizeof(text)))
		writer_add_meta(out->writer, "process", text);
	if (!uname(&u)) {
		writer_add_meta(out->writer, "host", u.nodename);
		snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
		writer_add_meta(out->writer, "kernel", text);
	}
	meta_boot(out);
	writer_add_meta(out->writer, "clock", clock_name(out->clock_id));
	kernel_metas(out);
	if (o->kernel_only)
		writer_add_meta(out->writer, "kernel_only", "1");
	snprintf(text, sizeof(text), "%g%%", o->budget_ppm / 10000.0);
	writer_add_meta(out->writer, "budget", text);
	if (o->request)
		writer_add_meta(out->writer, "request", o->request);
	writer_add_meta(out->writer, "mutex", record_mutex_levels[o->mutex_level]);
	output_meta_number(out, "lock_threshold_ns", o->lock_threshold_ns);
	output_meta_number(out, "func_threshold_ns", o->func_threshold_ns);
	output_meta_number(out, "scan_interval_ns", o->scan_interval_ns);
	output_meta_number(out, "nr_scanners", o->nr_scanners);
	output_meta_number(out, "nr_cpus", out->session.info.nr_cpus);
}

void output_warning(struct output *out, const char *text)
{
	cli_warn("%s", text);
	if (out->writer)
		writer_add_meta(out->writer, "warning", text);
}
