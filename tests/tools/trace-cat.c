// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints a trace, one line for each row, for tests, and for users who want to read the contents of
 * a file.
 *
 *	trace-cat FILE [KIND]	KIND: meta, clock, module, thread, func, ...
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "trace/reader.h"

static void print_row(const struct reader_rows *rows, size_t i)
{
	switch (rows->kind) {
	case LDB_BLK_META:
		printf("meta %s=%s\n", rows->meta[i].key, rows->meta[i].value);
		break;
	case LDB_BLK_CLOCK: {
		const struct ldb_row_clock *c = &rows->clock[i];

		printf("clock tick=%" PRId64 " raw=%" PRId64 " mono=%" PRId64 " err=%" PRIu64 "\n", c->tick,
		       c->raw_ns, c->mono_ns, c->err);
		break;
	}
	case LDB_BLK_MODULE: {
		const struct ldb_row_module *m = &rows->module[i];

		printf("module flags=%u tick=%" PRId64 " end=%" PRId64 " %" PRIx64 "-%" PRIx64
		       " bias=%" PRIx64 " id=%s %s\n", m->flags, m->tick, m->end_tick, m->start,
		       m->end, m->bias, m->build_id, m->path);
		break;
	}
	case LDB_BLK_THREAD: {
		const struct ldb_row_thread *t = &rows->thread[i];

		printf("thread tid=%u flags=%u start=%" PRId64 " end=%" PRId64 " made=%" PRIu64
		       " seen=%" PRIu64 " below=%" PRIu64 " creator=%u name=%s\n", t->tid,
		       t->flags, t->start, t->end, t->made, t->seen, t->below_threshold,
		       t->creator, t->name);
		break;
	}
	case LDB_BLK_FUNC: {
		const struct ldb_row_func *f = &rows->func[i];

		printf("func tid=%u flags=%u pc=%" PRIx64 " ret=%" PRIx64 " gen=%" PRIx64
		       " parent=%" PRIx64 " depth=%u start=%" PRId64 "-%" PRIu64 " end=%" PRId64
		       "-%" PRIu64 "\n", f->tid, f->flags, f->pc, f->ret, f->gen, f->parent_gen,
		       f->depth, f->start_max, f->start_unc, f->end_max, f->end_unc);
		break;
	}
	case LDB_BLK_LOCK: {
		const struct ldb_row_lock *l = &rows->lock[i];

		printf("lock op=%u flags=%x tid=%u lock=%" PRIx64 " owner=%u begin=%" PRId64
		       " end=%" PRId64 " gen=%" PRIx64 " site=%" PRIx64 "\n", l->op, l->flags,
		       l->tid, l->lock, l->owner, l->begin, l->end, l->gen, l->site);
		break;
	}
	case LDB_BLK_REQ: {
		const struct ldb_row_req *q = &rows->req[i];

		printf("req op=%u tid=%u tick=%" PRId64 " id=%" PRIu64 " queue=%" PRIx64
		       " site=%" PRIx64 "\n", q->op, q->tid, q->tick, q->id, q->queue, q->site);
		break;
	}
	case LDB_BLK_REQNAME: {
		const struct ldb_row_reqname *n = &rows->reqname[i];

		printf("reqname id=%" PRIu64 " trace=%016" PRIx64 "%016" PRIx64 " span=%016" PRIx64
		       " name=%s\n", n->id, n->trace_hi, n->trace_lo, n->span, n->name);
		break;
	}
	case LDB_BLK_NOTE: {
		const struct ldb_row_note *n = &rows->note[i];

		printf("note id=%" PRIu64 " tid=%u tick=%" PRId64 " flags=%u key=%s number=%" PRIu64
		       " text=%s\n", n->id, n->tid, n->tick, n->flags, n->key, n->number, n->text);
		break;
	}
	case LDB_BLK_MESSAGE: {
		const struct ldb_row_message *n = &rows->message[i];

		printf("message id=%" PRIu64 " tid=%u tick=%" PRId64 " flags=%u serial=%u offset=%" PRIu64
		       " bytes=%u own=%" PRIx64 ":%" PRIx64 ":%u peer=%" PRIx64 ":%" PRIx64 ":%u scope=%" PRIx64 "\n",
		       n->id, n->tid, n->tick, n->flags, n->serial, n->offset, n->bytes, n->own_hi, n->own_lo,
		       n->own_port, n->peer_hi, n->peer_lo, n->peer_port, n->scope);
		break;
	}
	case LDB_BLK_ASKED: {
		const struct ldb_row_asked *n = &rows->asked[i];

		printf("asked id=%" PRIu64 " tick=%" PRId64 " by=%" PRIu64 " asked=%" PRId64 "\n", n->id, n->tick,
		       n->by, n->asked);
		break;
	}
	case LDB_BLK_EVENT: {
		const struct ldb_row_event *e = &rows->event[i];

		printf("event tid=%u tick=%" PRId64 " value=%" PRId64 " name=%s\n", e->tid, e->tick,
		       e->value, e->name);
		break;
	}
	case LDB_BLK_GAP:
		printf("gap tid=%u begin=%" PRId64 " end=%" PRId64 "\n", rows->gap[i].tid,
		       rows->gap[i].begin, rows->gap[i].end);
		break;
	case LDB_BLK_LOST:
		printf("lost what=%u ring=%u count=%" PRIu64 "\n", rows->lost[i].what,
		       rows->lost[i].ring, rows->lost[i].count);
		break;
	case LDB_BLK_REQTAB: {
		const struct ldb_row_reqtab *q = &rows->reqtab[i];

		printf("reqtab id=%" PRIu64 " start=%" PRId64 " end=%" PRId64
		       " segments=%u complete=%u\n", q->id, q->start, q->end, q->nr_segments,
		       q->complete);
		break;
	}
	case LDB_BLK_SCHED: {
		const struct ldb_row_sched *k = &rows->sched[i];

		printf("sched op=%u flags=%x cpu=%u tid=%u other=%u tick=%" PRId64 " addr=%" PRIx64
		       " gen=%" PRIx64 " pc=%" PRIx64 " value=%u\n", k->op, k->flags, k->cpu, k->tid,
		       k->other, k->tick, k->addr, k->gen, k->pc, k->value);
		break;
	}
	case LDB_BLK_FILE:
		printf("file id=%u flags=%x build_id=%s %s\n", rows->file[i].id, rows->file[i].flags,
		       rows->file[i].build_id, rows->file[i].path);
		break;
	case LDB_BLK_SYMBOL: {
		const struct ldb_row_symbol *s = &rows->symbol[i];

		printf("symbol file=%u ask=%u flags=%x addr=%" PRIx64 " offset=%" PRIx64
		       " raw=%s %s:%u %s:%u\n", s->file, s->ask, s->flags, s->addr, s->offset, s->raw,
		       s->source, s->line, s->func_source, s->func_line);
		break;
	}
	case LDB_BLK_CALL:
		printf("call file=%u %s -> %s\n", rows->call[i].file, rows->call[i].caller,
		       rows->call[i].callee);
		break;
	case LDB_BLK_TASK:
		printf("task tid=%u pid=%u flags=%x tick=%" PRId64 " name=%s\n", rows->task[i].tid,
		       rows->task[i].pid, rows->task[i].flags, rows->task[i].tick,
		       rows->task[i].name);
		break;
	case LDB_BLK_FAULT: {
		const struct ldb_row_fault *f = &rows->fault[i];

		printf("fault tid=%u flags=%x tick=%" PRId64 " addr=%" PRIx64 " pc=%" PRIx64 "\n",
		       f->tid, f->flags, f->tick, f->addr, f->pc);
		break;
	}
	case LDB_BLK_IRQ: {
		const struct ldb_row_irq *q = &rows->irq[i];

		printf("irq kind=%u flags=%x cpu=%u nr=%u tid=%u start=%" PRId64 " end=%" PRId64
		       " short=%u name=%s\n", q->kind, q->flags, q->cpu, q->nr, q->tid, q->start,
		       q->end, q->nr_short, q->name);
		break;
	}
	case LDB_BLK_SYSCALL: {
		const struct ldb_row_syscall *c = &rows->syscall[i];

		printf("syscall name=%s file=%s flags=%x nr=%u tid=%u start=%" PRId64 " end=%" PRId64
		       " result=%" PRId64 " arg0=%" PRIx64 " arg=%" PRIx64 " short=%u\n", c->name, c->file,
		       c->flags, c->nr, c->tid, c->start, c->end, c->result, c->arg0, c->arg, c->nr_short);
		break;
	}
	case LDB_BLK_SCHEDSTAT: {
		const struct ldb_row_schedstat *s = &rows->schedstat[i];

		printf("schedstat tid=%u flags=%x tick=%" PRId64 " unc=%" PRIu64 " ran=%" PRId64
		       " run=%" PRIu64 " wait=%" PRIu64 " runs=%u sleeps=%u\n", s->tid, s->flags, s->tick, s->unc,
		       s->ran, s->run_ns, s->wait_ns, s->nr_runs, s->nr_sleeps);
		break;
	}
	case LDB_BLK_FLOW_API: {
		const struct ldb_row_flow_api *f = &rows->flow_api[i];

		printf("flow_api id=%u flags=%x tick=%" PRId64 " caller=%" PRIx64 " target=%" PRIx64
		       " name=%s\n", f->id, f->flags, f->tick, f->caller, f->target, f->name);
		break;
	}
	case LDB_BLK_FLOW: {
		const struct ldb_row_flow *f = &rows->flow[i];

		printf("flow tid=%u api=%u tick=%" PRId64 " calls=%" PRIu64 " timed=%" PRIu64
		       " sum=%" PRIu64 " shared=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64 " back=%" PRIu64 "\n",
		       f->tid, f->api, f->tick, f->calls, f->timed, f->sum, f->shared, f->min, f->max, f->back);
		break;
	}
	case LDB_BLK_FLOW_HIST: {
		const struct ldb_row_flow_hist *f = &rows->flow_hist[i];

		printf("flow_hist tid=%u api=%u tick=%" PRId64 " bucket=%" PRIu64 " count=%" PRIu64 "\n", f->tid,
		       f->api, f->tick, f->bucket, f->count);
		break;
	}
	case LDB_BLK_FLOW_CALL: {
		const struct ldb_row_flow_call *f = &rows->flow_call[i];

		printf("flow_call flags=%x tid=%u start=%" PRId64 " end=%" PRId64 " api=%u gen=%" PRIx64
		       " site=%" PRIx64 " nr_later=%u\n", f->flags, f->tid, f->start, f->end, f->api,
		       f->gen, f->site, f->nr_later);
		break;
	}
	case LDB_BLK_DISK: {
		const struct ldb_row_disk *d = &rows->disk[i];

		printf("disk device=%s flags=%x tid=%u start=%" PRId64 " end=%" PRId64 " bytes=%" PRIu64 "\n",
		       d->device, d->flags, d->tid, d->start, d->end, d->bytes);
		break;
	}
	case LDB_BLK_SAMPLE: {
		const struct ldb_row_sample *s = &rows->sample[i];

		printf("sample tid=%u tick=%" PRId64 " kernel=%u pc=%" PRIx64 " ret=%" PRIx64 "\n", s->tid,
		       s->tick, s->kernel, s->pc, s->ret);
		break;
	}
	case LDB_BLK_KSYM:
		printf("ksym id=%u name=%s\n", rows->ksym[i].id, rows->ksym[i].name);
		break;
	case LDB_BLK_SCAN: {
		const struct ldb_row_scan *s = &rows->scan[i];

		printf("scan scanner=%u looks=%" PRIu64 " changes=%" PRIu64 " scans=%" PRIu64
		       " gaps=%" PRIu64 "\n", s->scanner, s->looks, s->changes, s->scans, s->gaps);
		break;
	}
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		unsigned kind;
	} kinds[] = {
		{ "meta", LDB_BLK_META }, { "clock", LDB_BLK_CLOCK }, { "module", LDB_BLK_MODULE },
		{ "thread", LDB_BLK_THREAD }, { "func", LDB_BLK_FUNC }, { "lock", LDB_BLK_LOCK },
		{ "req", LDB_BLK_REQ }, { "reqname", LDB_BLK_REQNAME }, { "note", LDB_BLK_NOTE }, { "event", LDB_BLK_EVENT },
		{ "message", LDB_BLK_MESSAGE }, { "asked", LDB_BLK_ASKED },
		{ "gap", LDB_BLK_GAP },
		{ "lost", LDB_BLK_LOST }, { "reqtab", LDB_BLK_REQTAB }, { "scan", LDB_BLK_SCAN },
		{ "sched", LDB_BLK_SCHED }, { "task", LDB_BLK_TASK },
		{ "fault", LDB_BLK_FAULT }, { "irq", LDB_BLK_IRQ }, { "syscall", LDB_BLK_SYSCALL },
		{ "schedstat", LDB_BLK_SCHEDSTAT }, { "sample", LDB_BLK_SAMPLE }, { "ksym", LDB_BLK_KSYM },
		{ "disk", LDB_BLK_DISK }, { "flow_api", LDB_BLK_FLOW_API }, { "flow", LDB_BLK_FLOW },
		{ "flow_hist", LDB_BLK_FLOW_HIST }, { "flow_call", LDB_BLK_FLOW_CALL },
		{ "file", LDB_BLK_FILE },
		{ "symbol", LDB_BLK_SYMBOL }, { "call", LDB_BLK_CALL },
	};
	struct reader_rows rows;
	char text[512];
	struct reader *r;

	r = argc > 1 ? reader_open(argv[1], text, sizeof(text)) : NULL;
	if (!r) {
		fprintf(stderr, "trace-cat: %s\n", argc > 1 ? text : "FILE [KIND]");
		return 1;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct cursor *c;

		if (argc > 2 && strcmp(argv[2], kinds[k].name))
			continue;
		c = reader_cursor(r, kinds[k].kind, NULL);
		while (c && cursor_next(c, &rows) > 0)
			for (size_t i = 0; i < rows.nr; i++)
				print_row(&rows, i);
		cursor_close(c);
	}
	if (reader_is_damaged(r))
		fprintf(stderr, "trace-cat: %s\n", reader_damage_text(r, text, sizeof(text)));
	{
		int rc = reader_is_damaged(r) ? 3 : 0;

		reader_close(r);
		return rc;
	}
}
