// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A recorder makes a thread of the program call this function (ldb_door.late).  It may call libc
 * and the loader, because the recorder stops the thread outside of the loader and of allocators
 * (ldb/control.h).
 */
#include <errno.h>
#include "runtime.h"
#include "runtime/late.h"

void visit_late(uint64_t what)
{
	int saved = errno;

	if (what & LDB_DOOR_ADOPT)
		create_adopt();
	if (what & LDB_DOOR_LOADED)
		late_begin();
	if (what & LDB_DOOR_FLOWS) {
		create_check_filters();
		flow_begin(true);
	}
	errno = saved;
}
