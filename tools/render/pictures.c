// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the printer of a picture, and makes names for all formats. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/utf8.h"
#include "render/pictures.h"
#include "render/text.h"

#define BINS_DATA	1000	/* in JSON */

static const char *function_words(enum anomaly a)
{
	return a == ANOMALY_SLOWER ? ": slower" : a == ANOMALY_MORE ? ": called more often" :
	       a == ANOMALY_UNEXPECTED ? ": not called by most" : "";
}

const char *picture_cause(const struct why *w, const struct why_cause *c, char *buf)
{
	const char *place = path_name(w->p, c->path), *words = leaf_kinds[c->kind].words;
	bool is_function = c->path && w->p->paths[c->path].func;
	char label[TEXT_ROOM], clean[TEXT_ROOM];

	text_clean(c->label, label);
	if (c->kind == LEAF_FUNCTION) {
		/*
		 * An inner node (whose leaf is UINT32_MAX) is a function with its calls, a queue or
		 * a class.
		 */
		snprintf(buf, TEXT_ROOM, "%.300s%s%s%s%s", *label ? label : text_clean(place, clean),
			 is_function && *label && label[strlen(label) - 1] != ')' ? "()" : "",
			 is_function && c->leaf == UINT32_MAX ? " with its calls" : "",
			 function_words(c->anomaly), c->has_faults ? ", with page faults" : "");
		return buf;
	}
	if (c->kind == LEAF_BEHIND && !*label)
		words = "behind other requests";
	/* The label is the queue, which the place contains, too. */
	if (c->kind == LEAF_QUEUE && *place) {
		words = "";
		*label = '\0';
	}
	snprintf(buf, TEXT_ROOM, "%s%s%.150s%s%.150s%s", words, *label ? " " : "", label,
		 !*place ? "" : *words ? " in " : "in ", text_clean(place, clean),
		 is_function ? "()" : "");
	if (*c->call)
		snprintf(buf + strlen(buf), TEXT_ROOM - strlen(buf), " (%.150s)", text_clean(c->call, clean));
	return buf;
}

const char *picture_context(const struct cpu_context *c)
{
	return c->kind == CONTEXT_TASK && c->name && *c->name ? c->name : context_kinds[c->kind].share;
}

/*
 * Replaces bytes that are not UTF-8, control characters, and ';', which would end a name, by '?'.
 */
static void clean_frame_name(char *s)
{
	for (; *s; s++) {
		unsigned n = utf8_length(s);

		if (!n || *s == ';' || utf8_is_control(s, n))
			memset(s, '?', n ? n : 1);
		s += n ? n - 1 : 0;
	}
}

const char *picture_frame(const struct blametree_frame *f, char *buf)
{
	if (f->kind == LEAF_FUNCTION || f->kind == LINK_CLASS)
		snprintf(buf, TEXT_ROOM, "%.500s", f->name);
	else if (f->kind == LEAF_QUEUE)
		snprintf(buf, TEXT_ROOM, "[%.490s]", f->name);
	else
		snprintf(buf, TEXT_ROOM, "[%s%s%.420s]", link_kind_name(f->kind), *f->name ? " " : "", f->name);
	clean_frame_name(buf);
	return buf;
}

/* Returns what the thread or task did, to be written after its name. */
static const char *blamed_words(const struct blamed *b, char *buf)
{
	char call[TEXT_ROOM];

	*buf = '\0';
	switch (b->kind) {
	case LINK_HELD_BY:
		return ", which held a lock";
	case LINK_WOKEN_BY:
		return ", which woke them when it was done";
	case LEAF_IO: case LEAF_SLEEP:
		snprintf(buf, TEXT_ROOM, ", %s%s%.150s%s", b->kind == LEAF_IO ? "in I/O" : "asleep",
			 *b->call ? " (" : "", text_clean(b->call, call), *b->call ? ")" : "");
		return buf;
	case LINK_PAGE_FAULTS:
		return ", with page faults";
	default:
		return "";
	}
}

static void blamed_thread(const struct blamed *b, const char *of, char *buf)
{
	char thread[TEXT_ROOM];

	*buf = '\0';
	if (!*b->thread && !b->nr_threads)
		return;
	text_clean(b->thread, thread);
	if (b->tid)
		snprintf(buf, TEXT_ROOM, "%s thread %.100s%s%" PRIu32, of, thread, *thread ? " " : "", b->tid);
	else
		snprintf(buf, TEXT_ROOM, "%s %zu threads%s%.100s", of, b->nr_threads, *thread ? " " : "", thread);
}

const char *picture_blamed(const struct blamed *b, char *buf)
{
	char name[TEXT_ROOM], thread[TEXT_ROOM], words[TEXT_ROOM];
	bool is_function = b->kind == LEAF_FUNCTION || b->kind == LINK_PAGE_FAULTS || b->kind == LEAF_IO ||
			   b->kind == LEAF_SLEEP || *b->file;

	if (b->kind == LINK_NOT_FOLLOWED)
		return "not known: the wait could not be followed";
	if (b->kind == LINK_UNEXPLAINED)
		return "not explained by any cause";
	blamed_thread(b, is_function || b->kind >= NR_LEAF_KINDS ? " of" : ", in", thread);
	if (is_function)
		snprintf(buf, TEXT_ROOM, "%.200s%s%s%.60s%.120s%.200s", text_clean(b->label, name),
			 *b->label ? "()" : "a place that is not known", *b->file ? " " : "", b->file, thread,
			 blamed_words(b, words));
	else if (b->kind < NR_LEAF_KINDS)
		snprintf(buf, TEXT_ROOM, "%.300s%.120s",
			 leaf_kind_say(b->kind, text_clean(b->label, name), words, sizeof(words)), thread);
	else
		snprintf(buf, TEXT_ROOM, "%.200s%.120s%.200s", text_clean(b->label, name),
			 strcmp(b->label, b->thread) ? thread : "", blamed_words(b, words));
	return buf;
}

union built {
	struct balloons balloons;
	struct boxes boxes;
	struct queues queues;
	struct cpus cpus;
	struct blametree blame;
};

static int build(const struct render *r, enum picture which, const struct why *w, union built *b)
{
	size_t bins = r->form == RENDER_TEXT ? text_balloons_columns(r) : BINS_DATA;

	switch (which) {
	case PICTURE_BALLOONS:
		return balloons_build(w, bins, &b->balloons);
	case PICTURE_BOXES:
		return boxes_build(w, &b->boxes);
	case PICTURE_QUEUES:
		return queues_build(w, &b->queues);
	case PICTURE_CPUS:
		return cpus_build(w, &b->cpus);
	case PICTURE_BLAME:
		return blametree_build(w, &b->blame);
	default:
		return -EINVAL;
	}
}

static void free_built(enum picture which, union built *b)
{
	switch (which) {
	case PICTURE_BALLOONS:
		balloons_free(&b->balloons);
		break;
	case PICTURE_BOXES:
		boxes_free(&b->boxes);
		break;
	case PICTURE_QUEUES:
		queues_free(&b->queues);
		break;
	case PICTURE_CPUS:
		cpus_free(&b->cpus);
		break;
	default:
		blametree_free(&b->blame);
	}
}

int picture_show(const struct render *r, enum picture which, enum picture_form form,
		 const struct why *w)
{
	static const struct {
		enum document document;
		void (*text)(const struct render *r, const void *picture);
	} forms[NR_PICTURES] = {
		[PICTURE_BALLOONS] = { DOCUMENT_WHY_BALLOONS, text_balloons },
		[PICTURE_BOXES] = { DOCUMENT_WHY_BOXES, text_boxes },
		[PICTURE_QUEUES] = { DOCUMENT_WHY_QUEUES, text_queues },
		[PICTURE_CPUS] = { DOCUMENT_WHY_CPUS, text_cpus },
		[PICTURE_BLAME] = { DOCUMENT_WHY_BLAME, text_blame },
	};
	bool is_sums = form == PICTURE_SUMS;
	const struct printer printer = {
		forms[which].document, is_sums ? picture_sums : picture_columns[which],
		is_sums ? text_blamed : forms[which].text, 0
	};
	union built b;
	int ret = build(r, which, w, &b);

	if (ret)
		return ret;
	if (form == PICTURE_FOLDED)
		folded_blame(r, &b.blame);
	else
		render_show(r, &printer, &(struct render_picture){ w, &b });
	free_built(which, &b);
	return 0;
}
