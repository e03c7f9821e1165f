// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a recorder has a thread of the program do, beside the door: this may call libc and the
 * loader, because the recorder has chosen a thread that is in neither (ldb/control.h).
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
	if (what & LDB_DOOR_FLOWS)
		flow_begin();
	errno = saved;
}
