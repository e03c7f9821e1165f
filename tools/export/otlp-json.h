/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The JSON form of OTLP messages: 64-bit numbers are strings, ids are hex,
 * attributes are key and typed value.
 */
#ifndef EXPORT_OTLP_JSON_H
#define EXPORT_OTLP_JSON_H

#include "cli/json.h"
#include "export/links.h"

/* A number of type fixed64. */
void otlp_u64(struct json *j, const char *key, uint64_t value);
void otlp_trace_id(struct json *j, const char *key, const struct link_ids *ids);
void otlp_span_id(struct json *j, const char *key, uint64_t span);

/* Elements of an array of attributes.  Texts that are NULL or "" are left out. */
void otlp_attr_text(struct json *j, const char *key, const char *value);
void otlp_attr_i64(struct json *j, const char *key, int64_t value);
void otlp_attr_bool(struct json *j, const char *key, bool value);

#endif
