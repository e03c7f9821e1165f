// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A search over made-up documents, as in Documentation/cases/xapian.md.
 *
 *	xapian-search index DB		20,000 documents of 100 words each, of 60,000 that are as unequally
 *					frequent as words of a language are
 *	xapian-search serve DB THREADS QUERIES [EXPANSION]
 *					so many queries; each 50th ends in "*", as a user's who is still
 *					typing; EXPANSION: at most so many words for it
 */
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <xapian.h>

static const unsigned nr_words = 60000, nr_documents = 20000, words_of_document = 100;

/* The same numbers on each machine. */
struct numbers {
	uint64_t state;

	explicit numbers(uint64_t seed) : state(seed * 0x9e3779b97f4a7c15 + 1) {}
	double next()
	{
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		return (double)(state >> 11) / 9007199254740992.0;
	}
};

/* Word 0 is the most frequent one: the nth is so often as n to the power of -1. */
static unsigned random_word(numbers &n)
{
	return (unsigned)(std::pow((double)nr_words, n.next()) - 1);
}

static std::string word(unsigned nr)
{
	static const char *const syllables[] = { "ba", "ce", "di", "fo", "gu", "ha", "ke", "li", "mo", "nu",
						 "pa", "re", "si", "to", "vu", "za" };
	std::string text;

	for (uint64_t n = nr * 2654435761ULL % 1048576, i = 0; i < 5; i++, n /= 16)
		text += syllables[n % 16];
	return text;
}

static void index(const char *path)
{
	Xapian::WritableDatabase db(path, Xapian::DB_CREATE_OR_OVERWRITE);
	numbers n(1);

	for (unsigned d = 0; d < nr_documents; d++) {
		Xapian::Document document;

		for (unsigned i = 0; i < words_of_document; i++)
			document.add_posting(word(random_word(n)), i + 1);
		document.set_data(std::to_string(d));
		db.add_document(document);
	}
	db.commit();
}

static std::string question(numbers &n, unsigned nr)
{
	std::string text = word(random_word(n)) + " " + word(random_word(n));

	return nr % 50 ? text : text + " " + word(random_word(n)).substr(0, 2) + "*";
}

/* One request. */
__attribute__((noinline)) unsigned search(Xapian::Database &db, const std::string &text, unsigned expansion)
{
	Xapian::QueryParser parser;
	Xapian::Enquire enquire(db);

	parser.set_database(db);
	parser.set_default_op(Xapian::Query::OP_OR);
	if (expansion)
		parser.set_max_expansion(expansion, Xapian::Query::WILDCARD_LIMIT_MOST_FREQUENT);
	enquire.set_query(parser.parse_query(text, Xapian::QueryParser::FLAG_WILDCARD));
	return enquire.get_mset(0, 10).size();
}

static void serve(const char *path, unsigned nr, unsigned expansion, std::atomic<unsigned> &next,
		  std::atomic<uint64_t> &found)
{
	Xapian::Database db(path);
	unsigned i;

	while ((i = next++) < nr) {
		numbers n(i + 1000);

		found += search(db, question(n, i), expansion);
	}
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;
	std::atomic<unsigned> next(0);
	std::atomic<uint64_t> found(0);

	if (argc == 3 && !strcmp(argv[1], "index")) {
		index(argv[2]);
		return 0;
	}
	if (argc < 5 || strcmp(argv[1], "serve"))
		return 2;
	for (int i = 0; i < atoi(argv[3]); i++)
		threads.emplace_back(serve, argv[2], atoi(argv[4]), argc > 5 ? atoi(argv[5]) : 0,
				     std::ref(next), std::ref(found));
	for (std::thread &t : threads)
		t.join();
	printf("%llu documents found\n", (unsigned long long)found.load());
	return 0;
}
