// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Scripts and styles of the pages, put into the program by the assembler: building needs
 * no other tool, and an installed program needs no other file.  Paths are those below
 * tools/, where the compiler runs.
 */
#include <string.h>

#include "page/page.h"
#include "page/report-assets.h"
#include "page/why-assets.h"

/* X(symbol, name, path) */
#define ASSETS(X)						\
	X(page_css, "page.css", "page/page.css")		\
	X(page_js, "page.js", "page/page.js")			\
	X(timeline_css, "timeline.css", "page/timeline.css")	\
	X(timeline_data_js, "timeline-data.js", "page/timeline-data.js") \
	X(timeline_paint_js, "timeline-paint.js", "page/timeline-paint.js") \
	X(timeline_arcs_js, "timeline-arcs.js", "page/timeline-arcs.js") \
	X(timeline_draw_js, "timeline-draw.js", "page/timeline-draw.js") \
	X(timeline_search_js, "timeline-search.js", "page/timeline-search.js") \
	X(timeline_controls_js, "timeline-controls.js", "page/timeline-controls.js") \
	X(timeline_views_js, "timeline-views.js", "page/timeline-views.js") \
	X(timeline_panel_js, "timeline-panel.js", "page/timeline-panel.js") \
	X(timeline_js, "timeline.js", "page/timeline.js")

#define INCLUDE(symbol, name, path)				\
	__asm__(".section .rodata.asset_" #symbol ",\"a\"\n"	\
		"asset_" #symbol ": .incbin \"" path "\"\n"	\
		"asset_" #symbol "_end: .byte 0\n"		\
		".previous\n");					\
	extern const char asset_##symbol[], asset_##symbol##_end[];
#define ENTRY(symbol, name, path) { name, asset_##symbol, asset_##symbol##_end },

ASSETS(INCLUDE)
REPORT_ASSETS(INCLUDE)
WHY_ASSETS(INCLUDE)

static const struct asset assets[] = { ASSETS(ENTRY) REPORT_ASSETS(ENTRY) WHY_ASSETS(ENTRY) };

const struct asset *embed_find(const char *name)
{
	for (size_t i = 0; i < sizeof(assets) / sizeof(assets[0]); i++)
		if (!strcmp(assets[i].name, name))
			return &assets[i];
	return NULL;
}
