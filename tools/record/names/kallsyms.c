// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include "record/names/kallsyms.h"

bool kallsyms_next(FILE *f, struct kallsyms_line *symbol)
{
	char line[512];

	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %c %127s", &symbol->addr, &symbol->type, symbol->name) == 3)
			return true;
	return false;
}
