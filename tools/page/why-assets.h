/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the page of ldb-why, for embed.c: X(symbol, name, path). */
#ifndef PAGE_WHY_ASSETS_H
#define PAGE_WHY_ASSETS_H

#define WHY_ASSETS(X)						\
	X(why_css, "why.css", "page/why.css")			\
	X(why_data_js, "why-data.js", "page/why-data.js")	\
	X(why_plot_js, "why-plot.js", "page/why-plot.js")	\
	X(why_balloons_js, "why-balloons.js", "page/why-balloons.js") \
	X(why_boxes_js, "why-boxes.js", "page/why-boxes.js")	\
	X(why_queues_js, "why-queues.js", "page/why-queues.js")	\
	X(why_cpus_js, "why-cpus.js", "page/why-cpus.js")	\
	X(why_flame_js, "why-flame.js", "page/why-flame.js")	\
	X(why_life_js, "why-life.js", "page/why-life.js")	\
	X(why_js, "why.js", "page/why.js")

#endif
