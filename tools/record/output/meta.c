// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the META rows of a recording: what is recorded of which program, and how. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/hash.h"
#include "cli/error.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

const char *const record_mutex_levels[] = { "off", "wait", "hold", NULL };

void output_meta_number(struct recording *r, const char *key, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	writer_add_meta(r->writer, key, text);
}

pid_t output_living(const struct recording *r)
{
	return proc_living_thread(r->pid) ?: r->pid;
}

/* Writes the program's arguments, joined by blanks. */
static void meta_cmdline(struct recording *r)
{
	FILE *f = proc_open(output_living(r), 0, "cmdline");
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
	writer_add_meta(r->writer, "cmdline", text);
}

void output_program(struct recording *r)
{
	char text[PATH_MAX];

	meta_cmdline(r);
	if (proc_link(output_living(r), "exe", text, sizeof(text)))
		writer_add_meta(r->writer, "exe", text);
	modules_complete(r->modules);
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

uint64_t output_network(const struct recording *r)
{
	char boot[64], network[PATH_MAX];

	/*
	 * If the boot id or the namespace cannot be read, local addresses are taken to be known to
	 * this process only.
	 */
	if (!read_boot(boot, sizeof(boot)) || !proc_link(output_living(r), "ns/net", network, sizeof(network)))
		return hash_mix(r->t0, r->pid) | 1;
	return hash_mix(hash_text(boot), hash_text(network)) | 1;
}

/* Recordings of the same boot have a common clock (trace/join.h). */
static void meta_boot(struct recording *r)
{
	char text[64];

	if (read_boot(text, sizeof(text)))
		writer_add_meta(r->writer, "boot", text);
}

void output_write_metas(struct recording *r)
{
	const struct record_options *o = r->o;
	char text[PATH_MAX];
	struct utsname u;

	writer_add_meta(r->writer, "version", LDB_VERSION);
	writer_add_meta(r->writer, "attached", o->pid ? "pid" : "launch");
	output_meta_number(r, "pid", r->pid);
	if (proc_parent(r->pid))
		output_meta_number(r, "ppid", proc_parent(r->pid));
	if (proc_line(output_living(r), 0, "comm", text, sizeof(text)))
		writer_add_meta(r->writer, "process", text);
	if (!uname(&u)) {
		writer_add_meta(r->writer, "host", u.nodename);
		snprintf(text, sizeof(text), "%s %s %s", u.sysname, u.release, u.machine);
		writer_add_meta(r->writer, "kernel", text);
	}
	meta_boot(r);
	writer_add_meta(r->writer, "clock", clock_name(r->clock_id));
	kernel_metas(r);
	if (o->kernel_only)
		writer_add_meta(r->writer, "kernel_only", "1");
	snprintf(text, sizeof(text), "%g%%", o->budget_ppm / 10000.0);
	writer_add_meta(r->writer, "budget", text);
	if (o->request)
		writer_add_meta(r->writer, "request", o->request);
	writer_add_meta(r->writer, "mutex", record_mutex_levels[o->mutex_level]);
	output_meta_number(r, "lock_threshold_ns", o->lock_threshold_ns);
	output_meta_number(r, "func_threshold_ns", o->func_threshold_ns);
	output_meta_number(r, "scan_interval_ns", o->scan_interval_ns);
	output_meta_number(r, "nr_scanners", o->nr_scanners);
	output_meta_number(r, "nr_cpus", r->session.info.nr_cpus);
}

void output_warning(struct recording *r, const char *text)
{
	cli_warn("%s", text);
	if (r->writer)
		writer_add_meta(r->writer, "warning", text);
}
