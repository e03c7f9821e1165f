// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the heat map: time from left to right, latency upwards, both in bins; the more requests are
 * in a cell, the more its colour differs from the background.  A part is selected by dragging with
 * the mouse, or with the arrow keys; onchoose is then called with a choice (see report-data.js) or
 * null.
 */
"use strict";

function makeHeat(onchoose, step) {
	const el = ldb.el, LEFT = 62, BOTTOM = 20, TOP = 6, RIGHT = 10;
	const canvas = el("canvas", { tabindex: 0, id: "heat", role: "application",
		"aria-label": "requests by time and latency; arrows move, shift and arrows extend, Escape chooses all" });
	const tip = el("div", { class: "tip", hidden: true });
	const node = el("div", { class: "heat" }, canvas, tip);
	let map, klass = -1, chosen = null, drag = null, cursor = null;

	function geometry() {
		const width = node.clientWidth, height = canvas.clientHeight;

		return { width, height, w: width - LEFT - RIGHT, h: height - TOP - BOTTOM,
			rows: Math.max(map.hi - map.lo + 1, 1) };
	}

	function ramp(share) {
		/*
		 * Colours differ mostly in lightness, so that colour-blind people can distinguish
		 * them.  They go from light to dark; in the dark theme, from dark to light.
		 */
		const dark = ldb.look.theme === "dark";
		const l = dark ? 38 + 48 * share : 76 - 50 * share;

		return `hsl(${ldb.look.palette === "safe" ? 215 : 14 + 26 * (1 - share)} ${ldb.look.palette === "safe" ? 60 : 82}% ${l}%)`;
	}

	function x(bin, g) {
		return LEFT + g.w * (data.doc.edges[bin] - data.doc.edges[0]) /
			(data.doc.edges[map.nr] - data.doc.edges[0]);
	}

	function y(row, g) {
		return TOP + g.h - g.h * row / g.rows;
	}

	function drawCells(c, g) {
		const most = Math.log1p(map.max);

		for (const [key, nr] of map.cells) {
			const bin = key % map.nr, row = Math.floor(key / map.nr) - map.lo;
			const x0 = x(bin, g), y0 = y(row + 1, g);

			c.fillStyle = ramp(most ? Math.log1p(nr) / most : 1);
			c.fillRect(x0, y0, Math.max(x(Math.min(bin + map.wide, map.nr), g) - x0, 2.5), Math.max(y(row, g) - y0 - 0.5, 2));
		}
	}

	function drawAxes(c, g) {
		const from = data.doc.edges[0], span = data.doc.edges[map.nr] - from;
		const step = [1, 2, 5].flatMap((m) => Array.from({ length: 12 }, (_, e) => m * 10 ** e))
			.sort((a, b) => a - b).find((s) => span / s <= Math.max(g.w / 90, 2)) || span;

		c.fillStyle = ldb.look.color("--dim");
		c.strokeStyle = ldb.look.color("--line");
		c.font = "11px system-ui, sans-serif";
		c.textBaseline = "top";
		c.textAlign = "center";
		for (let t = Math.ceil(from / step) * step; t <= from + span; t += step)
			c.fillText(ldb.ns(t), Math.min(LEFT + g.w * (t - from) / span, g.width - 24), TOP + g.h + 5);
		c.textAlign = "right";
		c.textBaseline = "middle";
		const taken = [];

		/*
		 * The ticks are powers of ten, and intermediate values where there is room for
		 * them.
		 */
		for (const factor of [1, 5, 2])
			for (let value = factor; value < 1e15; value *= 10)
				drawLatency(c, g, value, taken);
	}

	function drawLatency(c, g, value, taken) {
		const at = y(position(value), g);

		if (at < TOP - 1 || at > TOP + g.h + 1 || taken.some((other) => Math.abs(other - at) < 20))
			return;
		taken.push(at);
		c.fillText(ldb.ns(value), LEFT - 6, Math.min(Math.max(at, 6), TOP + g.h - 2));
		c.beginPath();
		c.moveTo(LEFT, Math.round(at) + 0.5);
		c.lineTo(LEFT + g.w, Math.round(at) + 0.5);
		c.stroke();
	}

	/* Returns the row of a latency; its fraction is the position within the row. */
	function position(value) {
		const bits = data.doc.heat_bits, bucket = data.bucketOf(value, bits), from = data.bucketFrom(bucket, bits);

		return bucket - map.lo + (value - from) / (data.bucketFrom(bucket + 1, bits) - from);
	}

	function drawChoice(c, g, s) {
		if (!s)
			return;
		const top = s.hi === Infinity ? g.rows : s.hi - map.lo + 1, bottom = s.lo <= map.lo ? 0 : s.lo - map.lo;
		const x0 = x(s.i, g), x1 = x(s.j + 1, g), y0 = y(Math.min(top, g.rows), g), y1 = y(bottom, g);

		c.fillStyle = ldb.look.theme === "dark" ? "rgba(0,0,0,.45)" : "rgba(255,255,255,.6)";
		c.beginPath();
		c.rect(LEFT, TOP, g.w, g.h);
		c.rect(x0, y0, x1 - x0, y1 - y0);
		c.fill("evenodd");
		c.strokeStyle = ldb.look.color("--accent");
		c.lineWidth = 2;
		c.strokeRect(x0, y0, Math.max(x1 - x0, 2), Math.max(y1 - y0, 2));
		c.lineWidth = 1;
	}

	function draw() {
		const ratio = window.devicePixelRatio || 1, g = geometry(), c = canvas.getContext("2d");

		canvas.width = Math.round(g.width * ratio);
		canvas.height = Math.round(g.height * ratio);
		c.setTransform(ratio, 0, 0, ratio, 0, 0);
		c.fillStyle = ldb.look.color("--raised");
		c.fillRect(LEFT, TOP, g.w, g.h);
		drawAxes(c, g);
		drawCells(c, g);
		drawChoice(c, g, drag ? toChoice(drag) : chosen);
		if (cursor) {
			c.strokeStyle = ldb.look.color("--mark");
			c.strokeRect(x(cursor[0], g), y(cursor[1] + 1, g), Math.max(x(cursor[0] + 1, g) - x(cursor[0], g), 3),
				y(cursor[1], g) - y(cursor[1] + 1, g));
		}
	}

	/* Returns the bin and the row at the mouse pointer. */
	function at(event) {
		const box = canvas.getBoundingClientRect(), g = geometry();
		const edges = data.doc.edges, px = event.clientX - box.left, py = event.clientY - box.top;
		const t = edges[0] + (edges[map.nr] - edges[0]) * (px - LEFT) / g.w;
		let bin = 0;

		while (bin < map.nr - 1 && t >= edges[bin + 1])
			bin++;
		return [bin, Math.min(Math.max(Math.floor((TOP + g.h - py) / g.h * g.rows), 0), g.rows - 1)];
	}

	/* The lowest row includes all smaller latencies, and the highest one all greater ones. */
	function toChoice([a, b]) {
		const g = geometry(), low = Math.min(a[1], b[1]), high = Math.max(a[1], b[1]);
		const isFull = !map.ofRequests || (low === 0 && high === g.rows - 1);

		const wide = step(), i = Math.floor(Math.min(a[0], b[0]) / wide) * wide;
		const j = Math.min((Math.floor(Math.max(a[0], b[0]) / wide) + 1) * wide, map.nr) - 1;

		return { i, j, class: klass, is_full: isFull,
			lo: isFull || low === 0 ? 0 : map.lo + low,
			hi: isFull || high === g.rows - 1 ? Infinity : map.lo + high };
	}

	function choose(s) {
		chosen = s;
		draw();
		onchoose(s);
	}

	function tell(event) {
		if (!map.cells.size)
			return;
		const [bin, row] = at(event), nr = map.cells.get((row + map.lo) * map.nr + Math.floor(bin / map.wide) * map.wide) || 0;
		const from = data.bucketFrom(row + map.lo, data.doc.heat_bits), to = data.bucketFrom(row + map.lo + 1, data.doc.heat_bits);

		tip.hidden = false;
		tip.textContent = `${nr} ${map.ofRequests ? "requests" : "calls"} of ${ldb.ns(from)} to ${ldb.ns(to)}, ` +
			`${map.ofRequests ? "begun" : "running"} at ${ldb.ns(data.doc.edges[bin])} to ${ldb.ns(data.doc.edges[bin + 1])}`;
		const box = node.getBoundingClientRect(), left = event.clientX - box.left;

		tip.style.left = Math.max(0, Math.min(left + 14, node.clientWidth - tip.offsetWidth - 4)) + "px";
		tip.style.top = Math.max(event.clientY - box.top - 30, 2) + "px";
	}

	canvas.addEventListener("pointerdown", (e) => {
		if (e.button || !map.cells.size)
			return;
		canvas.setPointerCapture(e.pointerId);
		drag = [at(e), at(e)];
		cursor = null;
		draw();
	});
	canvas.addEventListener("pointermove", (e) => {
		tell(e);
		if (drag) {
			drag[1] = at(e);
			draw();
		}
	});
	canvas.addEventListener("pointerup", (e) => {
		if (!drag)
			return;
		const s = toChoice([drag[0], at(e)]);

		drag = null;
		choose(s);
	});
	canvas.addEventListener("pointercancel", () => { drag = null; draw(); });
	canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
	canvas.addEventListener("dblclick", () => choose(null));
	canvas.addEventListener("keydown", (e) => {
		const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[e.key];

		if (e.key === "Escape") {
			cursor = null;
			choose(null);
		} else if (step && map.cells.size) {
			const g = geometry(), old = cursor || [0, 0];

			cursor = [Math.min(Math.max(old[0] + step[0], 0), map.nr - 1), Math.min(Math.max(old[1] + step[1], 0), g.rows - 1)];
			if (e.shiftKey) {
				canvas.anchor = canvas.anchor || old;
				choose(toChoice([canvas.anchor, cursor]));
			} else {
				canvas.anchor = null;
				draw();
			}
			e.preventDefault();
		} else if (e.key === "Enter" && cursor) {
			choose(toChoice([cursor, cursor]));
		}
	});

	return {
		node, draw, canvas,
		show(k) {
			klass = k;
			map = data.heat(k);
			node.classList.toggle("empty", !map.cells.size);
			draw();
		},
		set(s) { chosen = s; draw(); },
		/* Returns where a bin and a row are on the screen; for tests. */
		place(bin, row) {
			const g = geometry(), box = canvas.getBoundingClientRect();

			return [box.left + (x(bin, g) + x(bin + 1, g)) / 2, box.top + (y(row, g) + y(row + 1, g)) / 2];
		},
		get rows() { return geometry().rows; },
		get lowest() { return map.lo; },
		get ofRequests() { return map.ofRequests; },
	};
}
