// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This file is linked into a program of the benchmark with -Wl,--wrap=main.  It writes the CPU
 * time of main() into the file that BENCH_CPU names, as "THREAD_NS PROCESS_NS": the time of the
 * thread that ran main(), and of all threads.  The time before and after main() (loading, start and
 * end of a profiler) is not counted.
 *
 * BENCH_XRAY=patched|basic|fdr switches XRay on before main(), in a program that clang made with
 * -fxray-instrument, and writes its log afterwards; "patched" installs no handler.  XRay's own
 * options outside of the program cannot switch FDR mode on.
 *
 * The file is compiled without any instrumentation.  The hooks of -finstrument-functions are
 * empty here, so that only the calls of them are measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WEAK __attribute__((weak))

int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp);

/* These declarations are copied from xray/xray_log_interface.h, which is C++. */
int __xray_log_select_mode(const char *mode) WEAK;
int __xray_log_init_mode(const char *mode, const char *config) WEAK;
int __xray_log_finalize(void) WEAK;
int __xray_log_flushLog(void) WEAK;
int __xray_patch(void) WEAK;

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)function;
	(void)site;
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)function;
	(void)site;
}

static unsigned long long now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "cpu-time: %s\n", what);
	_Exit(1);
}

/*
 * Starts XRay in this mode.  The threshold of its logs is 0, so that every call is logged, however
 * short.
 */
static void xray_begin(const char *mode)
{
	const char *name = NULL, *config = NULL;

	if (!__xray_patch || !__xray_log_select_mode)
		fail("BENCH_XRAY, but the program has no XRay");
	if (!strcmp(mode, "basic")) {
		name = "xray-basic";
		config = "func_duration_threshold_us=0";
	} else if (!strcmp(mode, "fdr")) {
		name = "xray-fdr";
		config = "func_duration_threshold_us=0:buffer_size=1048576:buffer_max=256";
	}
	if (name && (__xray_log_select_mode(name) || __xray_log_init_mode(name, config) != 2))
		fail("XRay's log does not start");
	if (__xray_patch() != 1)
		fail("XRay cannot patch the program");
}

static void xray_end(const char *mode)
{
	if (!strcmp(mode, "patched"))
		return;
	__xray_log_finalize();
	__xray_log_flushLog();
}

int __wrap_main(int argc, char **argv, char **envp)
{
	const char *path = getenv("BENCH_CPU"), *xray = getenv("BENCH_XRAY");
	unsigned long long thread_ns, process_ns;
	int status;

	if (xray)
		xray_begin(xray);
	thread_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	process_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	status = __real_main(argc, argv, envp);
	thread_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - thread_ns;
	process_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - process_ns;
	if (path) {
		FILE *out = fopen(path, "w");

		if (!out || fprintf(out, "%llu %llu\n", thread_ns, process_ns) < 0 || fclose(out))
			fail("cannot write the file that BENCH_CPU names");
	}
	if (xray)
		xray_end(xray);
	return status;
}
