// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Manages a session's memory: its layout, and which process may map which part.
 *
 * The memory consists of single pages; the session holds a reference to each until it ends, and so
 * does each mapping.  Pages that the kernel writes are allocated in advance, because the probes
 * must not fault: the info page and the kernel's rings when the session is created, and a thread's
 * page when the thread is registered.  All other pages are allocated when they are first accessed.
 *
 * Mappings are filled only by the fault handler, so fork() copies no page table entries, and the
 * first access of a child calls the fault handler.
 */
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "ldb_internal.h"

static u64 ring_stride(u32 order)
{
	return LDB_RING_HDR_SIZE + (sizeof(struct ldb_rec) << order);
}

static u64 lay_out(struct ldb_info *i, const struct ldb_create *c)
{
	u64 at = LDB_PAGE_SIZE;

	i->magic = LDB_INFO_MAGIC;
	i->abi = LDB_SESSION_ABI;
	i->flags = LDB_INFO_F_KERNEL;
	i->nr_cpus = nr_cpu_ids;
	i->nr_scanners = c->nr_scanners;
	i->nr_rings = i->nr_cpus + i->nr_scanners;
	i->ring_order = c->ring_order;
	i->scan_ring_order = c->scan_ring_order;
	i->max_threads = c->max_threads;
	i->pages_off = at;
	i->page_stride = LDB_PAGE_SIZE;
	at += i->max_threads * i->page_stride;
	i->stacks_off = at;
	i->stack_stride = sizeof(struct ldb_stack);
	at += i->max_threads * i->stack_stride;
	i->rings_off = at;
	i->ring_stride = ring_stride(i->ring_order);
	at += i->nr_cpus * i->ring_stride;
	i->scan_rings_off = at;
	i->scan_ring_stride = i->nr_scanners ? ring_stride(i->scan_ring_order) : 0;
	at += i->nr_scanners * i->scan_ring_stride;
	i->total_size = at;
	if (c->flags & LDB_CREATE_F_SPLIT) {
		i->flags |= LDB_INFO_F_SPLIT;
		i->kernel_rings_off = at;
		i->kernel_ring_stride = i->ring_stride;
		at += i->nr_cpus * i->kernel_ring_stride;
	}
	return at;
}

/*
 * These allocations do not invoke the OOM killer, because it would kill the largest program, which
 * need not be the one that asks for this memory.  The creation of a session fails at once if memory
 * is short; a page fault tries harder.
 */
#define GFP_CREATE	(GFP_KERNEL_ACCOUNT | __GFP_NORETRY | __GFP_NOWARN)
#define GFP_FAULT	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static struct page *new_page(int node, gfp_t how)
{
	return alloc_pages_node(node, how | __GFP_ZERO, 0);
}

static struct page *get_page_at(struct ldb_session *s, unsigned long n)
{
	struct page *page = READ_ONCE(s->pages[n]), *other;

	if (page)
		return page;
	page = new_page(NUMA_NO_NODE, GFP_FAULT);
	if (!page)
		return NULL;
	other = cmpxchg(&s->pages[n], NULL, page);
	if (!other)
		return page;
	__free_page(page);
	return other;
}

/* Makes the ring for the kernel's events of one CPU, contiguous in the kernel's address space. */
static int make_ring(struct ldb_session *s, unsigned int cpu)
{
	const struct ldb_info *i = &s->info;
	u64 off = i->flags & LDB_INFO_F_SPLIT ? i->kernel_rings_off : i->rings_off;
	unsigned long nr = i->ring_stride >> PAGE_SHIFT, n;
	struct page **pages = s->pages + ((off + cpu * i->ring_stride) >> PAGE_SHIFT);
	struct ldb_session_cpu *sc = per_cpu_ptr(s->cpu, cpu);
	void *ring;

	for (n = 0; n < nr; n++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		pages[n] = new_page(cpu_to_node(cpu), GFP_CREATE);
		if (!pages[n])
			return -ENOMEM;
		cond_resched();
	}
	ring = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	if (!ring)
		return -ENOMEM;
	sc->s = s;
	sc->slots = ring + LDB_RING_HDR_SIZE;
	sc->mask = (1U << i->ring_order) - 1;
	local_set(&sc->left, ldb_quarter(sc));
	return 0;
}

/* ldb_memory_free() must be called, also after a failure. */
int ldb_memory_create(struct ldb_session *s, const struct ldb_create *c)
{
	struct ldb_info *i = &s->info;
	u64 size = lay_out(i, c);
	unsigned int cpu;
	int rc;

	if (size > (u64)ldb_max_mb << 20)
		return -EDQUOT;
	s->first_page = i->pages_off >> PAGE_SHIFT;
	s->nr_pages = size >> PAGE_SHIFT;
	s->ro_from = i->total_size >> PAGE_SHIFT;
	rc = ldb_limits_charge(s, (size + size / PAGE_SIZE * sizeof(*s->pages)) >> PAGE_SHIFT);
	if (rc)
		return rc;
	s->cpu = alloc_percpu_gfp(struct ldb_session_cpu, GFP_CREATE);
	s->pages = kvcalloc(s->nr_pages, sizeof(*s->pages), GFP_CREATE);
	s->slots = kvcalloc(i->max_threads, sizeof(*s->slots), GFP_CREATE);
	if (!s->cpu || !s->pages || !s->slots)
		return -ENOMEM;
	if (!get_page_at(s, 0))
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		rc = make_ring(s, cpu);
		if (rc)
			return rc;
	}
	memcpy(page_address(s->pages[0]), i, sizeof(*i));
	return 0;
}

void ldb_memory_free(struct ldb_session *s)
{
	unsigned long n;
	unsigned int cpu;

	if (s->cpu) {
		for_each_possible_cpu(cpu)
			if (per_cpu_ptr(s->cpu, cpu)->slots)
				vunmap(ldb_ring(per_cpu_ptr(s->cpu, cpu)));
		free_percpu(s->cpu);
	}
	for (n = 0; s->pages && n < s->nr_pages; n++) {
		if (s->pages[n])
			put_page(s->pages[n]);
		if (n % 1024 == 0)
			cond_resched();
	}
	kvfree(s->pages);
	kvfree(s->slots);
}

/* Returns NULL if there is no memory.  The page stays where it is until the session ends. */
struct ldb_page *ldb_memory_thread_page(struct ldb_session *s, u32 slot)
{
	struct page *page = get_page_at(s, s->first_page + slot);

	return page ? page_address(page) : NULL;
}

/*
 * Only the creator may map the kernel's own rings, because the creator may be permitted to know
 * more about other tasks than the program.
 */
static bool may_map(const struct ldb_session *s, const struct mm_struct *mm, unsigned long pgoff)
{
	return mm == s->creator || (mm == READ_ONCE(s->mm) && pgoff < s->ro_from);
}

static vm_fault_t fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct ldb_session *s = vma->vm_private_data;
	struct page *page;

	if (vmf->pgoff >= s->nr_pages)
		return VM_FAULT_SIGBUS;
	/* mmap() refuses this, too. */
	if (vmf->pgoff >= s->ro_from && vma->vm_flags & VM_MAYWRITE)
		return VM_FAULT_SIGBUS;
	/*
	 * A fork child inherits the mapping, but may not use the session's memory.  It gets pages
	 * of its own, which it does not share with its siblings either, because they may run as
	 * other users now.
	 */
	if (may_map(s, vma->vm_mm, vmf->pgoff)) {
		page = get_page_at(s, array_index_nospec(vmf->pgoff, s->nr_pages));
		if (page)
			get_page(page);
	} else {
		page = new_page(NUMA_NO_NODE, GFP_FAULT);
	}
	vmf->page = page;
	return page ? 0 : VM_FAULT_OOM;
}

static const struct vm_operations_struct vm_ops = {
	.fault = fault,
};

int ldb_memory_mmap(struct ldb_session *s, struct vm_area_struct *vma)
{
	unsigned long no = VM_MAYEXEC;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC || !may_map(s, vma->vm_mm, vma->vm_pgoff + vma_pages(vma) - 1))
		return -EPERM;
	if (vma->vm_pgoff + vma_pages(vma) > s->ro_from && s->ro_from < s->nr_pages) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		no |= VM_MAYWRITE;
	}
	ldb_vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, no);
	vma->vm_private_data = s;
	vma->vm_ops = &vm_ops;
	return 0;
}
