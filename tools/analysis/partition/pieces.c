// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds on which request each thread worked; see pieces.h. */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "partition.h"
#include "pieces.h"

struct reading {
	struct pieces *p;
	int (*instance)(void *arg, const struct instance *instance);
	void *arg;
};

static int on_instance(void *arg, const struct instance *instance)
{
	struct reading *r = arg;

	return r->instance(r->arg, instance);
}

static int add(void *arg, uint32_t tid, int64_t start, int64_t end, const struct request *r)
{
	struct pieces *p = ((struct reading *)arg)->p;

	return array_push(p->at, p->nr, p->room, { start, end, r->id, r->start, tid });
}

int pieces_read(struct model *m, int64_t from, int64_t to,
		int (*instance)(void *arg, const struct instance *instance), void *arg,
		struct pieces *p)
{
	struct reading r = { p, instance, arg };
	struct partition_options o = {
		.from = from, .to = to, .only_pieces = true, .piece = add,
		.instance = instance ? on_instance : NULL, .arg = &r,
	};
	struct partition partition;
	int ret;

	*p = (struct pieces){ 0 };
	ret = partition_build(m, &o, &partition);
	if (ret)
		pieces_free(p);
	else
		partition_free(&partition);
	return ret;
}

void pieces_free(struct pieces *p)
{
	free(p->at);
	*p = (struct pieces){ 0 };
}

size_t pieces_first(const struct pieces *p, uint32_t tid, int64_t tick)
{
	return search(p->nr, i, p->at[i].tid < tid || (p->at[i].tid == tid && p->at[i].end <= tick));
}
