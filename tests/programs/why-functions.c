// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The planted causes of this program are in the work of the request itself.  See why-load.h.
 *
 *	slow	match() takes long on one input in seventy
 *	rare	rebuild() is called for one input in a thousand, and for no other
 *	more	probe() is called PLANT_US / 20 times (500) instead of twice
 *	tail	settle() ends with a system call that waits; its caller must not get that time
 *	arena	pool_alloc() finds its pool empty, and arena_grow() makes it another
 *	malloc	a buffer is too small, and make_buffer() gets a new one from malloc(), whose pages
 *		the kernel must fill with zeroes
 *	faults	fill() writes to 16 MB, as always, but this time to new memory
 *
 * For the last two, FILE is a number of pages instead of the default.  With "clean" all inputs are
 * alike, and the memory was used before.
 */
#include "why-load.h"
#include <malloc.h>
#include <poll.h>
#include <sys/mman.h>

#define RARE_EVERY	1000
#define PAGE		4096
#define CELL		64
#define ARENA		(16 << 20)

NAMED void lookup(void)
{
	burn(part_us);
}

static void requests(void (*serve)(long id))
{
	for (long id = 1; id <= nr_requests; id++) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve(id);
		ldb_req_end(id);
	}
}

/* slow, rare, more */

NAMED void match(bool is_bad)
{
	burn(is_bad ? PLANT_US : 5);
}

NAMED void serve_pattern(long id)
{
	parse();
	lookup();
	match(planted && is_due(id));
	reply();
}

static void run_slow(void)
{
	requests(serve_pattern);
	for (long id = 1; planted && id <= nr_requests; id++)
		if (is_due(id))
			hit(id);
}

NAMED void rebuild(void)
{
	burn(PLANT_US);
}

NAMED void serve_index(long id)
{
	parse();
	lookup();
	if (planted && id % RARE_EVERY == RARE_EVERY / 2) {
		rebuild();
		hit(id);
	}
	reply();
}

static void run_rare(void)
{
	part_us = 10;
	requests(serve_index);
}

NAMED void probe(void)
{
	burn(20);
}

NAMED void serve_probes(long id)
{
	bool is_bad = planted && is_due(id);

	parse();
	for (int i = 0; i < (is_bad ? PLANT_US / 20 : 2); i++)
		probe();
	reply();
	if (is_bad)
		hit(id);
}

static void run_more(void)
{
	requests(serve_probes);
}

NAMED int settle(bool is_bad)
{
	burn(5);
	return poll(NULL, 0, is_bad ? (int)(PLANT_US / 1000) : 0);
}

NAMED void serve_settled(long id)
{
	bool is_bad = planted && is_due(id);

	parse();
	lookup();
	settle(is_bad);
	reply();
	if (is_bad)
		hit(id);
}

static void run_tail(void)
{
	requests(serve_settled);
}

/* arena: it has as many cells as are used by the requests between two delayed ones */

#define CELLS_PER_REQUEST	(ARENA / CELL / DUE_EVERY)

struct cell {
	struct cell *next;
};

static struct cell *pool;
static long pool_left;
static bool grew;

/* Makes a list through all of the arena, as pools have; the previous memory is freed. */
NAMED void arena_grow(void)
{
	static char *arena;

	if (arena)
		munmap(arena, ARENA);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		die("mmap");
	madvise(arena, ARENA, MADV_NOHUGEPAGE);
	pool = NULL;
	for (size_t at = 0; at < ARENA; at += CELL) {
		struct cell *c = (struct cell *)(arena + at);

		c->next = pool;
		pool = c;
	}
	pool_left = ARENA / CELL;
	grew = true;
}

NAMED void *pool_alloc(long nr_cells)
{
	if (pool_left < nr_cells)
		arena_grow();
	pool_left -= nr_cells;
	burn(5);
	return pool;
}

NAMED void serve_objects(long id)
{
	parse();
	for (int i = 0; i < 4; i++)
		pool_alloc(CELLS_PER_REQUEST / 4);
	lookup();
	reply();
}

static void run_arena(void)
{
	arena_grow();
	for (long id = 1; id <= nr_requests; id++) {
		grew = false;
		/*
		 * Without the cause all cells are freed, so that no request finds the pool empty.
		 */
		if (!planted)
			pool_left = ARENA / CELL;
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve_objects(id);
		ldb_req_end(id);
		if (grew)
			hit(id);
	}
}

/* malloc, faults */

static size_t many_pages = 4096 * PAGE;
static char *buffer;
static size_t buffer_size;

NAMED void make_buffer(size_t size)
{
	free(buffer);
	buffer = malloc(size);
	if (!buffer)
		die("malloc");
	buffer_size = size;
	for (size_t at = 0; at < size; at += PAGE)
		*(volatile char *)(buffer + at) = 1;
}

NAMED void serve_buffer(long id)
{
	parse();
	if (is_due(id) && buffer_size < many_pages) {
		make_buffer(many_pages);
		hit(id);
	}
	lookup();
	reply();
}

static void run_malloc(void)
{
	/*
	 * Big buffers are always made by mmap(); without this, glibc would raise the limit after
	 * the first one.
	 */
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	make_buffer(planted ? PAGE : many_pages);
	for (long id = 1; id <= nr_requests; id++) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve_buffer(id);
		ldb_req_end(id);
		if (planted && buffer_size == many_pages)
			make_buffer(PAGE);
	}
}

static char *region;

NAMED void fill(long id)
{
	for (size_t at = 0; at < many_pages; at += PAGE)
		*(volatile char *)(region + at + id % PAGE) = 1;
}

NAMED void serve_region(long id)
{
	parse();
	fill(id);
	reply();
}

static void run_faults(void)
{
	region = mmap(NULL, many_pages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (region == MAP_FAILED)
		die("mmap");
	madvise(region, many_pages, MADV_NOHUGEPAGE);
	fill(0);
	for (long id = 1; id <= nr_requests; id++) {
		if (planted && is_due(id)) {
			madvise(region, many_pages, MADV_DONTNEED);
			hit(id);
		}
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve_region(id);
		ldb_req_end(id);
	}
}

static const struct cause causes[] = {
	{ "slow", run_slow },
	{ "rare", run_rare },
	{ "more", run_more },
	{ "tail", run_tail },
	{ "arena", run_arena },
	{ "malloc", run_malloc },
	{ "faults", run_faults },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	if (argc > 4)
		many_pages = atol(argv[4]) * PAGE;
	return why_main(argc, argv, causes);
}
