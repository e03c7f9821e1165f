/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * These declarations are shared by the three files of the load generator for memcached and
 * redis.
 */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hist.h"

#define MAX_CONNECTIONS	1024
#define MAX_VALUE	(1 << 20)

struct options {
	bool redis;		/* RESP; else memcached's text protocol */
	int port;
	int connections;
	double rate;		/* requests a second; 0: closed loop */
	double seconds, warmup;
	uint64_t max_requests;	/* 0: no limit */
	uint64_t nr_keys;
	double zipf;		/* exponent; 0: uniform */
	int set_pct;
	uint32_t value_min, value_max;
	uint64_t seed;
	bool fill;		/* SET each key once, then end */
	const char *stamps;
};

struct result {
	struct hist latency;	/* ns, from the time the request was due */
	uint64_t nr_sent, nr_done, nr_errors, nr_misses;
	uint64_t nr_late;	/* requests that were sent later than 100 us after they were due */
	double seconds;		/* how long requests were measured, without the warm-up */
};

enum op { OP_GET, OP_SET };

/* wire.c */
void wire_init(const struct options *o);
/* Writes a request into buf (at least wire_max() bytes); returns its length. */
size_t wire_request(enum op op, uint64_t key, uint32_t len, char *buf);
size_t wire_max(void);

enum answer { ANSWER_PART, ANSWER_OK, ANSWER_MISS, ANSWER_BAD };
/*
 * Checks the bytes that were received so far for one request.  ANSWER_PART: the answer is not
 * complete yet.
 */
enum answer wire_answer(enum op op, uint64_t key, const char *buf, size_t len);

/* In drive.c: returns 0, or -1 after a message; calls started() when the warm-up ends. */
int drive(const struct options *o, struct result *r, void (*started)(void));
uint64_t now_ns(void);

#endif
