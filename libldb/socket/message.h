/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds where messages begin and end in the bytes of a connection, for protocols that make this
 * visible: HTTP/1.x, RESP (redis), and memcached's text protocol.  Any other protocol is
 * MESSAGE_OTHER: there a message ends when the direction of the bytes changes (track.c).
 *
 * The bytes come in pieces of any size, as reads and writes deliver them.  They are not trusted: a
 * client has sent them, and another thread may even change them while they are parsed.  Parsing
 * changes only the struct message, and allocates no memory.  If the bytes violate the protocol,
 * their direction becomes MESSAGE_OTHER.
 */
#ifndef SOCKET_MESSAGE_H
#define SOCKET_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_LINE_MAX	96	/* bytes of a line that are retained; the rest is dropped */

enum message_kind {
	MESSAGE_UNKNOWN,	/* no byte has arrived */
	MESSAGE_HTTP,
	MESSAGE_RESP,
	MESSAGE_MEMCACHED,
	MESSAGE_OTHER,
};

/* One direction of a connection. */
struct message {
	uint8_t kind;		/* enum message_kind */
	uint8_t state;		/* message.c */
	uint8_t nr_line;	/* bytes stored of a line whose end has not arrived */
	bool is_answer;		/* the direction in which the program writes */
	bool is_open;		/* a message has begun and not ended */
	bool is_quiet;		/* the message has no answer, or may have none */
	bool is_chunked, has_length;
	bool has_no_body;	/* an answer to HEAD */
	bool is_push;		/* RESP3: a message that is not an answer to a request */
	uint32_t left;		/* RESP: items that are still to come; HTTP: status of the answer */
	uint64_t skip;		/* counted bytes that are still to come */
	/* HTTP: length of the body in bytes; RESP: 1 if the command's name is the next item */
	uint64_t length;
	uint64_t nr_fed;	/* bytes that were parsed or skipped */
	char line[MESSAGE_LINE_MAX];
};

/* Functions to call for the parts of messages.  Each may be NULL. */
struct message_events {
	void (*begins)(void *arg);
	void (*class_is)(void *arg, const char *text, size_t len);	/* the method or command */
	/* HTTP: the path without the query */
	void (*path_is)(void *arg, const char *text, size_t len);
	void (*trace_is)(void *arg, const unsigned char *trace16, const unsigned char *span8);
	void (*ends)(void *arg);
};

/* Parses the next n bytes; n may be 0. */
void message_feed(struct message *m, const struct message_events *e, void *arg, const char *bytes,
		  size_t n);

/*
 * Skips n bytes that were transferred without being in memory that can be read, for example by
 * sendfile().  They can only be counted bytes; otherwise the direction becomes MESSAGE_OTHER.
 */
void message_pass(struct message *m, const struct message_events *e, void *arg, uint64_t n);

/*
 * Must be called when the program closes the connection: this ends an HTTP body of unknown length.
 */
void message_close(struct message *m, const struct message_events *e, void *arg);

#endif /* SOCKET_MESSAGE_H */
