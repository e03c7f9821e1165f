// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the places of ids; see call-places.h.  Debug information comes from the program and is not
 * trusted, so a child process reads it, and writes only numbers.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/program.h"
#include "record/probes/call-places.h"
#include "record/process/helper.h"
#include "record/process/mapped-files.h"
#include "record/process/proc.h"

#define PATIENCE_MS	8000	/* the program may have to wait this long */
#define STEP_MAX	(1LL << 31)	/* the kernel accepts no greater offset */

struct work {
	const struct mapped_files *files;
	pid_t pid;
	const char *words;
	call_ids_find_fn *find;
};

/*
 * The following runs in the child.  An answer consists of two strings: numbers, and the reason if
 * there is no place.
 */

static void answer(FILE *out, size_t word, size_t file, const struct request_place *at, const char *why)
{
	fprintf(out, "%zu %zu", word, file);
	if (at)
		fprintf(out, " %" PRIu64 " %u %u %d %u", at->offset, at->place, at->size, at->is_signed, at->nr_steps);
	for (unsigned i = 0; at && i < at->nr_steps; i++)
		fprintf(out, " %" PRId64, at->steps[i]);
	fprintf(out, "%c%s%c", 0, why, 0);
}

static void find_word(const struct work *w, const char *root, FILE *out, size_t nr, const char *word)
{
	struct request_place found[REQUEST_PLACES_MAX];
	char why[320] = "the program has no function of that name";
	int n = 0;

	for (size_t i = 0; i < w->files->nr && !n; i++) {
		const struct mapped_file *m = &w->files->at[i];
		const char *wrong = NULL;

		n = w->find(root, m->path, word, found, why, sizeof(why));
		/*
		 * Checked after the file was read: if the path refers to the mapped file now, the
		 * mapped file was read.
		 */
		if (n > 0)
			wrong = mapped_files_why_not(root, m);
		if (wrong) {
			snprintf(why, sizeof(why), "%s", wrong);
			n = -1;
		}
		for (int k = 0; k < n; k++)
			answer(out, nr, i, &found[k], "");
	}
	if (n <= 0)
		answer(out, nr, 0, NULL, why);
}

static void work(void *arg, FILE *out)
{
	const struct work *w = arg;
	char root_room[64], *copy = strdup(w->words), *rest = copy, *word;
	const char *root = proc_root(w->pid, root_room, sizeof(root_room));

	for (size_t nr = 0; copy && (word = strsep(&rest, "\n")); nr++)
		if (request_has_id(word))
			find_word(w, root, out, nr, word);
	free(copy);
}

/* The following runs in the recorder. */

static const char *word_at(char *const *words, size_t nr_words, size_t nr)
{
	return nr < nr_words ? words[nr] : NULL;
}

static bool read_place(const char *text, struct request_place *at)
{
	int n = 0, is_signed;

	if (sscanf(text, " %" SCNu64 " %u %u %d %u%n", &at->offset, &at->place, &at->size, &is_signed, &at->nr_steps, &n) != 5)
		return false;
	at->is_signed = is_signed;
	if (at->place > PROGRAM_PARAMETERS || !at->size || at->size > 8 ||
	    at->nr_steps > sizeof(at->steps) / sizeof(at->steps[0]))
		return false;
	for (unsigned i = 0; i < at->nr_steps; i++) {
		int more = 0;

		text += n;
		if (sscanf(text, " %" SCNd64 "%n", &at->steps[i], &more) != 1 ||
		    at->steps[i] < -STEP_MAX || at->steps[i] > STEP_MAX)
			return false;
		n = more;
	}
	return true;
}

static bool deliver(const struct mapped_files *files, const char *numbers, const char *why, char *const *words, size_t nr_words,
		    bool (*fn)(void *arg, const struct call_place *place), void *arg)
{
	struct call_place place = { 0 };
	size_t word, file;
	int n = 0;

	if (sscanf(numbers, "%zu %zu%n", &word, &file, &n) != 2 || file >= files->nr)
		return true;
	place.word = word_at(words, nr_words, word);
	place.file = files->at[file].link;
	if (!place.word)
		return true;
	if (!read_place(numbers + n, &place.at))
		place.why = *why ? why : "its place makes no sense";
	return fn(arg, &place);
}

static size_t split(char *copy, char *words[REQUEST_NAMES_MAX])
{
	size_t nr = 0;

	while (copy && nr < REQUEST_NAMES_MAX && (words[nr] = strsep(&copy, "\n")))
		nr++;
	return nr;
}

static void say_none(char *const *words, size_t nr, const char *why, bool (*fn)(void *arg, const struct call_place *place),
		     void *arg)
{
	for (size_t i = 0; i < nr; i++)
		if (request_has_id(words[i]))
			fn(arg, &(struct call_place){ .word = words[i], .why = why });
}

void call_places_find(pid_t pid, const char *words, call_ids_find_fn *find,
		      bool (*fn)(void *arg, const struct call_place *place), void *arg)
{
	struct mapped_files files;
	struct work w = { &files, pid, words, find };
	struct helper h = { 0 };
	char *copy = strdup(words), *split_words[REQUEST_NAMES_MAX];
	size_t nr = split(copy, split_words);
	const char *numbers = NULL, *why;

	mapped_files_list(&files, pid);
	if (!files.nr || !helper_begin(&h, work, &w)) {
		say_none(split_words, nr, "the program's files are not known", fn, arg);
	} else if (!helper_wait(&h, PATIENCE_MS)) {
		say_none(split_words, nr, "its debug information takes too long to read", fn, arg);
	} else {
		if (!helper_text(&h, NULL))
			say_none(split_words, nr, "its debug information is damaged", fn, arg);
		while ((numbers = helper_text(&h, numbers)) && (why = helper_text(&h, numbers))) {
			if (!deliver(&files, numbers, why, split_words, nr, fn, arg))
				break;
			numbers = why;
		}
	}
	helper_end(&h);
	mapped_files_free(&files);
	free(copy);
}
