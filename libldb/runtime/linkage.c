// SPDX-License-Identifier: LGPL-2.1-or-later
/* Implements linkage.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include "runtime/linkage.h"
#include "runtime/runtime.h"

#define PAGE(a)		((a) & ~4095ULL)

const void *linkage_address(uint64_t bias, ElfW(Addr) value)
{
	return (const void *)(value < bias ? value + bias : value);
}

void linkage_tables(struct linkage *l, const ElfW(Dyn) *dynamic, uint64_t bias)
{
	uint64_t plt_kind = DT_RELA;

	*l = (struct linkage){ .bias = bias };
	for (const ElfW(Dyn) *d = dynamic; d->d_tag != DT_NULL; d++) {
		const void *at = linkage_address(bias, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB:		l->sym = at; break;
		case DT_STRTAB:		l->str = at; break;
		case DT_VERSYM:		l->versym = at; break;
		case DT_VERNEED:	l->verneed = at; break;
		case DT_VERDEF:		l->verdef = at; break;
		case DT_GNU_HASH:	l->gnu_hash = at; break;
		case DT_JMPREL:		l->plt = at; break;
		case DT_RELA:		l->rela = at; break;
		case DT_PLTRELSZ:	l->plt_size = d->d_un.d_val; break;
		case DT_RELASZ:		l->rela_size = d->d_un.d_val; break;
		case DT_PLTREL:		plt_kind = d->d_un.d_val; break;
		}
	}
	if (!l->plt || plt_kind != DT_RELA)
		l->plt_size = 0;
	if (!l->rela)
		l->rela_size = 0;
}

bool linkage_read(struct linkage *l, const ElfW(Dyn) *dynamic, uint64_t bias, uint64_t relro_from,
		  uint64_t relro_to)
{
	linkage_tables(l, dynamic, bias);
	l->relro_from = relro_from;
	l->relro_to = relro_to;
	return l->sym && l->str && (l->plt_size || l->rela_size);
}

const char *linkage_version(const struct linkage *l, uint32_t symbol)
{
	const ElfW(Verneed) *need = l->verneed;
	unsigned index = l->versym ? l->versym[symbol] & 0x7fff : 0;

	if (index < 2 || !need)
		return NULL;
	for (;;) {
		const ElfW(Vernaux) *aux = (const void *)((const char *)need + need->vn_aux);

		for (unsigned i = 0; i < need->vn_cnt; i++) {
			if (aux->vna_other == index)
				return l->str + aux->vna_name;
			aux = (const void *)((const char *)aux + aux->vna_next);
		}
		if (!need->vn_next)
			return NULL;
		need = (const void *)((const char *)need + need->vn_next);
	}
}

static uint64_t page_known;	/* the page that was last found writable */

/*
 * Returns true if the slot is writable.  The program may have protected its tables itself, so this
 * function makes the kernel write the value that the slot has already.
 */
bool linkage_is_writable(uint64_t *slot)
{
	uint64_t word, page = PAGE((uintptr_t)slot);
	struct iovec from = { &word, sizeof(word) }, to = { slot, sizeof(*slot) };
	long pid = sys(SYS_getpid), ret;

	if (page == page_known)
		return true;
	/* If these system calls are not allowed, the slot is assumed to be writable. */
	ret = sys(SYS_process_vm_readv, pid, &from, 1, &to, 1, 0);
	if (ret == sizeof(word))
		ret = sys(SYS_process_vm_writev, pid, &from, 1, &to, 1, 0);
	if (ret == -EFAULT)
		return false;
	page_known = page;
	return true;
}

void linkage_forget(void)
{
	page_known = 0;
}

bool linkage_open(struct linkage *l, uint64_t *slot)
{
	uint64_t at = (uintptr_t)slot, from = l->relro_from, to = l->relro_to;

	if (at < from || at >= to)
		return linkage_is_writable(slot);
	if (!l->is_open)
		l->is_open = !sys(SYS_mprotect, from, to - from, PROT_READ | PROT_WRITE);
	return l->is_open;
}

void linkage_close(struct linkage *l)
{
	if (l->is_open)
		sys(SYS_mprotect, l->relro_from, l->relro_to - l->relro_from, PROT_READ);
	l->is_open = false;
}
