/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes requests of something else than tags.  Whatever they are made of becomes rows of a trace in
 * memory, as tags would have written them, which take the place of the trace's own: everything that
 * reads requests (lives.h) then works as ever.
 *
 *	a function	each of its invocations that is not inside another one is a request, of a class
 *			with the function's name; the bounds are those that a timeline has,
 *			which are estimates
 *	"loop"		each turn of an event loop, from one epoll_wait(), poll() or select() in which the
 *			thread slept to its next; the class is "loop"
 *	"tags"		the program's tags
 *
 * Ids count from 1 on, in order of start.
 */
#ifndef TRACKS_REQUEST_SOURCE_H
#define TRACKS_REQUEST_SOURCE_H

#include "facts/model.h"

#define REQUEST_TAGS	"tags"
#define REQUEST_LOOP	"loop"
#define REQUEST_SOCKET	"socket"	/* the runtime has made them, and they are among the tags */
#define REQUEST_NAMES_MAX	64

/*
 * Names: what the user asked for; none: what the trace says.  Must come before any request is read.
 * If it returns false, err has one line.  m->requests_of stays NULL where tags are used: also where
 * what the trace says is not possible, which is a warning.
 */
bool request_source_open(struct model *m, const char *const *names, size_t nr, char *err, size_t err_size);
#endif
