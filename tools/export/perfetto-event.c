// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packets, and what they refer to by number: names, annotations and places are
 * told once in each sequence of packets, in the packet that uses them first.
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

/* The number of a text among those of its kind (a field of InternedData). */
static uint64_t intern(struct perfetto *x, unsigned kind, const char *text)
{
	bool is_new = false;
	int64_t number = intern_string(&x->texts, text);
	uint64_t iid = number < 0 ? 0 : table_get(&x->names, number, 0, kind, &is_new);
	size_t entry;

	if (!iid)
		x->interned.has_failed = true;
	if (is_new) {
		entry = packet_begin(&x->interned, kind);
		packet_u64(&x->interned, 1, iid);
		packet_text(&x->interned, 2, text);
		packet_end(&x->interned, entry);
	}
	return iid;
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

void perfetto_name(struct perfetto *x, const char *category, const char *name)
{
	packet_u64(&x->event, PB_CATEGORY_IID, intern(x, PB_CATEGORIES, category));
	packet_u64(&x->event, PB_NAME_IID, intern(x, PB_NAMES, name));
}

/* Where the function is defined. */
void perfetto_location(struct perfetto *x, const struct symbol *s)
{
	bool is_new = false;
	uint64_t iid;
	size_t entry;

	if (!s || !*s->func_file)
		return;
	iid = table_get(&x->names, (uintptr_t)s, 0, PB_LOCATIONS, &is_new);
	if (!iid)
		x->interned.has_failed = true;
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

static size_t annotation(struct perfetto *x, const char *name)
{
	uint64_t iid = intern(x, PB_ANNOTATION_NAMES, name);
	size_t a = packet_begin(&x->event, PB_ANNOTATION);

	packet_u64(&x->event, PB_A_NAME_IID, iid);
	return a;
}

#define SAY(suffix, type, put, field)						\
	void perfetto_say_##suffix(struct perfetto *x, const char *name, type value) \
	{									\
		size_t a = annotation(x, name);					\
										\
		put(&x->event, field, value);					\
		packet_end(&x->event, a);					\
	}

SAY(u64, uint64_t, packet_u64, PB_A_UINT)
SAY(i64, int64_t, packet_i64, PB_A_INT)
SAY(bool, bool, packet_u64, PB_A_BOOL)
SAY(pointer, uint64_t, packet_u64, PB_A_POINTER)

void perfetto_say_text(struct perfetto *x, const char *name, const char *text, bool is_common)
{
	uint64_t iid = is_common ? intern(x, PB_ANNOTATION_TEXTS, text) : 0;
	size_t a = annotation(x, name);

	if (is_common)
		packet_u64(&x->event, PB_A_TEXT_IID, iid);
	else
		packet_text(&x->event, PB_A_TEXT, text);
	packet_end(&x->event, a);
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
