// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oracle [--cut] TRACE...
 *
 * Prints how much was checked in each trace, and which rows are impossible.  Exit status 0:
 * everything is possible; 1: something is impossible; 2: a trace cannot be read.  --cut: the
 * recorder was killed, so its traces may lack their ends.
 */
#include <inttypes.h>
#include <string.h>
#include "oracle.h"

int main(int argc, char **argv)
{
	struct oracle_options options = { .out = stdout };
	int status = 0, i = 1;

	if (argc > 1 && !strcmp(argv[1], "--cut")) {
		options.may_be_cut = true;
		i++;
	}
	if (i == argc) {
		fprintf(stderr, "oracle: which trace? oracle [--cut] TRACE...\n");
		return 2;
	}
	for (; i < argc; i++) {
		int64_t nr = oracle_check(argv[i], &options);

		if (nr < 0)
			return 2;
		printf("%s: %" PRId64 " violations\n", argv[i], nr);
		status |= nr > 0;
	}
	return status;
}
