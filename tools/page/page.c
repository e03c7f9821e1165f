// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the HTML of a page around its data; see page.h. */
#include <assert.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "page/page.h"

bool page_is_wanted(const char *file)
{
	const char *dot = file ? strrchr(file, '.') : NULL;

	return dot && (!strcasecmp(dot, ".html") || !strcasecmp(dot, ".htm"));
}

static void make_nonce(char *hex)
{
	unsigned char bytes[16];

	/*
	 * Without a source of random bytes, uses values that the author of a trace cannot foresee.
	 */
	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		now.tv_sec ^= (time_t)getpid() << 32;
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &now, sizeof(now) < sizeof(bytes) ? sizeof(now) : sizeof(bytes));
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(hex + 2 * i, "%02x", bytes[i]);
}

/*
 * Escapes a text.  Control characters are left out.  Bytes that are not UTF-8 are written as they
 * are; a browser shows U+FFFD for them.
 */
static void put_text(FILE *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			fputs("&lt;", out);
		else if (*s == '&')
			fputs("&amp;", out);
		else if ((unsigned char)*s >= 0x20)
			putc(*s, out);
	}
}

static void put_asset(struct page *p, const char *name)
{
	const struct asset *a = embed_find(name);
	bool is_style = strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".css");

	assert(a);
	if (is_style)
		fputs("<style>\n", p->out);
	else
		fprintf(p->out, "<script nonce=\"%s\">\n", p->nonce);
	fwrite(a->data, 1, a->end - a->data, p->out);
	fputs(is_style ? "</style>\n" : "</script>\n", p->out);
}

static void put_assets(struct page *p, const char *suffix)
{
	for (const char *const *name = p->options->assets; *name; name++)
		if (!strcmp(*name + strlen(*name) - strlen(suffix), suffix))
			put_asset(p, *name);
}

void page_begin(struct page *p, FILE *out, const struct page_options *o)
{
	*p = (struct page){ .out = out, .options = o };
	make_nonce(p->nonce);
	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"script-src 'nonce-%s'; style-src 'unsafe-inline'; img-src data:; "
		"form-action 'none'; base-uri 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"generator\" content=\"ldb " LDB_VERSION "\">\n"
		/* Prevents the browser from requesting an icon from a server. */
		"<link rel=\"icon\" href=\"data:,\">\n<title>", p->nonce);
	put_text(out, o->title);
	fputs("</title>\n", out);
	put_asset(p, "page.css");
	put_assets(p, ".css");
	fputs("</head>\n<body>\n<noscript>This page draws a recording with JavaScript, which is "
	      "switched off here.</noscript>\n", out);
}

struct json *page_json_begin(struct page *p, const char *id)
{
	fprintf(p->out, "<script type=\"application/json\" id=\"%s\">", id);
	json_init(&p->json, p->out);
	p->json.is_html = true;
	json_flat(&p->json);
	json_object_begin(&p->json, NULL);
	return &p->json;
}

void page_json_end(struct page *p)
{
	json_object_end(&p->json);
	fputs("</script>\n", p->out);
}

void page_end(struct page *p)
{
	put_asset(p, "page.js");
	put_assets(p, ".js");
	fputs("</body>\n</html>\n", p->out);
}
