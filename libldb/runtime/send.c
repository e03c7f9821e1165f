// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Sends the control thread's messages about the program to the recorder.  (raw thread)
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/socket.h>
#include "runtime.h"

int send_conn = -1;

static struct ldb_msg_module message;	/* too large for the stack */
static uint32_t sent_modules;		/* number of modules that were reported */
static bool sent_unload[MODULES_MAX];
static uint32_t sent_lost;
static uint32_t sent_blocks;

void send_begin(void)
{
	sent_modules = sent_lost = sent_blocks = 0;
	memset(sent_unload, 0, sizeof(sent_unload));
}

int send_message(void *m, uint32_t type, uint32_t size)
{
	struct ldb_msg *h = m;

	h->type = type;
	h->size = size;
	return sys(SYS_sendto, send_conn, m, size, MSG_NOSIGNAL, 0, 0) == (long)size ? 0 : -1;
}

void send_text(uint32_t type, const char *text, int err)
{
	struct ldb_msg_text t;
	char *end;

	memset(&t, 0, sizeof(t));
	raw_strcpy(t.text, text, sizeof(t.text) - 32);
	if (err) {
		end = t.text + strlen(t.text);
		raw_strcpy(end, " (error ", 16);
		end = raw_decimal(end + strlen(end), -err);
		raw_strcpy(end, ")", 2);
	}
	send_message(&t, type, sizeof(t));
}

static void send_blocks(void)
{
	uint32_t n = order_list_count(&nr_blocks);
	struct ldb_msg_blocks b;

	if (n == sent_blocks)
		return;
	memset(&b, 0, sizeof(b));
	b.nr = sent_blocks = n;
	for (uint32_t i = 0; i < n; i++)
		b.offset[i] = block_off[i];
	send_message(&b, LDB_MSG_BLOCKS, sizeof(b));
}

void send_modules(void)
{
	uint32_t n = order_list_count(&nr_modules), lost = atomic_load(&nr_modules_lost);

	for (; sent_modules < n; sent_modules++) {
		const struct module *m = module_at(sent_modules);
		struct ldb_msg_module *o = &message;

		memset(o, 0, sizeof(*o));
		o->flags = m->flags;
		o->tsc = m->loaded_tsc;
		o->start = m->start;
		o->end = m->end;
		o->bias = m->bias;
		o->build_id_size = m->build_id_size;
		memcpy(o->build_id, m->build_id, sizeof(o->build_id));
		raw_strcpy(o->path, m->path, sizeof(o->path));
		/* the module was unloaded before this recording began */
		if (m->unloaded_tsc && m->unloaded_tsc < session.attach_tsc)
			sent_unload[sent_modules] = true;
		else
			send_message(o, LDB_MSG_MODULE, sizeof(*o));
		if ((m->flags & LDB_MODULE_F_COMPILED) && !(m->flags & LDB_MODULE_F_INSTRUMENTED))
			send_text(LDB_MSG_TEXT, "a module was compiled with ldb but linked with -flto "
				  "without the plugin: its functions are not observed (use ldb-gcc, "
				  "or give -fplugin=ldb.so at link too)", 0);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct module *m = module_at(i);
		struct ldb_msg_unloaded u = { .tsc = m->unloaded_tsc, .start = m->start };

		if (!u.tsc || sent_unload[i])
			continue;
		sent_unload[i] = true;
		send_message(&u, LDB_MSG_UNLOADED, sizeof(u));
	}
	if (lost != sent_lost) {
		sent_lost = lost;
		send_text(LDB_MSG_TEXT, "too many modules or thread blocks: some are not observed", 0);
	}
	send_blocks();
}

void send_commands(void)
{
	struct ldb_msg_command c;

	/*
	 * At most one dump and one pause or continuation are sent; later commands follow at the
	 * next wake-up.
	 */
	for (int i = 0; i < 2 && command_next(&c); i++)
		send_message(&c, LDB_MSG_COMMAND, sizeof(c));
}

static bool count_one(void *total, const char *name, long fd)
{
	(void)name;
	(void)fd;
	++*(uint32_t *)total;
	return true;
}

uint32_t send_count_unobserved(void)
{
	uint32_t total = 0, known = order_live_count(&nr_live) + 1;

	if (!tune_is_paused())
		known += session.nr_scanners;
	raw_each_entry("/proc/self/task", count_one, &total);
	return total > known ? total - known : 0;
}

/*
 * Announces this process.  This is the first message, unless the recorder has attached to the
 * process or knows it already.
 */
void send_child(void)
{
	struct ldb_msg_child child;

	if (!children.how)
		return;
	children_message(&child, children.how);
	send_message(&child, LDB_MSG_CHILD, sizeof(child));
}

void send_hello(bool resumes)
{
	struct ldb_msg_hello hello = {
		.version = LDB_CONTROL_VERSION,
		.abi = LDB_SESSION_ABI,
		.pid = sys(SYS_getpid),
		.nr_instrumented = module_nr_instrumented(),
		.resumes = resumes,
	};

	raw_strcpy(hello.release, LDB_RELEASE, sizeof(hello.release));
	send_message(&hello, LDB_MSG_HELLO, sizeof(hello));
}

void send_ready(bool has_counters)
{
	struct ldb_msg m;

	send_modules();
	send_message(&m, LDB_MSG_READY, sizeof(m));
	if (!has_counters)
		send_text(LDB_MSG_TEXT, "the program has no /proc of its own: it is not known whether "
			  "its threads compute, wait for a CPU or sleep", 0);
}
