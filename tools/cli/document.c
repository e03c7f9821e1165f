// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists the formats of JSON documents: document.h says when a version changes. */
#include "cli/document.h"

static const struct {
	const char *format;
	unsigned version;
} documents[NR_DOCUMENTS] = {
	[DOCUMENT_REPORT_FUNCTIONS] = { "ldb-report-functions", 1 },
	[DOCUMENT_REPORT_LOCKS] = { "ldb-report-locks", 1 },
	[DOCUMENT_REPORT_REQUESTS] = { "ldb-report-requests", 1 },
	[DOCUMENT_REPORT_SCHED] = { "ldb-report-sched", 1 },
	[DOCUMENT_REPORT_SAMPLES] = { "ldb-report-samples", 1 },
	[DOCUMENT_REPORT_SUMMARY] = { "ldb-report-summary", 2 },
	[DOCUMENT_TIMELINE] = { "ldb-timeline", 3 },
	[DOCUMENT_WHY] = { "ldb-why", 2 },
	[DOCUMENT_WHY_BALLOONS] = { "ldb-why-balloons", 1 },
	[DOCUMENT_WHY_BOXES] = { "ldb-why-boxes", 1 },
	[DOCUMENT_WHY_QUEUES] = { "ldb-why-queues", 1 },
	[DOCUMENT_WHY_CPUS] = { "ldb-why-cpus", 1 },
	[DOCUMENT_WHY_BLAME] = { "ldb-why-blame", 1 },
	[DOCUMENT_WHY_DIFFERENTIAL] = { "ldb-why-differential", 3 },
	[DOCUMENT_WHATIF] = { "ldb-whatif", 2 },
	[DOCUMENT_TOP] = { "ldb-top", 2 },
	[DOCUMENT_EXPORT] = { "ldb-export", 1 },
	[DOCUMENT_FLOWS] = { "ldb-flows", 2 },
	[DOCUMENT_FLOWS_DIFF] = { "ldb-flows-diff", 2 },
};

void document_begin(struct json *j, enum document which)
{
	json_object_begin(j, NULL);
	json_string(j, "format", documents[which].format);
	json_u64(j, "version", documents[which].version);
}

void document_put(FILE *f, enum document which, const struct column *columns, const void *at)
{
	struct json j;

	json_init(&j, f);
	document_begin(&j, which);
	relation_json(&j, columns, at);
	json_object_end(&j);
	json_end(&j);
}
