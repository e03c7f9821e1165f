/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Examines a program before it is started. */
#ifndef RECORD_LAUNCH_TARGET_H
#define RECORD_LAUNCH_TARGET_H

#include <stdbool.h>

enum target_kind {
	TARGET_DYNAMIC,		/* ELF with an interpreter */
	TARGET_SCRIPT,		/* another file, which the kernel or a shell may execute */
};

struct target {
	char path[4096];	/* what will be executed */
	enum target_kind kind;
	bool lost_records;	/* compiled with the plugin, but linked (-flto) without it */
	bool has_records;	/* the file itself has instrumented functions */
	/* name of a sanitizer's library that must be loaded first; "": none */
	char sanitizer[64];
};

/*
 * Returns false if the program cannot be recorded, after printing why.  kernel_only: no runtime is
 * needed.
 */
bool target_examine(const char *program, bool kernel_only, struct target *t);

#endif
