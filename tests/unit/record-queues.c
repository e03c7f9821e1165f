// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how the words of --queue and the arguments of USDT probes are read. */
#include <stdlib.h>
#include <string.h>
#include "record/probes/queue-words.h"
#include "record/probes/usdt-args.h"
#include "tap.h"

static bool is_arg(const char *args, unsigned nr, const char *fetch, unsigned size, bool is_signed)
{
	struct usdt_arg arg;
	char why[256] = "";

	if (usdt_arg_parse(args, nr, &arg, why, sizeof(why)) && !strcmp(arg.fetch, fetch) && arg.size == size &&
	    arg.is_signed == is_signed)
		return true;
	diag("%s: %s %u %s", args, arg.fetch, arg.size, why);
	return false;
}

static bool is_refused(const char *args, unsigned nr, const char *part)
{
	struct usdt_arg arg;
	char why[256] = "";

	if (!usdt_arg_parse(args, nr, &arg, why, sizeof(why)) && strstr(why, part))
		return true;
	diag("%s: %s %s", args, arg.fetch, why);
	return false;
}

static void test_arguments(void)
{
	ok(is_arg("8@%rdi", 1, "%di", 8, false), "a register");
	ok(is_arg("-4@%eax 8@%r12 2@%r9w 1@%sil", 1, "%ax", 4, true), "a part of one, with a sign");
	ok(is_arg("-4@%eax 8@%r12 2@%r9w 1@%sil", 2, "%r12", 8, false), "the second");
	ok(is_arg("-4@%eax 8@%r12 2@%r9w 1@%sil", 3, "%r9", 2, false), "the third");
	ok(is_arg("-4@%eax 8@%r12 2@%r9w 1@%sil", 4, "%si", 1, false), "the last");
	ok(is_arg("8@-16(%rbp)", 1, "-16(%bp)", 8, false), "in memory");
	ok(is_arg("8@(%rbx)", 1, "+0(%bx)", 8, false), "in memory, without a distance");
	ok(is_arg("8@0x20(%rsp)", 1, "+32(%sp)", 8, false), "in memory, in hex");
	ok(is_arg("-8@$-5", 1, "\\-5", 8, true), "a constant");
	ok(is_refused("8@%rdi", 2, "it has 1 argument, and no number 2"), "there is no second one");
	ok(is_refused("", 1, "it has 0 arguments"), "there is none");
}

static void test_hostile(void)
{
	static const char *const texts[] = {
		"8@8(%rax,%rbx,8)", "8@counter(%rip)", "8@%xmm0", "4f@%xmm0", "8@%ah", "8@rdi", "%rdi", "8@", "@%rdi", "3@%rdi",
		"8@4294967296(%rdi)", "99999999999999999999@%rdi", "8@99999999999999999999(%rdi)", "8@-16(%rbp", "8@-16(%rbp)x",
		"8@+(%rbp)", "8@$", "8@$5x", "8@%rdi:u64\np:x", "8@()", "8@(%)", "4294967300@%rdi", "-9223372036854775808@%rdi", "8@%rdi\tname=1",
		"8@00000000000000000000000000000000000000000000000000000000000000000000000000000000(%rdi)",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		ok(is_refused(texts[i], 1, "cannot read"), "refused: number %zu", i);
}

static bool is_wrong(const char *word, const char *part)
{
	struct queue_words words;
	const char *wrong = queue_words_parse(word, &words);
	bool is = wrong && strstr(wrong, part);

	if (!is)
		diag("%s: %s", word, wrong ? wrong : "not wrong");
	free(words.text);
	return is;
}

static void test_words(void)
{
	struct queue_words words;

	ok(!queue_words_parse("app:put:2,take,gone:3,done:12,name=1", &words), "all that there may be");
	ok(!strcmp(words.provider, "app") && words.nr_probes == 4 && words.name == 1, "its parts");
	ok(!strcmp(words.probes[0].name, "put") && words.probes[0].item == 2, "where an item is put in");
	ok(!strcmp(words.probes[1].name, "take") && words.probes[1].item == 1, "where it is taken out");
	ok(words.probes[2].item == 3 && words.probes[3].item == 12 && queue_event_of(3) == QUEUE_END, "where it ends");
	free(words.text);
	ok(!queue_words_parse("folly", &words) && words.name == 1 && words.probes[0].item == 4 &&
	   words.probes[1].item == 5, "folly");
	free(words.text);
	ok(is_wrong("", "give PROVIDER:PUT,TAKE"), "nothing");
	ok(is_wrong("app", "give PROVIDER:PUT,TAKE"), "a provider alone");
	ok(is_wrong("a b:put,take", "give PROVIDER:PUT,TAKE"), "a blank");
	ok(is_wrong("app:put", "give two probes"), "one probe");
	ok(is_wrong("app:put,name=1", "give two probes"), "one probe and a name");
	ok(is_wrong("app:put,ta\nke", "give names"), "a line feed");
	ok(is_wrong("app:put,", "give names"), "an empty name");
	ok(is_wrong("app:put:0,take", "the argument that is the item"), "no such argument");
	ok(is_wrong("app:put:1x,take", "the argument that is the item"), "no number");
	ok(is_wrong("app:put:-1,take", "the argument that is the item"), "a negative one");
	ok(is_wrong("app:put:4294967297,take", "the argument that is the item"), "one of more than 32 bits");
	ok(is_wrong("app:put,put", "another probe"), "the same probe for two events");
	ok(is_wrong("app:put,take,name=", "the argument that is the queue's name"), "no name");
	ok(is_wrong("app:a,b,c,d,e,f,g,h,i", "too many"), "too many");
}

int main(void)
{
	test_arguments();
	test_hostile();
	test_words();
	return done();
}
