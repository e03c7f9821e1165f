/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows the additive difference between two sets of requests, and conditions on it. */
#ifndef RENDER_DIFFERENTIAL_H
#define RENDER_DIFFERENTIAL_H

#include "analysis/compare/differential.h"
#include "analysis/compare/gate.h"
#include "render/render.h"

struct render_differential {
	const struct differential *of;	/* an array: one result for each class */
	size_t nr;
	bool is_compare;		/* two recordings are compared, and not two slices of one */
	const char *target_file, *reference_file;
	/* models of the recordings; equal if not is_compare */
	const struct model *target_model, *reference_model;
	/* classes that exist on one side only */
	const char *const *only_target, *const *only_reference;
	size_t nr_only_target, nr_only_reference;
	const struct gate_result *gates;
	size_t nr_gates;
};

extern const struct printer differential_printer;
extern const struct column differential_columns[];	/* differential-data.c */

/*
 * Writes "FAILED: --fail-if 'p99+5%': GET p99 3.1ms before, 3.5ms now ...", a line without a
 * newline, of at most GATE_SENTENCE_MAX bytes.  Returns buf.
 */
#define GATE_SENTENCE_MAX	512
char *gate_sentence(const struct gate_result *g, char *buf);

#endif
