// SPDX-License-Identifier: GPL-2.0-or-later
// names.cc opens this library.
#include <mutex>
#include <unistd.h>

namespace library {
std::mutex its_lock;

struct visitor {
	unsigned us;
	__attribute__((noinline)) void operator()() const
	{
		for (int i = 0; i < 2; i++)
			usleep(us / 2);
	}
};
}

extern "C" void names_visit(unsigned us)
{
	std::lock_guard<std::mutex> hold(library::its_lock);

	library::visitor{ us }();
}
