// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This file reads and writes SET and GET in memcached's text protocol and in RESP.  A value is a
 * piece of one repeating pattern, at an offset that follows from the key.  So the answer to a
 * GET is checked byte by byte, and a server that mixes up values is detected.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "client.h"

#define PERIOD		251	/* a prime: neighbouring keys differ everywhere */
#define KEY_LEN		20	/* "key:" and 16 digits */
#define HEAD_MAX	128	/* bytes of a request or an answer without the value */

static bool redis;
static uint32_t value_max;
static char *pattern;

void wire_init(const struct options *o)
{
	redis = o->redis;
	value_max = o->value_max;
	pattern = malloc(value_max + PERIOD);
	for (uint32_t i = 0; pattern && i < value_max + PERIOD; i++)
		pattern[i] = "0123456789abcdefghijklmnopqrstuvwxyz"[(i % PERIOD) * 7 % 36];
}

size_t wire_max(void)
{
	return value_max + HEAD_MAX;
}

size_t wire_request(enum op op, uint64_t key, uint32_t len, char *buf)
{
	unsigned long long k = key;
	int head;

	if (op == OP_GET)
		return (size_t)snprintf(buf, HEAD_MAX, redis ?
			"*2\r\n$3\r\nGET\r\n$20\r\nkey:%016llx\r\n" : "get key:%016llx\r\n", k);
	if (redis)
		head = snprintf(buf, HEAD_MAX, "*3\r\n$3\r\nSET\r\n$20\r\nkey:%016llx\r\n$%u\r\n", k, len);
	else
		head = snprintf(buf, HEAD_MAX, "set key:%016llx 0 0 %u\r\n", k, len);
	memcpy(buf + head, pattern + key % PERIOD, len);
	memcpy(buf + head + len, "\r\n", 2);
	return (size_t)head + len + 2;
}

/* Returns the length of "...\r\n" at the start of buf with the end of line, or 0. */
static size_t line_len(const char *buf, size_t len)
{
	const char *end = memchr(buf, '\n', len);

	return end ? (size_t)(end - buf) + 1 : 0;
}

static bool line_is(const char *buf, size_t line, const char *text)
{
	return line == strlen(text) && !memcmp(buf, text, line);
}

/* Checks the value, whose length is in the first line, and the tail after it. */
static enum answer answer_value(uint64_t key, const char *buf, size_t len, size_t line,
				const char *number, const char *tail)
{
	char *end;
	unsigned long size = strtoul(number, &end, 10);

	if (end == number || *end != '\r' || size > value_max)
		return ANSWER_BAD;
	if (len < line + size + strlen(tail))
		return ANSWER_PART;
	if (len != line + size + strlen(tail) || memcmp(buf + line + size, tail, strlen(tail)) != 0)
		return ANSWER_BAD;
	return memcmp(buf + line, pattern + key % PERIOD, size) ? ANSWER_BAD : ANSWER_OK;
}

static enum answer answer_memcached(enum op op, uint64_t key, const char *buf, size_t len, size_t line)
{
	char expect[HEAD_MAX];
	int n;

	if (op == OP_SET)
		return line_is(buf, line, "STORED\r\n") && len == line ? ANSWER_OK : ANSWER_BAD;
	if (line_is(buf, line, "END\r\n"))
		return len == line ? ANSWER_MISS : ANSWER_BAD;
	n = snprintf(expect, sizeof(expect), "VALUE key:%016llx 0 ", (unsigned long long)key);
	if (line <= (size_t)n || memcmp(buf, expect, (size_t)n) != 0)
		return ANSWER_BAD;
	return answer_value(key, buf, len, line, buf + n, "\r\nEND\r\n");
}

static enum answer answer_redis(enum op op, uint64_t key, const char *buf, size_t len, size_t line)
{
	if (op == OP_SET)
		return line_is(buf, line, "+OK\r\n") && len == line ? ANSWER_OK : ANSWER_BAD;
	if (line_is(buf, line, "$-1\r\n"))
		return len == line ? ANSWER_MISS : ANSWER_BAD;
	if (buf[0] != '$')
		return ANSWER_BAD;
	return answer_value(key, buf, len, line, buf + 1, "\r\n");
}

enum answer wire_answer(enum op op, uint64_t key, const char *buf, size_t len)
{
	size_t line = line_len(buf, len);

	if (!line)
		return len < HEAD_MAX ? ANSWER_PART : ANSWER_BAD;
	return redis ? answer_redis(op, key, buf, len, line) : answer_memcached(op, key, buf, len, line);
}
