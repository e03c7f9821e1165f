// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds probes; see queue-places.h.  The notes in the program's files are not trusted, so a child
 * process reads them.  It answers with two texts for each place of a probe, and for each probe that
 * cannot be followed: numbers; and the arguments of the probe, or why it cannot be followed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "record/probes/queue-places.h"
#include "record/process/helper.h"
#include "record/process/mapped-files.h"
#include "record/process/proc.h"

#define PATIENCE_MS	8000	/* the program waits for at most this time */
#define END		"end"	/* the last text; it is missing if the child has crashed */

struct work {
	const struct mapped_files *files;
	pid_t pid;
	const struct queue_words *words;
	size_t nr_words;
	queue_find_fn *find;
};

/* These functions run in the child. */

struct answer {
	FILE *out;
	size_t word, file;
	unsigned probe;
	const char *wrong;	/* why the file cannot be used; NULL: it can */
};

static void answer_why_not(FILE *out, size_t word, unsigned probe, const char *why)
{
	fprintf(out, "%zu %u%c%s%c", word, probe, 0, why, 0);
}

static void answer_place(void *answer, uint64_t offset, uint64_t semaphore, const char *args)
{
	const struct answer *a = answer;

	if (!a->wrong)
		fprintf(a->out, "%zu %u %zu %" PRIu64 " %" PRIu64 "%c%s%c", a->word, a->probe, a->file, offset, semaphore,
			0, args, 0);
}

/*
 * Returns a path by which the file can be read; NULL: it is too long.  m->link always leads to the
 * file that the program has mapped.  Another file may be at m->path; then *wrong says so.
 */
static const char *find_path(const char *root, const struct mapped_file *m, char *room, size_t size, const char **wrong)
{
	*wrong = NULL;
	if (!access(m->link, R_OK))
		return m->link;
	*wrong = mapped_files_why_not(root, m);
	return (size_t)snprintf(room, size, "%s%s", root ?: "", m->path) < size ? room : NULL;
}

static void find_probe(const struct work *w, const char *root, FILE *out, size_t word, unsigned probe)
{
	const struct queue_words *words = &w->words[word];
	const char *wrong = NULL, *path;
	char room[4096];
	int nr = 0, n;

	for (size_t i = 0; i < w->files->nr; i++) {
		struct answer a = { out, word, i, probe, NULL };

		path = find_path(root, &w->files->at[i], room, sizeof(room), &a.wrong);
		n = path ? w->find(path, words->provider, words->probes[probe].name, answer_place, &a) : 0;
		if (n && (n < 0 || a.wrong))
			wrong = n < 0 ? "the file's notes of probes are damaged" : a.wrong;
		nr += n > 0 ? n : 0;
	}
	/*
	 * If one place cannot be followed, the probe is not followed, even if its other places
	 * could be.
	 */
	if (wrong || !nr)
		answer_why_not(out, word, probe, wrong ?: "");
}

static void work(void *arg, FILE *out)
{
	const struct work *w = arg;
	char room[64];
	const char *root = proc_root(w->pid, room, sizeof(room));

	for (size_t i = 0; i < w->nr_words; i++)
		for (unsigned k = 0; k < w->words[i].nr_probes; k++)
			find_probe(w, root, out, i, k);
	fprintf(out, END "%c", 0);
}

/* These functions run in the recorder. */

static void deliver(const struct work *w, const char *numbers, const char *text,
		    void (*fn)(void *arg, const struct queue_place *place), void *arg)
{
	struct queue_place place = { 0 };
	size_t file = 0;
	int nr = sscanf(numbers, "%zu %u %zu %" SCNu64 " %" SCNu64, &place.word, &place.probe, &file, &place.offset,
			&place.semaphore);

	if (nr < 2 || place.word >= w->nr_words || place.probe >= w->words[place.word].nr_probes ||
	    file >= w->files->nr)
		return;
	if (nr == 5) {
		place.file = w->files->at[file].link;
		place.args = text;
	} else {
		place.why = text;
	}
	fn(arg, &place);
}

static bool is_whole(const struct helper *h)
{
	const char *text = NULL, *last = "";

	while ((text = helper_text(h, text)))
		last = text;
	return !strcmp(last, END);
}

static void say_none(const struct work *w, const char *why, void (*fn)(void *arg, const struct queue_place *place), void *arg)
{
	for (size_t i = 0; i < w->nr_words; i++)
		fn(arg, &(struct queue_place){ .word = i, .why = why });
}

void queue_places_find(pid_t pid, const struct queue_words *words, size_t nr_words, queue_find_fn *find,
		       void (*fn)(void *arg, const struct queue_place *place), void *arg)
{
	struct mapped_files files;
	struct work w = { &files, pid, words, nr_words, find };
	const char *numbers = NULL, *text;
	struct helper h = { 0 };

	mapped_files_list(&files, pid);
	if (!files.nr || !helper_begin(&h, work, &w)) {
		say_none(&w, "the program's files are not known", fn, arg);
	} else if (!helper_wait(&h, PATIENCE_MS)) {
		say_none(&w, "its notes of probes take too long to read", fn, arg);
	} else if (!is_whole(&h)) {
		say_none(&w, "its notes of probes are damaged", fn, arg);
	} else {
		while ((numbers = helper_text(&h, numbers)) && (text = helper_text(&h, numbers))) {
			deliver(&w, numbers, text, fn, arg);
			numbers = text;
		}
	}
	helper_end(&h);
	mapped_files_free(&files);
}
