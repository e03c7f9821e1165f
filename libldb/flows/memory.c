// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Maps the memory of the sums (ldb/flows.h), which the recorder sends.
 *
 * The values in it are not trusted; a wrong value leads only to wrong counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "flows.h"
#include "runtime/runtime.h"

HIDDEN union flow_page flow_page __attribute__((aligned(4096)));
/*
 * There is one more slot, because the unwind tables read eight bytes at FLOW_S_CFA, of which four
 * are in the next slot.
 */
HIDDEN struct flow_slot flow_slots[FLOW_SLOTS + 1] __attribute__((aligned(64)));
HIDDEN TLS_IE struct flow_self flow_self;
HIDDEN uint32_t flow_tids[LDB_FLOW_THREADS];

HIDDEN char *flow_memory;
static bool is_shared;			/* false: it is scratch memory */
static uint64_t threshold;		/* ns */

bool flow_is_mapped(void)
{
	return is_shared;
}

uint64_t flow_threshold(void)
{
	return session_ticks(threshold);
}

void flow_lose(enum ldb_flow_lost what, uint64_t nr)
{
	if (flow_memory)
		order_any_add_word(&flow_info()->lost[what], nr);
}

int flow_map(int fd, uint64_t threshold_ns)
{
	struct stat st;
	long ret = sys(SYS_fcntl, fd, F_GET_SEALS, 0);

	if (ret < 0 || (ret & (F_SEAL_SHRINK | F_SEAL_GROW)) != (F_SEAL_SHRINK | F_SEAL_GROW))
		return -EPERM;
	ret = sys(SYS_fstat, fd, &st);
	if (ret)
		return ret;
	if (st.st_size != (long)LDB_FLOW_SIZE)
		return -EINVAL;
	ret = raw_map_unlocked(flow_memory, LDB_FLOW_SIZE, MAP_SHARED, fd);
	if (ret < 0 && ret > -4096)
		return ret;
	flow_memory = (char *)ret;
	is_shared = true;
	threshold = threshold_ns;
	sys(SYS_madvise, flow_memory, LDB_FLOW_SIZE, MADV_DONTDUMP);
	return 0;
}

/* Unmaps the memory.  A thread in the middle of a stub continues in scratch memory. */
void flow_unmap(void)
{
	if (is_shared)
		raw_map_unlocked(flow_memory, LDB_FLOW_SIZE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	is_shared = false;
}

