// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes pieces of text output. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/units.h"
#include "cli/utf8.h"
#include "render/text.h"

#define WIDTH_DEFAULT	120	/* for text that is written to a file or a pipe */
#define WIDTH_MIN	60
#define WIDTH_MAX	1000

void render_init(struct render *r, FILE *out)
{
	const char *columns = getenv("COLUMNS"), *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool is_tty = isatty(fileno(out)), has_width;
	struct winsize ws;
	long width = 0;

	if (is_tty && !ioctl(fileno(out), TIOCGWINSZ, &ws) && ws.ws_col)
		width = ws.ws_col;
	else if (columns && atol(columns) > 0)
		width = atol(columns);
	has_width = width > 0;
	if (!has_width)
		width = WIDTH_DEFAULT;
	/*
	 * If the width is not known, as for a pipe, text is not wrapped, because a program that
	 * reads it may search for sentences.
	 */
	*r = (struct render){
		.out = out, .has_width = has_width,
		.width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width,
		.has_color = is_tty && !(no_color && *no_color) && term && strcmp(term, "dumb"),
	};
}

void text_style(const struct render *r, enum text_style style)
{
	static const char *const codes[] = {
		[TEXT_PLAIN] = "\033[0m", [TEXT_BOLD] = "\033[1m", [TEXT_DIM] = "\033[2m",
		[TEXT_WARN] = "\033[33m", [TEXT_BAD] = "\033[31m",
	};

	if (r->has_color)
		fputs(codes[style], r->out);
}

void text_styled(const struct render *r, enum text_style style, const char *format, ...)
{
	va_list ap;

	text_style(r, style);
	va_start(ap, format);
	vfprintf(r->out, format, ap);
	va_end(ap);
	text_style(r, TEXT_PLAIN);
}

void text_on_next_line(const struct render *r, const char *text, enum text_style style)
{
	fprintf(r->out, "\n%*s", TEXT_NEXT_INDENT, "");
	text_styled(r, style, "%s", text);
}

/* Returns true for the first byte of a UTF-8 character; further bytes take no column. */
static bool is_first(char c)
{
	return (c & 0xc0) != 0x80;
}

const char *text_clean(const char *s, char *buf)
{
	utf8_clean(s, buf, TEXT_ROOM);
	return buf;
}

void text_cell(const struct render *r, const char *s, unsigned width, bool is_padded)
{
	char buf[TEXT_ROOM];
	unsigned columns = 0, total = 0;
	const char *p;

	text_clean(s, buf);
	for (p = buf; *p; p++)
		total += is_first(*p);
	for (p = buf; *p; p++) {
		if (is_first(*p)) {
			if (columns + 1 == width && total > width) {
				fputc('~', r->out);
				columns++;
				break;
			}
			if (columns == width)
				break;
			columns++;
		}
		fputc(*p, r->out);
	}
	if (is_padded)
		fprintf(r->out, "%*s", (int)(width - columns), "");
}

static const char *without_blank(char *buf)
{
	char *blank = strchr(buf, ' ');

	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	return buf;
}

const char *text_ns(int64_t ns, char *buf)
{
	units_duration(ns, buf);
	return without_blank(buf);
}

const char *text_count(uint64_t nr, char *buf)
{
	units_count(nr, buf);
	return without_blank(buf);
}

const char *text_share(uint64_t part, uint64_t whole, char *buf)
{
	double pct = whole ? 100.0 * part / whole : 100;

	if (part && pct < 0.1)
		snprintf(buf, UNITS_ROOM, "<0.1 %%");
	else if (part < whole && pct > 99.9)
		snprintf(buf, UNITS_ROOM, ">99.9 %%");
	else
		snprintf(buf, UNITS_ROOM, "%.*f %%", pct < 99.95 && pct > 0 ? 1 : 0, pct);
	return buf;
}

const char *text_place(const char *file, unsigned line, char *buf)
{
	char clean[TEXT_ROOM];

	if (!*file)
		*buf = '\0';
	else
		snprintf(buf, TEXT_ROOM, "%.480s:%u", text_clean(basename(file), clean), line);
	return buf;
}

const char *text_site(const struct symbol *site, char *buf)
{
	if (!site)
		*buf = '\0';
	else if (*site->file)
		text_place(site->file, site->line, buf);
	else
		text_function(site, buf);
	return buf;
}

const char *text_function(const struct symbol *func, char *buf)
{
	char clean[TEXT_ROOM];

	text_clean(func->function, clean);
	snprintf(buf, TEXT_ROOM, func->known ? "%.500s()" : "%.500s", clean);
	return buf;
}

const char *text_lock(unsigned kind, uint64_t lock, const struct symbol *symbol, char *buf)
{
	char clean[TEXT_ROOM];
	uint64_t addr = model_plain_address(lock);

	if (symbol && symbol->known)
		snprintf(buf, TEXT_ROOM, "%s 0x%" PRIx64 " (%.400s)", lock_kind_name(kind), addr,
			 text_clean(symbol->function, clean));
	else
		snprintf(buf, TEXT_ROOM, "%s 0x%" PRIx64, lock_kind_name(kind), addr);
	return buf;
}

const char *text_context(const struct model *m, const struct context *p, char *buf)
{
	char clean[TEXT_ROOM];
	const char *name = text_clean(p->name ? p->name : "", clean);
	bool is_own = p->pid && p->pid == m->pid;

	if (p->kind != CONTEXT_TASK)
		snprintf(buf, TEXT_ROOM, "%s", context_kinds[p->kind].words);
	else if (is_own || !p->pid)
		snprintf(buf, TEXT_ROOM, *name ? "%2$.100s %1$" PRIu32 : "thread %1$" PRIu32, model_kernel_tid(p->tid),
			 name);
	else if (p->pid == p->tid)
		snprintf(buf, TEXT_ROOM, *name ? "%2$.100s (pid %1$" PRIu32 ")" : "pid %1$" PRIu32,
			 p->pid, name);
	else
		snprintf(buf, TEXT_ROOM, "%.100s%s%" PRIu32 " (pid %" PRIu32 ")", name,
			 *name ? " " : "thread ", p->tid, p->pid);
	return buf;
}

const char *text_kernel(const struct model *m, char *buf)
{
	const char *events = *m->kernel_events ? m->kernel_events : m->has_sched ? "yes" : "none";
	char a[TEXT_ROOM], b[TEXT_ROOM], ns[UNITS_ROOM];
	int len = snprintf(buf, TEXT_ROOM, "kernel events: %s%.20s", m->counters ? "none, counters from " : "",
			   text_clean(events, a));

	if (m->kernel_err_ns)
		len += snprintf(buf + len, TEXT_ROOM - len, " +-%s",
				units_duration(m->kernel_err_ns, ns));
	if (m->unplaced_ns)
		len += snprintf(buf + len, TEXT_ROOM - len, ", %s off the CPU not placed",
				units_duration(m->unplaced_ns, ns));
	if (*m->kernel_why)
		snprintf(buf + len, TEXT_ROOM - len, " (%.300s)", text_clean(m->kernel_why, b));
	return buf;
}

const char *text_thread(uint32_t tid, const struct thread *thread, char *buf)
{
	char clean[TEXT_ROOM];
	const char *name = text_clean(model_thread_name(thread), clean);

	snprintf(buf, TEXT_ROOM, *name ? "%2$.100s %1$" PRIu32 : "%1$" PRIu32,
		 thread && thread->process ? model_kernel_tid(tid) : tid, name);
	return buf;
}

const char *text_process(const struct process *p, char *buf)
{
	char clean[TEXT_ROOM];

	snprintf(buf, TEXT_ROOM, "%.100s (pid %" PRIu32 ")", *p->name ? text_clean(p->name, clean) : "process",
		 model_kernel_tid(p->pid));
	return buf;
}

void text_clocks(const struct render *r, const struct model *m)
{
	char text[TEXT_ROOM], host[TEXT_ROOM], ns[UNITS_ROOM];

	for (size_t i = 0; i < m->nr_processes; i++) {
		const struct process *p = &m->processes[i];

		if (!p->has_own_clock)
			continue;
		fprintf(r->out, "times of %s", text_process(p, text));
		if (*p->host)
			fprintf(r->out, " on %s", text_clean(p->host, host));
		if (p->clock_err_ns < 0)
			fputs(" are by the time of day of its machine: by how much that is off is not known\n",
			      r->out);
		else
			fprintf(r->out, " are of another clock: off by at most %s\n",
				units_duration(p->clock_err_ns, ns));
	}
}

void text_messages(const struct render *r, const struct model *m)
{
	static const struct {
		const char *key, *words;
	} kinds[] = {
		{ "messages_elsewhere", "by connections on which no other process has sent anything for a request" },
		{ "messages_unknown", "of which it is not known what request has sent them" },
		{ "messages_refused", "that would have come before they were sent" },
	};
	const char *text = reader_meta(m->reader, "messages"), *before = "; not joined: ";

	if (!text)
		return;
	fprintf(r->out, "requests made for one of another process, by their connection: %" PRIu64,
		(uint64_t)strtoull(text, NULL, 10));
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		text = reader_meta(m->reader, kinds[i].key);
		if (!text || !strtoull(text, NULL, 10))
			continue;
		fprintf(r->out, "%s%" PRIu64 " %s", before, (uint64_t)strtoull(text, NULL, 10), kinds[i].words);
		before = ", ";
	}
	fputc('\n', r->out);
}
