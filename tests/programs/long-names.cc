// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three threads have requests around one lock, all with names longer than a line: this tests how
 * reports fit into the width of a terminal.
 */
#include <cstdint>
#include <ctime>
#include <mutex>
#include <thread>
#include <vector>
#include <pthread.h>
#include <ldb/ldb.h>

namespace company_product_subsystem {
namespace request_processing_pipeline {

struct AVeryDescriptiveKeyTypeName {};
struct AnEvenMoreDescriptiveValueTypeName {};
template<typename T> struct CaseInsensitiveLexicographicComparator {};

static void spin(long ns)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	do
		clock_gettime(CLOCK_MONOTONIC, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000 + b.tv_nsec - a.tv_nsec < ns);
}

template<typename Key, typename Value, typename Comparator> struct ConcurrentOrderedDictionary {
	std::mutex guard;

	__attribute__((noinline)) void insert_or_update_all_matching_entries(long ns)
	{
		std::lock_guard<std::mutex> hold(guard);

		spin(ns);
	}

	__attribute__((noinline)) void look_up(long ns)
	{
		std::lock_guard<std::mutex> hold(guard);

		spin(ns);
	}
};

}
}

using namespace company_product_subsystem::request_processing_pipeline;

ConcurrentOrderedDictionary<AVeryDescriptiveKeyTypeName, AnEvenMoreDescriptiveValueTypeName,
			    CaseInsensitiveLexicographicComparator<AVeryDescriptiveKeyTypeName>>
	the_only_dictionary_of_this_program_which_everybody_waits_for;

static void worker(int n)
{
	pthread_setname_np(pthread_self(), n ? "long-named-work" : "writer");
	for (int i = 0; i < 60; i++) {
		uint64_t id = n * 1000 + i + 1;
		struct timespec pause = { 0, 200000 };

		ldb_req_start(id, NULL);
		ldb_req_class(id, n ? "GET-dictionary-by-key" : "PUT");
		if (n)
			the_only_dictionary_of_this_program_which_everybody_waits_for.look_up(100000);
		else
			the_only_dictionary_of_this_program_which_everybody_waits_for
				.insert_or_update_all_matching_entries(3000000);
		ldb_req_end(id);
		nanosleep(&pause, NULL);
	}
}

int main()
{
	std::vector<std::thread> all;

	for (int i = 0; i < 3; i++)
		all.emplace_back(worker, i);
	for (auto &t : all)
		t.join();
}
