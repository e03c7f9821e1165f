// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Figure 1 of the LDB paper, made finite: a foreground thread serves requests
 * that insert into a map, a background thread writes the whole map to a file
 * every 10 ms, and one mutex serializes the two.  Most requests take well under
 * a microsecond; one that meets snapshot() waits for all of it.
 *
 *	figure1 [-s SECONDS | -n ROUNDS] [-d KEYS] [-q]
 *
 * Prints how many requests it served (-q: nothing).  Exit status 0, or 1 when
 * the snapshot file cannot be written.
 */
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <atomic>
#include <string>
#include <thread>
#include <pthread.h>
#include <unistd.h>
#include <ldb/ldb.h>

static std::mutex lock;
static std::map<int, std::string> db;
static std::string snapshot_path;
static std::atomic<bool> stop{false};
static std::atomic<bool> failed{false};
static std::atomic<long> nr_snapshots{0};

/*
 * noinline, here and below: each has one caller, so that GCC would fold it
 * into that caller, and the paper's figure is about these two names.
 */
__attribute__((noinline)) void snapshot()
{
	std::ofstream out(snapshot_path);
	std::lock_guard<std::mutex> g(lock);

	for (const auto &kv : db)
		out << kv.first << "," << kv.second << std::endl;
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

static void usage()
{
	std::fputs("usage: figure1 [-s SECONDS | -n ROUNDS] [-d KEYS] [-q]\n", stderr);
	std::exit(2);
}

int main(int argc, char **argv)
{
	double seconds = 3;
	long rounds = 0, served = 0;
	int db_size = 20000, opt;
	bool quiet = false;

	while ((opt = getopt(argc, argv, "s:n:d:q")) != -1) {
		switch (opt) {
		case 's': seconds = std::atof(optarg); break;
		case 'n': rounds = std::atol(optarg); break;
		case 'd': db_size = std::atoi(optarg); break;
		case 'q': quiet = true; break;
		default: usage();
		}
	}
	if (db_size <= 0 || optind != argc)
		usage();

	const char *tmp = std::getenv("TMPDIR");
	snapshot_path = std::string(tmp ? tmp : "/tmp") + "/figure1-" +
			std::to_string(getpid()) + ".snapshot";

	/* Full from the start, so that the first snapshot is as slow as the last. */
	for (int key = 0; key < db_size; key++)
		db[key] = generate_random_string();

	std::thread bg_thread(background_thread);
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::duration<double>(seconds);

	while (rounds ? served < rounds : std::chrono::steady_clock::now() < end) {
		int key = std::rand() % db_size;
		std::string value = generate_random_string();

		ldb_req_start(++served, nullptr);
		request_handler(key, value);
		ldb_req_end(served);
	}

	stop = true;
	bg_thread.join();
	unlink(snapshot_path.c_str());
	if (failed) {
		std::fprintf(stderr, "figure1: cannot write %s\n", snapshot_path.c_str());
		return 1;
	}
	if (!quiet)
		std::printf("figure1: %ld requests, %ld snapshots\n", served,
			    nr_snapshots.load());
	return 0;
}
