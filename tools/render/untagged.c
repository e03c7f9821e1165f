// SPDX-License-Identifier: GPL-2.0-or-later
/* Suggests functions whose calls may be requests; see untagged.h. */
#include <stdio.h>
#include <string.h>

#include "analysis/report/candidates.h"
#include "analysis/tracks/request-source.h"
#include "cli/error.h"
#include "cli/units.h"
#include "render/untagged.h"

/*
 * Returns true if the name, within quotes of the shell, stands for itself as an argument of
 * --request.
 */
static bool is_plain(const char *name)
{
	return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:~.<>, &")] &&
	       strcmp(name, "loop") && strcmp(name, "tags") && strcmp(name, "socket");
}

static void say_one(const char *command, const struct candidate *c)
{
	char nr[UNITS_ROOM], total[UNITS_ROOM], longest[UNITS_ROOM];

	cli_note("  %s --request='%s'    # %s calls, together %s, the longest %s", command, c->func->function,
		 units_count(c->nr, nr), units_duration(c->total_ns, total), units_duration(c->max_ns, longest));
}

const char *untagged_why(const struct opened *o, char text[UNTAGGED_TEXT])
{
	if (!request_source_say_none(o->model, text, UNTAGGED_TEXT))
		snprintf(text, UNTAGGED_TEXT, "no request was tagged: say with --request which function is one, or tag them with "
			 "ldb_req_start(id, queue) and ldb_req_end(id) of <ldb/ldb.h>");
	return text;
}

void untagged_say(const struct opened *o, const char *args)
{
	struct candidates found;
	char command[512];

	if (o->options->is_quiet || o->model->is_kernel_only)
		return;
	if (candidates_find(o->model, &found))
		open_fail_memory();
	snprintf(command, sizeof(command), "%s%s%s%s", cli_tool_name(), o->options->input ? " -i " : "",
		 o->options->input ? o->options->input : "", args);
	for (size_t i = 0; !o->options->input && i < o->options->nr_files; i++)
		snprintf(command + strlen(command), sizeof(command) - strlen(command), " %s", o->options->files[i]);
	for (size_t i = 0; i < found.nr; i++)
		if (is_plain(found.at[i].func->function))
			say_one(command, &found.at[i]);
	if (found.has_loop)
		cli_note("  %s --request=loop    # each turn of an event loop", command);
}
