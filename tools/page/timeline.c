// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a recording as a page; see timeline.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "page/page.h"
#include "page/timeline-private.h"

static const char *const assets[] = {
	"timeline.css", "timeline-data.js", "timeline-paint.js", "timeline-views.js",
	"timeline-arcs.js", "timeline-draw.js", "timeline-search.js", "timeline-panel.js",
	"timeline-controls.js", "timeline.js", NULL
};

static int write_page(struct timeline_data *d, FILE *out)
{
	const char *cmdline = reader_meta(d->m->reader, "cmdline");
	struct page_options options = { .assets = assets };
	char title[256];
	struct json *j;
	struct page p;
	int ret;

	snprintf(title, sizeof(title), "%.200s: timeline", cmdline && *cmdline ? cmdline : "ldb");
	options.title = title;
	page_begin(&p, out, &options);
	j = page_json_begin(&p, "about");
	explanation_about(d, j);
	ret = explanation_write(d, j);
	page_json_end(&p);
	/* Names are written after the causes, because writing these may add names. */
	j = page_json_begin(&p, "names");
	names_write(d, j);
	page_json_end(&p);
	if (!ret)
		ret = collect_write(d, &p);
	page_end(&p);
	return ret;
}

int timeline_page(struct model *m, const struct timeline_page_options *o, FILE *out, char *err,
		  size_t err_size)
{
	struct timeline_data *d = calloc(1, sizeof(*d));
	int ret = -ENOMEM;

	if (d) {
		d->m = m;
		d->o = o;
		ret = collect(d);
		if (!ret)
			ret = write_page(d, out);
		collect_free(d);
		free(d);
	}
	if (ret == -ENOMEM)
		snprintf(err, err_size, "out of memory: take a part of the recording with --from and --to");
	else if (ret)
		snprintf(err, err_size, "cannot keep the recording in a temporary file: %s", strerror(-ret));
	return ret;
}
