// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses what pictures.h offers; names that all forms share. */
#include <errno.h>
#include <string.h>

#include "cli/document.h"
#include "cli/utf8.h"
#include "render/pictures.h"
#include "render/text.h"

#define BINS_DATA	1000	/* of JSON */

static const char *function_words(enum anomaly a)
{
	return a == ANOMALY_SLOWER ? ": slower" : a == ANOMALY_MORE ? ": called more often" :
	       a == ANOMALY_UNEXPECTED ? ": not called by most" : "";
}

const char *picture_cause(const struct why *w, const struct why_cause *c, char *buf)
{
	const char *place = path_name(w->p, c->path), *words = leaf_kind_words(c->kind);
	bool is_function = c->path && w->p->paths[c->path].func;
	char label[TEXT_ROOM], clean[TEXT_ROOM];

	text_clean(c->label, label);
	if (c->kind == LEAF_FUNCTION) {
		/* An inner node may be a queue, or all of a class; else what its calls leave over. */
		snprintf(buf, TEXT_ROOM, "%.300s%s%s%s%s", *label ? label : text_clean(place, clean),
			 is_function && *label && label[strlen(label) - 1] != ')' ? "()" : "",
			 is_function && c->leaf == UINT32_MAX ? " with its calls" : "",
			 function_words(c->anomaly), c->has_faults ? ", with page faults" : "");
		return buf;
	}
	if (c->kind == LEAF_BEHIND && !*label)
		words = "behind other requests";
	/* Its label is the queue, and that is where it is. */
	if (c->kind == LEAF_QUEUE && *place) {
		words = "";
		*label = '\0';
	}
	snprintf(buf, TEXT_ROOM, "%s%s%.200s%s%.200s%s", words, *label ? " " : "", label,
		 !*place ? "" : *words ? " in " : "in ", text_clean(place, clean),
		 is_function ? "()" : "");
	return buf;
}

const char *picture_context(const struct cpu_context *c)
{
	static const char *const names[] = {
		[PARTY_NONE] = "others", [PARTY_TASK] = "others", [PARTY_IDLE] = "idle",
		[PARTY_HIDDEN] = "another program (hidden)", [PARTY_HARDIRQ] = "interrupts",
		[PARTY_SOFTIRQ] = "soft interrupts",
	};

	return c->kind == PARTY_TASK && c->name && *c->name ? c->name : names[c->kind];
}

/* What would end a name or a line of folded stacks is a '?'. */
static void fold_name(char *s)
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
	if (!strcmp(f->kind, "function") || !strcmp(f->kind, "class"))
		snprintf(buf, TEXT_ROOM, "%.500s", f->name);
	else if (!strcmp(f->kind, "queue"))
		snprintf(buf, TEXT_ROOM, "[%.490s]", f->name);
	else
		snprintf(buf, TEXT_ROOM, "[%.60s%s%.420s]", f->kind, *f->name ? " " : "", f->name);
	fold_name(buf);
	return buf;
}

static void begin_document(struct json *j, const struct render *r, enum document which)
{
	json_init(j, r->out);
	document_begin(j, which);
}

static void end_document(struct json *j)
{
	json_object_end(j);
	json_end(j);
}

static int show_balloons(const struct render *r, enum picture_form form, const struct why *w)
{
	struct balloons b;
	struct json j;
	int ret = balloons_build(w, form == PICTURE_TEXT ? text_balloons_columns(r) : BINS_DATA, &b);

	if (ret)
		return ret;
	if (form == PICTURE_JSON) {
		begin_document(&j, r, DOCUMENT_WHY_BALLOONS);
		json_put_balloons(&j, "balloons", w, &b);
		end_document(&j);
	} else if (form == PICTURE_CSV) {
		csv_balloons(r, w, &b);
	} else {
		text_balloons(r, w, &b);
	}
	balloons_free(&b);
	return 0;
}

static int show_boxes(const struct render *r, enum picture_form form, const struct why *w)
{
	struct boxes b;
	struct json j;
	int ret = boxes_build(w, &b);

	if (ret)
		return ret;
	if (form == PICTURE_JSON) {
		begin_document(&j, r, DOCUMENT_WHY_BOXES);
		json_put_boxes(&j, "boxes", w, &b);
		end_document(&j);
	} else if (form == PICTURE_CSV) {
		csv_boxes(r, w, &b);
	} else {
		text_boxes(r, w, &b);
	}
	boxes_free(&b);
	return 0;
}

static int show_queues(const struct render *r, enum picture_form form, const struct why *w,
		       const struct partition *against)
{
	struct queues q;
	struct json j;
	int ret = queues_build(w, against, &q);

	if (ret)
		return ret;
	if (form == PICTURE_JSON) {
		begin_document(&j, r, DOCUMENT_WHY_QUEUES);
		json_put_queues(&j, "queues", w, &q);
		end_document(&j);
	} else if (form == PICTURE_CSV) {
		csv_queues(r, w, &q);
	} else {
		text_queues(r, w, &q);
	}
	queues_free(&q);
	return 0;
}

static int show_cpus(const struct render *r, enum picture_form form, const struct why *w)
{
	struct cpus c;
	struct json j;
	int ret = cpus_build(w, &c);

	if (ret)
		return ret;
	if (form == PICTURE_JSON) {
		begin_document(&j, r, DOCUMENT_WHY_CPUS);
		json_put_cpus(&j, "cpus", &c);
		end_document(&j);
	} else if (form == PICTURE_CSV) {
		csv_cpus(r, &c);
	} else {
		text_cpus(r, w, &c);
	}
	cpus_free(&c);
	return 0;
}

static int show_blame(const struct render *r, enum picture_form form, const struct why *w)
{
	struct blametree b;
	struct json j;
	int ret = blametree_build(w, &b);

	if (ret)
		return ret;
	if (form == PICTURE_JSON) {
		begin_document(&j, r, DOCUMENT_WHY_BLAME);
		json_put_blame(&j, "blame", &b);
		end_document(&j);
	} else if (form == PICTURE_CSV) {
		csv_blame(r, &b);
	} else if (form == PICTURE_FOLDED) {
		folded_blame(r, &b);
	} else {
		text_blame(r, w, &b);
	}
	blametree_free(&b);
	return 0;
}

int picture_show(const struct render *r, enum picture which, enum picture_form form,
		 const struct why *w, const struct partition *against)
{
	switch (which) {
	case PICTURE_BALLOONS:
		return show_balloons(r, form, w);
	case PICTURE_BOXES:
		return show_boxes(r, form, w);
	case PICTURE_QUEUES:
		return show_queues(r, form, w, against);
	case PICTURE_CPUS:
		return show_cpus(r, form, w);
	case PICTURE_BLAME:
		return show_blame(r, form, w);
	default:
		return -EINVAL;
	}
}
