// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements --what-if: expressions -> trace -> replay -> output. */
#include <errno.h>
#include <string.h>

#include "cli/error.h"
#include "cli/progress.h"
#include "render/whatif.h"

static void parse(const struct cli_list *expressions, struct whatif_change *changes)
{
	char err[256];

	if (expressions->nr > WHATIF_CHANGES_MAX)
		cli_usage("--what-if: at most %d at once", WHATIF_CHANGES_MAX);
	for (size_t i = 0; i < expressions->nr; i++) {
		int ret = whatif_parse(expressions->items[i], &changes[i], err, sizeof(err));

		if (ret == -ENOMEM)
			open_fail_memory();
		if (ret)
			cli_usage("--what-if %s", err);
	}
}

static void show_progress(void *arg, const char *what, double done)
{
	progress_line("%s: %.0f %%", what, 100 * done);
}

/* Returns false if the replay failed, after an error message. */
static bool replay(struct opened *o, const struct whatif_show *s,
		   const struct whatif_change *changes)
{
	struct whatif_options wo = {
		.changes = changes, .nr_changes = s->expressions->nr, .class = s->class,
		.from = open_from(o->options, o->model), .to = open_to(o->options, o->model),
		.nr_requests = s->nr_requests, .progress = show_progress,
	};
	struct whatif w;
	char err[256];
	int ret = whatif_build(o->model, &wo, &w, err, sizeof(err));

	progress_clear();
	if (ret == -ENOMEM)
		open_fail_memory();
	if (ret == -EINVAL)
		cli_error("--what-if: %s", err);
	else if (ret)
		cli_error("a temporary file failed: %s (TMPDIR says where they are)", strerror(-ret));
	if (ret)
		return false;
	render_show(&o->render, &whatif_printer, &w);
	whatif_free(&w);
	return true;
}

int whatif_show(const struct open_options *open, const struct whatif_show *s)
{
	struct whatif_change changes[WHATIF_CHANGES_MAX] = { 0 };
	struct opened o;
	bool ok;

	parse(s->expressions, changes);
	open_trace(&o, open);
	progress_init(!open->is_quiet);
	ok = replay(&o, s, changes);
	for (size_t i = 0; i < s->expressions->nr; i++)
		whatif_change_free(&changes[i]);
	return open_finish(&o, ok, true);
}
