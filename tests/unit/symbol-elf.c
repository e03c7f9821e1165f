// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests symbols and lines of real programs, compiled here: C++ names, parts of functions, static
 * and inlined code, PIE and not, DWARF 4 and 5, -flto, stripped ones, separate debug files,
 * files that have changed.
 */
#include <ctype.h>
#include <sys/wait.h>
#include "symbol/symbol.h"
#include "trace-sample.h"

/* The line numbers below refer to this text. */
static const char source[] =
	"#include <mutex>\n"				/* 1 */
	"#include <stdexcept>\n"
	"extern std::mutex guard;\n"
	"std::mutex guard;\n"
	"int table[64];\n"				/* 5 */
	"namespace ns {\n"
	"struct Server {\n"
	"	__attribute__((noipa)) int serve(int x);\n"
	"};\n"
	"static __attribute__((noinline)) int helper(int x)\n"	/* 10 */
	"{\n"
	"	__asm__ volatile(\"\" : \"+r\"(x) :: \"memory\");\n"
	"	return x * 3;\n"
	"}\n"
	"int Server::serve(int x)\n"			/* 15 */
	"{\n"
	"	int y =\n"
	"		helper(x);\n"
	"	guard.lock();\n"
	"	table[3] += y;\n"			/* 20 */
	"	guard.unlock();\n"
	"	return y;\n"
	"}\n"
	"}\n"
	"__attribute__((noinline)) void risky(int x)\n"	/* 25 */
	"{\n"
	"	if (__builtin_expect(x > 1000, 0))\n"
	"		throw std::runtime_error(\"too big\");\n"
	"	__asm__ volatile(\"\" ::: \"memory\");\n"
	"}\n"						/* 30 */
	"int main(int argc, char **argv)\n"
	"{\n"
	"	ns::Server s;\n"
	"	risky(argc);\n"
	"	return s.serve(argc) == 0;\n"		/* 35 */
	"}\n";

static char dir[256];
static struct symtab *st;

static bool run(const char *format, ...)
{
	char command[2048];
	va_list ap;
	int n = snprintf(command, sizeof(command), "cd '%s' && exec >log 2>&1; ", dir);

	va_start(ap, format);
	vsnprintf(command + n, sizeof(command) - n, format, ap);
	va_end(ap);
	n = system(command);
	if (n)
		diag("failed: %s", command);
	return n == 0;
}

static const char *cxx(void)
{
	const char *name = getenv("CXX");

	return name && *name ? name : "g++";
}

/* Returns the address of a linker's name, or 0. */
static uint64_t address_of(const char *program, const char *name)
{
	char command[1024], line[4096], *p;
	uint64_t found = 0;
	FILE *f;

	snprintf(command, sizeof(command), "cd '%s' && nm -n '%s' 2>/dev/null", dir, program);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		p = strrchr(line, ' ');
		if (p && !strcmp(p + 1, name))
			found = strtoull(line, NULL, 16);
	}
	if (f)
		pclose(f);
	return found;
}

/* Returns the return address of the nth call in function to a target whose name contains callee. */
static uint64_t call_in(const char *program, const char *function, const char *callee)
{
	char command[1024], line[4096];
	uint64_t found = 0;
	bool is_next = false;
	FILE *f;

	snprintf(command, sizeof(command),
		 "cd '%s' && objdump -d --no-show-raw-insn --disassemble='%s' '%s'", dir, function,
		 program);
	f = popen(command, "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (is_next && isxdigit((unsigned char)line[strspn(line, " ")])) {
			found = strtoull(line, NULL, 16);
			break;
		}
		is_next = strstr(line, "call") && strstr(line, callee);
	}
	while (f && fgets(line, sizeof(line), f))
		;
	if (f)
		pclose(f);
	return found;
}

static void build_id_of(const char *program, char *hex, size_t size)
{
	char command[1024];
	FILE *f;

	snprintf(command, sizeof(command),
		 "cd '%s' && readelf -n '%s' | sed -n 's/.*Build ID: //p'", dir, program);
	f = popen(command, "r");
	if (!f || !fgets(hex, size, f))
		*hex = '\0';
	hex[strcspn(hex, "\n")] = '\0';
	if (f)
		pclose(f);
}

/* Makes a symtab with program mapped at bias. */
static void map(const char *program, uint64_t bias, const char *build_id,
		const struct symtab_options *options)
{
	char path[512];
	struct ldb_row_module row = {
		.flags = 1, .start = bias ? bias : 0x400000, .end = bias + 0x10000000, .bias = bias,
		.end_tick = INT64_MAX, .build_id = build_id, .path = path,
	};

	snprintf(path, sizeof(path), "%s/%s", dir, program);
	symtab_close(st);
	st = symtab_open(options);
	if (!st || symtab_add_module(st, &row))
		bail_out("symtab");
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}

static bool is_symbol(const struct symbol *s, const char *function, unsigned line,
		      unsigned func_line)
{
	bool same = !strcmp(s->function, function) && s->line == line &&
		    s->func_line == func_line && (!line || ends_in(s->file, "app.cc")) &&
		    (!func_line || ends_in(s->func_file, "app.cc"));

	if (!same)
		diag("got %s at %s:%u, defined at %s:%u", s->function, s->file, s->line,
		     s->func_file, s->func_line);
	return same;
}

#define SERVE	"_ZN2ns6Server5serveEi"
#define HELPER	"_ZN2nsL6helperEi"

static bool compile(const char *program, const char *flags)
{
	return run("%s -pthread %s -o %s app.cc", cxx(), flags, program);
}

static void test_program(const char *flags, uint64_t bias)
{
	const struct symbol *s;
	uint64_t addr;

	if (!ok(compile("app", flags), "compiled with %s", flags))
		return;
	map("app", bias, "", NULL);
	addr = address_of("app", SERVE);
	s = symtab_lookup(st, bias + addr, 0);
	ok(is_symbol(s, "ns::Server::serve", 16, 15), "%s: a method", flags);
	is_str(s->raw, SERVE, "its linker name");
	is_str(s->module, "app", "its module");
	ok(s == symtab_lookup(st, bias + addr, 5), "asked again, the same answer");
	addr = call_in("app", SERVE, HELPER);
	if (!addr)	/* GCC may have made a copy for this call */
		addr = call_in("app", SERVE, "helper");
	s = symtab_lookup_call(st, bias + addr, 0);
	ok(addr && is_symbol(s, "ns::Server::serve", 18, 15), "%s: a call over two lines", flags);
	/* The lock call is in a function of <mutex>, inlined or not. */
	if (strstr(flags, "-O2")) {
		addr = call_in("app", SERVE, "pthread_mutex_lock");
		s = symtab_lookup_call(st, bias + addr, 0);
		ok(addr && is_symbol(s, "ns::Server::serve", 19, 15) && !s->in_system,
		   "%s: out of an inlined system function", flags);
	}
	addr = address_of("app", "table");
	s = symtab_lookup_data(st, bias + addr, 0);
	ok(addr && s->known && !strcmp(s->function, "table"), "%s: a variable", flags);
	s = symtab_lookup_data(st, bias + addr + 12, 0);
	is_str(s->function, "table+0xc", "inside a variable");
	s = symtab_lookup_data(st, 0x7fff00000000, 0);
	ok(!s->known && !strcmp(s->function, "0x7fff00000000"), "no variable");
}

static char called[512];

static void on_call(void *arg, const char *raw)
{
	size_t len = strlen(called);

	snprintf(called + len, sizeof(called) - len, "%s ", raw);
}

/* The program has a PLT of either kind, or none. */
static void test_calls(const char *flags, uint64_t bias)
{
	const struct symbol *s;

	if (!ok(compile("calls", flags), "compiled with %s", flags))
		return;
	map("calls", bias, "", NULL);
	s = symtab_lookup(st, bias + address_of("calls", SERVE), 0);
	*called = '\0';
	symtab_calls(st, s, on_call, NULL);
	ok(strstr(called, "pthread_mutex_lock ") && strstr(called, "pthread_mutex_unlock "),
	   "%s: calls of other modules: %s", flags, called);
	ok(!strstr(called, "helper") && !strstr(called, "runtime_error"),
	   "%s: none within the module, none of another function", flags);
	*called = '\0';
	symtab_calls(st, symtab_lookup(st, 0x7fff00000000, 0), on_call, NULL);
	is_str(called, "", "an address in no module calls nothing");
}

static void test_parts(void)
{
	const struct symbol *s;
	uint64_t addr;

	compile("app", "-O2 -g");
	map("app", 0x10000000, "", NULL);
	addr = address_of("app", "_Z5riskyi.cold");
	if (!addr) {
		skip(2, "this compiler made no cold part");
		return;
	}
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(!strcmp(s->function, "risky") && s->func_line == 25, "a cold part is its function");
	is_str(s->raw, "_Z5riskyi", "by its linker name, too");
}

static void test_strip(void)
{
	struct symtab_options o = { 0 };
	const char *debug_dirs[1];
	char id[128], path[512], text[512];
	const struct symbol *s;
	uint64_t addr;

	/* A separate debug file is beside the program, found by .gnu_debuglink. */
	compile("app", "-O2 -g -Wl,--build-id=sha1");
	addr = address_of("app", SERVE);
	run("cp app full && objcopy --only-keep-debug app app.debug && strip app && "
	    "objcopy --add-gnu-debuglink=app.debug app");
	build_id_of("app", id, sizeof(id));
	map("app", 0x10000000, id, NULL);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(is_symbol(s, "ns::Server::serve", 16, 15), "debug file by its link");

	/* The debug file is in a build-id folder. */
	run("mkdir -p dbg/.build-id/%.2s && mv app.debug dbg/.build-id/%.2s/%s.debug && "
	    "objcopy --remove-section=.gnu_debuglink app", id, id, id + 2);
	snprintf(path, sizeof(path), "%s/dbg", dir);
	debug_dirs[0] = path;
	o.debug_dirs = debug_dirs;
	o.nr_debug_dirs = 1;
	map("app", 0x10000000, id, NULL);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(!s->known && !s->line, "without it, nothing is known");
	ok(!strncmp(s->function, "app+0x", 6), "but module and offset: %s", s->function);
	ok(strstr(symtab_problem_text(st, SYMTAB_MISSING, text, sizeof(text)), "/app: no symbols"),
	   "and that is said: %s", text);
	map("app", 0x10000000, id, &o);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(is_symbol(s, "ns::Server::serve", 16, 15), "debug file by build-id, --debug-dir");
	is_str(symtab_problem_text(st, SYMTAB_MISSING, text, sizeof(text)), "", "and no complaint");

	/* The program itself is gone; its debug file is enough. */
	run("mv app away");
	map("app", 0x10000000, id, &o);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(is_symbol(s, "ns::Server::serve", 16, 15), "debug file without the program");

	/* Symbols without lines. */
	run("cp full app && strip -g app");
	map("app", 0x10000000, id, NULL);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(!strcmp(s->function, "ns::Server::serve") && !s->line && !*s->file, "names without lines");
	ok(strstr(symtab_problem_text(st, SYMTAB_NO_LINES, text, sizeof(text)), "-g"),
	   "the hint says -g");
}

static void test_changed(void)
{
	char id[128], text[512], sys[600];
	struct symtab_options o = { 0 };
	const struct symbol *s;
	uint64_t addr;

	compile("app", "-O2 -g -Wl,--build-id=sha1");
	build_id_of("app", id, sizeof(id));
	addr = address_of("app", SERVE);
	run("mkdir -p root%s && cp app root%s/app", dir, dir);
	compile("app", "-O1 -g -Wl,--build-id=sha1");
	map("app", 0x10000000, id, NULL);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(!s->known, "a file with another build-id is not used");
	ok(strstr(symtab_problem_text(st, SYMTAB_STALE, text, sizeof(text)), "changed since"),
	   "and that is said: %s", text);
	is_str(symtab_problem_text(st, SYMTAB_MISSING, text, sizeof(text)), "", "once");
	snprintf(sys, sizeof(sys), "%s/root/", dir);
	o.sysroot = sys;
	map("app", 0x10000000, id, &o);
	s = symtab_lookup(st, 0x10000000 + addr, 0);
	ok(is_symbol(s, "ns::Server::serve", 16, 15), "--sysroot");
	o.no_demangle = true;
	map("app", 0x10000000, id, &o);
	is_str(symtab_lookup(st, 0x10000000 + addr, 0)->function, SERVE, "--no-demangle");
}

/* Tests files that are no ELF files, damaged ELF files, and modules at unusual addresses. */
static void test_hostile(void)
{
	struct ldb_row_module row = {
		.start = UINT64_MAX - 10, .end = UINT64_MAX, .bias = 1, .end_tick = INT64_MAX,
		.build_id = "", .path = "/proc/self/mem",
	};
	char text[512];
	bool same = true;

	run("head -c 3000 app >cut; head -c 20000 /dev/urandom >noise; mkfifo fifo; : >empty");
	run("cp app bent; for i in 100 200 400 800 1600 3200 6400 12800; do "
	    "printf '\\377\\377\\377\\377' | dd of=bent bs=1 seek=$i conv=notrunc; done");
	static const char *const names[] = { "cut", "noise", "fifo", "empty", "bent", "missing" };

	for (unsigned i = 0; i < 6; i++) {
		map(names[i], 0, "", NULL);
		for (uint64_t a = 0x400000; a < 0x410000; a += 0x333) {
			same &= symtab_lookup(st, a, 0) != NULL;
			same &= symtab_lookup_data(st, a, 0) != NULL;
		}
	}
	ok(same, "broken files give names all the same");
	is_int(symtab_add_module(st, &row), 0, "the end of the address space");
	ok(symtab_lookup_call(st, UINT64_MAX - 3, 0) && symtab_lookup_call(st, 0, 0) &&
	   symtab_lookup(st, UINT64_MAX, INT64_MIN), "addresses at both ends");
	row.tick = 10;
	row.end_tick = 5;
	ok(symtab_add_module(st, &row) < 0, "unloaded before it was loaded");
	symtab_problem_text(st, SYMTAB_MISSING, text, 10);
	ok(strlen(text) < 10, "a short buffer");
}

int main(void)
{
	FILE *f;

	snprintf(dir, sizeof(dir), "%s", sample_path(""));
	dir[strlen(dir) - 1] = '\0';
	f = fopen(sample_path("app.cc"), "w");
	if (!f || fputs(source, f) < 0 || fclose(f))
		bail_out("cannot write the source");
	if (!run("%s --version", cxx()))
		skip_all("no C++ compiler");
	test_program("-O0 -g", 0x555555000000);
	test_program("-O2 -g", 0x7f0000000000);
	test_program("-O2 -g -no-pie -fno-pie", 0);
	test_program("-O2 -gdwarf-4", 0x7f0000000000);
	test_program("-O2 -g -flto", 0x7f0000000000);
	test_calls("-O2 -g", 0x7f0000000000);
	test_calls("-O2 -g -fcf-protection", 0x7f0000000000);
	test_calls("-O2 -g -fno-plt", 0x7f0000000000);
	test_calls("-O2 -g -no-pie -fno-pie", 0);
	test_parts();
	test_strip();
	test_changed();
	test_hostile();
	symtab_close(st);
	return done();
}
