// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls functions whose arguments are the ids of requests: plain(), second(), field(), each N times
 * (20).  Call i has the id 1000 + i, as a parameter; -1 - i, as a second one; 5000000000 + i, in a
 * struct; and -100 - i, in a struct to which that struct points.
 */
#include <stdlib.h>
#include "request-ids.h"

__attribute__((noipa)) void plain(unsigned id)
{
	spin_us(2000);
	sum += id;
}

__attribute__((noipa)) void second(double weight, const char *name, int id)
{
	spin_us(2000);
	sum += id + (int)weight + *name;
}

__attribute__((noipa)) void field(struct request *r)
{
	spin_us(2000);
	sum += r->id;
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 20;

	for (int i = 0; i < nr; i++) {
		struct request parent = { .head.code = -100 - i };
		struct request r = { .head.parent = &parent, .id = 5000000000 + i };

		plain(1000 + i);
		second(0.5, "name", -1 - i);
		field(&r);
	}
	return 0;
}
