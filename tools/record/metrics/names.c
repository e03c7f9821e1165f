// SPDX-License-Identifier: GPL-2.0-or-later
/* Names series, and merges series with the same name. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/utf8.h"
#include "record/metrics/private.h"

const struct metrics_words metrics_words[METRICS_NR] = {
	[METRICS_FUNCTION] = { "ldb_function_duration_seconds", "function", "ldb.function.duration",
			       "Observed invocations of functions." },
	[METRICS_REQUEST] = { "ldb_request_duration_seconds", "class", "ldb.request.duration",
			      "Requests that have ended." },
	[METRICS_LOCK] = { "ldb_lock_wait_seconds", "lock", "ldb.lock.wait", "Waits for locks." },
	[METRICS_CPU] = { "ldb_cpu_wait_seconds", NULL, "ldb.cpu.wait",
			  "Waits of runnable threads for a CPU." },
};

/* Returns the name of a series. */
static const char *name_of(const struct metrics *m, enum metrics_kind kind, const struct series *s, char *buf, size_t size)
{
	const char *name = NULL;

	if (kind == METRICS_REQUEST)
		return intern_key(&m->classes, s->key);
	if (kind != METRICS_CPU)
		name = filter_name_of(m->filter, s->key);
	if (!name || !*name)
		snprintf(buf, size, "0x%" PRIx64, s->key);
	return name && *name ? name : buf;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Copies a name; bytes that are not text, and control characters, become '?'. */
void metrics_copy_name(char *to, size_t size, const char *name)
{
	size_t nr = 0;

	while (*name) {
		unsigned n = utf8_length(name);
		bool is_text = n && !utf8_is_control(name, n);

		if (nr + (is_text ? n : 1) >= size)
			break;
		if (is_text)
			memcpy(to + nr, name, n);
		else
			to[nr] = '?';
		nr += is_text ? n : 1;
		name += n ? n : 1;
	}
	to[nr] = '\0';
}

void metrics_free_family(struct family *f)
{
	for (size_t i = 0; i < f->nr; i++)
		dist_free(&f->all[i].dist);
	free(f->all);
}

int metrics_make_family(struct metrics *m, enum metrics_kind kind, struct family *f)
{
	struct kind *k = &m->kinds[kind];
	char buf[32];
	size_t nr = 0;

	f->nr = k->nr;
	f->all = calloc(k->nr + 1, sizeof(*f->all));
	if (!f->all)
		return -ENOMEM;
	for (size_t i = 0; i < k->nr; i++) {
		metrics_copy_name(f->all[i].name, METRICS_NAME, name_of(m, kind, &k->all[i], buf, sizeof(buf)));
		dist_init(&f->all[i].dist, &m->pool);
		if (dist_merge(&f->all[i].dist, &k->all[i].dist))
			return -ENOMEM;
	}
	qsort(f->all, f->nr, sizeof(*f->all), by_name);
	for (size_t i = 0; i < f->nr; i++) {
		if (nr && !by_name(&f->all[nr - 1], &f->all[i])) {
			if (dist_merge(&f->all[nr - 1].dist, &f->all[i].dist))
				return -ENOMEM;
			dist_free(&f->all[i].dist);
		} else if (nr++ != i) {
			f->all[nr - 1] = f->all[i];
			memset(&f->all[i], 0, sizeof(f->all[i]));
		}
	}
	f->nr = nr;
	return 0;
}
