/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the recorder's side of the fuzz target of the runtime. */
#ifndef TESTS_FUZZ_RUNTIME_RECORDER_H
#define TESTS_FUZZ_RUNTIME_RECORDER_H

#include <linux/ldb.h>
#include <ldb/control.h>
#include "fuzz.h"
#include "runtime-machine.h"

#define FILE_MAX	(4ULL << 20)

extern struct input in;		/* the rest of the input */

extern struct recorder_files {
	int session;		/* the last file that was sent as the session's memory; -1: none */
	struct ldb_info info;	/* layout of the session's memory */
	int pipe[2], folder, null;
	unsigned event;		/* what to do in machine_session_event() */
	unsigned nr_polls;
} r;

void send_session(uint32_t type);
void send_any_message(const void *m, size_t size, int fd, unsigned nr_fds);
void send_any(void);
void write_memory(void);
void hang_up_recorder(void);

#endif
