// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has planted causes for the corpus, in features of C++ that C lacks.  See
 * ../programs/why-load.h.
 *
 *	virtual		Circle::draw(), an override
 *	lambda		a lambda that apply() gets as a std::function
 *	template	fold<long>(); fold<int>() is as fast as ever
 *	sort		Later::operator(), by which std::sort compares
 *	throw		on_error(), in the handler of an exception
 *	destructor	~Session(), at the end of a scope
 *	container	insert_rows(), or the templates of std::map, which are instrumented, too
 *	member		Index::search(), a method of a class in a namespace
 */
#include "../programs/why-load.h"
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NAMED_METHOD	__attribute__((noinline, noclone))

static bool is_bad(long id)
{
	return planted && is_due(id);
}

static void serve_all(void (*serve)(bool bad))
{
	for (long id = 1; id <= nr_requests; id++) {
		ldb_req_start(id, nullptr);
		ldb_req_class(id, "get");
		serve(is_bad(id));
		ldb_req_end(id);
		if (is_bad(id))
			hit(id);
		pause_us(20);
	}
}

/* virtual */

struct Shape {
	virtual ~Shape() = default;
	virtual void draw() = 0;
};

struct Square : Shape {
	NAMED_METHOD void draw() override { burn(20); }
};

struct Circle : Shape {
	NAMED_METHOD void draw() override { burn(PLANT_US); }
};

NAMED void serve_virtual(bool bad)
{
	std::unique_ptr<Shape> shape;

	parse();
	if (bad)
		shape = std::make_unique<Circle>();
	else
		shape = std::make_unique<Square>();
	shape->draw();
	reply();
}

/* lambda */

NAMED void apply(const std::function<void()> &f)
{
	burn(5);
	f();
}

NAMED void serve_lambda(bool bad)
{
	parse();
	apply([bad] { burn(bad ? PLANT_US : 20); });
	reply();
}

/* template */

template <typename T> NAMED void fold(T, bool bad)
{
	burn(bad ? PLANT_US : 10);
}

NAMED void serve_template(bool bad)
{
	parse();
	fold<int>(1, false);
	fold<long>(1, bad);
	reply();
}

/* sort */

struct Later {
	bool bad;
	int *nr;
	NAMED_METHOD bool operator()(int a, int b) const
	{
		burn(bad && ++*nr == 20 ? PLANT_US : 0.5);
		return a > b;
	}
};

NAMED void order_rows(bool bad)
{
	std::vector<int> rows(24);
	int nr = 0;

	for (size_t i = 0; i < rows.size(); i++)
		rows[i] = (int)((unsigned)i * 2654435761U >> 8);
	std::sort(rows.begin(), rows.end(), Later{ bad, &nr });
}

NAMED void serve_sort(bool bad)
{
	parse();
	order_rows(bad);
	reply();
}

/* throw */

NAMED void on_error()
{
	burn(PLANT_US);
}

NAMED void check(bool bad)
{
	burn(10);
	if (bad)
		throw std::runtime_error("no such row");
}

NAMED void serve_throw(bool bad)
{
	parse();
	try {
		check(bad);
	} catch (const std::runtime_error &) {
		on_error();
	}
	reply();
}

/* destructor */

struct Session {
	bool bad;
	NAMED_METHOD ~Session() { burn(bad ? PLANT_US : 10); }
};

NAMED void serve_destructor(bool bad)
{
	Session session = { bad };

	parse();
	reply();
}

/* container */

NAMED void insert_rows(bool bad)
{
	std::map<int, std::string> rows;
	double until = now_us() + (bad ? PLANT_US : 10);
	unsigned i = 0;

	do
		rows[(int)(++i * 2654435761U >> 8)] = "a row of the table, too long to be short";
	while (now_us() < until);
}

NAMED void serve_container(bool bad)
{
	parse();
	insert_rows(bad);
	reply();
}

/* member */

namespace store
{
class Index {
public:
	NAMED_METHOD void search(bool bad) { burn(bad ? PLANT_US : 20); nr++; }
	long nr = 0;
};
}

static store::Index the_index;

NAMED void serve_member(bool bad)
{
	parse();
	the_index.search(bad);
	reply();
}

#define PLACE(name)					\
static void run_##name()				\
{							\
	serve_all(serve_##name);			\
}

PLACE(virtual)
PLACE(lambda)
PLACE(template)
PLACE(sort)
PLACE(throw)
PLACE(destructor)
PLACE(container)
PLACE(member)

static const struct cause causes[] = {
	{ "virtual", run_virtual }, { "lambda", run_lambda }, { "template", run_template },
	{ "sort", run_sort }, { "throw", run_throw }, { "destructor", run_destructor },
	{ "container", run_container }, { "member", run_member },
	{ nullptr, nullptr },
};

int main(int argc, char **argv)
{
	return why_main(argc, argv, causes);
}
