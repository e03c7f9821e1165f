// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the option --request; see request-option.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record/run/request-option.h"
#include "trace/request-words.h"

static void check(const struct cli_list *words, const char *word)
{
	struct request_id id = { 0 };
	const char *wrong;

	if (!*word || strchr(word, '\n'))
		cli_usage("--request=%s: give the name of a function, or loop", word);
	if (request_has_id(word) && (wrong = request_id_parse(word, &id)))
		cli_usage("--request=%s: %s", word, wrong);
	if (words->nr > 1 && (!strcmp(word, REQUEST_LOOP) || !strcmp(word, REQUEST_TAGS)))
		cli_usage("--request: give functions, or loop, or tags");
}

/* Joins the names, with newlines between them, which names do not contain. */
static const char *join(const struct cli_list *words)
{
	size_t size = 1, n = 0;
	char *text;

	if (words->nr > REQUEST_NAMES_MAX)
		cli_usage("--request: at most %d", REQUEST_NAMES_MAX);
	for (size_t i = 0; i < words->nr; i++)
		size += strlen(words->items[i]) + 1;
	text = words->nr ? malloc(size) : NULL;
	for (size_t i = 0; text && i < words->nr; i++) {
		check(words, words->items[i]);
		n += sprintf(text + n, "%s%s", i ? "\n" : "", words->items[i]);
	}
	return text;
}

/*
 * The runtime makes requests from sockets, so they are not among the words; the tools make those of
 * functions and loops.
 */
void request_option_set(const struct cli_list *words, struct record_options *options)
{
	for (size_t i = 0; i < words->nr; i++)
		options->socket_requests |= !strcmp(words->items[i], REQUEST_SOCKET);
	if (options->socket_requests && words->nr > 1)
		cli_usage("--request: give socket, or functions, or loop");
	if (options->socket_requests && options->kernel_only)
		cli_usage("--request=socket needs the runtime: leave out --kernel-only");
	if (!options->socket_requests)
		options->request = join(words);
	options->loop_turns = options->request && !strcmp(options->request, REQUEST_LOOP);
}
