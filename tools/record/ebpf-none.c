// SPDX-License-Identifier: GPL-2.0-or-later
/* Instead of ebpf.c where ldb was built without libbpf or clang. */
#include <stdio.h>
#include "record/ebpf.h"

struct ebpf *ebpf_open(struct session *s, const struct ebpf_options *o, char *why, size_t size)
{
	snprintf(why, size, "this ldb was built without it (libbpf-dev and clang)");
	return NULL;
}

const char *ebpf_why_not_better(const struct ebpf *e)
{
	return "";
}

uint32_t ebpf_events(const struct ebpf *e)
{
	return 0;
}

void ebpf_look(struct ebpf *e)
{
}

void ebpf_stamp(void *ebpf, struct ldb_rec *recs)
{
}

const char *ebpf_leave_out_irqs(struct ebpf *e)
{
	return "";
}

void ebpf_stop(struct ebpf *e)
{
}

uint64_t ebpf_lost(const struct ebpf *e)
{
	return 0;
}

void ebpf_deaf_cpus(const struct ebpf *e, char *list, size_t size)
{
	*list = '\0';
}

uint64_t ebpf_err_ns(const struct ebpf *e)
{
	return 0;
}

void ebpf_close(struct ebpf *e)
{
}
