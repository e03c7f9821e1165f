/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files of the report page, for embed.c: X(symbol, name, path). */
#ifndef PAGE_REPORT_ASSETS_H
#define PAGE_REPORT_ASSETS_H

#define VENDOR(X, symbol, file) X(vendor_##symbol, "vendor/" file, "page/vendor/" file)

#define REPORT_ASSETS(X)					\
	X(report_css, "report.css", "page/report.css")		\
	X(report_data_js, "report-data.js", "page/report-data.js") \
	X(report_table_js, "report-table.js", "page/report-table.js") \
	X(report_dist_js, "report-dist.js", "page/report-dist.js") \
	X(report_heat_js, "report-heat.js", "page/report-heat.js") \
	X(report_flame_js, "report-flame.js", "page/report-flame.js") \
	X(report_js, "report.js", "page/report.js")		\
	VENDOR(X, notice_js, "NOTICE.js")			\
	VENDOR(X, uplot_css, "uPlot.min.css")			\
	VENDOR(X, uplot_js, "uPlot.iife.min.js")		\
	VENDOR(X, array_js, "d3-array.min.js")			\
	VENDOR(X, color_js, "d3-color.min.js")			\
	VENDOR(X, dispatch_js, "d3-dispatch.min.js")		\
	VENDOR(X, ease_js, "d3-ease.min.js")			\
	VENDOR(X, format_js, "d3-format.min.js")		\
	VENDOR(X, hierarchy_js, "d3-hierarchy.min.js")		\
	VENDOR(X, interpolate_js, "d3-interpolate.min.js")	\
	VENDOR(X, scale_js, "d3-scale.min.js")			\
	VENDOR(X, selection_js, "d3-selection.min.js")		\
	VENDOR(X, timer_js, "d3-timer.min.js")			\
	VENDOR(X, transition_js, "d3-transition.min.js")	\
	VENDOR(X, flamegraph_js, "d3-flamegraph.umd.min.js")

#endif
