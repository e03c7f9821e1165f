// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the sums for monitoring to a file, or into memory for a client that fetches them; see
 * metrics.h.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/sort.h"
#include "cli/outfile.h"
#include "record/metrics/private.h"

#define MINUTE_NS	60000000000LL

COMPARE(slower_first, struct slow, DOWN(ns))

/*
 * The slowest requests of a minute are written after that minute has ended.  Only those of the
 * first minute are written while it lasts.
 */
static void next_minute(struct metrics *m, int64_t now_ns)
{
	int64_t minute = now_ns / MINUTE_NS;

	if (!m->first_minute)
		m->first_minute = m->minute = minute;
	if (minute == m->minute && minute != m->first_minute)
		return;
	/* If the explanation of the previous minute has not arrived by now, it is dropped. */
	helper_end(&m->helper);
	memset(m->parts, 0, sizeof(m->parts));
	memcpy(m->before, m->slowest, sizeof(m->before));
	sort_by(m->before, METRICS_SLOWEST, slower_first);
	if (minute != m->minute) {
		memset(m->slowest, 0, sizeof(m->slowest));
		m->must_explain = true;
	}
	m->minute = minute;
}

static bool is_otlp(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".json");
}

static int write_file(struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s, void *arg)
{
	struct outfile o;
	int ret = outfile_begin(&o, m->path);
	bool is_written;
	FILE *out;
	int fd;

	if (ret)
		return ret;
	fd = dup(o.fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		if (fd >= 0)
			close(fd);
		outfile_drop(&o);
		return -ENOMEM;
	}
	if (is_otlp(m->path))
		metrics_put_otlp(out, m, f, s);
	else
		metrics_put_text(out, m, f, s, true);
	is_written = !ferror(out);
	if (fclose(out) || !is_written) {
		outfile_drop(&o);
		return -EIO;
	}
	return outfile_commit(&o);
}

/* Makes the families of series, and calls put() with them. */
static int with_families(struct metrics *m, const struct metrics_state *s,
			 int (*put)(struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s, void *arg),
			 void *arg)
{
	struct family f[METRICS_NR] = { { 0 } };
	int ret = 0;

	for (unsigned k = 0; k < METRICS_NR && !ret; k++)
		ret = metrics_make_family(m, k, &f[k]);
	if (!ret)
		ret = put(m, f, s, arg);
	for (unsigned k = 0; k < METRICS_NR; k++)
		metrics_free_family(&f[k]);
	return ret;
}

void metrics_poll(struct metrics *m, const struct metrics_state *s)
{
	next_minute(m, s->now_ns);
	metrics_explain_poll(m);
	if (m->must_explain && !m->helper.child) {
		m->must_explain = false;
		metrics_explain_begin(m);
	}
}

void metrics_finish(struct metrics *m, const struct metrics_state *s)
{
	metrics_poll(m, s);
	/* If the recording ends in its first minute, nothing has been explained before. */
	if (!m->helper.child && !m->parts[0].nr)
		metrics_explain_begin(m);
	metrics_explain_finish(m);
}

int metrics_write(struct metrics *m, const struct metrics_state *s)
{
	return m->path ? with_families(m, s, write_file, NULL) : 0;
}

struct rendered {
	char **text;
	size_t *size;
	bool is_openmetrics;
};

static int write_memory(struct metrics *m, struct family f[METRICS_NR], const struct metrics_state *s, void *arg)
{
	const struct rendered *r = arg;
	FILE *out = open_memstream(r->text, r->size);

	if (!out)
		return -ENOMEM;
	metrics_put_text(out, m, f, s, r->is_openmetrics);
	return fclose(out) ? -ENOMEM : 0;
}

int metrics_render(struct metrics *m, const struct metrics_state *s, bool is_openmetrics, char **text, size_t *size)
{
	struct rendered r = { text, size, is_openmetrics };

	return with_families(m, s, write_memory, &r);
}
