// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses an option table's options, and prints --help. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ldb.h>
#include <ldb/abi.h>
#include <ldb/control.h>
#include <ldb/trace-format.h>
#include "cli/completion.h"
#include "cli/error.h"
#include "cli/opts.h"
#include "cli/units.h"

#define OPTIONS_MAX	64
#define HELP_COLUMN	30
#define HELP_WIDTH	96
#define LONG_BASE	0x100	/* getopt's value of option n is LONG_BASE + n */

static const struct cli_option common[] = {
	{ .letter = 'h', .name = "help", .type = CLI_FLAG, .help = "show this text" },
	{ .letter = 'V', .name = "version", .type = CLI_FLAG, .help = "show the versions" },
};

const struct cli_option *cli_option(const struct cli_tool *tool, size_t n)
{
	size_t i = 0;

	while (i < n && tool->options[i].name)
		i++;
	if (tool->options[i].name)
		return &tool->options[i];
	return n - i < sizeof(common) / sizeof(common[0]) ? &common[n - i] : NULL;
}

const char *cli_choice(const struct cli_option *o, size_t n)
{
	if (o->choice)
		return o->choice(n);
	return o->choices ? o->choices[n] : NULL;
}

/* If the option has no help text, makes the text "a (default), b or c" of its choices. */
const char *cli_help(const struct cli_option *o, char *buf)
{
	const char *word, *next = cli_choice(o, 0);
	size_t len = 0;

	if (o->help)
		return o->help;
	*buf = '\0';
	for (size_t i = 0; (word = next); i++) {
		next = cli_choice(o, i + 1);
		len += snprintf(buf + len, CLI_HELP_ROOM - len, "%s%s%s",
				!i ? "" : next ? ", " : " or ", word, i ? "" : " (default)");
	}
	return buf;
}

void cli_usage(const char *format, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	cli_error("%s: see %s --help", message, cli_tool_name());
	exit(CLI_USAGE);
}

/* --help */

/* Prints the text, wrapped at blanks; the cursor is at `column`, at which further lines begin. */
static void print_wrapped(const char *text, int column)
{
	int at = column;

	while (*text) {
		int n = strcspn(text, " ");

		if (at + n > HELP_WIDTH && at > column) {
			printf("\n%*s", column, "");
			at = column;
		}
		at += printf("%.*s", n, text);
		text += n;
		while (*text == ' ') {
			text++;
			if (at < HELP_WIDTH)
				at += printf(" ");
		}
	}
	putchar('\n');
}

static void print_option(const struct cli_option *o)
{
	char left[80], help[CLI_HELP_ROOM];
	int n;

	if (o->letter)
		n = snprintf(left, sizeof(left), "  -%c, --%s", o->letter, o->name);
	else
		n = snprintf(left, sizeof(left), "      --%s", o->name);
	if (o->arg)
		n += snprintf(left + n, sizeof(left) - n, "=%s", o->arg);
	fputs(left, stdout);
	if (n >= HELP_COLUMN - 1)
		printf("\n%*s", HELP_COLUMN, "");
	else
		printf("%*s", HELP_COLUMN - n, "");
	print_wrapped(cli_help(o, help), HELP_COLUMN);
}

static void print_lines(const char *lines, const char *prefix)
{
	while (*lines) {
		int n = strcspn(lines, "\n");

		printf("%s%.*s\n", prefix, n, lines);
		lines += n + (lines[n] == '\n');
	}
}

static void print_help(const struct cli_tool *tool)
{
	const struct cli_option *o;
	char prefix[64];

	puts("usage:");
	snprintf(prefix, sizeof(prefix), "  %s ", tool->name);
	print_lines(tool->synopsis, prefix);
	printf("\n");
	print_wrapped(tool->summary, 0);
	printf("\noptions:\n");
	for (size_t i = 0; (o = cli_option(tool, i)); i++)
		print_option(o);
	printf("\nexamples:\n");
	print_lines(tool->examples, "  ");
	printf("\nSizes take k, M, G; durations ns, us, ms, s.  More: man %s\n", tool->name);
}

static void print_version(const struct cli_tool *tool)
{
	printf("%s %s\n", tool->name, LDB_VERSION);
	printf("control protocol %d, session ABI %d, plugin ABI %d\n", LDB_CONTROL_VERSION,
	       LDB_SESSION_ABI, LDB_ABI_VERSION);
	printf("trace format %d (reads %d to %d)\n", LDB_FILE_VERSION, LDB_FILE_VERSION_MIN,
	       LDB_FILE_VERSION);
}

/* Parsing */

static void set_choice(const struct cli_option *o, const char *arg)
{
	char all[256] = "";
	const char *word;

	for (int i = 0; (word = cli_choice(o, i)); i++) {
		size_t n = strlen(all);

		if (!strcmp(arg, word)) {
			*(int *)o->value = i;
			return;
		}
		snprintf(all + n, sizeof(all) - n, "%s%s", i ? ", " : "", word);
	}
	cli_usage("--%s takes one of %s, not '%s'", o->name, all, arg);
}

static void add_to_list(struct cli_list *l, const char *arg)
{
	const char **grown = realloc(l->items, (l->nr + 1) * sizeof(*grown));

	if (!grown) {
		cli_error("out of memory");
		exit(CLI_FAILURE);
	}
	l->items = grown;
	l->items[l->nr++] = arg;
}

static const char *what_is_expected(const struct cli_option *o)
{
	switch (o->type) {
	case CLI_DURATION:
		return "a duration such as 10ms, 5us, 1.5s";
	case CLI_SIZE:
		return "a size such as 64M";
	case CLI_PERCENT:
		return "a percentage from 0% to 100%";
	default:
		return "a number";
	}
}

static void set_number(const struct cli_option *o, const char *arg)
{
	uint64_t v = 0;
	uint32_t ppm = 0;
	int rc;

	switch (o->type) {
	case CLI_DURATION:
		rc = units_parse_duration(arg, o->unit_ns, &v);
		break;
	case CLI_SIZE:
		rc = units_parse_size(arg, &v);
		break;
	case CLI_PERCENT:
		rc = units_parse_percent(arg, &ppm);
		v = ppm;
		break;
	default:
		rc = units_parse_number(arg, &v);
		break;
	}
	if (rc == -EINVAL)
		cli_usage("--%s takes %s, not '%s'", o->name, what_is_expected(o), arg);
	if (rc || v < o->min || (o->max && v > o->max))
		cli_usage("--%s: '%s' is out of range", o->name, arg);
	if (o->type == CLI_PERCENT)
		*(uint32_t *)o->value = v;
	else
		*(uint64_t *)o->value = v;
}

static void set_part(const struct cli_option *o, const char *arg)
{
	const char *colon = strrchr(arg, ':');
	struct cli_part *part = o->value;

	*part = (struct cli_part){ .of = arg, .of_length = colon ? colon - arg : 0 };
	if (colon == arg || units_parse_number(colon ? colon + 1 : arg, &part->number))
		cli_usage("--%s takes %s, not '%s'", o->name, o->arg, arg);
}

static void set_option(const struct cli_option *o, const char *arg)
{
	if (o->given)
		*o->given = true;
	switch (o->type) {
	case CLI_FLAG:
		*(bool *)o->value = true;
		break;
	case CLI_STRING:
		*(const char **)o->value = arg;
		break;
	case CLI_LIST:
		add_to_list(o->value, arg);
		break;
	case CLI_CHOICE:
		set_choice(o, arg);
		break;
	case CLI_PART:
		set_part(o, arg);
		break;
	default:
		set_number(o, arg);
		break;
	}
}

struct parser {
	struct option longs[OPTIONS_MAX + 1];
	const struct cli_option *options[OPTIONS_MAX];
	char shorts[2 * OPTIONS_MAX + 3];
	int nr;
};

static void parser_add(struct parser *p, const struct cli_option *o)
{
	size_t n = strlen(p->shorts);

	if (p->nr == OPTIONS_MAX)
		abort();
	p->options[p->nr] = o;
	p->longs[p->nr] = (struct option){
		.name = o->name,
		.has_arg = o->type == CLI_FLAG ? no_argument : required_argument,
		.val = LONG_BASE + p->nr,
	};
	p->nr++;
	if (o->letter) {
		p->shorts[n] = o->letter;
		p->shorts[n + 1] = o->type == CLI_FLAG ? '\0' : ':';
	}
}

static const struct cli_option *parser_find(const struct parser *p, int c)
{
	if (c >= LONG_BASE)
		return p->options[c - LONG_BASE];
	for (int i = 0; i < p->nr; i++)
		if (p->options[i]->letter == c)
			return p->options[i];
	return NULL;
}

int cli_parse(const struct cli_tool *tool, int argc, char **argv)
{
	struct parser p = { 0 };
	const struct cli_option *option;
	int c;

	cli_set_tool(tool->name);
	/*
	 * Only the build uses this argument.  If it were in the table of options, it would make
	 * abbreviations of others ambiguous.
	 */
	if (argc == 2 && !strcmp(argv[1], "--completion-table")) {
		completion_print(tool);
		exit(cli_flush() ? CLI_OK : CLI_FAILURE);
	}
	/*
	 * "+": stop at the first argument that is not an option; ":": distinguish missing arguments
	 * from unknown options.
	 */
	strcpy(p.shorts, tool->takes_command ? "+:" : ":");
	for (size_t i = 0; (option = cli_option(tool, i)); i++)
		parser_add(&p, option);
	opterr = 0;
	while ((c = getopt_long(argc, argv, p.shorts, p.longs, NULL)) != -1) {
		const struct cli_option *o = c == '?' || c == ':' ? NULL : parser_find(&p, c);

		if (c == ':')
			cli_usage("%s needs a value", argv[optind - 1]);
		if (!o && optopt && optopt < LONG_BASE)
			cli_usage("unknown option -%c", optopt);
		if (!o)
			cli_usage("unknown option %s", argv[optind - 1]);
		if (o == &common[0]) {
			print_help(tool);
			exit(cli_flush() ? CLI_OK : CLI_FAILURE);
		}
		if (o == &common[1]) {
			print_version(tool);
			exit(cli_flush() ? CLI_OK : CLI_FAILURE);
		}
		set_option(o, optarg);
	}
	return optind;
}
