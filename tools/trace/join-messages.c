// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds for each request the other request that has sent the message that started it, from the
 * runtime's rows of messages.  Both ends of a connection have recorded the same addresses, and
 * count the same bytes.  So a request that begins with a certain byte of a connection was started
 * by the request that has sent this byte, whatever the clocks say.
 *
 * The sending of a message precedes its arrival, which bounds how far two clocks can be apart
 * (join-links.c).  When the clocks are known, pairs of messages that contradict them are refused.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/ldb.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "base/sort.h"
#include "trace/join-private.h"

/* A message, as one end of its connection has recorded it. */
struct end {
	/* addresses of the connection: the client has made it, and the server has accepted it */
	uint64_t client_hi, client_lo, server_hi, server_lo, scope;
	uint32_t client_port, server_port;
	uint32_t flags, part, serial, bytes;
	uint64_t offset, id;
	/*
	 * in flows.sent: the greatest offset at which this message, or one before it in the flow,
	 * ends
	 */
	uint64_t reach;
	int64_t tick;		/* ticks of the part */
	int64_t last;		/* tick of the last message that this end has recorded */
	bool is_client, is_sent;
	/* its part is a joined trace, and has an ASKED row for the message */
	bool is_joined;
};

struct messages {
	struct join *j;
	uint32_t part;		/* the part that is read */
	struct end *ends;
	size_t nr, room;
	/* ASKED rows of the part that is read, sorted by id, tick */
	struct ldb_row_asked *asked;
	size_t nr_asked, room_asked;
	join_pair_fn *fn;
	void *arg;
	bool has_clocks;
	bool is_one;		/* these addresses were used for one connection only */
	struct join_messages *count;
};

COMPARE(compare_asked, struct ldb_row_asked, UP(id) UP(tick))

static int add_asked(void *arg, const struct reader_rows *rows)
{
	struct messages *m = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++)
		rc = array_push(m->asked, m->nr_asked, m->room_asked, rows->asked[i]);
	return rc;
}

static bool is_joined(const struct messages *m, const struct ldb_row_message *r)
{
	size_t n = search_by(m->asked, m->nr_asked, a, a->id < r->id || (a->id == r->id && a->tick < r->tick));

	return n < m->nr_asked && m->asked[n].id == r->id && m->asked[n].tick == r->tick;
}

static int add_ends(void *arg, const struct reader_rows *rows)
{
	struct messages *m = arg;
	int rc = 0;

	for (size_t i = 0; i < rows->nr && !rc; i++) {
		const struct ldb_row_message *r = &rows->message[i];
		bool is_client = r->flags & LDB_MESSAGE_F_CLIENT;
		struct end e = {
			.flags = r->flags, .part = m->part, .serial = r->serial, .bytes = r->bytes,
			.offset = r->offset, .id = r->id, .tick = r->tick, .scope = r->scope,
			.client_hi = is_client ? r->own_hi : r->peer_hi, .client_lo = is_client ? r->own_lo : r->peer_lo,
			.server_hi = is_client ? r->peer_hi : r->own_hi, .server_lo = is_client ? r->peer_lo : r->own_lo,
			.client_port = is_client ? r->own_port : r->peer_port,
			.server_port = is_client ? r->peer_port : r->own_port,
			.is_client = is_client, .is_sent = r->flags & LDB_MESSAGE_F_SENT, .is_joined = is_joined(m, r),
		};

		rc = array_push(m->ends, m->nr, m->room, e);
	}
	return rc;
}

static int read_part(struct messages *m)
{
	struct reader *r = m->j->parts[m->part].r;
	int rc;

	m->nr_asked = 0;
	rc = reader_each(r, LDB_BLK_ASKED, NULL, add_asked, m);
	sort_by(m->asked, m->nr_asked, compare_asked);
	return rc ? rc : reader_each(r, LDB_BLK_MESSAGE, NULL, add_ends, m);
}

#define CONNECTION	UP(client_hi) UP(client_lo) UP(server_hi) UP(server_lo) UP(scope) \
			UP(client_port) UP(server_port)

COMPARE(compare_connections, struct end, CONNECTION)
COMPARE(compare_ways, struct end, CONNECTION UP(part) UP(serial) UP(is_client) UP(is_sent) UP(tick) UP(flags))
COMPARE(compare_flags, struct end, CONNECTION UP(flags) UP(offset) UP(tick) UP(part))
/* for messages of one connection with the same flags */
COMPARE(compare_ids, struct end, UP(part) UP(serial) UP(id) UP(tick))
COMPARE(compare_offsets, struct end, UP(part) UP(serial) UP(offset) UP(tick))

/* Both ends of a connection may have the same serial number if the part is a joined trace. */
static bool is_same_end(const struct end *a, const struct end *b)
{
	return !compare_connections(a, b) && a->part == b->part && a->serial == b->serial &&
	       a->is_client == b->is_client;
}

/* Sets `last` of each message.  The rows of an end are consecutive. */
static void set_last(struct messages *m)
{
	size_t from = 0;

	for (size_t i = 0; i < m->nr; i++) {
		struct end *e = &m->ends[i];

		if (!i || !is_same_end(e, e - 1))
			from = i;
		m->ends[from].last = i == from ? e->tick : max(m->ends[from].last, e->tick);
	}
	for (size_t i = 1; i < m->nr; i++)
		if (is_same_end(&m->ends[i], &m->ends[i - 1]))
			m->ends[i].last = m->ends[i - 1].last;
}

/*
 * A row F_WRONG says that an end has counted the bytes of a direction wrong.  Drops all messages of
 * that end and direction since its last row F_RIGHT, and the F_WRONG and F_RIGHT rows themselves.
 */
static void drop_wrong(struct messages *m)
{
	size_t kept = 0, right = 0;

	for (size_t i = 0; i < m->nr; i++) {
		const struct end *e = &m->ends[i];

		if (!i || !is_same_end(&m->ends[i - 1], e) || m->ends[i - 1].is_sent != e->is_sent)
			right = kept;
		if (e->flags & LDB_MESSAGE_F_WRONG) {
			while (kept > right)
				m->count->unknown += !m->ends[--kept].flags;
		} else if (e->flags & LDB_MESSAGE_F_RIGHT) {
			right = kept;
		} else {
			m->ends[kept++] = *e;
		}
	}
	m->nr = kept;
}

/* The messages of a connection with the same flags. */
struct flow {
	struct end *at;
	size_t nr;
};

static struct flow flow_of(struct end *ends, size_t nr, uint32_t flags)
{
	size_t from = search_by(ends, nr, e, e->flags < flags), to = search_by(ends, nr, e, e->flags <= flags);

	return (struct flow){ ends + from, to - from };
}

/* The messages that both ends of a connection have sent and received. */
struct flows {
	struct flow sent;	/* messages that clients have sent, by offset */
	struct flow came;	/* messages that servers have received, by offset */
	struct flow answers;	/* answers that servers have sent, by end, request and time */
	struct flow answered;	/* answers that clients have received, by end and offset */
};

static struct flows flows_of(struct end *ends, size_t nr)
{
	struct flows f = {
		.sent = flow_of(ends, nr, LDB_MESSAGE_F_SENT | LDB_MESSAGE_F_CLIENT), .came = flow_of(ends, nr, 0),
		.answers = flow_of(ends, nr, LDB_MESSAGE_F_SENT), .answered = flow_of(ends, nr, LDB_MESSAGE_F_CLIENT),
	};
	uint64_t reach = 0;

	for (size_t i = 0; i < f.sent.nr; i++) {
		struct end *e = &f.sent.at[i];

		if (__builtin_add_overflow(e->offset, e->bytes, &e->reach))
			e->reach = UINT64_MAX;
		reach = e->reach = max(reach, e->reach);
	}
	sort_by(f.answers.at, f.answers.nr, compare_ids);
	sort_by(f.answered.at, f.answered.nr, compare_offsets);
	return f;
}

static int64_t tick_of(const struct messages *m, const struct end *e)
{
	return join_tick(&m->j->parts[e->part], e->tick);
}

#define SLACK_UNKNOWN	(INT64_MAX / 4)

/* Returns by how many ticks the clocks of the two parts may differ, or SLACK_UNKNOWN. */
static int64_t slack_of(const struct messages *m, uint32_t a, uint32_t b)
{
	const uint32_t parts[] = { a, b };
	uint64_t slack = LDB_KERNEL_SLACK;

	for (unsigned i = 0; i < 2; i++) {
		const struct join_part *p = &m->j->parts[parts[i]];

		if (!p->is_same_clock && __builtin_add_overflow(slack, p->clock_err, &slack))
			slack = SLACK_UNKNOWN;
	}
	return min(slack, (uint64_t)SLACK_UNKNOWN);
}

/*
 * Returns true if time a may have been before time b, whose difference may be wrong by `slack`.  In
 * a damaged trace the times may be any numbers.
 */
static bool is_before(int64_t a, int64_t b, int64_t slack)
{
	int64_t earliest;

	return __builtin_sub_overflow(a, slack, &earliest) || earliest <= b;
}

/*
 * Returns true if the message may have been received at the time that the other end has recorded.
 * If several connections had the same addresses, the one of `sent` must have been in use at that
 * time.  So a message may be refused that was still unanswered when the recording ended.
 */
static bool is_in_time(const struct messages *m, const struct end *sent, const struct end *came)
{
	int64_t slack = slack_of(m, sent->part, came->part), at = tick_of(m, came);

	return is_before(tick_of(m, sent), at, slack) &&
	       (m->is_one || is_before(at, join_tick(&m->j->parts[sent->part], sent->last), slack));
}

/*
 * At most this many messages are compared to find one that contains a byte.  There are several only
 * if several connections had the same addresses, and many only if the trace is damaged.
 */
#define COMPARED_MAX	4096

/*
 * Finds the message in f that contains the first byte of e and was recorded in another part.
 * Returns the number of such messages; 2: two or more, or more than COMPARED_MAX were compared.
 * in_time: messages for which is_in_time() is false do not count.
 */
static size_t find_byte(const struct messages *m, const struct flow *f, const struct end *e, bool in_time,
			const struct end **found)
{
	size_t nr = 0, compared = 0, n = search_by(f->at, f->nr, a, a->offset <= e->offset);

	*found = NULL;
	while (n-- && f->at[n].reach > e->offset && nr < 2) {
		const struct end *a = &f->at[n];

		if (compared++ == COMPARED_MAX)
			return 2;
		if (e->offset - a->offset >= a->bytes || a->part == e->part || (in_time && !is_in_time(m, a, e)))
			continue;
		nr++;
		*found = a;
	}
	return nr;
}

/* Returns true if the addresses have been used for one connection only. */
static bool is_one_connection(const struct end *ends, size_t nr)
{
	const struct end *sides[2] = { NULL, NULL };

	for (size_t i = 0; i < nr; i++) {
		const struct end **of = &sides[!!(ends[i].flags & LDB_MESSAGE_F_CLIENT)];

		if (*of && !is_same_end(*of, &ends[i]))
			return false;
		*of = &ends[i];
	}
	return true;
}

/* Returns the first message of the answer, as the server has recorded it, or NULL. */
static const struct end *find_answer(const struct flow *f, const struct end *request)
{
	size_t n = search_by(f->at, f->nr, a, compare_ids(a, request) < 0);

	return n < f->nr && f->at[n].id == request->id && is_same_end(&f->at[n], request) ? &f->at[n] : NULL;
}

/* Returns the first message of the answer, as the client has recorded it, or NULL. */
static const struct end *find_back(const struct flow *f, const struct end *from, const struct end *answer)
{
	struct end key = { .part = from->part, .serial = from->serial, .offset = answer->offset, .tick = INT64_MAX };
	size_t n = search_by(f->at, f->nr, a, compare_offsets(a, &key) <= 0);
	const struct end *a = n ? &f->at[n - 1] : NULL;

	return a && is_same_end(a, from) && answer->offset - a->offset < a->bytes ? a : NULL;
}

/*
 * Finds the request that has sent message e.  Returns false, and counts the message, if that is not
 * known, or if the clocks contradict it.
 */
static bool find_pair(struct messages *m, const struct end *e, const struct flows *f, struct join_pair *p)
{
	const struct end *from, *answer, *back;
	size_t nr_from = find_byte(m, &f->sent, e, m->has_clocks, &from);

	/*
	 * If several connections had the same addresses, only the times show which of them it was.
	 */
	if (nr_from == 1 && slack_of(m, from->part, e->part) == SLACK_UNKNOWN && !m->is_one) {
		m->count->unknown++;
		return false;
	}
	if (nr_from != 1) {
		if (!f->sent.nr)
			m->count->elsewhere++;
		else if (!nr_from && m->has_clocks && find_byte(m, &f->sent, e, false, &from))
			m->count->refused++;
		else
			m->count->unknown++;
		return false;
	}
	answer = find_answer(&f->answers, e);
	back = answer ? find_back(&f->answered, from, answer) : NULL;
	*p = (struct join_pair){
		.client = from->part, .server = e->part, .client_id = from->id, .server_id = e->id,
		.sent = tick_of(m, from), .came = tick_of(m, e), .has_answer = back,
		.answer_sent = back ? tick_of(m, answer) : 0, .answer_came = back ? tick_of(m, back) : 0,
	};
	if (!m->has_clocks || !back ||
	    is_before(p->answer_sent, p->answer_came, slack_of(m, p->client, p->server)))
		return true;
	m->count->refused++;
	return false;
}

/* Finds the pairs of all messages between two addresses. */
static int do_connection(struct messages *m, struct end *ends, size_t nr)
{
	struct flows f;
	struct join_pair p;
	int rc = 0;

	m->is_one = is_one_connection(ends, nr);
	if (!m->has_clocks && !m->is_one)
		return 0;
	f = flows_of(ends, nr);
	for (size_t i = 0; i < f.came.nr && !rc; i++) {
		if (f.came.at[i].is_joined || !find_pair(m, &f.came.at[i], &f, &p))
			continue;
		m->count->joined++;
		rc = m->fn(m->arg, &p);
	}
	return rc;
}

int join_messages_each(struct join *j, bool has_clocks, join_pair_fn *fn, void *arg, struct join_messages *count)
{
	struct messages m = { .j = j, .fn = fn, .arg = arg, .has_clocks = has_clocks, .count = count };
	size_t end;
	int rc = 0;

	*count = (struct join_messages){ 0 };
	for (m.part = 0; m.part < j->nr && !rc; m.part++)
		rc = read_part(&m);
	count->any = m.nr;
	sort_by(m.ends, m.nr, compare_ways);
	set_last(&m);
	drop_wrong(&m);
	sort_by(m.ends, m.nr, compare_flags);
	for (size_t i = 0; i < m.nr && !rc; i = end) {
		end = i + 1;
		while (end < m.nr && !compare_connections(&m.ends[i], &m.ends[end]))
			end++;
		rc = do_connection(&m, m.ends + i, end - i);
	}
	free(m.ends);
	free(m.asked);
	return rc;
}

/* Writing */

static int write_pair(void *arg, const struct join_pair *p)
{
	struct join *j = arg;

	return writer_add_asked(j->w, &(struct ldb_row_asked){
		.tick = p->came, .id = p->server_id + j->parts[p->server].id_base,
		.asked = p->sent, .by = p->client_id + j->parts[p->client].id_base,
	});
}

static uint64_t joined_before(const struct join *j)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < j->nr; i++) {
		const char *text = reader_meta(j->parts[i].r, "messages");

		nr += text ? strtoull(text, NULL, 10) : 0;
	}
	return nr;
}

int join_write_messages(struct join *j)
{
	struct join_messages count = { 0 };
	int rc = j->nr > 1 ? join_messages_each(j, true, write_pair, j, &count) : 0;
	const struct {
		const char *key;
		uint64_t nr;
	} metas[] = {
		{ "messages", count.joined + joined_before(j) }, { "messages_elsewhere", count.elsewhere },
		{ "messages_unknown", count.unknown }, { "messages_refused", count.refused },
	};

	if (rc || j->nr == 1 || !count.any)
		return rc;
	for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]) && !rc; i++) {
		char text[24];

		snprintf(text, sizeof(text), "%" PRIu64, metas[i].nr);
		rc = writer_add_meta(j->w, metas[i].key, text);
	}
	return rc;
}
