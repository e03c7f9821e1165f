// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Joins traces; see join.h.  First a plan is made from what each part says as a whole
 * (join-plan.c); then the rows are merged by time, one kind after the other.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/array.h"
#include "base/heap.h"
#include "cli/outfile.h"
#include "trace/join-private.h"
#include "trace/writer-private.h"

#define OUT_ROWS	ENCODER_TILE

/* Merging */

struct stream {			/* reads the rows of one part */
	struct join_part *p;
	struct cursor *c;
	/*
	 * makes the cursor one that may share its blocks with others: such a cursor does not read
	 * ahead, which would need memory for further blocks of each part
	 */
	struct share share;
	size_t nr_told;		/* blocks that were reported as progress */
	char *row;
	size_t nr;
	struct ldb_row_req cut;	/* a row that ends the open requests at the end of the recording */
	bool has_cut;		/* cut was not passed on yet */
	struct ldb_row_gap *gaps;	/* GAP rows, of single threads: see spread_gaps() */
	size_t nr_gaps, room_gaps;
};

struct merge {
	struct join *j;
	unsigned kind;
	size_t row_bytes, time;	/* the size of a row; the offset of its time */
	struct stream *streams;
	size_t *heap;
	size_t nr_heap;
	/* rows that were not passed to the writer yet; their strings belong to the streams */
	char *out;
	size_t nr_out;
	struct join_sched sched;
};

static int64_t time_of(const struct merge *m, const char *row)
{
	int64_t tick;

	memcpy(&tick, row + m->time, sizeof(tick));
	return tick;
}

static inline bool is_before(const struct merge *m, const size_t *a, const size_t *b)
{
	int64_t of_a = time_of(m, m->streams[*a].row), of_b = time_of(m, m->streams[*b].row);

	return of_a != of_b ? of_a < of_b : *a < *b;
}

HEAP(heap, size_t, const struct merge *, is_before, heap_moved_none)

/*
 * Returns the offset of the time by which rows of a kind are sorted: the time at which the event
 * was over.  SIZE_MAX: they have no time.
 */
static size_t time_offset(unsigned kind)
{
	switch (kind) {
#define TIMELESS		SIZE_MAX
#define SPAN(begin, end)	offsetof(row, end)
#define SPAN_OF(begin, end, id)	offsetof(row, end)
#define LASTS(begin, end, id)	offsetof(row, end)
#define ROWS(KIND, name, when, bulk, columns)						\
	case LDB_BLK_##KIND: {								\
		typedef struct ldb_row_##name row __attribute__((unused));		\
											\
		return when;								\
	}
#include "trace/schemas.def"
	default:
		return SIZE_MAX;
	}
}

static int flush_out(struct merge *m)
{
	int rc = m->nr_out ? writer_add(m->j->w, m->kind, m->out, m->nr_out) : 0;

	m->nr_out = 0;
	return rc;
}

/*
 * Turns an observation gap of all threads into one of each of the process's own threads, because
 * other processes may have been observed in that time.
 */
static int spread_gap(struct stream *s, const struct ldb_row_gap *gap)
{
	const struct join_part *p = s->p;
	int rc = 0;

	for (size_t i = 0; i < p->nr_threads && !rc; i++) {
		const struct ldb_row_thread *t = &p->threads[i];
		struct ldb_row_gap g = *gap;

		g.tid = t->tid + p->tid_base;
		if (join_tick(p, t->start) < gap->end && join_tick(p, t->end) > gap->begin)
			rc = array_push(s->gaps, s->nr_gaps, s->room_gaps, g);
	}
	return rc;
}

static int spread_gaps(struct stream *s)
{
	const struct ldb_row_gap *rows = (const void *)s->row;
	int rc = 0;

	s->nr_gaps = 0;
	for (size_t i = 0; i < s->nr && !rc; i++)
		rc = rows[i].tid || s->p->nr_spaces > 1 ?
		     array_push(s->gaps, s->nr_gaps, s->room_gaps, rows[i]) : spread_gap(s, &rows[i]);
	s->row = (char *)s->gaps;
	s->nr = s->nr_gaps;
	return rc;
}

/* Reports progress.  Returns 0, or -EINTR if the caller does not want to continue. */
static int tell_progress(struct join *j, struct stream *s)
{
	for (; s->nr_told < s->share.next && s->nr_told < s->p->r->nr_blocks; s->nr_told++)
		if (s->p->r->blocks[s->nr_told].i.kind == s->c->q.kind)
			j->bytes_done += s->p->r->blocks[s->nr_told].i.bytes;
	if (!j->options || !j->options->progress)
		return 0;
	return j->options->progress(j->options->arg, j->bytes_done, j->bytes_all) ? 0 : -EINTR;
}

/* Reads the next rows of a part; if s->nr is 0 afterwards, there are none. */
static int stream_fill(struct merge *m, struct stream *s)
{
	struct reader_rows rows;
	int rc = 0;

	s->nr = 0;
	while (!s->nr && (rc = cursor_next(s->c, &rows)) > 0) {
		s->row = s->c->d.rows;
		s->nr = join_rows(m->j, s->p, m->kind, s->row, rows.nr);
		rc = m->kind == LDB_BLK_GAP && m->j->is_process ? spread_gaps(s) : 0;
		if (!rc)
			rc = tell_progress(m->j, s);
		if (rc)
			return rc;
	}
	if (!s->nr && s->has_cut) {
		s->row = (char *)&s->cut;
		s->nr = 1;
		s->has_cut = false;
	}
	return rc < 0 ? rc : 0;
}

/* Passes the next row of the stream to the writer. */
static int pass_row(struct merge *m, struct stream *s)
{
	if (m->kind == LDB_BLK_SCHED && m->j->is_process)
		return join_sched_add(m->j, &m->sched, s->p, (const void *)s->row, 1);
	memcpy(m->out + m->nr_out++ * m->row_bytes, s->row, m->row_bytes);
	return m->nr_out == OUT_ROWS ? flush_out(m) : 0;
}

/* Passes rows of the first stream as long as they come before those of all others. */
static int pass_run(struct merge *m)
{
	size_t n = m->heap[0], second;
	struct stream *s = &m->streams[n];
	int rc = 0;

	second = m->nr_heap > 2 && is_before(m, &m->heap[2], &m->heap[1]) ? 2 : 1;
	do {
		rc = pass_row(m, s);
		s->row += m->row_bytes;
		s->nr--;
	} while (!rc && s->nr && (m->nr_heap < 2 || is_before(m, &n, &m->heap[second])));
	if (!rc && !s->nr) {
		rc = flush_out(m);
		rc = rc ? rc : stream_fill(m, s);
	}
	if (!s->nr && --m->nr_heap)
		heap_down(m, m->heap, m->nr_heap, 0, m->heap[m->nr_heap]);
	else if (s->nr)
		heap_down(m, m->heap, m->nr_heap, 0, n);
	return rc;
}

/* Prepares a row that ends the open requests of a process at the end of its recording. */
static void prepare_cut(struct join *j, struct stream *s)
{
	s->has_cut = j->is_process && j->id_step;
	s->cut = (struct ldb_row_req){
		.op = LDB_REQ_OP_CUT, .tick = s->p->to, .id = s->p->id_base,
		.queue = s->p->id_base + j->id_step - 1,
	};
}

static bool has_rows(const struct join *j, const struct join_part *p, unsigned kind)
{
	if (kind == LDB_BLK_CLOCK && !join_has_clock(j, p))
		return false;
	for (size_t i = 0; i < p->r->nr_blocks; i++)
		if (p->r->blocks[i].i.kind == kind)
			return true;
	return false;
}

static int open_streams(struct merge *m)
{
	int rc = 0;

	for (size_t i = 0; i < m->j->nr && !rc; i++) {
		struct stream *s = &m->streams[i];

		s->p = &m->j->parts[i];
		if (!has_rows(m->j, s->p, m->kind))
			continue;
		s->c = cursor_open(s->p->r, m->kind, NULL, &s->share);
		if (!s->c)
			return -ENOMEM;
		if (m->kind == LDB_BLK_REQ)
			prepare_cut(m->j, s);
		rc = stream_fill(m, s);
		if (s->nr)
			heap_up(m, m->heap, m->nr_heap++, i);
	}
	return rc;
}

static int merge_kind(struct join *j, unsigned kind)
{
	const struct schema *schema = schema_find(kind);
	struct merge m = {
		.j = j, .kind = kind, .row_bytes = schema->row_bytes, .time = time_offset(kind),
		.streams = calloc(j->nr, sizeof(*m.streams)), .heap = calloc(j->nr, sizeof(*m.heap)),
		.out = malloc(OUT_ROWS * schema->row_bytes),
	};
	int rc = m.streams && m.heap && m.out ? open_streams(&m) : -ENOMEM;

	while (!rc && m.nr_heap)
		rc = pass_run(&m);
	if (!rc)
		rc = flush_out(&m);
	if (rc)
		m.sched.nr = 0;
	if (join_sched_end(j, &m.sched) && !rc)
		rc = -EIO;
	for (size_t i = 0; m.streams && i < j->nr; i++) {
		cursor_close(m.streams[i].c);
		free(m.streams[i].gaps);
	}
	free(m.streams);
	free(m.heap);
	free(m.out);
	return rc;
}

/*
 * Returns true if the rows of this kind are merged.  For each other kind there is a function that
 * writes the rows, or the writer itself makes them.
 */
static bool is_merged(unsigned kind)
{
	return time_offset(kind) != SIZE_MAX && kind != LDB_BLK_MODULE && kind != LDB_BLK_PROCESS &&
	       kind != LDB_BLK_REQTAB && kind != LDB_BLK_FLOW_API;
}

static int write_all_rows(struct join *j)
{
	int rc = join_write_metas(j);

	rc = rc ? rc : join_write_processes(j);
	rc = rc ? rc : join_write_modules(j);
	rc = rc ? rc : join_write_ids(j);
	for (unsigned kind = 0; kind < WRITER_KINDS && !rc; kind++)
		if (is_merged(kind))
			rc = merge_kind(j, kind);
	rc = rc ? rc : join_write_messages(j);
	rc = rc ? rc : join_write_scanners(j);
	return rc ? rc : join_write_damage(j);
}

/* Opening and closing */

#define FILES_BESIDES	64	/* descriptors that this process needs besides those of the parts */

/*
 * Raises the limit of open files, which is usually 1024, because all parts are open at the same
 * time.
 */
static void allow_files(size_t nr)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) || l.rlim_cur >= nr + FILES_BESIDES)
		return;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_NOFILE, &l);
}

static int open_parts(struct join *j, const char *const *paths, char *err, size_t err_size)
{
	for (size_t i = 0; i < j->nr; i++) {
		struct join_part *p = &j->parts[i];

		p->path = paths[i];
		p->r = reader_open(paths[i], err, err_size);
		if (!p->r)
			return -EINVAL;
		j->bytes_all += p->r->file_size;
	}
	return 0;
}

static void free_parts(struct join *j)
{
	for (size_t i = 0; j->parts && i < j->nr; i++) {
		struct join_part *p = &j->parts[i];

		reader_close(p->r);
		for (size_t k = 0; k < p->nr_spaces; k++) {
			free(p->spaces[k].code);
			free(p->spaces[k].shared);
		}
		free(p->spaces);
		free(p->threads);
		free(p->apis.to);
		free(p->ksyms.to);
		free(p->files.to);
	}
	free(j->parts);
	free(j->modules);
	keyed_free(&j->mapped);
	intern_free(&j->texts);
	intern_free(&j->apis);
	intern_free(&j->ksyms);
	intern_free(&j->files);
	intern_free(&j->symbols);
	intern_free(&j->calls);
}

static int join_to(struct join *j, int fd, char *err, size_t err_size)
{
	int rc, rc2;

	j->w = writer_open_fd(fd, &j->header, err, err_size);
	if (!j->w)
		return -EIO;
	rc = write_all_rows(j);
	rc2 = writer_close(j->w);
	rc = rc ? rc : rc2;
	if (rc)
		snprintf(err, err_size, "cannot join the traces: %s", strerror(-rc));
	return rc;
}

int trace_join(const char *const *paths, size_t nr, int fd, const struct join_options *options,
	       char *err, size_t err_size)
{
	struct join j = { .parts = calloc(nr, sizeof(*j.parts)), .nr = nr, .options = options };
	int rc = -ENOMEM;

	allow_files(nr);
	if (j.parts && nr)
		rc = open_parts(&j, paths, err, err_size);
	else
		snprintf(err, err_size, "out of memory");
	if (!rc) {
		rc = join_clocks(&j);
		if (rc)
			snprintf(err, err_size, "out of memory");
	}
	if (!rc)
		rc = join_plan(&j, err, err_size);
	if (!rc)
		rc = join_to(&j, fd, err, err_size);
	else
		close(fd);
	free_parts(&j);
	return rc;
}

int trace_join_file(const char *const *paths, size_t nr, const char *path,
		    const struct join_options *options, char *err, size_t err_size)
{
	struct outfile out;
	int rc = outfile_begin(&out, path), fd;

	if (rc) {
		snprintf(err, err_size, "cannot write %s: %s", path, outfile_why(rc));
		return rc;
	}
	fd = dup(out.fd);	/* the writer closes the descriptor that it was given */
	rc = fd < 0 ? -errno : trace_join(paths, nr, fd, options, err, err_size);
	if (fd < 0)
		snprintf(err, err_size, "%s", strerror(-rc));
	if (rc) {
		outfile_drop(&out);
		return rc;
	}
	rc = outfile_commit(&out);
	if (rc)
		snprintf(err, err_size, "cannot write %s: %s", path, outfile_why(rc));
	return rc;
}
