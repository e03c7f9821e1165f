// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes packets.  In each sequence of packets, a name, place or text of an annotation is written
 * once, in the first packet that uses it; later packets refer to it by number.  Texts that are
 * probably unique (ATTR_ONCE) are written into the event itself.
 */
#include <errno.h>

#include "cli/utf8.h"
#include "export/perfetto-private.h"

/* Text */

void packet_text(struct packet *p, unsigned field, const char *text)
{
	size_t nr = strlen(text);

	packet_tag(p, field, PACKET_BYTES);
	packet_varint(p, nr);
	if (!packet_room(p, nr))
		return;
	for (size_t i = 0; i < nr;) {
		size_t bytes = utf8_length(text + i);

		if (bytes <= 1) {
			char c = text[i];

			p->at[p->nr++] = !bytes || (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
			i++;
			continue;
		}
		memcpy(p->at + p->nr, text + i, bytes);
		p->nr += bytes;
		i += bytes;
	}
}

/* Packets */

void perfetto_put(struct perfetto *x)
{
	uint8_t head[11];
	struct packet h = { .at = head, .room = sizeof(head) };

	if (!x->p.has_failed) {
		packet_tag(&h, PB_TRACE_PACKET, PACKET_BYTES);
		packet_varint(&h, x->p.nr);
		if (fwrite_unlocked(head, 1, h.nr, x->out) != h.nr ||
		    fwrite_unlocked(x->p.at, 1, x->p.nr, x->out) != x->p.nr)
			x->error = x->error ? x->error : errno ? -errno : -EIO;
	}
	x->p.nr = 0;
}

int perfetto_error(const struct perfetto *x)
{
	if (x->p.has_failed || x->event.has_failed || x->interned.has_failed)
		return -ENOMEM;
	return x->error;
}

int64_t perfetto_ns(const struct perfetto *x, int64_t ns)
{
	return ns + x->base_ns > 0 ? ns + x->base_ns : 0;
}

void perfetto_sequence(struct perfetto *x, uint64_t default_track)
{
	size_t defaults, event;

	x->sequence++;
	table_free(&x->names);
	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	packet_u64(&x->p, PB_SEQUENCE_FLAGS, PB_CLEARED);
	packet_u64(&x->p, PB_FIRST_ON_SEQUENCE, 1);
	if (default_track) {
		defaults = packet_begin(&x->p, PB_DEFAULTS);
		event = packet_begin(&x->p, PB_DEFAULT_EVENT);
		packet_u64(&x->p, PB_TRACK_UUID, default_track);
		packet_end(&x->p, event);
		packet_end(&x->p, defaults);
	}
	perfetto_put(x);
}

uint64_t perfetto_track(unsigned kind, uint64_t number, unsigned lane)
{
	return (uint64_t)kind << 56 | number << 16 | lane;
}

void perfetto_describe(struct perfetto *x, uint64_t track, uint64_t parent, const char *name)
{
	size_t descriptor;

	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	descriptor = packet_begin(&x->p, PB_TRACK_DESCRIPTOR);
	packet_u64(&x->p, PB_UUID, track);
	packet_u64(&x->p, PB_PARENT, parent);
	packet_text(&x->p, PB_TRACK_NAME, name);
	packet_end(&x->p, descriptor);
	perfetto_put(x);
}

/* Interning */

/*
 * Returns the number for the key (a, b), unique within a kind (a field of InternedData); 0: out of
 * memory.
 */
static uint64_t number_of(struct perfetto *x, unsigned kind, uint64_t a, uint64_t b, bool *is_new)
{
	uint64_t iid = table_get(&x->names, a, b, kind, is_new);

	if (!iid)
		x->interned.has_failed = true;
	return iid;
}

static void put_interned(struct perfetto *x, unsigned kind, uint64_t iid, const char *text)
{
	size_t entry = packet_begin(&x->interned, kind);

	packet_u64(&x->interned, 1, iid);
	packet_text(&x->interned, 2, text);
	packet_end(&x->interned, entry);
}

static uint64_t intern_as(struct perfetto *x, unsigned kind, uint64_t key, const char *text)
{
	bool is_new = false;
	uint64_t iid = number_of(x, kind, key, 0, &is_new);

	if (is_new)
		put_interned(x, kind, iid, text);
	return iid;
}

static uint64_t intern(struct perfetto *x, unsigned kind, const char *text)
{
	int64_t number = intern_string(&x->texts, text);

	if (number < 0)
		x->interned.has_failed = true;
	return intern_as(x, kind, number, text);
}

/*
 * Literals, and texts that belong to the model, are identified by their address, which does not
 * change.
 */
static uint64_t intern_own(struct perfetto *x, unsigned kind, const char *text)
{
	return intern_as(x, kind, (uintptr_t)text, text);
}

/* Events */

void perfetto_event(struct perfetto *x, unsigned type, uint64_t track)
{
	x->event.nr = 0;
	x->interned.nr = 0;
	packet_u64(&x->event, PB_TYPE, type);
	if (track)
		packet_u64(&x->event, PB_TRACK_UUID, track);
}

void perfetto_name(struct perfetto *x, const char *category, const char *name, bool instances)
{
	packet_u64(&x->event, PB_CATEGORY_IID, intern_own(x, PB_CATEGORIES, category));
	packet_u64(&x->event, PB_NAME_IID, (instances ? intern_own : intern)(x, PB_NAMES, name));
}

/* Writes the function's source location. */
void perfetto_location(struct perfetto *x, const struct symbol *s)
{
	bool is_new = false;
	uint64_t iid;
	size_t entry;

	if (!s || !*s->func_file)
		return;
	iid = number_of(x, PB_LOCATIONS, (uintptr_t)s, 0, &is_new);
	if (is_new) {
		entry = packet_begin(&x->interned, PB_LOCATIONS);
		packet_u64(&x->interned, 1, iid);
		packet_text(&x->interned, 2, s->func_file);
		packet_text(&x->interned, 3, s->function);
		packet_u64(&x->interned, 4, s->func_line);
		packet_end(&x->interned, entry);
	}
	packet_u64(&x->event, PB_LOCATION_IID, iid);
}

void perfetto_flow(struct perfetto *x, uint64_t flow, bool is_last)
{
	packet_fixed64(&x->event, is_last ? PB_LAST_FLOW : PB_FLOW, flow);
}

static uint64_t intern_place(struct perfetto *x, const char *file, unsigned line)
{
	char text[EXPORT_NAME];
	bool is_new = false;
	/* b is 0 for texts that are not places, so it must not be 0 here. */
	uint64_t iid = number_of(x, PB_ANNOTATION_TEXTS, (uintptr_t)file, line + 1ULL, &is_new);

	if (is_new) {
		snprintf(text, sizeof(text), "%s:%u", file, line);
		put_interned(x, PB_ANNOTATION_TEXTS, iid, text);
	}
	return iid;
}

static void put_annotation(struct perfetto *x, const struct attr *a)
{
	size_t annotation = packet_begin(&x->event, PB_ANNOTATION);

	packet_u64(&x->event, PB_A_NAME_IID, intern_own(x, PB_ANNOTATION_NAMES, a->name));
	switch (a->type) {
	case ATTR_I64:
		packet_u64(&x->event, PB_A_INT, a->number);
		break;
	case ATTR_U64:
	case ATTR_REQUEST:
		packet_u64(&x->event, PB_A_UINT, a->number);
		break;
	case ATTR_HEX:
		packet_u64(&x->event, PB_A_POINTER, a->number);
		break;
	case ATTR_BOOL:
		packet_u64(&x->event, PB_A_BOOL, a->number);
		break;
	case ATTR_PLACE:
		packet_u64(&x->event, PB_A_TEXT_IID, intern_place(x, a->text, a->number));
		break;
	case ATTR_NAME:
		packet_u64(&x->event, PB_A_TEXT_IID, intern_own(x, PB_ANNOTATION_TEXTS, a->text));
		break;
	case ATTR_TEXT:
	case ATTR_THREAD:
		packet_u64(&x->event, PB_A_TEXT_IID, intern(x, PB_ANNOTATION_TEXTS, a->text));
		break;
	case ATTR_ONCE:
		packet_text(&x->event, PB_A_TEXT, a->text);
		break;
	}
	packet_end(&x->event, annotation);
}

void perfetto_say(struct perfetto *x, const struct attrs *attrs, bool is_function)
{
	for (size_t i = 0; i < attrs->nr; i++)
		if (!is_function || attrs->at[i].type != ATTR_REQUEST)
			put_annotation(x, &attrs->at[i]);
}

void perfetto_put_event(struct perfetto *x, int64_t at)
{
	packet_u64(&x->p, PB_TIMESTAMP, at);
	packet_u64(&x->p, PB_SEQUENCE, x->sequence);
	packet_u64(&x->p, PB_SEQUENCE_FLAGS, PB_NEEDS_STATE);
	if (x->interned.nr)
		packet_bytes(&x->p, PB_INTERNED, x->interned.at, x->interned.nr);
	packet_bytes(&x->p, PB_TRACK_EVENT, x->event.at, x->event.nr);
	perfetto_put(x);
}
