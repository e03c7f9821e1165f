/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Defines limits, and the layout of structs, for C and for arch/CPU/flows.S; flows.h asserts that
 * the structs have this layout.
 */
#ifndef FLOWS_LAYOUT_H
#define FLOWS_LAYOUT_H

#include <ldb/flows.h>

/*
 * These limits keep the library smaller than 2 MB, because the kernel would align a larger one, and
 * then its memory would be a mapping of its own in each program.
 */
#define FLOW_ENTRIES		16384		/* 16 bytes of code and 32 of data each */
#define FLOW_SLOTS		4096		/* 16 bytes of code and 64 of data each */
#define FLOW_STUB		16

/* struct flow_entry */
#define FLOW_E_TARGET		0
#define FLOW_E_CELL		8
#define FLOW_E_FLAGS		12
#define FLOW_E_SHIFT		5
#define FLOW_E_NEVER		1		/* a flag: calls are counted and never timed */

/* struct flow_slot */
#define FLOW_S_RET		0
#define FLOW_S_SP		8
#define FLOW_S_START		16
#define FLOW_S_NEXT		24
#define FLOW_S_STUB		32
#define FLOW_S_UP		40
#define FLOW_S_ENTRY		48
#define FLOW_S_SKIPPED		56
#define FLOW_S_CFA		60
#define FLOW_S_SHIFT		6
#define FLOW_CFA		7		/* value for free slots and for most others */

/* struct ldb_flow_state */
#define FLOW_T_LEFT		0
#define FLOW_T_SKIPPED		4
#define FLOW_T_STRIDE		8

/* struct flow_self */
#define FLOW_SELF_OFF		0
#define FLOW_SELF_FREE		8
#define FLOW_SELF_TOP		16

#endif
