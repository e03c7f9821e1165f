// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the functions that get a record, by these rules in this order:
 *
 *	never	code that runs before thread-local storage exists or without a
 *		usable stack frame: naked, interrupt, no_caller_saved_registers, thunks,
 *		_start, resolvers of ifuncs and what they call, the unwinder
 *	never	__attribute__((ldb_never)), no_instrument_function
 *	always	__attribute__((ldb_always))
 *	no	deny=, or allow= given and not matching
 *	no	smaller than min-insns= (see select_is_big_enough())
 *	yes	everything else that needs a record (place.c)
 */
#include <cxxabi.h>
#include <fnmatch.h>
#include "instrument.h"

/* An attribute that select_mark_resolvers() adds; no source can contain its name. */
static const char resolver_mark[] = "ldb resolver";

struct glob_list {
	auto_vec<const char *>	globs;
	bool			given;
};

static struct glob_list allowed, denied;
static int min_insns;

/* "a:std::*:b" is three globs: a double colon belongs to the name. */
static const char *glob_end(const char *s)
{
	for (; *s; s++) {
		if (*s != ':')
			continue;
		if (s[1] != ':')
			return s;
		s++;
	}
	return s;
}

void select_add_globs(const char *list, bool allow)
{
	struct glob_list *to = allow ? &allowed : &denied;
	const char *end;

	to->given = true;
	for (; *list; list = *end ? end + 1 : end) {
		end = glob_end(list);
		if (end > list)
			to->globs.safe_push(xstrndup(list, end - list));
	}
}

void select_set_min_insns(int nr_insns)
{
	min_insns = nr_insns;
}

static bool matches_one(const struct glob_list *list, const char *name)
{
	unsigned int i;

	for (i = 0; i < list->globs.length(); i++)
		if (!fnmatch(list->globs[i], name, 0))
			return true;
	return false;
}

/* Removes the parameters and what follows from a demangled name: "ns::f(int) const" -> "ns::f". */
static void cut_parameters(char *name)
{
	int depth = 0;
	char *p;

	for (p = name + strlen(name); p > name; p--) {
		if (p[-1] == ')')
			depth++;
		else if (p[-1] == '(' && --depth == 0)
			break;
	}
	if (p > name)
		p[-1] = '\0';
}

/*
 * Each glob is compared with the symbol without GCC's suffixes (.part.0), and with its demangled
 * form with and without parameters.
 */
static bool list_matches(const struct glob_list *list, tree decl)
{
	const char *sym = IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(decl));
	char *base, *full;
	bool found;
	int status;

	if (!list->globs.length())
		return false;
	base = xstrdup(sym + (*sym == '*'));
	base[strcspn(base, ".")] = '\0';
	found = matches_one(list, base);
	full = abi::__cxa_demangle(base, NULL, NULL, &status);
	if (full && !found) {
		found = matches_one(list, full);
		cut_parameters(full);
		found = found || matches_one(list, full);
	}
	free(full);
	free(base);
	return found;
}

static tree handle_attribute(tree *node, tree name, tree, int, bool *no_add)
{
	if (TREE_CODE(*node) != FUNCTION_DECL) {
		warning(OPT_Wattributes, "%qE attribute applies to functions "
			"only", name);
		*no_add = true;
		return NULL_TREE;
	}
	/* An inlined function has no frame and so cannot have a record. */
	if (id_equal(name, "ldb_always") &&
	    !lookup_attribute("always_inline", DECL_ATTRIBUTES(*node)))
		DECL_UNINLINABLE(*node) = 1;
	return NULL_TREE;
}

static struct attribute_spec never_spec = {
	"ldb_never", 0, 0, true, false, false, false, handle_attribute, NULL
};

static struct attribute_spec always_spec = {
	"ldb_always", 0, 0, true, false, false, false, handle_attribute, NULL
};

void select_register_attributes(void)
{
	register_attribute(&never_spec);
	register_attribute(&always_spec);
}

static bool is_ifunc(cgraph_node *node)
{
	return lookup_attribute("ifunc", DECL_ATTRIBUTES(node->decl)) != NULL;
}

static bool is_resolver(cgraph_node *node)
{
	struct ipa_ref *ref;

	if (lookup_attribute(resolver_mark, DECL_ATTRIBUTES(node->decl)))
		return true;
	FOR_EACH_ALIAS(node, ref)
		if (is_ifunc(dyn_cast<cgraph_node *>(ref->referring)))
			return true;
	return false;
}

/*
 * Resolvers run while the program is being relocated: the block's offset may not
 * be known yet, and some C libraries set the thread register only later.  The same applies to the
 * functions that they call.
 */
void select_mark_resolvers(void)
{
	auto_vec<cgraph_node *> work;
	cgraph_node *node, *callee;
	cgraph_edge *e;

	FOR_EACH_FUNCTION(node)
		if (node->alias && is_ifunc(node))
			work.safe_push(node->ultimate_alias_target());

	while (!work.is_empty()) {
		node = work.pop();
		if (!node->definition ||
		    lookup_attribute(resolver_mark, DECL_ATTRIBUTES(node->decl)))
			continue;
		DECL_ATTRIBUTES(node->decl) =
			tree_cons(get_identifier(resolver_mark), NULL_TREE,
				  DECL_ATTRIBUTES(node->decl));
		for (e = node->callees; e; e = e->next_callee) {
			callee = e->callee->ultimate_alias_target();
			work.safe_push(callee);
		}
	}
}

static bool has_attribute(tree decl, const char *name)
{
	return lookup_attribute(name, DECL_ATTRIBUTES(decl)) ||
	       lookup_attribute(name, TYPE_ATTRIBUTES(TREE_TYPE(decl)));
}

static bool calls_builtin(struct function *fn, enum built_in_function code)
{
	gimple_stmt_iterator gsi;
	basic_block bb;

	FOR_EACH_BB_FN(bb, fn)
		for (gsi = gsi_start_bb(bb); !gsi_end_p(gsi); gsi_next(&gsi))
			if (gimple_call_builtin_p(gsi_stmt(gsi), code))
				return true;
	return false;
}

/* Returns why a record would break this function, or NULL. */
static const char *impossible(struct function *fn)
{
	static const char * const attributes[] = {
		"naked", "interrupt", "no_caller_saved_registers",
	};
	tree decl = fn->decl;
	cgraph_node *node = cgraph_node::get(decl);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		if (has_attribute(decl, attributes[i]))
			return attributes[i];
	if (node && node->thunk)
		return "thunk";
	if (node && is_resolver(node))
		return "ifunc resolver, or called by one";
	if (id_equal(DECL_ASSEMBLER_NAME(decl), "_start"))
		return "runs before thread-local storage exists";
	if (calls_builtin(fn, BUILT_IN_EH_RETURN))
		return "unwinds by itself";
	return NULL;
}

/*
 * Returns true if the function has at least min-insns= instructions, by GCC's estimate.  The caller
 * exempts functions with ldb_always; functions with loops, because they can take long whatever
 * their size; and functions into which control returns abnormally from a callee (catch, setjmp),
 * because they repair the chain.
 */
bool select_is_big_enough(struct function *fn)
{
	if (!min_insns)
		return true;
	return estimate_num_insns_fn(fn->decl, &eni_size_weights) >= min_insns;
}

enum select_verdict select_function(struct function *fn, const char **why)
{
	tree decl = fn->decl;

	*why = impossible(fn);
	if (*why)
		return SELECT_NO;
	if (has_attribute(decl, "ldb_never"))
		*why = "ldb_never";
	else if (has_attribute(decl, "no_instrument_function"))
		*why = "no_instrument_function";
	if (*why)
		return SELECT_NO;
	if (has_attribute(decl, "ldb_always"))
		return SELECT_ALWAYS;
	if (list_matches(&denied, decl))
		*why = "deny=";
	else if (allowed.given && !list_matches(&allowed, decl))
		*why = "not in allow=";
	return *why ? SELECT_NO : SELECT_YES;
}
