// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests where ids of requests are: the words that users write, and the places that debug
 * information and the calling convention give, in programs that are compiled here, with and without
 * -O, in C and C++.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "symbol/argument.h"
#include "symbol/elffile.h"
#include "tap.h"

static const char c_source[] =
	"#include <stdbool.h>\n"
	"#include <stdint.h>\n"
	"struct req { char c; struct { int x; struct { int32_t neg; uint64_t id; }; } h; struct req *p; unsigned bits:3;"
	" double d; uint16_t s; };\n"
	"struct big { long a, b, c; }; struct two { long a; int b, c; }; struct mixed { float a; int b; double d; };\n"
	"enum e { A = -1, B };\n"
	"volatile long sink;\n"
	"#define F __attribute__((noipa))\n"
	"F void plain(unsigned id) { sink += id; }\n"
	"F void second(double x, const char *n, int id) { sink += id; }\n"
	"F void field(struct req *r) { sink += r->s; }\n"
	"F struct big hidden(int id) { sink += id; return (struct big){ 1, 2, 3 }; }\n"
	"F void structs(struct big b, struct mixed m, struct two t, int id) { sink += id; }\n"
	"F void many(int a, int b, int c, int d, int e, int f, int g, short id) { sink += id; }\n"
	"F void small(bool x, enum e y, signed char z) { sink += x; }\n"
	"F void odd(long double l, int id) { sink += id; }\n"
	"struct packed { char c; void *p; int i; } __attribute__((packed)); struct ld { long double l; };\n"
	"struct late { char c; enum e e; } __attribute__((packed));\n"
	"F void packed(struct packed p, int id) { sink += id; }\n"
	"F void late(struct late l, int id) { sink += id; }\n"
	"F struct ld returns(int id) { sink += id; return (struct ld){ 1 }; }\n"
	"F long double number(int id) { sink += id; return 1; }\n"
	"F void takes(struct ld l, int id) { sink += id; }\n"
	"F void decimal(_Decimal64 d, int id) { sink += id; }\n"
	"int main(void) { return 0; }\n";

static const char cxx_source[] =
	"struct Base { int base; }; struct Request : Base { long id; };\n"
	"struct Hidden { long other; int id; }; struct Hiding : Hidden { long id; };"
	" enum class Kind : unsigned char { A };\n"
	"struct Owner { Owner(); Owner(const Owner &); ~Owner(); int id; };\n"
	"volatile long sink;\n"
	"namespace ns { struct Server { __attribute__((noipa)) void serve(const Request &r, Owner o, const int &n);"
	" __attribute__((noipa)) Owner make(int id); }; }\n"
	"Owner::Owner() {} Owner::Owner(const Owner &) {} Owner::~Owner() {}\n"
	"void ns::Server::serve(const Request &r, Owner o, const int &n) { sink += r.id; }\n"
	"Owner ns::Server::make(int id) { sink += id; return Owner(); }\n"
	"__attribute__((noipa)) void hides(const Hiding *h, Kind kind, const Kind &ref) { sink += h->id; }\n"
	"int main() { return 0; }\n";

static struct elffile *elf;
static char dir[] = "/tmp/ldb-argument-XXXXXX";

static void compile(const char *name, const char *compiler, const char *text)
{
	static const struct elffile_search search = { .sysroot = "" };
	static char file[64];
	char command[256];
	FILE *f;

	snprintf(file, sizeof(file), "%s/%s", dir, name);
	snprintf(command, sizeof(command), "%s -o %s -", compiler, file);
	f = popen(command, "w");
	if (!f || fputs(text, f) < 0 || pclose(f))
		bail_out("no program");
	elf = elffile_open(&search, file, "");
	if (!elf || elffile_state(elf) != ELFFILE_USABLE)
		bail_out("no file");
}

/* Writes the place as "register + steps, type", or why there is none. */
static const char *place(const char *word)
{
	static const char *const registers[] = { "di", "si", "dx", "cx", "r8", "r9", "sp" };
	static char text[512];
	struct request_place at[REQUEST_PLACES_MAX];
	char why[256] = "", *function = request_bare_name(word);
	struct request_id id;
	const char *wrong = request_id_parse(word, &id);
	int nr = wrong ? 0 : argument_find(elf, function, &id, at, why, sizeof(why));
	size_t n;

	n = snprintf(text, sizeof(text), "%s", wrong ? wrong : nr < 0 ? why : nr ? registers[at[0].place] : "none");
	for (unsigned i = 0; nr > 0 && i < at[0].nr_steps; i++)
		n += snprintf(text + n, sizeof(text) - n, " %+ld", (long)at[0].steps[i]);
	if (nr > 0)
		snprintf(text + n, sizeof(text) - n, " %c%u", at[0].is_signed ? 's' : 'u', 8 * at[0].size);
	free(id.text);
	free(function);
	return text;
}

static void is(const char *how, const char *word, const char *want)
{
	const char *got = place(word);

	if (!ok(!strcmp(got, want), "%s: %s is %s", how, word, want))
		diag("it is %s", got);
}

static void test_c(const char *how, const char *compiler)
{
	compile("c", compiler, c_source);
	is(how, "plain(id)", "di u32");
	is(how, "second(id)", "si s32");
	is(how, "second(n)", "di u64");
	is(how, "second(x)", "x is a double; it must be an integer");
	is(how, "field(r->s)", "di +56 u16");
	is(how, "field(r->h.id)", "di +24 u64");
	is(how, "field(r->h.neg)", "di +16 s32");
	is(how, "field(r->p->h.id)", "di +32 +24 u64");
	is(how, "field(r.s)", "r is a pointer: write r->s");
	is(how, "field(r->bits)", "bits is a bit-field");
	is(how, "field(r->h)", "h is a struct; it must be an integer");
	is(how, "field(r->none)", "r has no member none");
	is(how, "field(q)", "no parameter is named q: there is r");
	is(how, "hidden(id)", "si s32");
	is(how, "structs(id)", "cx s32");
	is(how, "structs(t.b)", "dx s32");
	is(how, "structs(t.c)", "c is in the middle of a register: t is a struct passed by value");
	is(how, "structs(m.b)", "m is a struct passed by value, with floating point numbers");
	is(how, "many(f)", "r9 s32");
	is(how, "many(g)", "sp +8 s32");
	is(how, "many(id)", "sp +16 s16");
	is(how, "small(x)", "di u8");
	is(how, "small(y)", "si s32");
	is(how, "small(z)", "dx s8");
	is(how, "odd(id)", "di s32");
	is(how, "packed(id)", "it is not certain how one of its parameters is passed");
	is(how, "late(id)", "it is not certain how one of its parameters is passed");
	is(how, "returns(id)", "it is not certain where its result goes");
	is(how, "number(id)", "di s32");
	is(how, "takes(id)", "di s32");
	is(how, "decimal(id)", "it is not certain how one of its parameters is passed");
	is(how, "nothing(id)", "none");
	is(how, "plain($1:s16)", "di s16");
	is(how, "plain($7)", "give $1 to $6, maybe with a type, as in $2:u32");
	is(how, "plain(a-b)", "give a parameter, as in FUNCTION(r->id)");
	is(how, "plain(a.b.c.d.e.f)", "too many members on the way to the id");
	elffile_close(elf);
}

static void test_cxx(const char *how, const char *compiler)
{
	compile("cxx", compiler, cxx_source);
	is(how, "serve(r.id)", "si +8 s64");
	is(how, "ns::Server::serve(r.base)", "si +0 s32");
	is(how, "serve(o.id)", "it is not certain how one of its parameters is passed");
	is(how, "serve(n)", "it is not certain how one of its parameters is passed");
	is(how, "hides(h->id)", "di +16 s64");
	is(how, "hides(kind)", "si u8");
	is(how, "hides(ref)", "dx +0 u8");
	is(how, "make(id)", "it is not certain where its result goes");
	elffile_close(elf);
}

int main(void)
{
	if (!mkdtemp(dir))
		bail_out("no folder");
	test_c("-O0", "gcc -O0 -g -x c");
	test_c("-O2", "gcc -O2 -g -x c");
	test_c("DWARF 4", "gcc -O2 -gdwarf-4 -x c");
	test_cxx("C++ -O0", "g++ -O0 -g -x c++");
	test_cxx("C++ -O2", "g++ -O2 -g -x c++");
	compile("bare", "gcc -O2 -x c", c_source);
	is("without -g", "plain(id)", "there is no debug information: compile with -g, or write plain($1)");
	is("without -g", "second($1:s32)", "di s32");
	elffile_close(elf);
	if (chdir(dir) || unlink("c") || unlink("cxx") || unlink("bare") || rmdir(dir))
		diag("%s is left", dir);
	return done();
}
