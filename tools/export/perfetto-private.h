/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declarations that only the files that write Perfetto traces use, grouped by file.
 *
 * Numbers of fields and enums are those of the public schema,
 * protos/perfetto/trace/ of the Perfetto project.
 */
#ifndef EXPORT_PERFETTO_PRIVATE_H
#define EXPORT_PERFETTO_PRIVATE_H

#include <stdlib.h>
#include <string.h>

#include "facts/lockset.h"
#include "base/spill.h"
#include "facts/ticks.h"
#include "export/attrs.h"
#include "export/ends.h"
#include "export/export.h"
#include "export/handover.h"
#include "export/packet.h"
#include "base/intern.h"
#include "export/table.h"

enum {
	PB_TRACE_PACKET = 1,
	/* TracePacket */
	PB_FTRACE_EVENTS = 1, PB_CLOCK_SNAPSHOT = 6, PB_TIMESTAMP = 8, PB_SEQUENCE = 10,
	PB_TRACK_EVENT = 11, PB_INTERNED = 12, PB_SEQUENCE_FLAGS = 13, PB_DEFAULTS = 59,
	PB_TRACK_DESCRIPTOR = 60, PB_FIRST_ON_SEQUENCE = 87,
	PB_CLEARED = 1, PB_NEEDS_STATE = 2,
	/* TracePacketDefaults */
	PB_DEFAULT_EVENT = 11,
	/* TrackDescriptor */
	PB_UUID = 1, PB_TRACK_NAME = 2, PB_PROCESS = 3, PB_THREAD = 4, PB_PARENT = 5, PB_COUNTER = 8,
	/* TrackEvent */
	PB_CATEGORY_IID = 3, PB_ANNOTATION = 4, PB_TYPE = 9, PB_NAME_IID = 10, PB_TRACK_UUID = 11,
	PB_COUNTER_VALUE = 30, PB_LOCATION_IID = 34, PB_FLOW = 47, PB_LAST_FLOW = 48,
	PB_CORRELATION = 52,
	PB_BEGIN = 1, PB_END = 2, PB_INSTANT = 3, PB_COUNT = 4,
	/* InternedData; its messages have iid = 1; name, text or file name = 2 */
	PB_CATEGORIES = 1, PB_NAMES = 2, PB_ANNOTATION_NAMES = 3, PB_LOCATIONS = 4,
	PB_ANNOTATION_TEXTS = 29,
	/* DebugAnnotation */
	PB_A_NAME_IID = 1, PB_A_BOOL = 2, PB_A_UINT = 3, PB_A_INT = 4, PB_A_TEXT = 6, PB_A_POINTER = 7,
	PB_A_TEXT_IID = 17,
};

/* Three numbers identify a track: its kind, its number within the kind, and its lane. */
enum { TRACK_PROCESS = 1, TRACK_THREAD, TRACK_LANE, TRACK_CLASS, TRACK_QUEUE, TRACK_LOCK };

struct perfetto_class {
	const char *name;
	struct export_lanes lanes;
};

struct perfetto {
	struct model *m;
	const struct export_options *o;
	FILE *out;
	uint32_t pid;
	int64_t base_ns;		/* output time at the start of the recording */
	struct packet p, event, interned; /* messages that are being encoded */
	uint32_t sequence;		/* the number that was used last */
	uint64_t nr_flows;
	int error;			/* first -errno of writing the output; 0: none */

	/* perfetto-event.c: texts of the whole output, and numbers of the current sequence */
	struct intern texts;
	struct table names;		/* numbers of texts by kind, and of places in the source */
	/* perfetto-thread.c: of the current thread */
	uint64_t nr_thread;
	struct export_ends ends;	/* ends of open segments; track: the track of the segment */
	int64_t now;			/* output time (ns) up to which events were written */
	struct export_lanes lanes[NR_SEGMENT_KINDS];
	struct handover handover;
	/* perfetto-class.c */
	struct perfetto_class *classes;
	size_t nr_classes;
	bool has_requests;
	struct spill counts;
	struct table counted;		/* numbers of locks and queues with counters */
	/* perfetto-sched.c */
	struct spill sched;
};

/* perfetto-event.c: writes packets and the data to which they refer */
void perfetto_sequence(struct perfetto *x, uint64_t default_track);
uint64_t perfetto_track(unsigned kind, uint64_t number, unsigned lane);
void perfetto_describe(struct perfetto *x, uint64_t track, uint64_t parent, const char *name);
int64_t perfetto_ns(const struct perfetto *x, int64_t ns);
/* Begins an event.  Its attributes follow, and then perfetto_put_event() writes it. */
void perfetto_event(struct perfetto *x, unsigned type, uint64_t track);
/*
 * category must be a literal.  The last argument says whether name is valid as long as the model.
 */
void perfetto_name(struct perfetto *x, const char *category, const char *name, bool instances);
void perfetto_location(struct perfetto *x, const struct symbol *s);
void perfetto_flow(struct perfetto *x, uint64_t flow, bool is_last);
/*
 * Writes the attributes.  is_function: the request is left out, because it is the correlation id.
 */
void perfetto_say(struct perfetto *x, const struct attrs *attrs, bool is_function);
void perfetto_put_event(struct perfetto *x, int64_t at);
/* Writes the content of x->p as a packet of the trace. */
void perfetto_put(struct perfetto *x);
int perfetto_error(const struct perfetto *x);

/* perfetto-thread.c */
int perfetto_on_thread(void *arg, const struct thread *t);
int perfetto_on_segment(void *arg, const struct segment *s);
int perfetto_end_thread(struct perfetto *x);

/* Writes the ends of segments up to this output time (ns). */
void perfetto_until(struct perfetto *x, int64_t at);
/* Writes the event that begins a slice, and stores its end. */
int perfetto_begin(struct perfetto *x, uint64_t track, int64_t start, int64_t end);

/* perfetto-class.c: requests in lanes of their class, and counters */
int perfetto_on_request(void *arg, const struct instance *instance);
int perfetto_end_requests(struct perfetto *x);
int perfetto_count(struct perfetto *x, const struct segment *s);
int perfetto_end_counts(struct perfetto *x);

/* perfetto-sched.c: which tasks ran on the CPUs */
int perfetto_on_run(void *arg, const struct tracks_run *r);
int perfetto_on_wakeup(void *arg, const struct tracks_wakeup *w);
int perfetto_end_sched(struct perfetto *x);

#endif
