// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests sentences over several lines, and names that are shortened. */
#include "render/text.h"
#include "render/wrap.h"
#include "tap.h"

static char got[4096];

static const char *wrapped(const char *text, unsigned width, bool has_width)
{
	struct render r = { .out = fmemopen(got, sizeof(got), "w"), .width = width, .has_width = has_width };
	struct wrap w;

	fputs(text, wrap_begin(&w, &r)->out);
	wrap_end(&w, 2);
	fclose(r.out);
	return got;
}

static void test_sentences(void)
{
	is_str(wrapped("one two three\n", 20, true), "one two three\n", "fits");
	is_str(wrapped("one two three\n", 13, true), "one two three\n", "just");
	is_str(wrapped("one two three\n", 12, true), "one two\n  three\n", "does not");
	is_str(wrapped("one two three\n", 12, false), "one two three\n", "nobody said how wide");
	is_str(wrapped("    one two three\n", 12, true), "    one two\n      three\n",
	       "what continues an indented line is indented more");
	is_str(wrapped("a   b\n   c\n\nd", 12, true), "a   b\n   c\n\nd", "blanks and empty lines stay");
	is_str(wrapped("abcdefghijkl mno\n", 6, true), "abcdef\n  ghij\n  kl\n  mno\n",
	       "a word that is too long for a line takes several");
	is_str(wrapped("\033[1mone two\033[0m three\n", 13, true), "\033[1mone two\033[0m three\n",
	       "colours have no width");
	is_str(wrapped("\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\n", 6, true),
	       "\xc3\xa4\xc3\xa4\xc3\xa4 \xc3\xb6\xc3\xb6\n", "UTF-8 counts characters");
}

static const char *name(const char *text, unsigned width)
{
	static char buf[TEXT_ROOM];

	return wrap_name(text, width, buf);
}

static const char *numbered(const char *text, unsigned width)
{
	static char buf[TEXT_ROOM];

	return wrap_numbered(text, width, buf);
}

static void test_names(void)
{
	char longest[2 * TEXT_ROOM];

	is_str(name("main()", 6), "main()", "fits");
	is_str(name("handle_request()", 8), "handle_~", "C: the begin");
	is_str(name("a::b<c, d<e>>::f()", 18), "a::b<c, d<e>>::f()", "C++: fits");
	is_str(name("a::b<c, d<e>>::f()", 17), "a::b<~>::f()", "without the arguments");
	is_str(name("outer::inner<int>::f()", 14), "~inner<~>::f()", "without the outer scopes");
	is_str(name("outer::inner<int>::f()", 6), "~::f()", "nor the inner ones");
	is_str(name("std::operator<< <char>()", 30), "std::operator<< <char>()", "an operator fits");
	is_str(name("ns::operator<()", 9), "~rator<()", "an operator is no bracket");
	is_str(name("f<a->b>()", 8), "f<~>()", "an arrow closes nothing");
	is_str(name("a<b", 2), "a~", "a bracket that is never closed");
	is_str(name("a\033[2Jb()", 20), "a?[2Jb()", "nothing steers the terminal");
	memset(longest, '<', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ok(strlen(name(longest, 40)) <= 40, "nothing but brackets");

	is_str(numbered("worker 4711", 11), "worker 4711", "a thread fits");
	is_str(numbered("worker 4711", 10), "work~ 4711", "its number stays");
	is_str(numbered("hog (pid 99)", 11), "h~ (pid 99)", "so does a process's");
	is_str(numbered("pool 12 (pid 99)", 15), "po~ 12 (pid 99)", "and both");
	is_str(numbered("thread (x) 99", 12), "thread (~ 99", "brackets in a name");
	is_str(numbered("123456", 3), "123456", "a number alone is not cut");
}

int main(void)
{
	test_sentences();
	test_names();
	return done();
}
