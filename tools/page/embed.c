// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Includes the scripts and styles of the pages in the program by the assembler.  So building needs
 * no other tool, and an installed program needs no other file.  Paths are relative to tools/, where
 * the compiler runs.
 *
 * Each file is an entry of the section "assets", whose bounds the linker defines.
 */
#include <string.h>

#include "page/page.h"

#define ASSET(name)					\
	__asm__(".pushsection .rodata.assets,\"a\"\n"	\
		"1: .asciz \"" name "\"\n"		\
		"2: .incbin \"page/" name "\"\n"	\
		"3: .byte 0\n"				\
		".popsection\n"				\
		".pushsection assets,\"aw\"\n"		\
		".balign 8\n"				\
		".quad 1b, 2b, 3b\n"			\
		".popsection\n");

ASSET("page.css") ASSET("page.js")

ASSET("timeline.css") ASSET("timeline.js") ASSET("timeline-arcs.js") ASSET("timeline-controls.js")
ASSET("timeline-data.js") ASSET("timeline-draw.js") ASSET("timeline-paint.js")
ASSET("timeline-panel.js")
ASSET("timeline-search.js") ASSET("timeline-views.js")

ASSET("report.css") ASSET("report.js") ASSET("report-data.js") ASSET("report-dist.js")
ASSET("report-flame.js") ASSET("report-heat.js") ASSET("report-table.js")

ASSET("why.css") ASSET("why.js") ASSET("why-balloons.js") ASSET("why-boxes.js") ASSET("why-cpus.js")
ASSET("why-data.js") ASSET("why-flame.js") ASSET("why-instance.js") ASSET("why-plot.js")
ASSET("why-queues.js")

ASSET("flows.css") ASSET("flows.js") ASSET("flows-bands.js") ASSET("flows-diff.js")

ASSET("vendor/NOTICE.js") ASSET("vendor/uPlot.min.css") ASSET("vendor/uPlot.iife.min.js")
ASSET("vendor/d3-array.min.js") ASSET("vendor/d3-color.min.js") ASSET("vendor/d3-dispatch.min.js")
ASSET("vendor/d3-ease.min.js") ASSET("vendor/d3-flamegraph.umd.min.js")
ASSET("vendor/d3-format.min.js")
ASSET("vendor/d3-hierarchy.min.js") ASSET("vendor/d3-interpolate.min.js")
ASSET("vendor/d3-scale.min.js")
ASSET("vendor/d3-selection.min.js") ASSET("vendor/d3-timer.min.js")
ASSET("vendor/d3-transition.min.js")

extern const struct asset __start_assets[], __stop_assets[];

const struct asset *embed_find(const char *name)
{
	for (const struct asset *a = __start_assets; a < __stop_assets; a++)
		if (!strcmp(a->name, name))
			return a;
	return NULL;
}
