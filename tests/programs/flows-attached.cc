// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A recorder attaches to this program while it calls libraries in all ways; it checks the results
 * of the calls.  The file is built three times: as the program, as a library that is linked with it
 * (-DLIBRARY), and as one that it loads and unloads (-DPLUGIN).
 *
 * counts N	reads a line, makes N calls in each of three existing threads, and ends
 * storm	makes all kinds of calls at the same time, until SIGTERM
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#if defined(LIBRARY)

extern "C" int lib_add(int a, int b)
{
	return a + b;
}

extern "C" double lib_mix(int a, double b, long c, float d, const char *e, int f, int g, int h, long i, double j)
{
	return a + b + c + d + e[0] + f + g + h + i + j;
}

extern "C" int lib_throw(int n)
{
	if (n % 3 == 0)
		throw std::runtime_error(std::to_string(n));
	return n;
}

extern "C" int lib_call(int (*fn)(int), int n)
{
	return fn(n) + 1;
}

#elif defined(PLUGIN)

extern "C" int plugin_length(const char *s)
{
	return std::to_string(strtol(s, nullptr, 10)).length();
}

#else

#include <atomic>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

extern "C" int lib_add(int a, int b);
extern "C" double lib_mix(int a, double b, long c, float d, const char *e, int f, int g, int h, long i, double j);
extern "C" int lib_throw(int n);
extern "C" int lib_call(int (*fn)(int), int n);

static std::atomic<bool> stops;
static std::atomic<long> nr_wrong, nr_alarms;

static void expect(bool ok, const char *what)
{
	if (!ok && !nr_wrong++)
		fprintf(stderr, "wrong: %s\n", what);
}

/*
 * Returns how many slots of the program's .rela.plt, of those for the library's functions, hold an
 * address in the runtime.
 */
static int nr_stubs()
{
	const ElfW(Rela) *plt = nullptr;
	const ElfW(Sym) *sym = nullptr;
	const char *str = nullptr;
	link_map *map = nullptr;
	Dl_info info;
	size_t size = 0;
	int nr = 0;

	dladdr1((void *)&stops, &info, (void **)&map, RTLD_DL_LINKMAP);
	for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_JMPREL)
			plt = (const ElfW(Rela) *)d->d_un.d_ptr;
		if (d->d_tag == DT_SYMTAB)
			sym = (const ElfW(Sym) *)d->d_un.d_ptr;
		if (d->d_tag == DT_STRTAB)
			str = (const char *)d->d_un.d_ptr;
		if (d->d_tag == DT_PLTRELSZ)
			size = d->d_un.d_val;
	}
	for (size_t i = 0; i < size / sizeof(*plt); i++) {
		void *word = *(void **)(map->l_addr + plt[i].r_offset);

		if (!strncmp(str + sym[ELF64_R_SYM(plt[i].r_info)].st_name, "lib_", 4))
			nr += dladdr(word, &info) && strstr(info.dli_fname, "libldbtrace");
	}
	return nr;
}

/* counts */

static pthread_barrier_t begins;

static void *count(void *n)
{
	pthread_barrier_wait(&begins);
	for (long i = 0; i < (long)n; i++)
		expect(lib_add(i, 1) == i + 1, "counted");
	return nullptr;
}

static int counts(long n)
{
	pthread_t t[3];
	char line[16];

	pthread_barrier_init(&begins, nullptr, 4);
	for (pthread_t &one : t)
		pthread_create(&one, nullptr, count, (void *)n);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	pthread_barrier_wait(&begins);
	for (pthread_t &one : t)
		pthread_join(one, nullptr);
	puts(nr_wrong ? "wrong" : "right");
	return 0;
}

/* storm */

static void *calls(void *)
{
	for (int i = 0; !stops; i++) {
		expect(lib_add(i, 2) == i + 2, "lib_add");
		expect(lib_mix(1, 2, 3, 4, "\5", 6, 7, 8, 9, 10) == 55, "lib_mix");
		expect(lib_call([](int n) { return lib_add(n, n); }, 21) == 43, "lib_call");
	}
	return nullptr;
}

static void *exceptions(void *)
{
	for (int i = 0; !stops; i++) {
		bool thrown = false;

		try {
			expect(lib_call(lib_throw, i) == i + 1, "lib_throw");
		} catch (std::runtime_error &e) {
			thrown = e.what() == std::to_string(i);
		}
		expect(thrown == (i % 3 == 0), "exceptions");
	}
	return nullptr;
}

static thread_local jmp_buf there;

static int jump(int n)
{
	if (n % 2)
		longjmp(there, n);
	return n;
}

static void *jumps(void *)
{
	for (volatile int i = 0; !stops; i++) {
		int n = setjmp(there);

		if (n)
			expect(n == i, "longjmp");
		else
			expect(lib_call(jump, i) == i + 1, "setjmp");
	}
	return nullptr;
}

static void *loads(void *)
{
	while (!stops) {
		void *handle = dlopen("./libplugin.so", RTLD_LAZY);
		int (*length)(const char *) = handle ? (int (*)(const char *))dlsym(handle, "plugin_length") : nullptr;

		expect(length && length("12345") == 5, "dlopen");
		if (handle)
			dlclose(handle);
		usleep(200);
	}
	return nullptr;
}

static void *starts(void *)
{
	while (!stops) {
		pthread_t t;
		void *result;

		if (pthread_create(&t, nullptr, [](void *n) { return (void *)(long)lib_add((long)n, 1); }, (void *)41))
			continue;
		pthread_join(t, &result);
		expect(result == (void *)42, "pthread_create");
	}
	return nullptr;
}

static void *forks(void *)
{
	while (!stops) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(lib_add(3, 4));
		expect(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 7, "fork");
		usleep(1000);
	}
	return nullptr;
}

static thread_local ucontext_t outside, inside;
static thread_local int passed;

static int pass(int n)
{
	passed = n;
	swapcontext(&inside, &outside);
	return n;
}

static void coroutine()
{
	for (int n = 1;; n++)
		expect(lib_call(pass, n) == n + 1, "coroutine");
}

static void *coroutines(void *)
{
	static char stack[65536];

	getcontext(&inside);
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	makecontext(&inside, coroutine, 0);
	for (int n = 1; !stops; n++) {
		swapcontext(&outside, &inside);
		expect(passed == n, "swapcontext");
	}
	return nullptr;
}

static void on_alarm(int)
{
	nr_alarms += lib_add(1, 0);
}

static int storm()
{
	void *(*const parts[])(void *) = { calls, calls, exceptions, jumps, loads, starts, forks, coroutines };
	itimerval timer = { { 0, 700 }, { 0, 700 } };
	pthread_t t[sizeof(parts) / sizeof(parts[0])];
	struct sigaction sa = {};
	int stubs = 0;

	sa.sa_handler = on_alarm;
	sa.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &sa, nullptr);
	signal(SIGTERM, [](int) { stops = true; });
	setitimer(ITIMER_REAL, &timer, nullptr);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		pthread_create(&t[i], nullptr, parts[i], nullptr);
	while (!stops) {
		usleep(1000);
		if (nr_stubs())
			stubs++;
	}
	for (pthread_t one : t)
		pthread_join(one, nullptr);
	printf("%s, stubs %s\n", nr_wrong ? "wrong" : "right", stubs ? "were there" : "were never there");
	printf("now %d\n", nr_stubs());
	return nr_wrong != 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, nullptr, _IOLBF, 0);
	if (argc > 2 && !strcmp(argv[1], "counts"))
		return counts(atol(argv[2]));
	return storm();
}

#endif
