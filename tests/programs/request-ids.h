/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what request-ids.c and request-ids.cc share. */
#ifndef REQUEST_IDS_H
#define REQUEST_IDS_H

#include <stdint.h>
#include "spin.h"

struct request {
	char kind;
	struct {
		int32_t code;
		struct request *parent;
	} head;
	uint64_t id;
};

#endif
