// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is Figure 1 of the LDB paper, made finite: a foreground thread serves requests that
 * insert into a map, a background thread writes the whole map to a file every 10 ms, and one
 * mutex serializes the two.  Most requests take well under a microsecond; one that comes during
 * snapshot() waits until that ends.
 *
 *	figure1 [-s SECONDS | -n ROUNDS] [-d KEYS] [-t US] [-c CPU] [-w US] [-l] [-q]
 *
 * -t: sleep for this time after every 32 requests; -c: stay on one CPU; -l: measure the latency of
 * each request and print percentiles, "latency P50 P99 P99.9 P99.99 MAX" in ns; -w: print "hit ID"
 * for each request that took at least this time and during which a snapshot() ended.  Prints how
 * many requests it served, unless -q is given.  Exit status 0, or 1 when the snapshot file cannot
 * be written.
 */
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <atomic>
#include <string>
#include <thread>
#include <vector>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#include <ldb/ldb.h>

static std::mutex lock;
static std::map<int, std::string> db;
static std::string snapshot_path;
static std::atomic<bool> stop{false};
static std::atomic<bool> failed{false};
static std::atomic<long> nr_snapshots{0};

/*
 * The paper writes a line and flushes it.  With FIGURE1_CALLS, for the benchmark, a separate
 * function writes a buffered line: that makes many short calls under the lock.
 */
#ifdef FIGURE1_CALLS
__attribute__((noinline)) static void write_entry(std::ofstream &out,
						  const std::pair<const int, std::string> &kv)
{
	out << kv.first << "," << kv.second << '\n';
}
#else
static inline void write_entry(std::ofstream &out, const std::pair<const int, std::string> &kv)
{
	out << kv.first << "," << kv.second << std::endl;
}
#endif

/*
 * noinline, here and below: each has one caller, so that GCC would inline it there, and the
 * paper's figure is about these two names.
 */
__attribute__((noinline)) void snapshot()
{
	std::ofstream out(snapshot_path);
	std::lock_guard<std::mutex> g(lock);

	for (const auto &kv : db)
		write_entry(out, kv);
	out.close();
	if (!out)
		failed = true;
	nr_snapshots++;
}

void background_thread()
{
	pthread_setname_np(pthread_self(), "background");
	while (!stop) {
		snapshot();
		usleep(10000);
	}
}

__attribute__((noinline)) void request_handler(int key, std::string &value)
{
	std::lock_guard<std::mutex> g(lock);

	db[key] = value;
}

std::string generate_random_string()
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	std::string s(64, ' ');

	for (char &c : s)
		c = letters[std::rand() % (sizeof(letters) - 1)];
	return s;
}

static long now_ns()
{
	return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

/*
 * Returns the latency at this share of the sorted list; at least this share of the requests does
 * not exceed it.
 */
static unsigned percentile(const std::vector<unsigned> &sorted, double share)
{
	size_t rank = sorted.size() * share;

	return sorted[std::min(rank, sorted.size() - 1)];
}

static void print_latencies(std::vector<unsigned> &ns)
{
	if (ns.empty())
		return;
	std::sort(ns.begin(), ns.end());
	std::printf("latency %u %u %u %u %u\n", percentile(ns, 0.5), percentile(ns, 0.99),
		    percentile(ns, 0.999), percentile(ns, 0.9999), ns.back());
}

static void usage()
{
	std::fputs("usage: figure1 [-s SECONDS | -n ROUNDS] [-d KEYS] [-t US] [-c CPU] [-w US]\n"
		   "               [-l] [-q]\n", stderr);
	std::exit(2);
}

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		std::perror("figure1: CPU");
		std::exit(1);
	}
}

int main(int argc, char **argv)
{
	double seconds = 3;
	long rounds = 0, served = 0, sleep_us = 0, hit_ns = 0;
	int db_size = 20000, opt;
	bool quiet = false, measure = false;
	std::vector<unsigned> latencies;
	std::vector<long> hits;

	while ((opt = getopt(argc, argv, "s:n:d:t:c:w:lq")) != -1) {
		switch (opt) {
		case 's': seconds = std::atof(optarg); break;
		case 'n': rounds = std::atol(optarg); break;
		case 'd': db_size = std::atoi(optarg); break;
		case 't': sleep_us = std::atol(optarg); break;
		case 'c': stay_on(std::atoi(optarg)); break;
		case 'w': hit_ns = std::atol(optarg) * 1000; break;
		case 'l': measure = true; break;
		case 'q': quiet = true; break;
		default: usage();
		}
	}
	if (db_size <= 0 || optind != argc)
		usage();

	const char *tmp = std::getenv("TMPDIR");
	snapshot_path = std::string(tmp ? tmp : "/tmp") + "/figure1-" +
			std::to_string(getpid()) + ".snapshot";

	/* The map is full from the start, so that the first snapshot is as slow as the last. */
	for (int key = 0; key < db_size; key++)
		db[key] = generate_random_string();

	/* This avoids page faults while requests are measured. */
	if (measure)
		latencies.assign(rounds ? rounds : seconds * 3000000, 0);
	latencies.clear();

	std::thread bg_thread(background_thread);
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::duration<double>(seconds);

	while (rounds ? served < rounds : std::chrono::steady_clock::now() < end) {
		int key = std::rand() % db_size;
		std::string value = generate_random_string();

		long begin = measure || hit_ns ? now_ns() : 0, before = nr_snapshots;

		ldb_req_start(++served, nullptr);
		request_handler(key, value);
		ldb_req_end(served);
		if (measure)
			latencies.push_back(std::min(now_ns() - begin, 0xffffffffL));
		if (hit_ns && nr_snapshots != before && now_ns() - begin >= hit_ns)
			hits.push_back(served);
		if (sleep_us && served % 32 == 0)
			usleep(sleep_us);
	}

	stop = true;
	bg_thread.join();
	unlink(snapshot_path.c_str());
	if (failed) {
		std::fprintf(stderr, "figure1: cannot write %s\n", snapshot_path.c_str());
		return 1;
	}
	print_latencies(latencies);
	for (long id : hits)
		std::printf("hit %ld\n", id);
	if (!quiet)
		std::printf("figure1: %ld requests, %ld snapshots\n", served,
			    nr_snapshots.load());
	return 0;
}
