// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws one frame: first rows of pixels (timeline-paint.js), then texts, marks and arcs.  Only
 * visible rows are drawn.
 */
"use strict";

tl.draw = (() => {
	const RULER = 26, ARCS_MAX = 250, ARCS_SHOWN = 60, MIGRATIONS_NAMED = 12, NARROW = 3;
	let canvas = null, ctx = null, image = null, pixels = null;
	let dpr = 1, width = 0, height = 0, gutter = 170;
	let colors = {}, hatch = null;
	const widths = new Map();
	const labels = [];

	function init(node) {
		canvas = node;
		/*
		 * The option willReadFrequently is set, because most of a frame is written as
		 * pixels, without the GPU.
		 */
		ctx = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
	}

	function refreshColors() {
		for (const name of ["bg", "panel", "line", "fg", "dim", "accent", "mark", "c-ink", "c-wait", "c-queue",
				    "c-request", "c-hold"])
			colors[name] = ldb.look.color(`--${name}`);
		const tile = document.createElement("canvas"), c = tile.getContext("2d");

		tile.width = tile.height = 6;
		c.strokeStyle = colors.dim;
		c.globalAlpha = 0.55;
		c.beginPath();
		c.moveTo(-1, 7);
		c.lineTo(7, -1);
		c.stroke();
		hatch = ctx.createPattern(tile, "repeat");
		tl.paint.refresh(tl.state.matches);
	}

	function resize() {
		const box = canvas.getBoundingClientRect();

		dpr = window.devicePixelRatio || 1;
		width = Math.max(Math.round(box.width), 200);
		height = Math.max(Math.round(box.height), 80);
		gutter = width < 700 ? 96 : width < 1100 ? 140 : 176;
		canvas.width = width * dpr;
		canvas.height = height * dpr;
		image = ctx.createImageData(Math.max(Math.round((width - gutter) * dpr), 1),
					    Math.max(Math.round((height - RULER) * dpr), 1));
		pixels = new Uint32Array(image.data.buffer);
		widths.clear();
	}

	/* Converts a time to CSS pixels from the left, and back. */
	const x = (t) => gutter + (t - tl.state.t0) * (width - gutter) / (tl.state.t1 - tl.state.t0);
	const time = (px) => tl.state.t0 + (px - gutter) * (tl.state.t1 - tl.state.t0) / (width - gutter);
	const top = (row) => RULER + row.lane.y + row.y - tl.state.y;
	const middle = (row) => top(row) + row.h / 2;

	/* Returns the text on a bar. */
	function label(track, i) {
		const ref = tl.data.refOf(track, i), d = tl.d;

		switch (track.table) {
		case "span":
			return tl.callNames[d.spans.call[ref]];
		case "request":
			return `${tl.data.requestId(ref)}  ${ldb.ns(d.requests.length[ref])}`;
		case "part":
			if (d.parts.flags[ref] & tl.F.QUEUE)
				return "queue " + tl.data.lockOf(d.parts.queue[ref]).name;
			return tl.state.view === "request" ? tl.threads[d.parts.thread[ref] - 1].label :
			       "req " + tl.data.requestId(d.parts.request[ref]);
		case "run":
			return tl.data.context(d.runs.context[ref]).text;
		default:
			return otherLabel(ref);
		}
	}

	function otherLabel(ref) {
		const o = tl.d.others, kind = o.kind[ref];

		if (kind === tl.LOCK_WAIT)
			return "waits for " + tl.data.lockOf(o.lock[ref]).name;
		if (kind === tl.LOCK_HOLD)
			return "holds " + tl.data.lockOf(o.lock[ref]).name;
		if (kind === tl.FUTEX_WAIT)
			return "futex " + tl.data.lockOf(o.lock[ref]).name;
		if (kind === tl.BLOCKED)
			return tl.data.lockOf(o.lock[ref]).name || tl.about.states[o.state[ref]];
		if (kind === tl.INTERRUPT || kind === tl.SYSCALL || kind === tl.EVENT)
			return tl.data.lockOf(o.lock[ref]).name || tl.kinds[kind].words;
		/* The running task, or the task that preempted the thread. */
		const who = o.running[ref] ? tl.d.running.context[o.running_at[ref]] : o.by[ref];

		return who ? tl.data.context(who).text : tl.kinds[kind].words;
	}

	function textWidth(s) {
		let w = widths.get(s);

		if (w === undefined)
			widths.set(s, w = ctx.measureText(s).width);
		return w;
	}

	function fit(s, room) {
		const w = textWidth(s);

		if (w <= room)
			return s;
		let chars = Math.floor(s.length * (room - textWidth("\u2026")) / w);

		while (chars >= 2 && textWidth(s.slice(0, chars)) + textWidth("\u2026") > room)
			chars--;
		return chars >= 2 ? s.slice(0, chars) + "\u2026" : "";
	}

	/* Draws the parts of threads' tracks during the bars of another track. */
	function clippedLine(row, view, n, out, rowLabels) {
		const { start, end, n: nr } = row.over, { t0, scale } = view;
		const limit = t0 + n / scale;
		let i = tl.data.firstAfter(row.over, t0);

		while (i < nr && start[i] < limit) {
			if ((i & 255) === 0 && i + 256 <= nr && (end[i + 255] - start[i]) * scale < NARROW) {
				i += 256;
				continue;
			}
			if ((end[i] - start[i]) * scale >= NARROW) {
				const a = Math.max(Math.round((start[i] - t0) * scale), 0);
				const b = Math.min(Math.round((end[i] - t0) * scale), n);
				const track = b > a ? row.pick(tl.data.refOf(row.over, i)) : null;

				if (track && track.n)
					tl.paint.line(track, view, a, b, out, row.type !== "function", rowLabels);
			}
			i++;
		}
	}

	function paintRow(row, view) {
		const w = image.width, y = Math.round((top(row) - RULER) * dpr);
		const h = Math.max(Math.round(row.h * dpr), 1);
		const from = Math.max(y, 0), to = Math.min(y + h, image.height);

		if (to <= from)
			return;
		const out = pixels.subarray(from * w, (from + 1) * w);
		const rowLabels = row.h >= 12 ? labels : null, first = labels.length;

		if (row.over)
			clippedLine(row, view, w, out, rowLabels);
		else
			tl.paint.line(row.track, view, 0, w, out, row.type !== "function", rowLabels);
		for (let line = from + 1; line < to; line++)
			pixels.copyWithin(line * w, from * w, (from + 1) * w);
		if (labels.length > first)
			labels.push(row, first);
	}

	function eachVisible(f) {
		for (const lane of tl.layout.lanes) {
			const y = RULER + lane.y - tl.state.y;

			if (y + lane.h + 12 < RULER || y > height)
				continue;
			f(lane, y);
		}
	}

	/*
	 * labels has, for each row, any number of (track, i, a, b), then the row and the index of
	 * the first of these; it is read from the end.
	 */
	function drawLabels() {
		ctx.fillStyle = colors["c-ink"];
		ctx.textBaseline = "middle";
		for (let at = labels.length; at > 0;) {
			const row = labels[at - 2], first = labels[at - 1], y = middle(row) + 0.5;

			if (y > RULER + 2) {
				for (let k = first; k < at - 2; k += 4) {
					const a = labels[k + 2] / dpr, b = labels[k + 3] / dpr;
					const s = fit(label(labels[k], labels[k + 1]), b - a - 7);

					if (s)
						ctx.fillText(s, gutter + a + 4, y);
				}
			}
			at = first;
		}
	}

	function drawGutter() {
		ctx.fillStyle = colors.panel;
		ctx.fillRect(0, RULER, gutter - 1, height - RULER);
		ctx.fillStyle = colors.line;
		ctx.fillRect(gutter - 1, 0, 1, height);
		ctx.textBaseline = "alphabetic";
		eachVisible((lane, y) => {
			ctx.fillStyle = colors.line;
			ctx.fillRect(0, Math.round(y + lane.h + 5), width, 1);
			ctx.save();
			ctx.beginPath();
			ctx.rect(0, RULER, gutter - 4, height);
			ctx.clip();
			ctx.fillStyle = colors.fg;
			ctx.font = "600 12px " + tl.font;
			/* The name of a lane that is higher than the window remains visible. */
			const at = Math.max(Math.min(Math.max(y, RULER + 4), y + lane.h - 30), y);

			ctx.fillText((lane.isCollapsed ? "\u25b8 " : "\u25be ") + lane.label, 7, at + 12);
			ctx.fillStyle = colors.dim;
			ctx.font = "11px " + tl.font;
			if (lane.note && lane.h > 28)
				ctx.fillText(lane.note, 20, at + 26);
			ctx.restore();
		});
		ctx.font = "11px " + tl.font;
	}

	/*
	 * Draws the ruler.  Far from the start, a round time before the visible range is at the
	 * left edge, and the other times are relative to it.
	 */
	function drawRuler() {
		const { t0, t1 } = tl.state, span = t1 - t0, room = (width - gutter) / 110;
		let step = 10 ** Math.floor(Math.log10(span / Math.max(room, 2)));

		for (const k of [1, 2, 5, 10])
			if (span / (step * k) <= Math.max(room, 2)) {
				step *= k;
				break;
			}
		step = Math.max(step, 1);
		let base = 0;

		if (t0 > step * 1000) {
			const grain = 10 ** Math.ceil(Math.log10(span));

			base = Math.floor(t0 / grain) * grain;
		}
		ctx.fillStyle = colors.bg;
		ctx.fillRect(0, 0, width, RULER);
		ctx.font = "11px " + tl.font;
		ctx.textBaseline = "middle";
		for (let k = Math.ceil(t0 / step); k * step <= t1; k++) {
			const px = Math.round(x(k * step));

			ctx.fillStyle = colors.line;
			ctx.globalAlpha = 0.55;
			ctx.fillRect(px, RULER, 1, height - RULER);
			ctx.globalAlpha = 1;
			ctx.fillRect(px, RULER - 6, 1, 6);
			ctx.fillStyle = colors.dim;
			ctx.fillText((base ? "+" : "") + tickText(k * step - base, step), px + 4, RULER / 2 - 1);
		}
		ctx.fillStyle = colors.bg;
		ctx.fillRect(0, 0, gutter - 1, RULER);
		ctx.fillStyle = colors.fg;
		ctx.fillText(fit(base ? ldb.exact(base) : "time", gutter - 14), 7, RULER / 2 - 1);
		ctx.fillStyle = colors.line;
		ctx.fillRect(0, RULER - 1, width, 1);
		for (const t of tl.about.losses)
			if (t >= t0 && t <= t1) {
				ctx.fillStyle = colors.mark;
				ctx.fillRect(Math.round(x(t)) - 1, RULER - 7, 3, 7);
			}
	}

	function tickText(v, step) {
		const [unit, size] = step >= 1e9 ? ["s", 1e9] : step >= 1e6 ? ["ms", 1e6] :
				     step >= 1e3 ? ["us", 1e3] : ["ns", 1];

		return `${String(Math.round(v / size)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f")} ${unit}`;
	}

	/* Returns ranges [from, to) of pixels of which at least half is an observation gap. */
	function gapRuns(thread) {
		const cover = new Float32Array(width - gutter), { t0, t1 } = tl.state, runs = [];
		const scale = cover.length / (t1 - t0);

		for (const track of [tl.gaps.get(-1), tl.gaps.get(thread)]) {
			let i = track ? tl.data.firstAfter(track, t0) : 0;

			for (; track && i < track.n && track.start[i] < t1; i++) {
				const a = Math.max((track.start[i] - t0) * scale, 0);
				const b = Math.min((track.end[i] - t0) * scale, cover.length);

				for (let k = Math.floor(a); k < b; k++)
					cover[k] += Math.min(b, k + 1) - Math.max(a, k);
			}
		}
		for (let k = 0, from = -1; k <= cover.length; k++) {
			const isGap = k < cover.length && cover[k] >= 0.5;

			if (isGap && from < 0)
				from = k;
			if (!isGap && from >= 0) {
				runs.push([gutter + from, gutter + k]);
				from = -1;
			}
		}
		return runs;
	}

	/*
	 * Draws observation gaps: functions were not observed in these, but kernel events and locks
	 * were recorded.
	 */
	function drawGaps() {
		if (!tl.d.gaps.n)
			return;
		const all = gapRuns(-1);

		ctx.fillStyle = hatch;
		eachVisible((lane, y) => {
			const rows = lane.rows.filter((r) => r.type === "function");

			if (!rows.length)
				return;
			const from = y + rows[0].y, to = y + rows[rows.length - 1].y + rows[0].h;

			/* Gaps are drawn only while the thread existed. */
			const t = lane.thread >= 0 ? tl.threads[lane.thread] : null, isOpen = !t || t.end <= t.start;
			const least = isOpen ? gutter : x(t.start), most = isOpen ? width : x(t.end);

			for (const [a, b] of t && tl.gaps.has(lane.thread) ? gapRuns(lane.thread) : all)
				if (Math.min(b, most) > Math.max(a, least))
					ctx.fillRect(Math.max(a, least), from, Math.min(b, most) - Math.max(a, least), to - from);
		});
	}

	/*
	 * Marks the range of the shown request; in the view by thread, also dims everything that
	 * does not belong to it.
	 */
	function drawFocus() {
		const focus = tl.focus;

		if (!focus)
			return;
		const a = x(focus.start), b = x(focus.end);

		if (tl.state.view === "thread") {
			ctx.fillStyle = colors.bg;
			ctx.globalAlpha = 0.66;
			eachVisible((lane, y) => {
				let from = gutter;

				for (const [s, e] of focus.bright.get(lane.thread) || []) {
					const xs = Math.min(Math.max(x(s), gutter), width);

					if (xs > from)
						ctx.fillRect(from, y - 2, xs - from, lane.h + 4);
					from = Math.max(from, Math.min(x(e), width));
				}
				if (from < width)
					ctx.fillRect(from, y - 2, width - from, lane.h + 4);
			});
			ctx.globalAlpha = 1;
			drawBoxes(focus);
		}
		ctx.fillStyle = colors.accent;
		for (const px of [a, b])
			if (px >= gutter && px <= width)
				ctx.fillRect(Math.round(px), RULER - 1, 1, height - RULER + 1);
		ctx.globalAlpha = 0.9;
		ctx.fillRect(Math.max(a, gutter), RULER - 4, Math.max(Math.min(b, width) - Math.max(a, gutter), 1), 4);
		ctx.globalAlpha = 1;
	}

	/* Draws boxes around segments of other threads that blocked the request. */
	function drawBoxes(focus) {
		ctx.strokeStyle = colors.mark;
		ctx.lineWidth = 1.5;
		eachVisible((lane, y) => {
			for (const [s, e] of focus.blockers.get(lane.thread) || []) {
				const a = Math.max(x(s), gutter - 4), b = Math.min(x(e), width + 4);

				if (b > a && b > gutter && a < width)
					ctx.strokeRect(a, y - 3, Math.max(b - a, 2), lane.h + 6);
			}
		});
		ctx.lineWidth = 1;
	}

	/* Draws an arc from a to b, each { t, row }, with an arrow at its end. */
	function arc(a, b, color, strong) {
		if (!a.row || !b.row)
			return;
		const x1 = x(a.t), y1 = middle(a.row), x2 = x(b.t), y2 = middle(b.row);

		if (Math.max(x1, x2) < gutter || Math.min(x1, x2) > width ||
		    Math.max(y1, y2) < RULER || Math.min(y1, y2) > height)
			return;
		const bend = Math.min(60, 16 + Math.abs(y2 - y1) * 0.18);
		const side = x1 - bend < gutter ? 1 : -1;

		ctx.strokeStyle = ctx.fillStyle = color;
		ctx.lineWidth = strong ? 2 : 1;
		ctx.globalAlpha = strong ? 0.95 : 0.5;
		ctx.beginPath();
		ctx.moveTo(x1, y1);
		ctx.bezierCurveTo(x1 + side * bend, y1, x2 + side * bend, y2, x2, y2);
		ctx.stroke();
		const size = strong ? 7 : 4;

		ctx.beginPath();
		ctx.moveTo(x2, y2);
		ctx.lineTo(x2 + side * size, y2 - size * 0.55);
		ctx.lineTo(x2 + side * size, y2 + size * 0.55);
		ctx.fill();
		ctx.globalAlpha = 1;
		ctx.lineWidth = 1;
	}

	/*
	 * Returns the list, or nothing if there are so many arcs that they would cover the picture.
	 */
	function fewEnough(list) {
		return list.length > ARCS_SHOWN ? [] : list;
	}

	function drawArcs() {
		ctx.save();
		ctx.beginPath();
		ctx.rect(gutter, RULER, width - gutter, height - RULER);
		ctx.clip();
		if (tl.state.arcs)
			for (const a of fewEnough(tl.arcs.inView(ARCS_MAX)))
				arc(a.from, a.to, colors[a.color], false);
		for (const a of tl.arcs.ofFocus())
			arc(a.from, a.to, colors[a.color], true);
		for (const a of tl.arcs.ofSelection())
			arc(a.from, a.to, colors[a.color], true);
		drawMigrations();
		ctx.restore();
	}

	/*
	 * Draws a migration: in the view by CPU an arc between two lanes; by thread a mark, and
	 * both CPUs if there is room.
	 */
	function drawMigrations() {
		const list = tl.state.view === "request" ? [] : tl.arcs.migrations(ARCS_MAX), g = tl.d.migrations;
		const rowOf = (cpu) => (tl.layout.lanes.find((l) => l.cpu === cpu) || { rows: [null] }).rows[0];

		ctx.font = "10px " + tl.font;
		ctx.textBaseline = "middle";
		for (const m of list) {
			const text = `${g.from[m.i]}\u2192${g.to[m.i]}`;

			if (tl.state.view === "cpu") {
				arc({ t: m.at, row: rowOf(g.from[m.i]) }, { t: m.at, row: rowOf(g.to[m.i]) },
				    colors.fg, false);
				continue;
			}
			const px = x(m.at), y = m.row ? middle(m.row) : -1;

			if (y < RULER)
				continue;
			diamond(px, y);
			if (list.length <= MIGRATIONS_NAMED)
				ctx.fillText(text, px + 7, y - m.row.h / 2 - 6);
		}
	}

	function diamond(px, y) {
		ctx.beginPath();
		ctx.moveTo(px, y - 5);
		ctx.lineTo(px + 5, y);
		ctx.lineTo(px, y + 5);
		ctx.lineTo(px - 5, y);
		ctx.closePath();
		ctx.fillStyle = colors.fg;
		ctx.strokeStyle = colors.bg;
		ctx.fill();
		ctx.stroke();
	}

	function drawSelection() {
		const s = tl.selectedBar();

		if (!s || !s.row)
			return;
		const a = Math.max(x(s.start), gutter - 4), b = Math.min(x(s.end), width + 4), y = top(s.row);

		if (b < gutter || a > width || y + s.row.h < RULER)
			return;
		ctx.strokeStyle = colors.fg;
		ctx.lineWidth = 2;
		ctx.strokeRect(a, Math.max(y, RULER) - 1, Math.max(b - a, 3), s.row.h + 2);
		ctx.lineWidth = 1;
	}

	function frame() {
		const began = performance.now();
		const view = { t0: tl.state.t0, scale: image.width / (tl.state.t1 - tl.state.t0) };

		labels.length = 0;
		pixels.fill(tl.paint.background);
		eachVisible((lane) => {
			for (const row of lane.rows)
				paintRow(row, view);
		});
		ctx.setTransform(1, 0, 0, 1, 0, 0);
		ctx.putImageData(image, Math.round(gutter * dpr), Math.round(RULER * dpr));
		ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
		ctx.font = "12px " + tl.font;
		drawGaps();
		drawLabels();
		drawRuler();
		drawFocus();
		drawArcs();
		drawSelection();
		drawGutter();
		if (!tl.layout.lanes.length)
			drawEmpty();
		return performance.now() - began;
	}

	function drawEmpty() {
		ctx.fillStyle = colors.dim;
		ctx.font = "13px " + tl.font;
		ctx.fillText(tl.emptyText(), gutter + 24, RULER + 40);
	}

	/* Returns the bar at a point of the canvas; null: none. */
	function hit(px, py) {
		if (px < gutter || py < RULER)
			return null;
		const t = time(px), slack = 3 * (tl.state.t1 - tl.state.t0) / (width - gutter);
		let best = null;

		eachVisible((lane, y) => {
			for (const row of lane.rows) {
				const from = y + row.y;

				if (py >= from - 1 && py < from + row.h + 1 && !best)
					best = tl.views.find(row, t, slack);
			}
		});
		return best;
	}

	function laneAt(py) {
		let found = null;

		eachVisible((lane, y) => {
			if (py >= y - 4 && py <= y + lane.h + 4)
				found = lane;
		});
		return found;
	}

	return {
		init, resize, refreshColors, frame, hit, laneAt, x, time, label,
		get gutter() { return gutter; },
		get room() { return height - RULER; },
		get width() { return width; },
		/* Waits until the canvas has been painted; for measurements. */
		settle() { return ctx.getImageData(0, 0, 1, 1).data[0]; },
	};
})();
