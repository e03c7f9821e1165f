// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>
#include <stdlib.h>
#include "base/slots.h"
#include "record/filter/req-tags.h"

#define TAGS_MAX	(1U << 20)

struct tag {
	struct slot slot;	/* by id */
	int64_t tick;
	uint32_t value;
};

struct req_tags {
	struct slots all;
};

struct req_tags *req_tags_alloc(void)
{
	struct req_tags *t = calloc(1, sizeof(*t));

	if (t)
		t->all = (struct slots){ .size = sizeof(struct tag), .max = TAGS_MAX };
	return t;
}

void req_tags_free(struct req_tags *t)
{
	if (!t)
		return;
	slots_free(&t->all);
	free(t);
}

void req_tags_add(struct req_tags *t, uint64_t id, int64_t tick, uint32_t value)
{
	struct tag *g = slots_add(&t->all, id);

	if (!g)
		return;
	g->tick = tick;
	g->value = value;
}

bool req_tags_find(const struct req_tags *t, uint64_t id, int64_t begin, int64_t end, uint32_t *value)
{
	const struct tag *before = NULL, *after = NULL, *found, *g;

	slots_each(&t->all, id, g) {
		if (g->tick > end)
			continue;
		if (g->tick <= begin && (!before || g->tick > before->tick))
			before = g;
		if (g->tick > begin && (!after || g->tick < after->tick))
			after = g;
	}
	found = before ?: after;
	if (found)
		*value = found->value;
	return found;
}

static struct tag *find_old(const struct req_tags *t, uint64_t id, int64_t tick)
{
	struct tag *g;

	slots_each(&t->all, id, g)
		if (g->tick <= tick)
			return g;
	return NULL;
}

void req_tags_forget(struct req_tags *t, uint64_t id, int64_t tick)
{
	struct tag *g;

	while ((g = find_old(t, id, tick)))
		slots_remove(&t->all, &g->slot);
}

void req_tags_forget_all(struct req_tags *t)
{
	slots_clear(&t->all);
}
