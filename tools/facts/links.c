// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds trace contexts; see links.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/sort.h"
#include "links.h"
#include "rows.h"

struct link {
	uint64_t id;
	int64_t tick;
	struct link_ids ids;
};

struct links {
	struct model *m;
	struct link *at;	/* sorted by id and tick */
	size_t nr, room;
	uint64_t run;		/* a hash that identifies this recording */
};

/* This is the finaliser of splitmix64: every bit of the result depends on every bit of x. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t mix_text(uint64_t h, const char *text)
{
	for (; text && *text; text++)
		h = mix(h ^ (unsigned char)*text);
	return mix(h);
}

static int add_row(void *arg, const void *at)
{
	const struct ldb_row_reqname *row = at;
	struct links *l = arg;

	if (row->name && *row->name)
		return 0;
	return array_push(l->at, l->nr, l->room,
			  { row->id, row->tick, { row->trace_hi, row->trace_lo, row->span } });
}

COMPARE(compare, struct link, UP(id) UP(tick))

struct links *links_open(struct model *m)
{
	const struct ldb_file_header *h = reader_header(m->reader);
	struct links *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->m = m;
	/*
	 * The start of the recording by the session clock distinguishes the recordings of one boot,
	 * and the time of day distinguishes boots.
	 */
	l->run = mix(mix_text(0, reader_meta(m->reader, "host")) ^ h->t0);
	l->run = mix(mix_text(l->run, reader_meta(m->reader, "pid")) ^ (uint64_t)h->realtime_ns);
	if (rows_each(m->reader, LDB_BLK_REQNAME, NULL, add_row, l)) {
		links_close(l);
		return NULL;
	}
	sort_by(l->at, l->nr, compare);
	return l;
}

void links_close(struct links *l)
{
	if (l)
		free(l->at);
	free(l);
}

int links_find(struct links *l, const struct instance *instance, struct link_ids *ids)
{
	size_t lo = search_by(l->at, l->nr, k,
			      k->id < instance->id || (k->id == instance->id && k->tick <= instance->end));
	const struct ldb_row_reqtab *before;
	int ret;

	*ids = (struct link_ids){ 0 };
	if (!lo || l->at[lo - 1].id != instance->id)
		return 0;
	ret = instances_last(l->m, instance->id, instance->start - 1, &before);
	if (!ret && (!before || l->at[lo - 1].tick > before->end))
		*ids = l->at[lo - 1].ids;
	return ret;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool link_want_parse(const char *text, struct link_want *want)
{
	unsigned nr = 0;

	*want = (struct link_want){ 0 };
	/* traceparent: version-trace-span-flags */
	if (strlen(text) == 55 && text[2] == '-' && text[35] == '-' && text[52] == '-')
		text += 3;
	for (; hex_digit(*text) >= 0; text++, nr++) {
		uint64_t digit = hex_digit(*text);
		unsigned shift = 60 - nr % 16 * 4;

		if (nr >= 32)
			return false;
		*(nr < 16 ? &want->trace_hi : &want->trace_lo) |= digit << shift;
		*(nr < 16 ? &want->mask_hi : &want->mask_lo) |= 15ULL << shift;
	}
	return nr >= 8 && (!*text || (*text == '-' && nr == 32) || !strcmp(text, "..."));
}

int links_match(struct links *l, const struct instance *instance, const struct link_want *want)
{
	struct link_ids ids;
	int ret = links_find(l, instance, &ids);

	if (ret || !(ids.trace_hi | ids.trace_lo))
		return ret;
	return (ids.trace_hi & want->mask_hi) == want->trace_hi &&
	       (ids.trace_lo & want->mask_lo) == want->trace_lo;
}

static uint64_t make(const struct links *l, const struct instance *instance, uint64_t what)
{
	uint64_t h = mix(mix(mix(l->run ^ instance->id) ^ (uint64_t)instance->start) ^ what);

	return h ? h : 1;	/* an id of 0 would mean that there is no id */
}

void links_make_trace(const struct links *l, const struct instance *instance, struct link_ids *ids)
{
	ids->trace_hi = make(l, instance, UINT64_MAX);
	ids->trace_lo = make(l, instance, UINT64_MAX - 1);
}

uint64_t links_make_span(const struct links *l, const struct instance *instance, uint64_t nth)
{
	return make(l, instance, nth);
}
