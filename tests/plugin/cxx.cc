// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests every way in which control enters, leaves or comes back into a C++ function.  After each of
 * them the chain of records must be right.  The subjects are extern "C" where a check names them.
 */
#include "chain.h"
#include <coroutine>
#include <exception>
#include <functional>
#include <new>
#include <pthread.h>
#include <stdexcept>

/* --- throw, catch, rethrow, clean-ups --------------------------------------- */

extern "C" SUBJECT int note(int x)
{
	chain_walk("note");
	NO_TAIL();
	return x;
}

struct guard {
	const char *name;

	explicit guard(const char *n) : name(n) {}
	SUBJECT ~guard()
	{
		printf("~guard %s %d\n", name, note(1));
		NO_TAIL();
	}
};

extern "C" SUBJECT void throw_at(int depth)
{
	guard g("throw_at");

	if (depth == 0)
		throw std::runtime_error("thrown");
	throw_at(depth - 1);
	NO_TAIL();
}

extern "C" SUBJECT int catch_it(int depth)
{
	int seen = 0;

	try {
		throw_at(depth);
		seen = 1000;
	} catch (const std::logic_error &) {
		seen = 2000;
	} catch (const std::runtime_error &e) {
		CHAIN_IS("catch_it", "case_catch");
		seen = strlen(e.what());
	}
	CHAIN_IS("catch_it", "case_catch");
	return seen;
}

extern "C" SUBJECT void case_catch()
{
	printf("%d %d %d\n", catch_it(0), catch_it(1), catch_it(4));
	CHAIN_IS("case_catch", MAIN);
}

/* During unwinding, a clean-up runs while the record of its own frame is the newest one. */
struct spy {
	SUBJECT ~spy();
};

extern "C" SUBJECT void in_spy(void)
{
#ifdef WITH_LDB
	struct ldb_frame *f;

	/* This is the first call: before it the record may not be linked yet. */
	chain_walk("in_spy");
	f = chain_top();
	/* in_spy, ~spy, then the function being unwound */
	if (strcmp(chain_name(f->prev->prev->pc), "with_spy"))
		chain_fail("in_spy", "not in with_spy", 2);
#endif
	NO_TAIL();
}

spy::~spy()
{
	in_spy();
	NO_TAIL();
}

extern "C" SUBJECT int with_spy(int n)
{
	spy s;

	if (n)
		throw_at(n);
	return note(n);
}

extern "C" SUBJECT void case_cleanup()
{
	int caught = 0;

	with_spy(0);
	try {
		with_spy(3);
	} catch (...) {
		caught++;
		CHAIN_IS("case_cleanup", MAIN);
	}
	printf("%d\n", caught);
}

extern "C" SUBJECT void rethrow(int n)
{
	try {
		throw_at(n);
	} catch (std::exception &) {
		CHAIN_IS("rethrow", "case_rethrow");
		throw;
	}
}

extern "C" SUBJECT void throw_in_catch(int n)
{
	try {
		rethrow(n);
	} catch (...) {
		note(1);
		throw n;
	}
}

extern "C" SUBJECT void case_rethrow()
{
	int seen = 0;

	for (int i = 0; i < 5; i++) {
		try {
			rethrow(i);
		} catch (std::exception &) {
			CHAIN_IS("case_rethrow", MAIN);
			seen++;
		}
	}
	printf("%d\n", seen);
}

extern "C" SUBJECT void case_nested_throw()
{
	try {
		try {
			throw 1;
		} catch (int) {
			try {
				throw 2L;
			} catch (long v) {
				CHAIN_IS("case_nested_throw", MAIN);
				printf("%ld\n", v);
			}
			throw;
		}
	} catch (int v) {
		CHAIN_IS("case_nested_throw", MAIN);
		printf("%d\n", v);
	}
}

/* --- constructors, function try blocks, specifications ------------------------ */

struct part {
	SUBJECT part(int n)
	{
		if (n < 0)
			throw n;
		note(n);
		NO_TAIL();
	}
	SUBJECT ~part()
	{
		note(1);
		NO_TAIL();
	}
};

struct whole {
	part a, b;

	SUBJECT whole(int x, int y) try : a(x), b(y) {
		note(x);
	} catch (int v) {
		chain_walk("whole");
		printf("whole %d\n", v);
	}
};

extern "C" SUBJECT void case_construct()
{
	for (int i = -1; i < 2; i++) {
		try {
			whole w(i, i - 1);
			puts("made");
		} catch (int v) {
			CHAIN_IS("case_construct", MAIN);
			printf("not made: %d\n", v);
		}
		try {
			whole *w = new whole[3]{ { 1, 1 }, { 2, i }, { 3, -3 } };
			delete[] w;
		} catch (int v) {
			CHAIN_IS("case_construct", MAIN);
		}
	}
}

/* --- through libc, lambdas, std::function ---------------------------------- */

static int compare(const void *a, const void *b)
{
	if (note(*(const int *)a) == 3)
		throw std::logic_error("three");
	return *(const int *)a - *(const int *)b;
}

extern "C" SUBJECT void case_qsort()
{
	int v[] = { 5, 2, 3, 1 };

	try {
		qsort(v, 4, sizeof(*v), compare);
		puts("sorted");
	} catch (std::exception &e) {
		CHAIN_IS("case_qsort", MAIN);
		puts(e.what());
	}
}

extern "C" SUBJECT int apply_to(const std::function<int(int)> &f, int x)
{
	int r = f(x);

	CHAIN_IS("apply_to", "case_function");
	return r + 1;
}

extern "C" SUBJECT void case_function()
{
	int k = 10;
	auto lambda = [&](int x) { return note(x) + k; };
	int bad = 0;

	printf("%d ", apply_to(lambda, 1));
	printf("%d ", apply_to(note, 2));
	try {
		apply_to([](int x) -> int { throw x; }, 5);
	} catch (int v) {
		CHAIN_IS("case_function", MAIN);
		bad = v;
	}
	try {
		apply_to(std::function<int(int)>(), 5);
	} catch (std::bad_function_call &) {
		CHAIN_IS("case_function", MAIN);
		bad++;
	}
	printf("%d\n", bad);
}

/* --- virtual calls and thunks -------------------------------------------------- */

struct left { virtual int get(int) = 0; virtual ~left() { note(1); } };
struct right { virtual int put(int) = 0; virtual ~right() { note(2); } long r = 7; };
struct top_base { virtual int far(int) = 0; virtual ~top_base() { note(3); } long t = 8; };

struct both : left, right, virtual top_base {
	SUBJECT int get(int x) override { return note(x) + 1; }
	SUBJECT int put(int x) override { return note(x) + r; }
	SUBJECT int far(int x) override
	{
		if (x < 0)
			throw x;
		return note(x) + t;
	}
};

extern "C" SUBJECT int use(left *l, right *r, top_base *t, int x)
{
	int sum = l->get(x) + r->put(x) + t->far(x);

	CHAIN_IS("use", "case_virtual");
	return sum;
}

extern "C" SUBJECT void case_virtual()
{
	both *b = new both;
	right *r = b;

	printf("%d\n", use(b, b, b, 5));
	try {
		use(b, b, b, -5);
	} catch (int v) {
		CHAIN_IS("case_virtual", MAIN);
		printf("%d\n", v);
	}
	delete r;
	CHAIN_IS("case_virtual", MAIN);
}

/* --- threads, thread-local and static destructors ----------------------------- */

static int nr_destroyed;

struct local {
	SUBJECT ~local()
	{
		chain_walk("~local");
		nr_destroyed += note(1);
		NO_TAIL();
	}
};

static thread_local local per_thread;
static std::exception_ptr carried;

extern "C" SUBJECT void *thread_main(void *arg)
{
	local *p = &per_thread;

	NO_TAIL();
	try {
		throw_at(*(int *)arg);
	} catch (...) {
		CHAIN_IS("thread_main");
		carried = std::current_exception();
	}
	return p;
}

extern "C" SUBJECT void case_threads()
{
	pthread_t tid;

	for (int i = 0; i < 3; i++) {
		pthread_create(&tid, NULL, thread_main, &i);
		pthread_join(tid, NULL);
		try {
			std::rethrow_exception(carried);
		} catch (std::exception &e) {
			CHAIN_IS("case_threads", MAIN);
			puts(e.what());
		}
	}
	printf("%d\n", nr_destroyed);
}

SUBJECT local &the_static()
{
	static local l;

	return l;
}

extern "C" SUBJECT void case_static()
{
	the_static();
	the_static();
	CHAIN_IS("case_static", MAIN);
}

/* --- catch in a function without a record ------------------------------------- */

extern "C" NEVER int never_catches(int n)
{
	try {
		throw_at(n);
	} catch (...) {
		/* If the runtime does not repair it, the chain still contains old records here. */
		return 1;
	}
	return 0;
}

extern "C" SUBJECT int around_never(int n)
{
	int r = never_catches(n);

	NO_TAIL();
	return r;
}

extern "C" SUBJECT void case_never()
{
	printf("%d\n", around_never(4));
	/* The chain is right again as soon as an instrumented function has returned. */
	CHAIN_IS("case_never", MAIN);
}

/* --- coroutines ------------------------------------------------------------------ */

struct generator {
	struct promise_type {
		int value = 0;

		generator get_return_object()
		{
			return { std::coroutine_handle<promise_type>::from_promise(*this) };
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) { value = v; return {}; }
		void return_void() {}
		void unhandled_exception() { throw; }
	};
	std::coroutine_handle<promise_type> h;
};

SUBJECT generator count_to(int n)
{
	guard g("coroutine");

	for (int i = 1; i <= n; i++)
		co_yield note(i);
	throw n;
}

extern "C" SUBJECT void case_coroutine()
{
	generator g = count_to(3);
	int sum = 0;

	try {
		for (;;) {
			g.h.resume();
			CHAIN_IS("case_coroutine", MAIN);
			sum = sum * 10 + g.h.promise().value;
		}
	} catch (int v) {
		CHAIN_IS("case_coroutine", MAIN);
		printf("%d %d\n", v, sum);
	}
	g.h.destroy();
}

#ifdef AS_LIBRARY
#define main subject_main
extern "C" int subject_main(int argc, char **argv);
#endif

int main(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	run_case("catch", case_catch);
	run_case("cleanup", case_cleanup);
	run_case("rethrow", case_rethrow);
	run_case("nested throw", case_nested_throw);
	run_case("construct", case_construct);
	run_case("qsort", case_qsort);
	run_case("function", case_function);
	run_case("virtual", case_virtual);
	run_case("threads", case_threads);
	run_case("static", case_static);
	run_case("never", case_never);
	run_case("coroutine", case_coroutine);
	return chain_status() ? 99 : 42;
}
