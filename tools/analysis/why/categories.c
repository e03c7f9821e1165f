// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds categories of causes, by globs on names; see categories.h. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "cli/utf8.h"
#include "facts/lockset.h"
#include "categories.h"

#define SHIPPED_NAME	"categories.csv"
#define FILE_MAX	(4U << 20)	/* bytes */
#define PATTERN_MAX	256
#define STARS_MAX	8		/* stars in a pattern; more would make matching slow */
#define NAME_ROOM	512		/* if a name is longer, only the beginning is compared */

/* The assembler includes the file into the program, as it does with the scripts of pages. */
__asm__(".section .rodata.categories,\"a\"\n"
	"categories_csv: .incbin \"analysis/why/categories.csv\"\n"
	"categories_csv_end: .byte 0\n"
	".previous\n");
extern const char categories_csv[], categories_csv_end[];

enum { FIELD_PATTERN, FIELD_KIND, FIELD_CATEGORY, FIELD_SIDE, FIELD_ADVICE, NR_FIELDS };

/* Kinds that are not states; those of leaf_kinds[].name follow. */
static const char *const kinds[] = {
	"*", "lock", "context", "syscall", "cond", "sem", "barrier", "join",
#define STATE(name, json, ...) json,
#include "analysis/attribution/states.def"
#undef STATE
	NULL
};

static const char *const sides[] = { "", "app", "library", "kernel", "neighbour", NULL };

static const char *const other_names[][2] = {
	{ "lock_wait", "lock" }, { "futex_wait", "lock" }, { "runnable", "context" },
	{ "preempted", "context" },
};

struct rule {
	const char *pattern;
	unsigned kind;
	struct category category;
};

struct found {				/* cached result of a lookup */
	char *name;
	unsigned kind;
	const struct category *category;
};

struct categories {
	char *texts[2];			/* the texts of the files; rules point into them */
	struct rule *rules;
	size_t nr_rules, room_rules;
	struct found *memo;
	size_t nr_memo, room_memo;
	struct hash by_name;		/* finds the cached results by name and kind */
};

/* The file that is being read, for messages. */
struct source {
	const char *name;
	unsigned line;
	char *err;
	size_t err_size;
};

static int index_of(const char *const *list, const char *text)
{
	for (int i = 0; list[i]; i++)
		if (!strcmp(list[i], text))
			return i;
	return -1;
}

__attribute__((format(printf, 2, 3)))
static bool complain(struct source *s, const char *format, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(what, sizeof(what), format, ap);
	va_end(ap);
	snprintf(s->err, s->err_size, "%s:%u: %s", s->name, s->line, what);
	return false;
}

/*
 * Reads one cell of a CSV line, and moves *at after it.  NULL: a quote is not closed, or text
 * follows the closing quote.
 */
static char *next_cell(char **at)
{
	char *begin = *at, *to, *from;
	bool is_closed = false;

	if (*begin != '"') {
		*at = begin + strcspn(begin, ",");
		return begin;
	}
	to = begin;
	for (from = begin + 1; *from && !is_closed; from++) {
		if (*from == '"' && from[1] != '"')
			is_closed = true;
		else if (*from == '"')
			*to++ = *from++;
		else
			*to++ = *from;
	}
	if (!is_closed || (*from && *from != ','))
		return NULL;
	/* The text ends before the closing quote. */
	*to = '\0';
	*at = from;
	return begin;
}

/* Returns false if the line is wrong.  Cells that are missing at the end are empty. */
static bool split(struct source *s, char *line, char *cells[NR_FIELDS])
{
	unsigned nr = 0;
	char *at = line;
	bool more;

	for (unsigned i = 0; i < NR_FIELDS; i++)
		cells[i] = (char *)"";
	do {
		char *cell = next_cell(&at);

		if (!cell)
			return complain(s, "a quote that is not closed");
		if (nr == NR_FIELDS)
			return complain(s, "more than 5 fields: quote a field with a comma");
		cells[nr++] = cell;
		more = *at == ',';
		*at++ = '\0';
	} while (more);
	if (nr <= FIELD_CATEGORY)
		return complain(s, "expected pattern,kind,category,side,advice");
	return true;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static bool check_pattern(struct source *s, const char *pattern)
{
	unsigned nr_stars = 0;

	if (!*pattern)
		return complain(s, "no pattern");
	if (strlen(pattern) > PATTERN_MAX)
		return complain(s, "a pattern of more than %d characters", PATTERN_MAX);
	for (const char *c = pattern; *c; c++)
		nr_stars += *c == '*';
	if (nr_stars > STARS_MAX)
		return complain(s, "a pattern with more than %d '*'", STARS_MAX);
	return true;
}

static bool add_rule(struct categories *c, struct source *s, char *cells[NR_FIELDS])
{
	int kind = index_of(kinds, cells[FIELD_KIND]);

	if (!check_pattern(s, cells[FIELD_PATTERN]))
		return false;
	if (kind < 0)
		return complain(s, "'%.40s' is not a kind of cause: ldb-why(1) lists them", cells[FIELD_KIND]);
	if (!*cells[FIELD_CATEGORY])
		return complain(s, "no category");
	if (index_of(sides, cells[FIELD_SIDE]) < 0)
		return complain(s, "'%.40s' is not a side: app, library, kernel, neighbour or nothing",
				cells[FIELD_SIDE]);
	if (!array_room(&c->rules, &c->room_rules, c->nr_rules, sizeof(*c->rules)))
		return complain(s, "out of memory");
	c->rules[c->nr_rules++] = (struct rule){
		.pattern = cells[FIELD_PATTERN], .kind = kind,
		.category = { .name = cells[FIELD_CATEGORY], .advice = cells[FIELD_ADVICE],
			      .side = cells[FIELD_SIDE] },
	};
	return true;
}

static bool add_line(struct categories *c, struct source *s, char *line)
{
	size_t len = strlen(line);
	char *cells[NR_FIELDS];

	if (len && line[len - 1] == '\r')
		line[--len] = '\0';
	if (!len || *line == '#')
		return true;
	if (!is_printable(line))
		return complain(s, "a control character");
	if (!utf8_is_valid(line))
		return complain(s, "not UTF-8");
	if (!split(s, line, cells))
		return false;
	if (!strcmp(cells[FIELD_PATTERN], "pattern") && !strcmp(cells[FIELD_KIND], "kind"))
		return true;
	return add_rule(c, s, cells);
}

/*
 * Parses the rules in text, which is changed, and must exist as long as the rules, which point into
 * it.
 */
static bool add_text(struct categories *c, struct source *s, char *text, size_t size)
{
	char *end;

	/* Some editors write a byte order mark. */
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	for (; size; size -= end - text, text = end) {
		char *newline = memchr(text, '\n', size);

		end = newline ? newline + 1 : text + size;
		s->line++;
		if (memchr(text, '\0', end - text))
			return complain(s, "it contains a byte of 0, so it is not a text file");
		if (newline)
			*newline = '\0';
		if (!add_line(c, s, text))
			return false;
	}
	return true;
}

/* Returns the whole file, with a 0 after it.  NULL: err has one line. */
static char *read_file(const char *name, size_t *size, char *err, size_t err_size)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char *text = NULL;
	ssize_t n = 0;

	*size = 0;
	if (fd < 0 || fstat(fd, &st))
		goto err_errno;
	if (!S_ISREG(st.st_mode)) {
		snprintf(err, err_size, "%s: not a file", name);
		goto err_close;
	}
	if (st.st_size > (off_t)FILE_MAX) {
		snprintf(err, err_size, "%s: more than %u MiB: this is not a file of categories", name,
			 FILE_MAX >> 20);
		goto err_close;
	}
	text = malloc(st.st_size + 1);
	if (!text)
		goto err_errno;
	while (*size < (size_t)st.st_size && (n = read(fd, text + *size, st.st_size - *size)) > 0)
		*size += n;
	if (n < 0)
		goto err_errno;
	text[*size] = '\0';
	close(fd);
	return text;

err_errno:
	snprintf(err, err_size, "cannot read %s: %s", name, strerror(errno));
err_close:
	if (fd >= 0)
		close(fd);
	free(text);
	return NULL;
}

struct categories *categories_open(const char *user_file, char *err, size_t err_size)
{
	struct categories *c = calloc(1, sizeof(*c));
	struct source user = { .name = user_file, .err = err, .err_size = err_size };
	struct source shipped = { .name = SHIPPED_NAME, .err = err, .err_size = err_size };
	size_t size;
	const char *text = categories_shipped(&size);

	if (c)
		c->texts[1] = malloc(size + 1);
	if (!c || !c->texts[1]) {
		snprintf(err, err_size, "out of memory");
		goto err_close;
	}
	memcpy(c->texts[1], text, size);
	c->texts[1][size] = '\0';
	if (user_file) {
		size_t user_size;

		c->texts[0] = read_file(user_file, &user_size, err, err_size);
		if (!c->texts[0] || !add_text(c, &user, c->texts[0], user_size))
			goto err_close;
	}
	if (!add_text(c, &shipped, c->texts[1], size))
		goto err_close;
	return c;

err_close:
	categories_close(c);
	return NULL;
}

void categories_close(struct categories *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nr_memo; i++)
		free(c->memo[i].name);
	free(c->memo);
	hash_free(&c->by_name);
	free(c->rules);
	free(c->texts[0]);
	free(c->texts[1]);
	free(c);
}

const char *categories_shipped(size_t *size)
{
	*size = categories_csv_end - categories_csv;
	return categories_csv;
}

/* Looking up */

/*
 * Removes the number at the end of a name, " (pid 99)", and the library from "deflate() of
 * libz.so.1".
 */
static void shorten(const char *name, char *buf)
{
	char *end;

	snprintf(buf, NAME_ROOM, "%s", name);
	end = strstr(buf, " (pid ");
	if (end)
		*end = '\0';
	end = strstr(buf, "() of ");
	if (end)
		*end = '\0';
	end = strrchr(buf, ' ');
	if (end && end != buf && end[1] && !end[1 + strspn(end + 1, "0123456789")])
		*end = '\0';
}

static const struct category *match(const struct categories *c, unsigned kind, const char *name)
{
	unsigned function = index_of(kinds, leaf_kinds[LEAF_FUNCTION].name);
	bool is_library = kind == (unsigned)index_of(kinds, leaf_kinds[LEAF_LIBCALL].name);
	char full[NAME_ROOM], cut[NAME_ROOM];

	snprintf(full, sizeof(full), "%s", name);
	shorten(name, cut);
	for (size_t i = 0; i < c->nr_rules; i++) {
		const struct rule *rule = &c->rules[i];

		if (rule->kind && rule->kind != kind && !(is_library && rule->kind == function))
			continue;
		if (!fnmatch(rule->pattern, full, 0) || !fnmatch(rule->pattern, cut, 0))
			return &rule->category;
	}
	return NULL;
}

/* Caches a result.  If there is no memory, the name is matched again next time. */
static void remember(struct categories *c, uint64_t hash, unsigned kind, const char *name,
		     const struct category *category)
{
	struct found new = { .kind = kind, .category = category };

	if (!array_room(&c->memo, &c->room_memo, c->nr_memo, sizeof(*c->memo)) ||
	    hash_reserve(&c->by_name))
		return;
	new.name = strdup(name);
	if (!new.name)
		return;
	hash_put(&c->by_name, hash, c->nr_memo);
	c->memo[c->nr_memo++] = new;
}

const char *categories_kind(enum leaf_kind kind, unsigned lock_kind)
{
	return kind != LEAF_LOCK || lock_kind_is_held(lock_kind) ? leaf_kinds[kind].name :
								   lock_kind_name(lock_kind);
}

const struct category *categories_find(struct categories *c, const char *kind, const char *name)
{
	const struct category *found;
	uint64_t hash;
	uint32_t n;
	int number;

	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (!strcmp(kind, other_names[i][0]))
			kind = other_names[i][1];
	number = index_of(kinds, kind);
	/* Number 0 is the star in rules, which matches all kinds; it is not a kind itself. */
	if (number < 1)
		return NULL;
	hash = hash_mix(hash_text(name), number);
	hash_each(&c->by_name, hash, n)
		if (c->memo[n].kind == (unsigned)number && !strcmp(c->memo[n].name, name))
			return c->memo[n].category;
	found = match(c, number, name);
	remember(c, hash, number, name, found);
	return found;
}
