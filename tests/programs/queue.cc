// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In this program requests go from thread to thread through queues: an acceptor makes each
 * request and puts it into a queue, a worker takes it out, works on it and hands it to a
 * replier.  Every 50th request takes the worker 3 ms, and the next one, put into the queue
 * together with it, waits there for that long.
 *
 *	queue [N]	requests 1..N; prints how many were answered
 */
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <chrono>
#include <unistd.h>
#include <ldb/ldb.h>

class channel {
	std::mutex lock;
	std::condition_variable filled;
	std::deque<long> items;

public:
	void put(long id)
	{
		ldb_req_block(id, this);
		{
			std::lock_guard<std::mutex> g(lock);
			items.push_back(id);
		}
		filled.notify_one();
	}

	/*
	 * Puts two requests into the queue at once, so that the second waits for the first,
	 * whatever the scheduler does.
	 */
	void put_pair(long first, long second)
	{
		ldb_req_block(first, this);
		ldb_req_block(second, this);
		{
			std::lock_guard<std::mutex> g(lock);
			items.push_back(first);
			items.push_back(second);
		}
		filled.notify_one();
	}

	long take()
	{
		std::unique_lock<std::mutex> g(lock);

		filled.wait(g, [this] { return !items.empty(); });
		long id = items.front();
		items.pop_front();
		g.unlock();
		if (id)
			ldb_req_start(id, this);
		return id;
	}

	void close()
	{
		std::lock_guard<std::mutex> g(lock);
		items.push_back(0);
		filled.notify_one();
	}
};

static channel requests, replies;

static void spin(std::chrono::microseconds us)
{
	auto end = std::chrono::steady_clock::now() + us;

	while (std::chrono::steady_clock::now() < end)
		;
}

/* The functions are not inlined, because a test looks for their names. */
__attribute__((noinline)) void work(long id)
{
	spin(std::chrono::microseconds(id % 50 ? 50 : 3000));
}

__attribute__((noinline)) void reply(long)
{
	spin(std::chrono::microseconds(20));
}

static void worker()
{
	while (long id = requests.take()) {
		work(id);
		replies.put(id);
	}
	replies.close();
}

static void replier(long *answered)
{
	while (long id = replies.take()) {
		reply(id);
		ldb_req_end(id);
		++*answered;
	}
}

int main(int argc, char **argv)
{
	long nr = argc > 1 ? std::atol(argv[1]) : 400, answered = 0;
	std::thread w(worker), r(replier, &answered);

	for (long id = 1; id <= nr; id++) {
		ldb_req_start(id, nullptr);
		if (id % 50 || id == nr) {
			requests.put(id);
		} else {
			ldb_req_start(++id, nullptr);
			requests.put_pair(id - 1, id);
		}
		usleep(200);
	}
	requests.close();
	w.join();
	r.join();
	std::printf("queue: %ld answered\n", answered);
	return answered == nr ? 0 : 1;
}
