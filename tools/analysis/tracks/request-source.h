/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes requests from other things than the program's tags.  The requests become rows of a trace in
 * memory, equal to those that tags would have written, which replace the rows of the file.  So
 * everything that reads requests (instances.h) works with them.
 *
 *	a function	each invocation that is not inside another one is a request, of a class
 *			with the function's name; the bounds are those that a timeline has,
 *			which are estimates
 *	"loop"		each turn of an event loop is a request of class "loop": from one call of
 *			epoll_wait(), poll() or select() to the next.  If the recorder was not asked
 *			for turns, only calls in which the thread slept are known
 *	"tags", "socket"	the rows of the file: requests that the program tagged, or that were
 *			derived from connections
 *
 * Ids are numbers from 1 on, in order of start, unless the functions have ids as arguments.
 */
#ifndef TRACKS_REQUEST_SOURCE_H
#define TRACKS_REQUEST_SOURCE_H

#include "facts/model.h"
#include "trace/request-words.h"

/*
 * Chooses the requests.  `names` are what the user asked for; if there are none, the trace says
 * what to use.  Must be called before any request is read.  If it returns false, err has one line.
 * If tags are used, m->requests_of stays NULL; it also stays NULL, after a warning, if the trace
 * asks for requests that cannot be made.
 */
bool request_source_open(struct model *m, const char *const *names, size_t nr, char *err, size_t err_size);

/*
 * To be called if there are no requests: writes one line that says why, and returns true.  Returns
 * false if the rows of the file are used (m->requests_of is NULL).
 */
bool request_source_say_none(const struct model *m, char *text, size_t size);
#endif
