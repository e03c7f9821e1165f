// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests categories by globs: the first match wins, and a file with errors gives one clear line. */
#include <unistd.h>

#include "analysis/why/categories.h"
#include "tap.h"

static char path[] = "/tmp/ldb-categories.XXXXXX";
static char err[512];

/* Opens categories with this text as their file; NULL: the file is wrong. */
static struct categories *open_text(const char *text, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text, 1, size, f) != size || fclose(f))
		bail_out("cannot write a temporary file");
	err[0] = '\0';
	return categories_open(path, err, sizeof(err));
}

static const char *name_in(struct categories *c, const char *kind, const char *name)
{
	const struct category *found = c ? categories_find(c, kind, name) : NULL;

	return found ? found->name : "";
}

static void test_shipped(void)
{
	struct categories *c = categories_open(NULL, err, sizeof(err));
	size_t size, nr = 0;
	const char *text = categories_shipped(&size);

	if (!ok(c, "the shipped file"))
		bail_out(err);
	for (size_t i = 0; i < size; i++)
		nr += text[i] == '\n';
	ok(nr > 150, "has %zu lines", nr);
	is_str(name_in(c, "function", "malloc"), "Allocation", "a function");
	is_str(name_in(c, "function", "operator new[]"), "Allocation", "an operator");
	is_str(name_in(c, "function", "fdatasync"), "Storage", "a system call's wrapper");
	is_str(name_in(c, "function", "snapshot"), "Maintenance", "what should not be in a request");
	is_str(name_in(c, "lock_wait", "db_lock"), "Locking", "a wait, by the name of its leaf's kind");
	is_str(categories_kind(LEAF_LOCK, LDB_LOCK_MUTEX), "lock_wait", "somebody holds a mutex");
	is_str(categories_kind(LEAF_LOCK, LDB_LOCK_BARRIER), "barrier", "nobody holds a barrier");
	is_str(name_in(c, "barrier", "db_lock"), "Waiting", "which has a category of its own");
	is_str(name_in(c, "futex_wait", "main_arena"), "Allocation", "a futex");
	is_str(name_in(c, "preempted", "ksoftirqd"), "Interrupts", "running tasks");
	is_str(name_in(c, "runnable", "kworker/3:1 (pid 77)"), "Kernel threads", "with a pid");
	is_str(name_in(c, "irq", "anything"), "Interrupts", "an interrupt");
	is_str(name_in(c, "io", ""), "Storage", "I/O, which has no name");
	is_str(name_in(c, "throttled", ""), "CPU quota", "a quota");
	is_str(name_in(c, "queue", "queue jobs"), "Queueing", "a queue");
	is_str(name_in(c, "queue", "queue upstream"), "Waiting", "the one of requests that have asked another server");
	is_str(name_in(c, "head_of_line", "GET"), "Head of line", "other requests");
	is_str(name_in(c, "function", "frobnicate"), "", "a name that nobody knows");
	is_str(name_in(c, "preempted", "hog"), "", "a program that nobody knows");
	is_str(name_in(c, "no such kind", "malloc"), "", "a kind that is none");
	is_str(name_in(c, "*", "malloc"), "", "nor is the star");
	ok(*categories_find(c, "lock", "x")->advice && !strcmp(categories_find(c, "lock", "x")->side, "app"),
	   "with advice, and whose it is");
	ok(categories_find(c, "lock", "x") == categories_find(c, "lock", "x"), "found twice: the same");
	categories_close(c);
	categories_close(NULL);
}

static void test_user(void)
{
	static const char text[] =
		"\xef\xbb\xbf# mine\r\n"
		"pattern,kind,category,side,advice\r\n"
		"\n"
		"malloc,function,Mine,app,\"do not, \"\"ever\"\"\"\r\n"
		"db_[a-m]*,lock,First half,,\n"
		"db_*,lock,Second half\n"
		"x*,*,Everything\n"
		"\"a,b\",function,Comma";
	struct categories *c = open_text(text, sizeof(text) - 1);

	if (!ok(c, "a user's file"))
		bail_out(err);
	is_str(name_in(c, "function", "malloc"), "Mine", "is read before the shipped one");
	is_str(categories_find(c, "function", "malloc")->advice, "do not, \"ever\"", "quotes");
	is_str(name_in(c, "lock", "db_index"), "First half", "the first match wins");
	is_str(name_in(c, "lock", "db_table"), "Second half", "else the next");
	is_str(name_in(c, "irq", "xhci"), "Everything", "a star is every kind");
	is_str(name_in(c, "function", "a,b"), "Comma", "a comma, in the last line, without its end");
	is_str(name_in(c, "function", "calloc"), "Allocation", "and the shipped one behind it");
	categories_close(c);
	c = open_text("", 0);
	is_str(name_in(c, "function", "malloc"), "Allocation", "an empty file changes nothing");
	categories_close(c);
}

/* Tests the greatest permitted length of a pattern, and of a file. */
static void test_limits(void)
{
	static char pattern[257], text[400];
	struct categories *c;
	size_t size;

	memset(pattern, 'a', sizeof(pattern) - 1);
	size = snprintf(text, sizeof(text), "%s,function,Long\n", pattern);
	c = open_text(text, size);
	is_str(name_in(c, "function", pattern), "Long", "a pattern of 256 characters");
	categories_close(c);
	c = open_text("# x\n", 4);
	categories_close(c);
	if (truncate(path, (4 << 20) + 1))
		bail_out("cannot make a file longer");
	c = categories_open(path, err, sizeof(err));
	ok(!c && strstr(err, "more than 4 MiB"), "no file is larger than 4 MiB: %s", err);
	categories_close(c);
}

static void wrong(const char *text, size_t size, const char *what, const char *name)
{
	struct categories *c = open_text(text, size);
	char want[256];

	snprintf(want, sizeof(want), "%s:%s", path, what);
	if (!ok(!c && !strncmp(err, want, strlen(want)) && !strchr(err, '\n'), "%s", name))
		diag("got \"%s\", want \"%s...\"", err, want);
	categories_close(c);
}

#define WRONG(text, what, name)	wrong(text, sizeof(text) - 1, what, name)

static void test_hostile(void)
{
	static char longer[2000] = "# a comment\n", stars[64] = "";

	WRONG("malloc\n", "1: expected pattern,kind", "too few fields");
	WRONG("# x\n\na,function\n", "3: expected pattern,kind", "the line is counted");
	WRONG("a,func,b\n", "1: 'func' is not a kind of cause: ldb-why(1)", "a kind that is none");
	WRONG("a,,b\n", "1: '' is not a kind", "no kind");
	WRONG("a,function,,app,x\n", "1: no category", "no category");
	WRONG(",function,b\n", "1: no pattern", "no pattern");
	WRONG("a,function,b,mine,x\n", "1: 'mine' is not a side", "a side that is none");
	WRONG("a,function,b,app,x,y\n", "1: more than 5 fields", "a comma too many");
	WRONG("\"a,function,b\n", "1: a quote", "a quote that is not closed");
	WRONG("\"a\"x,function,b\n", "1: a quote", "text behind a quote");
	WRONG("\"a\"\",function,b\n", "1: a quote", "two quotes are one");
	WRONG("a,function,b\na\0,function,b\n", "2: it contains a byte of 0", "a byte of 0");
	WRONG("a,function,b\033[31m\n", "1: a control character", "what steers a terminal");
	WRONG("a,function,\xff\xfe\n", "1: not UTF-8", "other bytes");
	memset(longer + strlen(longer), 'a', 257);
	strcat(longer, ",function,b\n");
	wrong(longer, strlen(longer), "2: a pattern of more than 256", "a pattern that is too long");
	for (int i = 0; i < 10; i++)
		strcat(stars, "*a");
	strcat(stars, ",function,b\n");
	wrong(stars, strlen(stars), "1: a pattern with more than", "one that takes too long to match");
	for (const char *file = "/no/such/file"; file; file = *file && file[1] == 'n' ? "/dev" : NULL) {
		struct categories *c = categories_open(file, err, sizeof(err));

		ok(!c && strstr(err, file) && !strchr(err, '\n'), "%s: %s", file, err);
	}
}

/* 300 files that are cut short or have a changed byte must be read or refused without a crash. */
static void test_damage(void)
{
	size_t size, nr_ok = 0, nr_wrong = 0;
	const char *text = categories_shipped(&size);
	char *copy = malloc(size);

	if (!copy)
		bail_out("out of memory");
	for (size_t i = 0; i < 300; i++) {
		struct categories *c;

		memcpy(copy, text, size);
		copy[(i * 7919) % size] = "\",\n*[\\\0\xff"[i % 8];
		c = open_text(copy, i % 3 ? size : (i * 104729) % size);
		if (c)
			name_in(c, "function", "std::vector<int>::push_back");
		nr_ok += !!c;
		nr_wrong += !c && *err && !strchr(err, '\n');
		categories_close(c);
	}
	ok(nr_ok + nr_wrong == 300 && nr_ok && nr_wrong, "300 damaged files: %zu read, %zu refused", nr_ok,
	   nr_wrong);
	free(copy);
}

/* Names come from a trace and may contain anything; a second lookup gives the same result. */
static void test_names(void)
{
	struct categories *c = categories_open(NULL, err, sizeof(err));
	size_t nr = 0;
	char *big = malloc(100001);

	if (!c || !big)
		bail_out("out of memory");
	memset(big, 'a', 100000);
	big[100000] = '\0';
	is_str(name_in(c, "function", big), "", "a name of 100000 characters");
	is_str(name_in(c, "function", "[*?\\"), "", "a name of what is special in patterns");
	is_str(name_in(c, "function", "\xff\x01\n"), "", "a name of any bytes");
	is_str(name_in(c, "context", " 12"), "", "a number alone");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20000; i++) {
			char name[32];

			snprintf(name, sizeof(name), i % 2 ? "parse_%d" : "frob%d", i);
			nr += categories_find(c, "function", name) != NULL;
		}
	is_int(nr, 20000, "20000 names, twice");
	free(big);
	categories_close(c);
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0)
		bail_out("mkstemp");
	close(fd);
	test_shipped();
	test_user();
	test_limits();
	test_hostile();
	test_damage();
	test_names();
	unlink(path);
	return done();
}
