/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes a recording of one thread, whose page and records a test writes in the program's place. */
#ifndef UNIT_RECORDING_SAMPLE_H
#define UNIT_RECORDING_SAMPLE_H

#include "record/rows/threads.h"
#include "trace-sample.h"

#define TID	500
#define SLOT	3

static struct session session;
static struct writer *w;
static struct pack *pack;
static struct threads *threads;

static void recording_begin(const char *path)
{
	char err[256];

	if (session_open(&session, 1 << 20, 1, LDB_CLOCK_MONO, 1000000000))
		bail_out("session_open");
	w = writer_open(path, &sample_header, err, sizeof(err));
	pack = w ? pack_alloc(&session, w, 0, 0, 0) : NULL;
	threads = pack ? threads_alloc(&session, w, pack, 0) : NULL;
	if (!threads)
		bail_out("cannot begin");
}

/* Returns the trace, opened for reading. */
static struct reader *recording_end(const char *path, struct threads_total *total)
{
	struct reader *r;
	char err[256];

	pack_finish(pack);
	threads_finish(threads, 9000, total);
	threads_free(threads);
	pack_free(pack);
	writer_close(w);
	session_close(&session);
	r = reader_open(path, err, sizeof(err));
	if (!r)
		bail_out(err);
	return r;
}

#endif
