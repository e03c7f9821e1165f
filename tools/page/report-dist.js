// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws distributions of latencies: the share of values up to a latency (on logarithmic axes; the
 * vertical one shows the distance of the share from 100 %), and a histogram of the values.
 */
"use strict";

const makeDistributions = (() => {
	const LINES = 8, POINTS = 2000;
	const shares = [[0, "0"], [0.5, "50 %"], [0.9, "90 %"], [0.99, "99 %"], [0.999, "99.9 %"],
		[0.9999, "99.99 %"], [0.99999, "99.999 %"], [0.999999, "99.9999 %"]];

	function height(share) {
		return -Math.log10(1 - share);
	}

	/*
	 * Returns the steps of the cumulative distribution, without points that cannot be
	 * distinguished from others.
	 */
	function cumulative(d) {
		const points = d.points, out = [];
		let seen = 0, lastX = 0, lastY = -1;

		for (const [value, nr] of points) {
			seen += nr;
			const x = Math.max(value, 1), y = height((seen - 0.5 * (seen === d.count)) / d.count);
			const isLast = seen === d.count;

			if (!isLast && x / lastX < 1.002 && y - lastY < 0.004)
				continue;
			out.push([x, y]);
			lastX = x;
			lastY = y;
		}
		return out.length > 4 * POINTS ? out.filter((p, i) => i % 2 || i === out.length - 1) : out;
	}

	/* Counts values in `1 << bits` buckets for each power of two. */
	function histogram(d, bits) {
		const nr = new Map();

		for (const [value, times] of d.points) {
			const b = data.bucketOf(Math.max(value, 0), bits);

			nr.set(b, (nr.get(b) || 0) + times);
		}
		return nr;
	}

	/* Joins lines with different values of x into one table, which uPlot needs. */
	function join(lines) {
		const xs = Array.from(new Set(lines.flatMap((l) => l.map((p) => p[0])))).sort((a, b) => a - b);
		const at = new Map(xs.map((x, i) => [x, i]));

		return [xs, ...lines.map((l) => {
			const ys = new Array(xs.length).fill(undefined);

			for (const [x, y] of l)
				ys[at.get(x)] = y;
			return ys;
		})];
	}

	function axes(labels) {
		const fg = ldb.look.color("--dim"), line = ldb.look.color("--line");
		const look = { stroke: fg, font: "11px system-ui, sans-serif", grid: { stroke: line, width: 1 },
			ticks: { stroke: line, width: 1 } };

		return [
			{ ...look, values: (u, splits) => splits.map((v) => v === null ? null : ldb.ns(v)), space: 70,
				filter: decades, grid: { ...look.grid, filter: decades } },
			{ ...look, ...labels },
		];
	}

	function decades(u, splits) {
		return splits.map((v) => v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v : null);
	}

	function chart(node, title, lines, colors, extra) {
		const width = Math.max(320, node.clientWidth - 4);

		node.replaceChildren();
		if (!lines.some((l) => l.length))
			return;
		/* No names are passed to uPlot, because it writes titles and legends as HTML. */
		new uPlot({
			width, height: 250, padding: [8, 28, 0, 0], legend: { show: false }, cursor: { y: false, drag: { setScale: true } },
			scales: { x: { distr: 3, log: 10, time: false }, ...extra.scales },
			axes: axes(extra.axis),
			series: [{}, ...lines.map((l, i) => ({ stroke: colors[i], width: 1.8, spanGaps: true,
				points: { show: l.length < 40 }, paths: extra.paths, ...extra.series(colors[i]) }))],
		}, join(lines), node);
	}

	return function makeDistributions() {
		const el = ldb.el;
		let found = new Map(), names = [], picked = [];
		const what = el("select", { "aria-label": "distributions of", onchange: () => update(null, true) },
			el("option", { value: "functions" }, "Functions, by call site"),
			el("option", { value: "classes" }, "Requests, by class"));
		const list = el("div", { class: "lines" });
		const cdf = el("div", { class: "plot", id: "cdf" }), histo = el("div", { class: "plot", id: "histogram" });
		const note = el("p", { class: "dim" });
		const read = el("table", { class: "readout", id: "dist-numbers" });
		const node = el("div", { class: "dist" },
			el("div", {}, el("div", { class: "tools" }, what), list),
			el("div", { class: "plots" },
				el("h3", {}, "Share of values up to a latency"), cdf,
				el("h3", {}, "Number of values by latency (log scale)"), histo, el("div", { class: "wide" }, read), note));
		let choice = null;

		function color(i) {
			return ldb.look.color("--line" + i);
		}

		function nameOf(key) {
			if (what.value === "classes")
				return key < 0 ? "all requests" : data.doc.classes[key] || "(no class)";
			const f = data.doc.functions[key];

			return f.function + (f.caller ? " \u2190 " + f.caller : "") + (f.line ? " :" + f.line : "");
		}

		function numbers(shown) {
			read.replaceChildren(el("thead", {}, el("tr", {}, ["", "count", "min", "p50", "p99", "p99.9", "p99.99", "max", "resolution"]
				.map((h) => el("th", { class: h ? "num" : "" }, h)))),
			el("tbody", {}, shown.map((key, i) => {
				const d = found.get(key), n = d.numbers(), approx = d.isExact ? "" : "\u2248";
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = color(i);
				return el("tr", {}, el("td", { class: "text" }, swatch, nameOf(key)),
					el("td", { class: "num" }, String(n.count)),
					[["min_ns", ""], ["p50_ns", approx], ["p99_ns", approx], ["p999_ns", approx],
						["p9999_ns", approx], ["max_ns", ""]].map(([k, a]) =>
						el("td", { class: "num", title: ldb.exact(n[k]), "data-ns": n[k] }, a, ldb.ns(n[k]))),
					el("td", { class: "num" }, what.value === "classes" ? "exact" :
						"\u00b1" + ldb.ns(d.resolution === null ? d.resolutionMax : d.resolution)));
			})));
		}

		function draw() {
			const shown = picked.filter((k) => found.has(k) && found.get(k).count).slice(0, LINES);
			const colors = shown.map((k, i) => color(i));
			const ds = shown.map((k) => found.get(k));
			const top = Math.max(2, ...ds.map((d) => height(1 - 0.5 / d.count)));
			const stepped = uPlot.paths.stepped({ align: 1 });

			chart(cdf, "", ds.map(cumulative), colors, {
				scales: { y: { range: [0, top] } }, paths: stepped,
				axis: { splits: () => shares.map(([s]) => height(s)).filter((y) => y <= top + 0.01), size: 66,
					values: (u, ys) => ys.map((y) => (shares.find(([s]) => Math.abs(height(s) - y) < 1e-6) || [])[1] || "") },
				series: () => ({}),
			});
			const bits = data.doc.heat_bits;
			const counts = ds.map((d) => histogram(d, bits));
			const lo = Math.min(...counts.flatMap((c) => [...c.keys()])), hi = Math.max(...counts.flatMap((c) => [...c.keys()]));

			chart(histo, "", counts.map((c) => {
				const line = [];

				for (let b = lo; b <= hi + 1; b++)
					line.push([Math.max(data.bucketFrom(b, bits), 0.5), c.get(b) || 0]);
				return line;
			}), colors, {
				scales: { y: { distr: 4, asinh: 1, range: (u, min, max) => [0, Math.max(max * 1.3, 4)] } }, paths: stepped,
				axis: { size: 66, splits: (u, i, min, max) => [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].filter((v) => v <= max),
					values: (u, ys) => ys.map((y) => y.toLocaleString("en").replace(/,/g, "\u202f")) },
				series: (c) => ({ fill: c + "28", points: { show: false } }),
			});
			numbers(shown);
			note.textContent = (what.value === "functions" ? "Of observed calls; a value may be off by its resolution. " : "") +
				(ds.every((d) => d.isExact) ? "" : "There are too many values to store all of them: they are known to 3 %, the least and the greatest exactly. ") +
				"Drag to zoom, double click for all.";
		}

		function drawList() {
			list.replaceChildren(...names.slice(0, 400).map((key) => {
				const box = el("input", { type: "checkbox" }), d = found.get(key);

				box.checked = picked.includes(key);
				box.addEventListener("change", () => {
					picked = box.checked ? [...picked, key].slice(-LINES) : picked.filter((k) => k !== key);
					drawList();
					draw();
				});
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = picked.includes(key) ? color(picked.indexOf(key)) : "transparent";
				return el("label", {}, box, swatch, el("span", { class: "text", title: nameOf(key) }, nameOf(key)),
					el("span", { class: "num dim" }, String(d.count)));
			}));
		}

		function update(s, isNew) {
			if (s !== null || !isNew)
				choice = s;
			found = what.value === "classes" ? data.latencies(choice) : data.distributions(choice, (row, k) => k);
			names = [...found.keys()].filter((k) => found.get(k).count);
			names.sort((a, b) => what.value === "classes" ? a - b : found.get(b).max - found.get(a).max);
			if (isNew || !picked.some((k) => names.includes(k)))
				picked = names.slice(0, what.value === "classes" ? LINES : 3);
			drawList();
			draw();
		}

		return {
			node,
			show: (s) => update(s, false),
			draw,
			pick(key) {
				what.value = "functions";
				found = data.distributions(choice, (row, k) => k);
				picked = [key];
				update(choice, false);
			},
		};
	};
})();
