// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * These functions for PostgreSQL hold rows or a lock for a known time; see tests/bench/postgres.sh.
 *
 *	hold_row(ms)	works, while its transaction holds the rows that it has changed
 *	hold_lock(ms)	takes an LWLock, works for ms milliseconds, and releases it
 *	take_lock()	works for a millisecond, takes the same LWLock, and releases it at once
 *	change_row()	changes row 1 of table t
 *	work_alone(ms)	does the same work, but holds nothing
 */
#include "postgres.h"
#include "fmgr.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include <time.h>

#define TRANCHE	"pg_hold"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static shmem_request_hook_type request_before;

static void request(void)
{
	if (request_before)
		request_before();
	RequestNamedLWLockTranche(TRANCHE, 1);
}

void _PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	request_before = shmem_request_hook;
	shmem_request_hook = request;
}

/* It is inline, so that the caller's self time contains its time. */
static inline __attribute__((always_inline)) void work(int ms)
{
	struct timespec ts;
	int64 end;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	end = ts.tv_sec * INT64CONST(1000000000) + ts.tv_nsec + ms * INT64CONST(1000000);
	do {
		clock_gettime(CLOCK_MONOTONIC, &ts);
	} while (ts.tv_sec * INT64CONST(1000000000) + ts.tv_nsec < end);
}

PG_FUNCTION_INFO_V1(hold_row);
PG_FUNCTION_INFO_V1(hold_lock);
PG_FUNCTION_INFO_V1(take_lock);
PG_FUNCTION_INFO_V1(change_row);
PG_FUNCTION_INFO_V1(work_alone);

Datum hold_row(PG_FUNCTION_ARGS)
{
	work(PG_GETARG_INT32(0));
	PG_RETURN_VOID();
}

Datum hold_lock(PG_FUNCTION_ARGS)
{
	LWLock *lock = &GetNamedLWLockTranche(TRANCHE)->lock;

	LWLockAcquire(lock, LW_EXCLUSIVE);
	work(PG_GETARG_INT32(0));
	LWLockRelease(lock);
	PG_RETURN_VOID();
}

Datum take_lock(PG_FUNCTION_ARGS)
{
	LWLock *lock = &GetNamedLWLockTranche(TRANCHE)->lock;

	work(1);
	LWLockAcquire(lock, LW_EXCLUSIVE);
	LWLockRelease(lock);
	PG_RETURN_VOID();
}

Datum change_row(PG_FUNCTION_ARGS)
{
	SPI_connect();
	if (SPI_execute("UPDATE t SET v = v + 1 WHERE id = 1", false, 0) != SPI_OK_UPDATE)
		elog(ERROR, "the row was not changed");
	SPI_finish();
	PG_RETURN_VOID();
}

Datum work_alone(PG_FUNCTION_ARGS)
{
	work(PG_GETARG_INT32(0));
	PG_RETURN_VOID();
}
