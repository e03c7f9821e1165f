// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws one target: a lane for each thread that worked on it, and below these the lanes of threads
 * that it waited for.  This is a compact form of the page of ldb-timeline.
 */
"use strict";

const makeInstance = (() => {
	const LEFT = 150, RIGHT = 12, TOP = 24, ROW = 17, GAP = 10, DEPTH_MAX = 14;

	return function makeInstance() {
		const el = ldb.el, spots = [];
		let lanes = [], length = 1, height = 40;
		const view = plot.canvas({ id: "instance", height: () => height, draw, at, label: "what happened to the request" });
		const note = el("p", { class: "dim" });
		const node = el("div", {}, note, view.node);

		function makeLanes(segments) {
			const by = new Map();

			for (const s of segments) {
				/* Threads for which the target waited have separate lanes. */
				const key = (s.blocks ? "1 " : "0 ") + s.tid;

				if (!by.has(key))
					by.set(key, { label: `${s.thread} ${s.tid}`.trim(), blocks: s.blocks, rows: new Map() });
				const lane = by.get(key), depth = Math.min(s.depth, DEPTH_MAX);
				const row = s.kind === "function" ? 100 + depth : s.rank;

				if (!lane.rows.has(row))
					lane.rows.set(row, []);
				lane.rows.get(row).push(s);
			}
			let y = TOP;

			lanes = [...by.entries()].sort(([a], [b]) => a[0] === b[0] ? 0 : a < b ? -1 : 1).map(([, lane]) => {
				lane.y = y;
				lane.at = [...lane.rows.entries()].sort(([a], [b]) => a - b).map(([, list], i) => ({ list, y: y + i * ROW }));
				y += lane.at.length * ROW + GAP;
				lane.end = y - GAP;
				return lane;
			});
			height = y + 6;
		}

		function color(s) {
			if (s.kind !== "function")
				return ldb.look.color("--c-" + s.colour);
			let hash = 0;

			for (let i = 0; i < s.name.length; i++)
				hash = (hash * 31 + s.name.charCodeAt(i)) >>> 0;
			return ldb.look.color("--f" + hash % 10);
		}

		function bar(ctx, s, y, f) {
			const x0 = f(s.start), x1 = Math.max(f(s.end), x0 + 1);

			ctx.fillStyle = color(s);
			ctx.fillRect(x0, y, x1 - x0, ROW - 2);
			if (x1 - x0 > 34) {
				ctx.fillStyle = ldb.look.color("--c-ink");
				ctx.textAlign = "left";
				plot.text(ctx, labelOf(s), x0 + 4, y + ROW / 2, x1 - x0 - 6);
			}
			spots.push({ x0, x1, y0: y, y1: y + ROW - 2, text: [labelOf(s), `${ldb.ns(s.end - s.start)}` +
				(s.resolution ? ` \u00b1${ldb.ns(s.resolution)}` : "") + ` (${ldb.exact(s.end - s.start)})`,
			`from ${ldb.ns(s.start)} on`, s.blocks ? "blocked the request" : ""].filter(Boolean) });
		}

		function labelOf(s) {
			if (s.kind === "function")
				return s.name + "()";
			return `${s.kind.replace(/_/g, " ")}${s.name && s.name !== s.kind ? " " + s.name : ""}`;
		}

		function times(ctx, w, f) {
			const step = [1, 2, 5].flatMap((m) => [...Array(13).keys()].map((p) => m * 10 ** p)).sort((a, b) => a - b)
				.find((s) => length / s <= Math.max((w - LEFT) / 110, 2)) || length;

			ctx.textAlign = "center";
			for (let t = 0; t <= length; t += step) {
				const x = Math.round(f(t)) + 0.5;

				ctx.strokeStyle = ldb.look.color("--line");
				ctx.beginPath();
				ctx.moveTo(x, TOP - 6);
				ctx.lineTo(x, height);
				ctx.stroke();
				ctx.fillStyle = ldb.look.color("--dim");
				ctx.fillText(ldb.ns(t), Math.min(x, w - 26), TOP - 14);
			}
		}

		function draw(ctx, w) {
			const f = (t) => LEFT + (w - LEFT - RIGHT) * Math.max(0, Math.min(t, length)) / length;

			spots.length = 0;
			times(ctx, w, f);
			/* Draws the start and the end. */
			ctx.setLineDash([5, 4]);
			ctx.strokeStyle = ldb.look.color("--dim");
			for (const t of [0, length]) {
				ctx.beginPath();
				ctx.moveTo(f(t), TOP - 6);
				ctx.lineTo(f(t), height);
				ctx.stroke();
			}
			ctx.setLineDash([]);
			for (const lane of lanes) {
				ctx.fillStyle = ldb.look.color(lane.blocks ? "--mark" : "--fg");
				ctx.textAlign = "left";
				plot.text(ctx, lane.label, 4, lane.y + ROW / 2, LEFT - 12);
				if (lane.blocks && lane.at.length > 1) {
					ctx.fillStyle = ldb.look.color("--dim");
					plot.text(ctx, "blocked by", 4, lane.y + ROW * 1.5, LEFT - 12);
				}
				for (const row of lane.at)
					for (const s of row.list)
						bar(ctx, s, row.y, f);
			}
		}

		function at(x, y) {
			/* The last drawn segment is on top. */
			return spots.findLast((s) => x >= s.x0 && x <= s.x1 && y >= s.y0 && y <= s.y1) || null;
		}

		return {
			node, spots,
			show(i) {
				const t = why.target(i), segments = why.instance(i);
				const command = el("code", { class: "mono", title: "a page with this request's timeline" },
					`ldb-timeline --req ${t.req} -o req.html`);

				view.node.hidden = !segments || !segments.length;
				note.replaceChildren(segments ? "The request on the threads that worked on it; everything else: " :
					"What happened to it is not in this page: ", command);
				length = Math.max(t.latency_ns, 1);
				makeLanes(segments || []);
				view.redraw();
			},
			draw: () => view.redraw(),
		};
	};
})();
