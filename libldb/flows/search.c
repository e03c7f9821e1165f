// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finds the function to which the loader would bind a call that is not bound yet: the first
 * module in the global scope that has the symbol with the version.  dlvsym() cannot be used,
 * because it does not find symbols without a version, such as those of a library that replaces
 * malloc().
 *
 * The global scope is the list of modules with which the program started, in order.
 */
#include <elf.h>
#include <link.h>
#include "flows.h"
#include "runtime/linkage.h"
#include "runtime/runtime.h"

bool flow_scope_read(struct flow_scope *s, const void *dynamic, uint64_t bias)
{
	struct linkage l;

	linkage_tables(&l, dynamic, bias);
	*s = (struct flow_scope){
		.bias = bias, .sym = l.sym, .str = l.str, .versym = l.versym, .verdef = l.verdef,
		.hash = l.gnu_hash,
	};
	return s->sym && s->str && s->hash;
}

/*
 * Returns the name of the version with this index; NULL: the module does not define it, or it is
 * the name of the file.
 */
static const char *version_name(const struct flow_scope *s, unsigned index)
{
	const ElfW(Verdef) *def = s->verdef;

	while (def) {
		const ElfW(Verdaux) *aux = (const void *)((const char *)def + def->vd_aux);

		if (def->vd_ndx == index)
			return def->vd_flags & VER_FLG_BASE ? NULL : s->str + aux->vda_name;
		if (!def->vd_next)
			break;
		def = (const void *)((const char *)def + def->vd_next);
	}
	return NULL;
}

/* Returns true if the loader may bind a reference with this version to the definition. */
static bool is_version(const struct flow_scope *s, uint32_t symbol, const char *version)
{
	unsigned index = s->versym ? s->versym[symbol] : 0;
	const char *name;

	if (!s->versym)
		return true;
	name = version_name(s, index & 0x7fff);
	if (name && raw_str_equal(name, version))
		return true;
	return !name && !(index & 0x8000);
}

static bool is_function(const ElfW(Sym) *sym)
{
	unsigned type = ELF64_ST_TYPE(sym->st_info), bind = ELF64_ST_BIND(sym->st_info);

	return sym->st_shndx != SHN_UNDEF && sym->st_value && bind != STB_LOCAL &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 5381;

	for (; *name; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

/*
 * Finds the definition of a function that fits `version`.  If that is NULL, finds the oldest
 * definition, or a newer one if it is the only one.
 */
static const ElfW(Sym) *find(const struct flow_scope *s, const char *name, uint32_t hash,
			     const char *version)
{
	uint32_t nr_buckets = s->hash[0], first = s->hash[1], nr_words = s->hash[2];
	const uint64_t *bloom = (const uint64_t *)(s->hash + 4);
	const uint32_t *buckets = (const uint32_t *)(bloom + nr_words);
	const uint32_t *chain = buckets + nr_buckets;
	const ElfW(Sym) *newer = NULL;
	unsigned nr_newer = 0;
	uint64_t word;

	if (!nr_buckets || !nr_words)
		return NULL;
	word = bloom[hash / 64 % nr_words];
	if (!(word >> hash % 64 & word >> (hash >> s->hash[3]) % 64 & 1))
		return NULL;
	for (uint32_t i = buckets[hash % nr_buckets]; i >= first; i++) {
		const ElfW(Sym) *sym = &s->sym[i];

		if (!((chain[i - first] ^ hash) & ~1U) && is_function(sym) &&
		    raw_str_equal(s->str + sym->st_name, name)) {
			if (version ? is_version(s, i, version) : !s->versym || (s->versym[i] & 0x7fff) < 3)
				return sym;
			newer = sym;
			nr_newer++;
		}
		if (chain[i - first] & 1)
			break;
	}
	return !version && nr_newer == 1 ? newer : NULL;
}

uint64_t flow_scope_search(const struct flow_scope *scopes, uint32_t nr, const char *name,
			   const char *version)
{
	uint32_t hash = hash_of(name);

	for (uint32_t i = 0; i < nr; i++) {
		const ElfW(Sym) *sym = find(&scopes[i], name, hash, version);
		uint64_t at;

		if (!sym)
			continue;
		at = scopes[i].bias + sym->st_value;
		if (ELF64_ST_TYPE(sym->st_info) == STT_GNU_IFUNC)
			at = ((uint64_t (*)(void))(uintptr_t)at)();
		return at;
	}
	return 0;
}
