// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaces ebpf.c where ldb was built without libbpf or clang. */
#include <stdio.h>
#include "record/kernel/ebpf.h"

struct kernel_source *ebpf_open(struct session *s, const struct ebpf_options *o, char *why,
				size_t size)
{
	snprintf(why, size, "this ldb was built without it (libbpf-dev and clang)");
	return NULL;
}
