// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This plugin for the tests makes the calls in must_jump() mandatory tail calls.  GCC has a bit for
 * that internally; a program can request it from GCC 15 on.
 */
#include "../../gcc-plugin/gcc-compat.h"

__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

namespace {

const pass_data must_tail_data = {
	GIMPLE_PASS, "must_tail", OPTGROUP_NONE, TV_NONE, PROP_cfg, 0, 0, 0, 0
};

class must_tail_pass : public gimple_opt_pass {
public:
	must_tail_pass(gcc::context *ctxt) : gimple_opt_pass(must_tail_data, ctxt) {}

	unsigned int execute(function *fn) final override
	{
		gimple_stmt_iterator gsi;
		basic_block bb;

		if (!id_equal(DECL_NAME(fn->decl), "must_jump"))
			return 0;
		FOR_EACH_BB_FN(bb, fn)
			for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
				if (is_gimple_call(gsi_stmt(gsi)))
					gimple_call_set_must_tail(as_a<gcall *>(gsi_stmt(gsi)), true);
		return 0;
	}
};

} /* namespace */

__attribute__((visibility("default")))
int plugin_init(struct plugin_name_args *plugin, struct plugin_gcc_version *)
{
	struct register_pass_info info = {
		new must_tail_pass(g), "cfg", 1, PASS_POS_INSERT_AFTER
	};

	register_callback(plugin->base_name, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
	return 0;
}
