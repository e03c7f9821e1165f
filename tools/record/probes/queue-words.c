// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the words of --queue; see queue-words.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "record/probes/queue-words.h"

#define QUEUE_FOLLY	"folly"

/*
 * The ThreadPoolExecutor of folly: its kinds have either the one or the other of the last two
 * probes.
 */
static const char folly[] = "folly:thread_pool_executor_task_enqueued:4,thread_pool_executor_task_dequeued:5,"
	"thread_pool_executor_task_stats:6,thread_pool_executor_task_taskInfo:6,name=1";

static bool read_argument(const char *text, unsigned *argument)
{
	unsigned long number;
	char *end;

	number = isdigit(*text) ? strtoul(text, &end, 10) : 0;
	*argument = number;
	return number && !*end && number <= QUEUE_ARGUMENTS_MAX;
}

/* Returns true if the name has only characters that names of probes may have. */
static bool is_name(const char *text)
{
	for (const char *c = text; *c; c++)
		if (!isalnum(*c) && !strchr("_-.", *c))
			return false;
	return *text;
}

/* Parses a probe, such as "dequeued:5".  Returns NULL, or what is wrong. */
static const char *add_probe(struct queue_words *words, char *text)
{
	struct queue_probe probe = { .name = text, .item = 1 };
	char *colon = strchr(text, ':');

	if (colon)
		*colon++ = '\0';
	if (!is_name(text))
		return "give names of probes, as in myapp:put,take";
	if (colon && !read_argument(colon, &probe.item))
		return "give 1 to 12 for the argument that is the item, as in myapp:put:2,take:2";
	for (unsigned i = 0; i < words->nr_probes; i++)
		if (!strcmp(words->probes[i].name, text))
			return "give another probe for each event";
	if (words->nr_probes == QUEUE_PROBES_MAX)
		return "there are too many probes";
	words->probes[words->nr_probes++] = probe;
	return NULL;
}

static const char *add_word(struct queue_words *words, char *text)
{
	if (strncmp(text, "name=", 5))
		return add_probe(words, text);
	return read_argument(text + 5, &words->name) ? NULL :
		"give 1 to 12 for the argument that is the queue's name, as in myapp:put:2,take:2,name=1";
}

const char *queue_words_parse(const char *word, struct queue_words *words)
{
	const char *wrong = NULL;
	char *rest, *text;

	*words = (struct queue_words){ .text = strdup(strcmp(word, QUEUE_FOLLY) ? word : folly) };
	rest = words->text;
	if (!rest)
		return "out of memory";
	words->provider = strsep(&rest, ":");
	if (!rest || !is_name(words->provider))
		return "give PROVIDER:PUT,TAKE, the probes at which an item is put into the queue and taken out, or folly";
	while (!wrong && (text = strsep(&rest, ",")))
		wrong = add_word(words, text);
	if (!wrong && words->nr_probes <= QUEUE_TAKE)
		return "give two probes, as in myapp:put,take";
	return wrong;
}
