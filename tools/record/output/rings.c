// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "record/names/fd.h"
#include "record/output/output.h"
#include "record/output/rings.h"
#include "record/process/proc.h"

/* The rings are counted after this time, and then at intervals that double each time. */
#define FIRST_NS	20000000LL
/* Names are forgotten after this time, because descriptors may then refer to other files. */
#define NAMES_NS	100000000LL
#define LAST_NS		60000000000LL	/* greatest interval */
#define LINK_NAME	"anon_inode:[io_uring]"
#define DESCRIPTORS_MAX	65536		/* reading this many takes some 100 ms */

static const char *descriptor_name(void *output, int fd)
{
	struct output *out = output;

	return fd_names_get(out->rings.names, fd);
}

void rings_open(struct output *out)
{
	out->rings.names = fd_names_alloc(out->pid);
	if (out->rings.names)
		pack_on_descriptor(out->pack, descriptor_name, out);
}

void rings_close(struct output *out)
{
	fd_names_free(out->rings.names);
	out->rings.names = NULL;
}

static unsigned count_rings(pid_t pid)
{
	char path[64], name[300], link[sizeof(LINK_NAME) + 1];
	unsigned nr = 0, nr_all = 0;
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && nr_all++ < DESCRIPTORS_MAX && (d = readdir(dir))) {
		snprintf(name, sizeof(name), "fd/%s", d->d_name);
		if (proc_link(pid, name, link, sizeof(link)) && !strcmp(link, LINK_NAME))
			nr++;
	}
	if (dir)
		closedir(dir);
	return nr;
}

void rings_poll(struct output *out, int64_t now_ns)
{
	unsigned nr;

	if (out->rings.names && now_ns >= out->rings.next_names_ns) {
		fd_names_forget(out->rings.names);
		out->rings.next_names_ns = now_ns + NAMES_NS;
	}
	if (!out->o->socket_requests || now_ns < out->rings.next_ns)
		return;
	if (out->rings.next_ns) {
		nr = count_rings(out->pid);
		out->rings.nr = nr > out->rings.nr ? nr : out->rings.nr;
	}
	out->rings.pause_ns = out->rings.pause_ns ? 2 * out->rings.pause_ns : FIRST_NS;
	if (out->rings.pause_ns > LAST_NS)
		out->rings.pause_ns = LAST_NS;
	out->rings.next_ns = now_ns + out->rings.pause_ns;
}

void rings_finish(struct output *out)
{
	uint64_t followed = session_info(&out->session)->urings;
	unsigned nr;
	char text[256];

	out->total.nr_rings_left = session_info(&out->session)->uring_left;
	nr = count_rings(out->pid);
	out->rings.nr = nr > out->rings.nr ? nr : out->rings.nr;
	output_meta_number(out, "uring_rings", out->rings.nr > followed ? out->rings.nr : followed);
	output_meta_number(out, "uring_followed", followed);
	output_meta_number(out, "uring_left", out->total.nr_rings_left);
	if (out->rings.nr <= followed)
		return;
	snprintf(text, sizeof(text),
		 "the program uses io_uring, and %" PRIu64 " of its %u rings %s followed (not those of a static liburing, or of system calls without syscall()): requests read and written there are missing",
		 followed, out->rings.nr, followed == 1 ? "was" : "were");
	output_warning(out, text);
}
