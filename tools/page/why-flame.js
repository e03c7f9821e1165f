// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the blame flame graph: the deviation of all targets, by class, path, the object of the
 * wait, its holder, and what blocked the holder.
 */
"use strict";

const makeBlame = (() => {
	/* Colours of frames that are not states; those of states come from C. */
	const OTHERS = { held_by: "hold", woken_by: "hold", class: "part", unexplained: "other", all: "other" };

	return function makeBlame() {
		const el = ldb.el, frames = why.doc.blame;
		const colours = { ...OTHERS };

		for (const state of why.doc.states)
			if (state.name !== "function")
				colours[state.name] = state.colour;
		let chart = null;
		const details = el("p", { class: "details", id: "blame-details", "aria-live": "polite" });
		const graph = el("div", { class: "graph", id: "blame" });
		const legend = el("div", { class: "legend" });
		const reset = el("button", { onclick: () => chart && chart.resetZoom() }, "Reset zoom");
		const search = el("input", { type: "search", id: "blame-search", placeholder: "search: regex",
			"aria-label": "search the flame graph", oninput: find });
		const found = el("span", { class: "dim", id: "blame-found" });
		const node = el("div", {}, el("div", { class: "tools" }, reset, search, found), legend, details, graph);

		function nameOf(f) {
			if (f.kind === "function" || f.kind === "class" || f.kind === "queue")
				return f.name;
			return f.kind === "all" ? "all targets" : (f.kind.replace(/_/g, " ") + " " + f.name).trim();
		}

		function tree() {
			const nodes = frames.map((f) => ({ name: nameOf(f), frame: f, value: f.all_ns, children: [] }));

			frames.forEach((f, i) => {
				if (i)
					nodes[f.parent].children.push(nodes[i]);
			});
			return nodes[0];
		}

		function color(f) {
			if (colours[f.kind])
				return ldb.look.color("--c-" + colours[f.kind]);
			let hash = 0;

			for (let i = 0; i < f.name.length; i++)
				hash = (hash * 31 + f.name.charCodeAt(i)) >>> 0;
			return ldb.look.color("--f" + hash % 10);
		}

		function label(d) {
			const f = d.data.frame;

			return `${nameOf(f)}: ${ldb.ns(f.all_ns)} (${ldb.exact(f.all_ns)}), ${why.share(f.all_ns, frames[0].all_ns)} of the deviation` +
				(f.count ? `; ends here: ${ldb.ns(f.own_ns)} of ${why.many(f.count)} requests` : "");
		}

		function find() {
			let re;

			if (!chart)
				return;
			try {
				re = search.value ? new RegExp(search.value, "i") : null;
			} catch {
				found.textContent = "not a regular expression";
				return;
			}
			found.textContent = "";
			if (!re) {
				chart.clear();
				return;
			}
			chart.setSearchMatch((d) => re.test(d.data.name));
			chart.setSearchHandler((results, total) => {
				found.textContent = `${results.length} frames, ${ldb.ns(total)}, ${why.share(total, frames[0].all_ns)}`;
			});
			chart.search(search.value);
		}

		function drawLegend() {
			const kinds = [...new Set(frames.map((f) => f.kind))].filter((k) => colours[k] && k !== "all");

			legend.replaceChildren(...kinds.map((k) => {
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = ldb.look.color("--c-" + colours[k]);
				return el("span", {}, swatch, k.replace(/_/g, " "));
			}));
		}

		function draw() {
			const most = frames.reduce((m, f) => Math.max(m, f.depth), 0);

			if (!graph.clientWidth)
				return;
			graph.replaceChildren();
			drawLegend();
			details.textContent = "";
			chart = null;
			if (!frames[0].all_ns) {
				graph.append(el("p", { class: "empty" }, "Nothing deviates."));
				return;
			}
			graph.style.minHeight = 20 * (most + 2) + "px";
			chart = flamegraph.default().width(Math.max(graph.clientWidth - 2, 300)).cellHeight(20).minFrameSize(1)
				.transitionDuration(matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250).inverted(true)
				.setLabelHandler(label).setDetailsHandler((text) => { details.textContent = text || ""; })
				.setColorMapper((d) => d.highlight ? ldb.look.color("--mark") : color(d.data.frame));
			d3.select(graph).datum(tree()).call(chart);
			if (search.value)
				find();
		}

		return { node, draw };
	};
})();
