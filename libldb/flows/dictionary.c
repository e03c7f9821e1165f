// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Assigns a number to each pair of a module and a function when the module first calls the function
 * in a recording.
 */
#include "flows.h"
#include "runtime/runtime.h"

static uint32_t keep_name(const char *name)
{
	uint64_t size = strlen(name) + 1;
	uint64_t at = atomic_fetch_add((_Atomic uint64_t *)&flow_info()->names_used, size);

	if (at + size > LDB_FLOW_NAMES)
		return 0;		/* "" */
	memcpy(flow_memory + LDB_FLOW_NAMES_OFF + at, name, size);
	return at;
}

static uint32_t flags_of(const struct flow_entry *e)
{
	return (e->flags & FLOW_E_NEVER ? LDB_FLOW_API_NOTIME : 0) |
	       (e->flags & FLOW_E_PLT ? LDB_FLOW_API_PLT : 0) |
	       (e->flags & FLOW_E_GOT ? LDB_FLOW_API_GOT : 0) |
	       (e->flags & FLOW_E_DLSYM ? LDB_FLOW_API_DLSYM : 0);
}

void flow_first_c(struct flow_entry *e)
{
	uint64_t n = atomic_fetch_add((_Atomic uint64_t *)&flow_info()->nr_apis, 1);
	uint32_t none = 0, cell = n < LDB_FLOW_CELLS - 1 ? n : LDB_FLOW_CELLS - 1;
	struct ldb_flow_api *api = (struct ldb_flow_api *)(flow_memory + LDB_FLOW_APIS_OFF) + cell;

	if (cell == LDB_FLOW_CELLS - 1) {
		flow_lose(LDB_FLOW_LOST_API, 1);
		order_any_store_word(&e->cell, cell);
		return;
	}
	api->flags = flags_of(e);
	api->tsc = session_clock();
	api->caller = flow_module_start(e->from);
	api->target = flow_entry_real(e->target, e->name, e->flags);
	api->name = keep_name(e->name);
	/*
	 * another thread, or a signal handler, may have been faster; then this number stays unused
	 */
	if (atomic_compare_exchange_strong((_Atomic uint32_t *)&e->cell, &none, cell))
		order_flow_ready(&api->ready);
}

