/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds where messages begin and end in the bytes of a connection, for protocols that show it
 * plainly: HTTP/1.x, RESP (redis), and memcached's text protocol.  Anything else is
 * MESSAGE_OTHER, whose messages are found by the direction of the bytes alone (track.c).
 *
 * The bytes come in pieces of any size, as reads and writes deliver them, and are the client's or
 * the program's own: another thread may even change them meanwhile.  Nothing but the struct
 * depends on them, no memory is allocated, and what makes no sense becomes MESSAGE_OTHER.
 */
#ifndef SOCKET_MESSAGE_H
#define SOCKET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_LINE_MAX	96	/* bytes of a line that are retained; the rest is dropped */

enum message_kind {
	MESSAGE_UNKNOWN,	/* no byte has come */
	MESSAGE_HTTP,
	MESSAGE_RESP,
	MESSAGE_MEMCACHED,
	MESSAGE_OTHER,
};

/* One direction of a connection. */
struct message {
	uint8_t kind;		/* enum message_kind */
	uint8_t state;		/* message.c */
	uint8_t nr_line;	/* bytes of a line whose end has not come */
	bool is_answer;		/* this is what the program writes */
	bool is_open;		/* a message has begun and not ended */
	bool is_quiet;		/* it has no answer, or perhaps none */
	bool is_chunked, has_length;
	bool has_no_body;	/* an answer to HEAD, or one whose status says so */
	bool is_push;		/* RESP3: no answer to a request */
	uint32_t left;		/* RESP: items to come, MESSAGE_HTTP: status of the answer */
	uint64_t skip;		/* bytes to come that are no line */
	uint64_t length;	/* of the body */
	char line[MESSAGE_LINE_MAX];
};

/* A function may be NULL. */
struct message_events {
	void (*begins)(void *arg);
	void (*class_is)(void *arg, const char *text, size_t len);	/* the method or command */
	void (*path_is)(void *arg, const char *text, size_t len);	/* HTTP: without its query */
	void (*trace_is)(void *arg, const unsigned char *trace16, const unsigned char *span8);
	void (*ends)(void *arg);
};

/* Takes the next n bytes; n may be 0. */
void message_feed(struct message *m, const struct message_events *e, void *arg, const char *bytes,
		  size_t n);

/* The next n bytes were sent without being in memory: sendfile().  They can only be a body. */
void message_pass(struct message *m, const struct message_events *e, void *arg, uint64_t n);

/* The other end of the connection, or this one, has closed it: that ends some messages. */
void message_close(struct message *m, const struct message_events *e, void *arg);

#endif /* SOCKET_MESSAGE_H */
