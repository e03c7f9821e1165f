// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ldb-gcc-N.so, which ldb.so (loader.c) loads, makes GCC put a struct ldb_frame
 * (libldb/include/ldb/abi.h) in the stack frame of every function that has a loop, or a call that
 * may take time (select.c and place.c have the exact rules).
 *
 * This file reads the options and registers everything with GCC.  The order in
 * one compilation:
 *
 *	select_register_attributes()	before parsing
 *	select_mark_resolvers()		after parsing, before the first IPA pass, so
 *	emit_compiled_note()		that -flto objects contain the results
 *	the pass of instrument.c	late, for each function (-flto: at link)
 *	emit_thread_block()		at the end of the assembly file
 *
 * -fplugin-arg-ldb-verbose or -fdump-tree-all (*.ldb) shows what was done with each function.
 */
#include "arch/arch.h"

/* GCC's licence check does not cover emitted code: see COPYING. */
__attribute__((visibility("default"))) int plugin_is_GPL_compatible;

/* The options disable and verbose; select.c and tail.c store the values of the others. */
static bool is_disabled, is_verbose;

static const char known_options[] =
	"disable, verbose, version, allow=GLOB[:GLOB...], "
	"deny=GLOB[:GLOB...], min-insns=N, tail-calls=all|program|module";

static struct plugin_info info = {
	/* version */	LDB_VERSION,
	/* help */
	"disable\t\tdo nothing\n"
	"verbose\t\treport on stderr what is done with each function\n"
	"version\t\tprint the versions of ldb, its ABI and GCC\n"
	"allow=GLOBS\tonly functions matching one of GLOBS (a:b:c)\n"
	"deny=GLOBS\tno function matching one of GLOBS\n"
	"min-insns=N\tno function smaller than N that has no loop\n"
	"tail-calls=X\twhich tail calls stay jumps: all, or those into the program or module\n",
};

static bool parse_count(const char *value, int *out)
{
	char *end;
	long n;

	if (!value || !*value)
		return false;
	n = strtol(value, &end, 10);
	if (*end || n < 0 || n > 1000000)
		return false;
	*out = n;
	return true;
}

/* Returns false, after one error message, if the option or its value is wrong. */
static bool parse_option(const struct plugin_argument *arg)
{
	bool has_value = arg->value && *arg->value;
	int min_insns;

	if (!strcmp(arg->key, "disable") && !arg->value) {
		is_disabled = true;
	} else if (!strcmp(arg->key, "verbose") && !arg->value) {
		is_verbose = true;
	} else if (!strcmp(arg->key, "version") && !arg->value) {
		fprintf(stderr, "ldb.so %s, ABI %d, for GCC %s\n", LDB_VERSION,
			LDB_ABI_VERSION, gcc_version.basever);
	} else if (!strcmp(arg->key, "allow") && has_value) {
		select_add_globs(arg->value, true);
	} else if (!strcmp(arg->key, "deny") && has_value) {
		select_add_globs(arg->value, false);
	} else if (!strcmp(arg->key, "min-insns") && has_value) {
		if (!parse_count(arg->value, &min_insns)) {
			error("ldb.so: %<min-insns=%s%> is not a number: "
			      "give one from 0 to 1000000", arg->value);
			return false;
		}
		select_set_min_insns(min_insns);
	} else if (!strcmp(arg->key, "tail-calls") && has_value) {
		if (!tail_choose(arg->value)) {
			error("ldb.so: wrong value in %<tail-calls=%s%>: "
			      "known are all, program, module", arg->value);
			return false;
		}
	} else {
		error("ldb.so: wrong option %<-fplugin-arg-ldb-%s%s%s%>: "
		      "known are %s", arg->key, arg->value ? "=" : "",
		      arg->value ? arg->value : "", known_options);
		return false;
	}
	return true;
}

/* Returns why this translation unit cannot be instrumented, or NULL. */
static const char *unsupported_target(void)
{
	const char *why = arch_unsupported();

	if (!why && flag_tm)
		why = "code with transactions (-fgnu-tm) is not instrumented";
	return why;
}

static void on_attributes(void *, void *)
{
	select_register_attributes();
}

static void on_ipa_start(void *, void *)
{
	/* When GCC runs for the link, the objects already contain the results of both functions. */
	if (in_lto_p)
		return;
	select_mark_resolvers();
	emit_compiled_note();
}

static void on_finish_unit(void *, void *)
{
	emit_thread_block();
}

__attribute__((visibility("default")))
int plugin_init(struct plugin_name_args *plugin, struct plugin_gcc_version *gcc)
{
	const char *why, *name = plugin->base_name;
	int i;

	/*
	 * This calls error() and returns 0: the compilation fails, as it would with 1, but GCC
	 * prints one line instead of two.
	 */
	if (!plugin_default_version_check(gcc, &gcc_version)) {
		error("ldb.so: built for GCC %s (%s), loaded into GCC %s (%s): "
		      "build it again with %<make plugin CC=gcc-%d%> in its sources",
		      gcc_version.basever, gcc_version.datestamp,
		      gcc->basever, gcc->datestamp, atoi(gcc->basever));
		return 0;
	}

	for (i = 0; i < plugin->argc; i++)
		if (!parse_option(&plugin->argv[i]))
			return 0;

	register_callback(name, PLUGIN_INFO, NULL, &info);
	register_callback(name, PLUGIN_ATTRIBUTES, on_attributes, NULL);
	if (is_disabled)
		return 0;

	why = unsupported_target();
	if (why) {
		inform(UNKNOWN_LOCATION, "ldb.so: %s", why);
		return 0;
	}

	register_callback(name, PLUGIN_ALL_IPA_PASSES_START, on_ipa_start, NULL);
	register_callback(name, PLUGIN_FINISH_UNIT, on_finish_unit, NULL);
	instrument_register_passes(name, is_verbose);
	return 0;
}
