// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks the partition of a trace's requests: their shares are disjoint (each leaf once),
 * none is negative, and they sum to the latency exactly.
 *
 *	partition-sums FILE [times | waits | stacks]
 *
 * It prints "N requests, N shares"; if a request does not add up there is a line for it, and the
 * exit status is 1.  With times it prints "REQ FUNCTION NS" instead: the time of each request in
 * which the function was the innermost one, running or not.  With waits it prints "REQ LOCK NS", by
 * address.  With stacks it prints "REQ STATE STACK NS".  Tests compare these with sums that were
 * computed in another way.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/partition/partition.h"
#include "partition-file.h"

static bool is_right(const struct partition *p, const struct request *req)
{
	const struct share *s = &p->shares[req->first];
	int64_t sum = 0;

	for (uint32_t i = 0; i < req->nr_shares; i++) {
		const struct leaf *leaf = &p->leaves[s[i].leaf];

		bool may_be_empty = s[i].nr && (leaf->kind == LEAF_FUNCTION || leaf->kind == LEAF_LIBCALL ||
						   leaf->kind == LEAF_LOCK);

		if (s[i].ns < 0 || (!s[i].ns && !may_be_empty)) {
			printf("request %" PRIu64 ": %s has %" PRId64 " ns\n", req->id,
			       leaf_kinds[leaf->kind].name, s[i].ns);
			return false;
		}
		if (i && s[i].leaf <= s[i - 1].leaf) {
			printf("request %" PRIu64 ": a leaf is there twice\n", req->id);
			return false;
		}
		sum += s[i].ns;
	}
	if (sum != req->latency_ns || req->latency_ns < 0) {
		printf("request %" PRIu64 ": the shares sum to %" PRId64 ", its latency is %" PRId64 "\n",
		       req->id, sum, req->latency_ns);
		return false;
	}
	return true;
}

static int check(const struct partition *p)
{
	uint64_t nr_shares = 0, nr_wrong = 0;

	for (size_t r = 0; r < p->nr_requests; r++) {
		nr_shares += p->requests[r].nr_shares;
		if (p->requests[r].first + p->requests[r].nr_shares > p->nr_shares) {
			printf("request %" PRIu64 ": has shares that are not there\n", p->requests[r].id);
			return 1;
		}
		nr_wrong += !is_right(p, &p->requests[r]);
	}
	if (nr_shares != p->nr_shares) {
		printf("%zu shares are there, the requests have %" PRIu64 "\n", p->nr_shares, nr_shares);
		nr_wrong++;
	}
	printf("%zu requests, %zu shares\n", p->nr_requests, p->nr_shares);
	return nr_wrong != 0;
}

/*
 * Returns true below a queue: what its server did meanwhile was not on the request's own threads.
 */
static bool is_in_queue(const struct partition *p, uint32_t path)
{
	for (; path; path = p->paths[path].parent)
		if (path_is_queue(&p->paths[path]))
			return true;
	return false;
}

static void print_times(const struct partition *p)
{
	for (size_t r = 0; r < p->nr_requests; r++) {
		const struct request *req = &p->requests[r];

		for (uint32_t i = 0; i < req->nr_shares; i++) {
			const struct share *s = &p->shares[req->first + i];
			uint32_t path = p->leaves[s->leaf].path;

			if (s->ns && p->paths[path].func && !is_in_queue(p, path))
				printf("%" PRIu64 " %s %" PRId64 "\n", req->id,
				       p->paths[path].func->function, s->ns);
		}
	}
}

static void print_waits(const struct partition *p)
{
	for (size_t r = 0; r < p->nr_requests; r++) {
		const struct request *req = &p->requests[r];

		for (uint32_t i = 0; i < req->nr_shares; i++) {
			const struct share *s = &p->shares[req->first + i];

			if (p->leaves[s->leaf].kind == LEAF_LOCK)
				printf("%" PRIu64 " 0x%" PRIx64 " %" PRId64 "\n", req->id,
				       leaf_lock(p, &p->leaves[s->leaf])->address, s->ns);
		}
	}
}

static void print_stacks(const struct partition *p)
{
	char text[8192];

	for (size_t r = 0; r < p->nr_requests; r++) {
		const struct request *req = &p->requests[r];

		for (uint32_t i = 0; i < req->nr_shares; i++) {
			const struct share *s = &p->shares[req->first + i];
			const struct leaf *leaf = &p->leaves[s->leaf];

			if (s->ns && leaf->kind < LEAF_QUEUE && !is_in_queue(p, leaf->path))
				printf("%" PRIu64 " %s %s %" PRId64 "\n", req->id, leaf_kinds[leaf->kind].name,
				       path_text(p, leaf->path, text, sizeof(text)), s->ns);
		}
	}
}

static int fail(const char *text)
{
	fprintf(stderr, "partition-sums: %s\n", text);
	return 2;
}

int main(int argc, char **argv)
{
	struct partition_file f;
	int status = 0;

	if (argc < 2)
		return fail("usage: partition-sums FILE [times | waits | stacks]");
	if (!partition_file_open(&f, argv[1], "partition-sums"))
		return 2;
	if (argc < 3)
		status = check(&f.p);
	else if (!strcmp(argv[2], "times"))
		print_times(&f.p);
	else if (!strcmp(argv[2], "stacks"))
		print_stacks(&f.p);
	else
		print_waits(&f.p);
	partition_file_close(&f);
	return status;
}
