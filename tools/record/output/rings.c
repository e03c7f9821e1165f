// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/names/fd.h"
#include "record/output/rings.h"
#include "record/process/proc.h"
#include "record/run/recording.h"

/* time of the first count; each interval is twice the previous one */
#define FIRST_NS	20000000LL
/* names expire after this time, because descriptors may refer to other files */
#define NAMES_NS	100000000LL
#define LAST_NS		60000000000LL
#define LINK_NAME	"anon_inode:[io_uring]"
#define DESCRIPTORS_MAX	65536		/* reading this many takes some 100 ms */

static const char *descriptor_name(void *recording, int fd)
{
	struct recording *r = recording;

	return fd_names_get(r->fd_names, fd);
}

void rings_open(struct recording *r)
{
	r->fd_names = fd_names_alloc(r->pid);
	if (r->fd_names)
		pack_on_descriptor(r->pack, descriptor_name, r);
}

void rings_close(struct recording *r)
{
	fd_names_free(r->fd_names);
	r->fd_names = NULL;
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

void rings_poll(struct recording *r, int64_t now_ns)
{
	unsigned nr;

	if (r->fd_names && now_ns >= r->next_names_ns) {
		fd_names_forget(r->fd_names);
		r->next_names_ns = now_ns + NAMES_NS;
	}
	if (!r->o->socket_requests || now_ns < r->next_rings_ns)
		return;
	if (r->next_rings_ns) {
		nr = count_rings(r->pid);
		r->nr_rings = nr > r->nr_rings ? nr : r->nr_rings;
	}
	r->rings_pause_ns = r->rings_pause_ns ? 2 * r->rings_pause_ns : FIRST_NS;
	if (r->rings_pause_ns > LAST_NS)
		r->rings_pause_ns = LAST_NS;
	r->next_rings_ns = now_ns + r->rings_pause_ns;
}

void rings_finish(struct recording *r)
{
	uint64_t followed = session_info(&r->session)->urings;
	unsigned nr;
	char text[256];

	r->nr_rings_left = session_info(&r->session)->uring_left;
	nr = count_rings(r->pid);
	r->nr_rings = nr > r->nr_rings ? nr : r->nr_rings;
	output_meta_number(r, "uring_rings", r->nr_rings > followed ? r->nr_rings : followed);
	output_meta_number(r, "uring_followed", followed);
	output_meta_number(r, "uring_left", r->nr_rings_left);
	if (r->nr_rings <= followed)
		return;
	snprintf(text, sizeof(text),
		 "the program uses io_uring, and %" PRIu64 " of its %u rings %s followed (not those of a static liburing, or of system calls without syscall()): requests read and written there are missing",
		 followed, r->nr_rings, followed == 1 ? "was" : "were");
	output_warning(r, text);
}
