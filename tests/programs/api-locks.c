// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses the lock functions of <ldb/ldb.h> in strict C, with several types of lock, without the
 * runtime.
 */
#include <ldb/ldb.h>
#include <stdio.h>

int main(void)
{
	static volatile int taken;
	static const char *constant = "a lock";

	ldb_lock_wait(&taken);
	ldb_lock_acquired(&taken);
	ldb_lock_released(&taken);
	ldb_lock_wait(constant);
	ldb_lock_released(constant);
	ldb_lock_released(0);
	printf("api-locks: %d done\n", taken);
	return 0;
}
