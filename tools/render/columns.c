// SPDX-License-Identifier: GPL-2.0-or-later
/* Defines columns that several relations have. */
#include "facts/sched.h"
#include "render/columns.h"

const struct model *row_model(const struct row *row)
{
	return *(const struct model *const *)row_report(row);
}

struct rows model_rows(const struct row *row)
{
	return rows_one(row_model(row));
}

#define ROW struct symbol
const struct column site_columns[] = {
	COLUMN("caller", function), SAME(file), SAME(line), { 0 }
};
#undef ROW

struct rows site_rows(const struct symbol *site)
{
	static const struct symbol unknown = { .function = "", .file = "" };

	return rows_one(site ? site : &unknown);
}

struct value value_cpu(uint32_t cpu)
{
	return cpu == CPU_UNKNOWN ? value_null() : value_u64(cpu);
}

#define ROW struct context
GET(get_name, text, e->kind == CONTEXT_IDLE ? "idle" : e->kind == CONTEXT_STOLEN ? "hypervisor" :
		     e->name ? e->name : "")
GET(get_irq, text, e->kind == CONTEXT_HARDIRQ ? "hard" : "soft")
GET(get_true, bool, true)
WHEN(if_irq, e->kind == CONTEXT_HARDIRQ || e->kind == CONTEXT_SOFTIRQ)
WHEN(if_hidden, e->kind == CONTEXT_HIDDEN)
WHEN(if_unknown, e->kind == CONTEXT_NONE)

const struct column context_columns[] = {
	SAME(tid), MADE("name", get_name), SAME(pid), MADE("irq", get_irq, .when = if_irq),
	MADE("hidden", get_true, .when = if_hidden), MADE("unknown", get_true, .when = if_unknown),
	{ 0 }
};
#undef ROW

const char *context_cell(const struct context *p)
{
	return p->kind == CONTEXT_TASK ? p->name : context_kinds[p->kind].cell;
}

struct rows context_rows(const struct context *p)
{
	return rows_one(p && p->kind != CONTEXT_NONE ? p : NULL);
}

#define ROW struct note
WHEN(if_text, e->text)
WHEN(if_number, !e->text)

const struct column note_columns[] = {
	SAME(key), COLUMN("value", text, .when = if_text), SAME(number, .when = if_number), { 0 }
};
#undef ROW

#define ROW struct interruptions
WHEN(if_faults, row_model(row)->has_faults)
WHEN(if_irqs, row_model(row)->has_irqs)

const struct column interruptions_columns[] = {
	COLUMN("page_faults", nr_faults, .when = if_faults),
	COLUMN("major_faults", nr_major, .when = if_faults),
	COLUMN("interrupts", nr_irqs, .when = if_irqs),
	COLUMN("interrupt_ns", irq_ns, .when = if_irqs), { 0 }
};
#undef ROW
