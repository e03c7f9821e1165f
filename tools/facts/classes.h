/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds names of the classes of requests, from the REQNAME rows. */
#ifndef FACTS_CLASSES_H
#define FACTS_CLASSES_H

#include "model.h"

struct classes;

/* Sets m->classes, unless they were read before.  Returns 0 or -ENOMEM. */
int classes_read(struct model *m);
void classes_close(struct classes *c);

/*
 * Returns the class of the request with this id that ended at tick `end`: the last name that the
 * program had set for the id until then, perhaps before the request began; "" if there is none.
 */
const char *classes_find(struct classes *c, uint64_t id, int64_t end);

#endif
