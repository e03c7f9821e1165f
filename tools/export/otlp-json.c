// SPDX-License-Identifier: GPL-2.0-or-later
/* OTLP messages as JSON; see otlp-json.h. */
#include <inttypes.h>
#include <stdio.h>

#include "export/otlp-json.h"

void otlp_u64(struct json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	json_string(j, key, text);
}

void otlp_trace_id(struct json *j, const char *key, const struct link_ids *ids)
{
	char text[40];

	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, ids->trace_hi, ids->trace_lo);
	json_string(j, key, text);
}

void otlp_span_id(struct json *j, const char *key, uint64_t span)
{
	char text[24];

	snprintf(text, sizeof(text), "%016" PRIx64, span);
	json_string(j, key, text);
}

static void attr_begin(struct json *j, const char *key)
{
	json_object_begin(j, NULL);
	json_string(j, "key", key);
	json_object_begin(j, "value");
}

static void attr_end(struct json *j)
{
	json_object_end(j);
	json_object_end(j);
}

void otlp_attr_text(struct json *j, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	attr_begin(j, key);
	json_string(j, "stringValue", value);
	attr_end(j);
}

void otlp_attr_i64(struct json *j, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	attr_begin(j, key);
	json_string(j, "intValue", text);
	attr_end(j);
}

void otlp_attr_bool(struct json *j, const char *key, bool value)
{
	attr_begin(j, key);
	json_bool(j, "boolValue", value);
	attr_end(j);
}
