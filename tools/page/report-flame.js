// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws latency flame graphs: the width of a frame is the time in the function and its callees,
 * including waits.  In the difference of two graphs, widths are those of the first graph, and the
 * colour of a frame shows the difference to the second one.  Both graphs are per request, or per
 * second.
 */
"use strict";

const makeFlame = (() => {
	const SLOW = 0.99;	/* requests above this percentile are the slowest */
	/*
	 * Returns the tree of one or two graphs.  A node is { name, kind, own, all, children }: own
	 * has its self time in each graph; sum() computes all, its time with that of its children.
	 */
	function tree(parts) {
		const root = { name: "all", kind: null, own: [0, 0], all: [0, 0], children: new Map() };

		parts.forEach(({ f, self, scale }, side) => {
			const nodes = [];

			for (let k = 0; k < f.nodes.parent.length; k++) {
				const name = f.names[f.nodes.name[k]], kind = f.states[f.nodes.kind[k]];
				let node = root;

				if (k) {
					const parent = nodes[f.nodes.parent[k]], key = kind.name + " " + name;

					node = parent.children.get(key);
					if (!node) {
						node = { name, kind, own: [0, 0], all: [0, 0], children: new Map() };
						parent.children.set(key, node);
					}
				}
				nodes.push(node);
				node.own[side] += self[k] * scale;
			}
		});
		return root;
	}

	function sum(root) {
		const stack = [root], order = [];

		while (stack.length) {
			const node = stack.pop();

			order.push(node);
			stack.push(...node.children.values());
		}
		for (const node of order.reverse()) {
			node.all = node.own.slice();
			for (const child of node.children.values()) {
				node.all[0] += child.all[0];
				node.all[1] += child.all[1];
			}
		}
	}

	/* Makes the tree for d3-flame-graph; nodes without time are left out. */
	function forChart(root, side) {
		const copy = (node) => ({ name: node.name, kind: node.kind, own: node.own, all: node.all,
			value: node.all[side], children: [] });
		const top = copy(root), stack = [[root, top]];

		while (stack.length) {
			const [from, to] = stack.pop();

			for (const child of from.children.values()) {
				if (!child.all[side])
					continue;
				const c = copy(child);

				to.children.push(c);
				stack.push([child, c]);
			}
			to.children.sort((a, b) => b.value - a.value);
		}
		return top;
	}

	return function makeFlame() {
		const el = ldb.el;
		let choice = null, chart = null, root = null, isDiff = false, side = 0, unit = "";
		const what = el("select", { id: "flame-what", "aria-label": "flame graph of", onchange: () => update() });
		const swap = el("button", { "aria-pressed": "false", title: "frames as wide as in the one, or as in the other",
			onclick: () => { side = 1 - side; update(); } }, "Widths of the other");
		const invert = el("button", { "aria-pressed": "true", onclick: () => {
			invert.setAttribute("aria-pressed", invert.getAttribute("aria-pressed") !== "true");
			update();
		} }, "Callers on top");
		const reset = el("button", { onclick: () => chart && chart.resetZoom() }, "Reset zoom");
		const search = el("input", { type: "search", id: "flame-search", placeholder: "search: regex",
			"aria-label": "search the flame graph", oninput: () => find() });
		const matched = el("span", { class: "dim", id: "flame-found" });
		const legend = el("div", { class: "legend" });
		const details = el("p", { class: "details", id: "flame-details", "aria-live": "polite" });
		const graph = el("div", { class: "graph", id: "flame" });
		const node = el("div", {}, el("div", { class: "tools" }, what, swap, invert, reset, search, matched),
			legend, details, graph);

		function options() {
			const list = [["all", "Flame graph"]], old = what.value;

			if (data.count(null) > 1) {
				list.push(["requests", "Flame graph of all requests"]);
				list.push(["slow", "Slowest 1 % of requests against the median ones"]);
			}
			if (choice)
				list.push(["rest", "Chosen against the rest"]);
			if (data.tables.other)
				list.push(["other", "This recording against the other one"]);
			what.replaceChildren(...list.map(([value, label]) => el("option", { value }, label)));
			what.value = list.some(([v]) => v === old) ? old : "all";
		}

		function part(s) {
			return { f: data.tables.flame, self: data.flame(s), scale: 1 };
		}

		function scaled(p, by) {
			return { ...p, scale: 1 / Math.max(by, 1) };
		}

		/* Returns the choice of the requests between two percentiles of latency. */
		function band(from, to) {
			const d = data.latencies(choice && { ...choice, lo: 0, hi: Infinity }).get(-1);
			const bits = data.doc.heat_bits, value = (p) => data.bucketOf(d.percentile(Math.round(p * 10000), 10000), bits);

			return { i: 0, j: data.doc.edges.length - 2, class: -1, ...choice, mode: "requests",
				lo: value(from), hi: to === null ? Infinity : value(to) };
		}

		function range(s) {
			const bits = data.doc.heat_bits, lo = ldb.ns(data.bucketFrom(s.lo, bits));

			return s.hi === Infinity ? `${lo} or more` : `${lo} to ${ldb.ns(data.bucketFrom(s.hi + 1, bits))}`;
		}

		function compareSlow() {
			const slow = band(SLOW, null), median = band(0.4, 0.6), ns = data.count(slow), nm = data.count(median);

			unit = "per request";
			details.dataset.what = `The ${ns} slowest requests (${range(slow)}) against the ${nm} median ones (${range(median)}), ` +
				"time per request.";
			return [scaled(part(slow), ns), scaled(part(median), nm)];
		}

		function compareRest() {
			const mine = part(choice), all = part(choice.mode === "requests" ? { ...everything(), mode: "requests" } : null);
			const rest = { ...all, self: all.self.map((v, k) => v - mine.self[k]) };

			if (choice.mode === "requests") {
				const n = data.count(choice), nAll = data.count(null);

				unit = "per request";
				details.dataset.what = `The ${n} requests that were chosen against the other ${nAll - n}, time per request.`;
				return [scaled(mine, n), scaled(rest, nAll - n)];
			}
			const edges = data.doc.edges, span = (edges[choice.j + 1] - edges[choice.i]) / 1e9;
			const whole = (edges[edges.length - 1] - edges[0]) / 1e9;

			unit = "per second";
			details.dataset.what = "The chosen time against the rest, per second of recording.";
			return [{ ...mine, scale: 1 / span }, { ...rest, scale: 1 / Math.max(whole - span, 1e-9) }];
		}

		function everything() {
			return { i: 0, j: data.doc.edges.length - 1, lo: 0, hi: Infinity, class: -1 };
		}

		function compareOther() {
			const o = data.other, mine = data.doc.requests.length && data.doc.requests[0].count;
			const theirs = o.requests.length && o.requests[0].count;

			if (mine && theirs) {
				const s = choice ? { ...choice, mode: "requests" } : { ...everything(), mode: "requests" };
				const n = data.count(choice ? s : null);

				unit = "per request";
				details.dataset.what = `${n} requests of this recording against ${theirs} of ${o.title}, time per request.`;
				return [scaled(part(s), n), scaled({ f: data.tables.other, self: data.otherFlame(true) }, theirs)];
			}
			unit = "per second";
			details.dataset.what = `This recording against ${o.title}, per second of recording.`;
			return [{ ...part(null), scale: 1e9 / data.doc.summary.recording.duration_ns },
				{ f: data.tables.other, self: data.otherFlame(false), scale: 1e9 / o.summary.recording.duration_ns }];
		}

		function parts() {
			unit = "";
			isDiff = true;
			switch (what.value) {
			case "slow": return compareSlow();
			case "rest": return compareRest();
			case "other": return compareOther();
			default:
				isDiff = false;
				details.dataset.what = what.value === "requests" ? "What was done for requests." :
					choice ? "What was chosen in the heat map." : "All threads.";
				return [part(what.value === "requests" ? { ...everything(), ...choice, mode: "requests" } : choice)];
			}
		}

		function share(v, whole) {
			return whole ? (100 * v / whole).toFixed(1) + " %" : "";
		}

		function label(d) {
			const n = d.data, whole = root.all;

			if (!isDiff)
				return `${n.name}: ${ldb.ns(n.all[0])} (${ldb.exact(n.all[0])}), ${share(n.all[0], whole[0])}; ` +
					`self time ${ldb.ns(n.own[0])}`;
			return `${n.name}: ${ldb.ns(n.all[0])} against ${ldb.ns(n.all[1])} ${unit}, ` +
				`${n.all[0] >= n.all[1] ? "+" : "\u2212"}${ldb.ns(Math.abs(n.all[0] - n.all[1]))}`;
		}

		/*
		 * Returns the colour of a difference: red or orange for more time, blue for less,
		 * grey for the same.
		 */
		function diffColor(n) {
			const delta = n.all[0] - n.all[1], whole = Math.max(root.all[0], root.all[1], 1e-9);
			const strength = Math.min(1, Math.sqrt(Math.abs(delta) / whole) * 1.3);
			const dark = ldb.look.theme === "dark", base = dark ? 34 : 88, end = dark ? 46 : 64;
			const hue = delta > 0 ? (ldb.look.palette === "safe" ? 28 : 4) : 212;

			return `hsl(${hue} ${Math.round(85 * strength)}% ${Math.round(base + (end - base) * strength)}%)`;
		}

		function plainColor(n) {
			if (n.kind && n.kind.name !== "function")
				return ldb.look.color("--c-" + n.kind.colour);
			let hash = 0;

			for (let i = 0; i < n.name.length; i++)
				hash = (hash * 31 + n.name.charCodeAt(i)) >>> 0;
			return !n.kind ? ldb.look.color("--panel") : ldb.look.color("--f" + hash % 10);
		}

		function find() {
			let re = null;

			if (!chart)
				return;
			try {
				re = search.value ? new RegExp(search.value, "i") : null;
			} catch {
				matched.textContent = "not a regular expression";
				return;
			}
			if (!re) {
				matched.textContent = "";
				chart.clear();
				return;
			}
			chart.setSearchMatch((d) => re.test(d.data.name));
			chart.setSearchHandler((results, total) => {
				matched.textContent = `${results.length} frames, ${ldb.ns(total)}, ${share(total, root.all[side])}`;
				matched.dataset.ns = total;
			});
			chart.search(search.value);
		}

		function drawLegend() {
			const items = isDiff ? [["more", diffColor({ all: [1e9, 0] })], ["less", diffColor({ all: [0, 1e9] })]] :
				parts()[0].f.states.filter((s) => !["function", "unknown"].includes(s.name)).map((s) =>
					[s.name.replaceAll("_", " "), ldb.look.color("--c-" + s.colour)]);

			legend.replaceChildren(...items.map(([text, color]) => {
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = color;
				return el("span", {}, swatch, text);
			}));
		}

		function update() {
			if (!node.isConnected || !graph.clientWidth)
				return;
			options();
			root = tree(parts());
			sum(root);
			if (!isDiff)
				side = 0;
			swap.hidden = !isDiff;
			swap.setAttribute("aria-pressed", side === 1);
			details.textContent = details.dataset.what;
			graph.replaceChildren();
			drawLegend();
			if (!root.all[side]) {
				graph.append(el("p", { class: "dim" }, "No time is in this graph."));
				chart = null;
				return;
			}
			chart = flamegraph.default().width(Math.max(graph.clientWidth - 2, 300)).cellHeight(20).minFrameSize(1)
				.transitionDuration(matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 250).inverted(invert.getAttribute("aria-pressed") === "true")
				.setLabelHandler(label).setDetailsHandler((text) => { details.textContent = text || details.dataset.what; })
				.setColorMapper((d) => d.highlight ? ldb.look.color("--mark") :
					isDiff ? diffColor(d.data) : plainColor(d.data));
			d3.select(graph).datum(forChart(root, side)).call(chart);
			if (search.value)
				find();
		}

		return {
			node,
			show(s) {
				choice = s;
				update();
			},
			draw: update,
			get root() { return root; },
			open(value) {
				options();
				what.value = value;
				update();
			},
		};
	};
})();
