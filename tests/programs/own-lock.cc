// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is the spin lock of ldb-intro(7), in C++, for tests.
 *
 *	own-lock [MS [nonsense]]
 *
 * The thread "keeper" holds slot_lock for MS milliseconds (20), in keep(); meanwhile main()
 * waits for it, and gets it in fetch().  With "nonsense" the program then makes calls that make no
 * sense in their order, for other_lock.
 */
#include <ldb/ldb.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pthread.h>
#include <thread>
#include <unistd.h>

class spin_lock {
	std::atomic<bool> busy{false};
public:
	bool try_lock()
	{
		if (busy.exchange(true, std::memory_order_acquire))
			return false;
		ldb_lock_acquired(this);
		return true;
	}

	void lock()
	{
		while (!try_lock()) {
			ldb_lock_wait(this);
			std::this_thread::yield();
		}
	}

	void unlock()
	{
		ldb_lock_released(this);
		busy.store(false, std::memory_order_release);
	}
};

static spin_lock slot_lock;
static char other_lock;
static std::atomic<bool> is_kept;
static volatile unsigned work;

static double now_ms()
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static __attribute__((noinline, noclone)) void keep(double ms)
{
	double until = now_ms() + ms;

	is_kept = true;
	while (now_ms() < until)
		work = work + 1;
}

static __attribute__((noinline, noclone)) void fetch()
{
	slot_lock.lock();
	work = work + 1;
	slot_lock.unlock();
}

static void *say(void *)
{
	for (int i = 0; i < 1000; i++) {
		ldb_lock_released(&other_lock);
		ldb_lock_wait(&other_lock + i);
		ldb_lock_acquired(nullptr);
		ldb_lock_wait(&other_lock);
		ldb_lock_acquired(&other_lock + i % 20);
		ldb_lock_acquired(&other_lock);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 20;
	std::thread keeper([ms] {
		pthread_setname_np(pthread_self(), "keeper");
		slot_lock.lock();
		keep(ms);
		slot_lock.unlock();
	});

	while (!is_kept)
		usleep(100);
	ldb_req_start(1, nullptr);
	fetch();
	ldb_req_end(1);
	keeper.join();
	if (argc > 2) {
		pthread_t threads[4];

		for (pthread_t &t : threads)
			if (pthread_create(&t, nullptr, say, nullptr))
				return 1;
		if (!fork()) {
			say(nullptr);
			_exit(0);
		}
		for (pthread_t &t : threads)
			pthread_join(t, nullptr);
	}
	usleep(20000);
	puts("own-lock: done");
	return 0;
}
