// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the expressions of --what-if; see replay.h. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define NAME_MAX_BYTES	4096
#define FACTOR_MAX	1000.0
#define N_MAX		1024

struct parser {
	const char *text, *at;
	char *err;
	size_t err_size;
};

/* Positions are counted from 1. */
static int wrong(const struct parser *p, const char *at, const char *what)
{
	snprintf(p->err, p->err_size, "'%.80s': position %zu: %s", p->text,
		 (size_t)(at - p->text) + 1, what);
	return -EINVAL;
}

/* "lock::take" is a name and has no prefix. */
static bool skip(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(p->at, word, n) || p->at[n] == ':')
		return false;
	p->at += n;
	return true;
}

/*
 * A factor consists of digits and at most one point; strtod() would also read signs, exponents and
 * "inf".
 */
static int parse_factor(struct parser *p, const char *at, double *factor)
{
	const char *end = at;
	unsigned nr_digits = 0, nr_points = 0;

	for (; isdigit((unsigned char)*end) || *end == '.'; end++) {
		nr_digits += *end != '.';
		nr_points += *end == '.';
	}
	if (!nr_digits || nr_points > 1)
		return wrong(p, at, "expected a factor as 0.25");
	if (*end)
		return wrong(p, end, "expected nothing after the factor");
	*factor = strtod(at, NULL);
	if (!(*factor <= FACTOR_MAX))
		return wrong(p, at, "the factor must be from 0 to 1000");
	return 0;
}

static int parse_count(struct parser *p, const char *end, unsigned *n)
{
	const char *at = p->at;
	unsigned long value = 0;

	for (; isdigit((unsigned char)*p->at) && value <= N_MAX; p->at++)
		value = 10 * value + (*p->at - '0');
	if (p->at == at)
		return wrong(p, at, "expected a number");
	if (!value || value > N_MAX)
		return wrong(p, at, "the number must be from 1 to 1024");
	*n = value;
	if (strcmp(p->at, end))
		return wrong(p, p->at, *end ? "expected ')' at the end" :
			     "expected nothing after the number");
	return 0;
}

/* Parses the name up to `end`.  "()" at its end is left out, but not in "lock:NAME*F". */
static int parse_name(struct parser *p, const char *end, struct whatif_change *c)
{
	const char *at = p->at;

	if (end - at > 2 && !strncmp(end - 2, "()", 2) && c->kind != WHATIF_HOLD)
		end -= 2;
	if (end == at)
		return wrong(p, at, "expected a name");
	if (end - at > NAME_MAX_BYTES)
		return wrong(p, at, "the name is too long");
	c->name = strndup(at, end - at);
	return c->name ? 0 : -ENOMEM;
}

/* A glob may contain stars, too: the factor comes after the last star. */
static int parse_scaled(struct parser *p, struct whatif_change *c)
{
	const char *star = strrchr(p->at, '*');
	int ret;

	if (!*p->at)
		return wrong(p, p->at, "expected a name");
	if (!star)
		return wrong(p, p->at + strlen(p->at), "expected '*' and a factor");
	ret = parse_factor(p, star + 1, &c->factor);
	return ret ? ret : parse_name(p, star, c);
}

static int parse_lock(struct parser *p, struct whatif_change *c)
{
	const char *mark = strstr(p->at, "=sharded("), *equals = strrchr(p->at, '=');
	int ret;

	c->kind = WHATIF_HOLD;
	if (!mark && equals && !strchr(equals, '*'))
		return wrong(p, equals + 1, "expected 'sharded(N)'");
	if (!mark)
		return parse_scaled(p, c);
	c->kind = WHATIF_SHARDED;
	ret = parse_name(p, mark, c);
	p->at = mark + strlen("=sharded(");
	return ret ? ret : parse_count(p, ")", &c->n);
}

int whatif_parse(const char *text, struct whatif_change *c, char *err, size_t err_size)
{
	struct parser p = { text, text, err, err_size };
	int ret;

	*c = (struct whatif_change){ .text = text, .factor = 1, .n = 1 };
	if (skip(&p, "no-preempt")) {
		c->kind = WHATIF_NO_PREEMPT;
		return *p.at ? wrong(&p, p.at, "expected nothing after 'no-preempt'") : 0;
	}
	if (skip(&p, "cpus+")) {
		c->kind = WHATIF_CPUS;
		return parse_count(&p, "", &c->n);
	}
	if (skip(&p, "lock:")) {
		ret = parse_lock(&p, c);
	} else {
		c->kind = skip(&p, "self:") ? WHATIF_SELF : WHATIF_FUNCTION;
		ret = parse_scaled(&p, c);
	}
	if (ret)
		whatif_change_free(c);
	return ret;
}

void whatif_change_free(struct whatif_change *c)
{
	free(c->name);
	c->name = NULL;
}
