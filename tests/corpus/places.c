// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has planted causes for the corpus, which differ in where the slow part of the
 * code is.  See ../programs/why-load.h; WHY_THREADS servers share the requests.
 *
 *	leaf		encode(), which serve() calls
 *	deep		compare(), three calls below serve()
 *	callback	by_key(), which qsort() calls
 *	pointer		on_delete(), a function in a table of handlers
 *	recursive	descend(), which is called ten levels deep
 *	self		scan_rows() itself, and not the functions that it calls
 *	step		each_row() calls step(), which takes 5 us, PLANT_US / 5 times instead of 4
 *	library		copy_rows(), in memmove(), which is uninstrumented
 *	inlined		absorb(), which the compiler may inline into handle()
 *	twice		hash() is called in two places, and is slow in one of them
 *	tail		finish_up(), the last function that serve() calls, by a tail call
 *
 * The functions have different code: otherwise GCC would merge them into one function.
 */
#include "../programs/why-load.h"

#define PAUSE_US	20
#define NR_KEYS		32

static inline bool is_bad(long id)
{
	return planted && is_due(id);
}

NAMED void encode(bool bad)
{
	burn(bad ? PLANT_US : 10);
}

NAMED void serve_leaf(long id)
{
	parse();
	encode(is_bad(id));
	reply();
}

/* deep */

NAMED void compare(bool bad)
{
	burn(bad ? PLANT_US : 5);
}

NAMED void walk(bool bad)
{
	burn(5);
	for (int i = 0; i < 3; i++)
		compare(bad && i == 1);
}

NAMED void lookup(bool bad)
{
	burn(5);
	walk(bad);
}

NAMED void serve_deep(long id)
{
	parse();
	lookup(is_bad(id));
	reply();
}

/* callback */

static __thread bool bad_keys;
static __thread int nr_compared;

NAMED int by_key(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	burn(bad_keys && ++nr_compared == NR_KEYS ? PLANT_US : 0.5);
	return x < y ? -1 : x > y;
}

NAMED void sort_rows(long id)
{
	int keys[NR_KEYS];

	for (int i = 0; i < NR_KEYS; i++)
		keys[i] = (int)((unsigned)(id + i) * 2654435761U >> 8);
	nr_compared = 0;
	qsort(keys, NR_KEYS, sizeof(*keys), by_key);
}

NAMED void serve_callback(long id)
{
	parse();
	bad_keys = is_bad(id);
	sort_rows(id);
	reply();
}

/* pointer */

NAMED void on_get(void)
{
	burn(20);
}

NAMED void on_delete(void)
{
	burn(PLANT_US);
}

static void (*volatile handlers[])(void) = { on_get, on_delete };

NAMED void serve_pointer(long id)
{
	parse();
	handlers[is_bad(id)]();
	reply();
}

/* recursive */

NAMED void descend(int depth)
{
	burn(PLANT_US / 10);
	if (depth > 1)
		descend(depth - 1);
	__asm__ volatile("");
}

NAMED void serve_recursive(long id)
{
	parse();
	if (is_bad(id))
		descend(10);
	else
		burn(20);
	reply();
}

/* self */

NAMED void fetch_row(void)
{
	burn(10);
}

NAMED void scan_rows(bool bad)
{
	for (int i = 0; i < 4; i++) {
		fetch_row();
		burn(bad ? PLANT_US / 4 : 2);
	}
}

NAMED void serve_self(long id)
{
	parse();
	scan_rows(is_bad(id));
	reply();
}

/* step */

NAMED void step(void)
{
	burn(5);
}

NAMED void each_row(long nr)
{
	for (long i = 0; i < nr; i++)
		step();
}

NAMED void serve_step(long id)
{
	parse();
	each_row(is_bad(id) ? PLANT_US / 5 : 4);
	reply();
}

/* library */

#define ROWS	(1 << 18)

static char *rows;

NAMED void copy_rows(bool bad)
{
	double until = now_us() + (bad ? PLANT_US : 10);

	do
		memmove(rows, rows + 64, ROWS);
	while (now_us() < until);
}

NAMED void serve_library(long id)
{
	parse();
	copy_rows(is_bad(id));
	reply();
}

/* inlined */

static void absorb(bool bad)
{
	burn(bad ? PLANT_US : 10);
}

NAMED void handle(long id)
{
	burn(10);
	absorb(is_bad(id));
}

NAMED void serve_inlined(long id)
{
	parse();
	handle(id);
	reply();
}

/* twice */

NAMED void hash(bool bad)
{
	burn(bad ? PLANT_US : 12);
}

NAMED void of_key(void)
{
	hash(false);
	burn(5);
}

NAMED void of_value(bool bad)
{
	hash(bad);
	burn(5);
}

NAMED void serve_twice(long id)
{
	parse();
	of_key();
	of_value(is_bad(id));
	reply();
}

/* tail */

NAMED void finish_up(bool bad)
{
	burn(bad ? PLANT_US : 14);
}

NAMED void serve_tail(long id)
{
	parse();
	reply();
	finish_up(is_bad(id));
}

/* All of them */

static void (*serve)(long id);

static void *server(void *arg)
{
	long first = (long)arg;

	for (long id = first; id <= nr_requests; id += nr_servers) {
		ldb_req_start(id, NULL);
		ldb_req_class(id, "get");
		serve(id);
		ldb_req_end(id);
		if (is_bad(id))
			hit(id);
		pause_us(PAUSE_US);
	}
	return NULL;
}

static void serve_all(void (*one)(long id))
{
	pthread_t servers[MAX_SERVERS];

	serve = one;
	for (long i = 1; i < nr_servers; i++)
		if (pthread_create(&servers[i], NULL, server, (void *)(i + 1)))
			die("pthread_create");
	server((void *)1);
	for (int i = 1; i < nr_servers; i++)
		pthread_join(servers[i], NULL);
}

#define PLACE(name)					\
static void run_##name(void)				\
{							\
	serve_all(serve_##name);			\
}

PLACE(leaf)
PLACE(deep)
PLACE(callback)
PLACE(pointer)
PLACE(recursive)
PLACE(self)
PLACE(step)
PLACE(inlined)
PLACE(twice)
PLACE(tail)

static void run_library(void)
{
	rows = calloc(1, ROWS + 64);
	if (!rows)
		die("calloc");
	serve_all(serve_library);
}

static const struct cause causes[] = {
	{ "leaf", run_leaf }, { "deep", run_deep }, { "callback", run_callback },
	{ "pointer", run_pointer }, { "recursive", run_recursive }, { "self", run_self },
	{ "step", run_step }, { "library", run_library }, { "inlined", run_inlined },
	{ "twice", run_twice }, { "tail", run_tail },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	return why_main(argc, argv, causes);
}
