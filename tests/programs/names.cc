// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program has something of each kind that has a name: functions, templates, locks, a queue,
 * a library that is opened while it runs.
 *
 *	names ./names-lib.so N
 */
#include <ldb/ldb.h>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <thread>
#include <unistd.h>

std::mutex db_lock;
static std::mutex queue_lock;
static std::condition_variable queue_ready;
static std::deque<uint64_t> jobs;
static void (*visit)(unsigned us);

template <typename T> __attribute__((noinline)) T compute(T us)
{
	for (int i = 0; i < 2; i++)
		usleep(us / 2);
	return us;
}

static __attribute__((noinline)) void snapshot()
{
	std::lock_guard<std::mutex> hold(db_lock);

	compute(3000L);
}

static void work(long n)
{
	for (long i = 0; i < n; i++) {
		std::unique_lock<std::mutex> hold(queue_lock);

		queue_ready.wait(hold, [] { return !jobs.empty(); });
		uint64_t id = jobs.front();
		jobs.pop_front();
		hold.unlock();
		ldb_req_start(id, &jobs);
		visit(100);
		{
			std::lock_guard<std::mutex> db(db_lock);

			compute(200);
		}
		ldb_req_end(id);
	}
}

int main(int argc, char **argv)
{
	void *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW) : nullptr;
	long n = argc == 3 ? atol(argv[2]) : 0;

	if (!lib || !(visit = reinterpret_cast<void (*)(unsigned)>(dlsym(lib, "names_visit"))))
		return 1;
	std::thread worker(work, n);
	for (long i = 0; i < n; i++) {
		ldb_req_start(i + 1, nullptr);
		{
			std::lock_guard<std::mutex> hold(queue_lock);

			ldb_req_block(i + 1, &jobs);
			jobs.push_back(i + 1);
		}
		queue_ready.notify_one();
		if (i % 8 == 0)
			snapshot();
		usleep(500);
	}
	worker.join();
	return 0;
}
