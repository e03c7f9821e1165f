// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws time in calls as bands, from the calling components on the left to the called components,
 * and to waiting, on the right.  The width of a band is proportional to the time.  Only the SHOWN
 * bands with the most time are drawn.
 *
 * drawBands(cells, { color: (name) => "#...", pick: (cell) => ... }) returns an SVG element.
 */
"use strict";

const drawBands = (() => {
	const WIDTH = 1000, NODE = 14, GAP = 8, HEIGHT = 420, LEFT = 230, RIGHT = 770, SHOWN = 60;
	const space = "http://www.w3.org/2000/svg";

	function node(tag, attributes, ...children) {
		const e = document.createElementNS(space, tag);

		for (const [key, value] of Object.entries(attributes))
			e.setAttribute(key, value);
		e.append(...children);
		return e;
	}

	/*
	 * Returns a map from names to { name, ns, y, height, at }, largest first; at is where the
	 * next band begins.
	 */
	function place(cells, side, scale) {
		const sums = new Map();
		let y = 10;

		for (const c of cells)
			sums.set(c[side], (sums.get(c[side]) || 0) + c.total_ns);
		const nodes = new Map();

		for (const [name, ns] of [...sums].sort((a, b) => b[1] - a[1])) {
			const height = Math.max(ns * scale, 1);

			nodes.set(name, { name, ns, y, height, at: y });
			y += height + GAP;
		}
		return nodes;
	}

	function bottom(nodes) {
		return Math.max(...[...nodes.values()].map((n) => n.y + n.height));
	}

	function shorten(name) {
		return name.length > 30 ? "\u2026" + name.slice(-29) : name;
	}

	function drawNode(n, x, isLeft, color) {
		const y = n.y + Math.min(n.height / 2 + 4, n.height + 8);

		return node("g", {}, node("title", {}, `${n.name}: ${ldb.ns(n.ns)}`),
			node("rect", { x, y: n.y, width: NODE, height: n.height, fill: color(n.name) }),
			node("text", { x: isLeft ? x - 8 : x + NODE + 8, y, "text-anchor": isLeft ? "end" : "start" },
				`${shorten(n.name)}  ${ldb.ns(n.ns)}`));
	}

	function drawBand(c, from, to, scale, options) {
		const height = Math.max(c.total_ns * scale, 0.5), x1 = LEFT + NODE, x2 = RIGHT, mid = (x1 + x2) / 2;
		const a = from.at, b = to.at, text = `${c.caller} \u2192 ${c.to}: ${ldb.ns(c.total_ns)}, ${c.calls.toLocaleString("en")} calls`;
		const path = node("path", { class: "band", tabindex: "0", role: "button", "aria-label": text, fill: options.color(c.to),
			d: `M${x1},${a}C${mid},${a} ${mid},${b} ${x2},${b}V${b + height}C${mid},${b + height} ${mid},${a + height} ${x1},${a + height}Z` },
		node("title", {}, text));

		from.at += height;
		to.at += height;
		path.addEventListener("click", () => options.pick(c));
		path.addEventListener("keydown", (e) => { if (e.key === "Enter") options.pick(c); });
		return path;
	}

	return function drawBands(all, options) {
		const cells = all.filter((c) => c.total_ns > 0).map((c) => ({ ...c, to: c.wait ? "wait" : c.callee }))
			.sort((a, b) => b.total_ns - a.total_ns).slice(0, SHOWN);
		const sum = cells.reduce((ns, c) => ns + c.total_ns, 0), scale = sum ? HEIGHT / sum : 0;
		const left = place(cells, "caller", scale), right = place(cells, "to", scale);
		const height = cells.length ? Math.max(bottom(left), bottom(right)) + 14 : 20;
		const svg = node("svg", { class: "bands", viewBox: `0 0 ${WIDTH} ${height}`, role: "img",
			"aria-label": "time in calls, from component to component" });

		svg.append(...cells.map((c) => drawBand(c, left.get(c.caller), right.get(c.to), scale, options)),
			...[...left.values()].map((n) => drawNode(n, LEFT, true, options.color)),
			...[...right.values()].map((n) => drawNode(n, RIGHT, false, options.color)));
		return svg;
	};
})();
