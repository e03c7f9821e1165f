/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints test results in TAP, for C and C++ test programs.
 *
 *	plan(3);			optional; done() prints it otherwise
 *	ok(x == 3, "x is %d", 3);	one result, returns the condition
 *	is_int(got, want, "count");	does what ok() does, and prints both if they differ
 *	is_str(got, want, "name");
 *	skip(1, "no /dev/ldb");		n results that are not possible on this machine
 *	diag("x: %d", x);		a comment line
 *	return done();			exit status: 0, or 1 when one was not ok
 *
 * skip_all("why") ends the program as skipped (exit status 77); bail_out("why") ends it as
 * failed.  These are not thread-safe: only one thread may report.
 */
#ifndef LDB_TAP_H
#define LDB_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAP_FN		static __attribute__((unused))
#define TAP_PRINTF(n)	__attribute__((format(printf, n, n + 1)))

static int tap_nr, tap_failed, tap_plan = -1;

TAP_FN void plan(int nr)
{
	tap_plan = nr;
	printf("1..%d\n", nr);
	fflush(stdout);
}

TAP_FN bool tap_result(bool cond, const char *file, int line, const char *fmt, ...)
	TAP_PRINTF(4);

TAP_FN bool tap_result(bool cond, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", cond ? "" : "not ", ++tap_nr);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	if (!cond) {
		tap_failed++;
		printf("# failed at %s:%d\n", file, line);
	}
	/* Flushes the output, so that a crash in the next test does not lose this result. */
	fflush(stdout);
	return cond;
}

#define ok(cond, ...)	tap_result(!!(cond), __FILE__, __LINE__, __VA_ARGS__)

TAP_FN bool tap_is_int(long long got, long long want, const char *file, int line,
		       const char *name)
{
	if (tap_result(got == want, file, line, "%s", name))
		return true;
	printf("# got %lld, want %lld\n", got, want);
	return false;
}

#define is_int(got, want, name)	\
	tap_is_int((long long)(got), (long long)(want), __FILE__, __LINE__, name)

TAP_FN bool tap_is_str(const char *got, const char *want, const char *file,
		       int line, const char *name)
{
	bool same = got && want ? !strcmp(got, want) : got == want;

	if (tap_result(same, file, line, "%s", name))
		return true;
	printf("# got  %s\n# want %s\n", got ? got : "(null)", want ? want : "(null)");
	return false;
}

#define is_str(got, want, name)	tap_is_str(got, want, __FILE__, __LINE__, name)

TAP_FN void skip(int nr, const char *why)
{
	while (nr-- > 0)
		printf("ok %d # SKIP %s\n", ++tap_nr, why);
	fflush(stdout);
}

TAP_FN void diag(const char *fmt, ...) TAP_PRINTF(1);

TAP_FN void diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

TAP_FN int done(void)
{
	if (tap_plan < 0)
		plan(tap_nr);
	return tap_failed || tap_plan != tap_nr;
}

TAP_FN __attribute__((noreturn)) void skip_all(const char *why)
{
	printf("1..0 # SKIP %s\n", why);
	exit(77);
}

TAP_FN __attribute__((noreturn)) void bail_out(const char *why)
{
	printf("Bail out! %s\n", why);
	exit(1);
}

#endif /* LDB_TAP_H */
