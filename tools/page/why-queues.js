// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the queueing breakdown.  Above: how many more requests than in the reference were ahead of
 * the targets (a dot for each number, whose area grows with the number of targets).  Below: how
 * much longer these targets waited.
 */
"use strict";

const makeQueues = (() => {
	const LEFT = 66, RIGHT = 10, TOP = 12, MIDDLE = 26, LABELS = 44, MOST = 12, SHOWN = 12;

	return function makeQueues() {
		const el = ldb.el, queues = why.doc.queues.slice(0, SHOWN), spots = [];
		const view = plot.canvas({ id: "queues", height: queues.length ? 380 : 30, draw, at, label: "queueing breakdown" });
		const left = why.doc.queues.length - queues.length;
		const node = el("div", {}, queues.length ? view.node :
			el("p", { class: "empty" }, "No target had more requests ahead of it than the median request."),
		left ? el("p", { class: "dim" }, `${left} more are in ldb-why --queues.`) : null);

		function name(q) {
			return `${q.class || "requests"} behind ${q.behind || "others"}`;
		}

		/* The scale is linear if at most 24 more requests were ahead, else logarithmic. */
		function depths(ctx, w, top, bottom) {
			const most = Math.max(...queues.map((q) => q.depth.max)), many = Math.max(...queues.flatMap((q) => q.more.map((m) => m.requests)));
			const f = most <= 24 ? (v) => bottom - (bottom - top) * v / (most + 0.5) :
				(v) => bottom - (bottom - top) * Math.log(1 + v) / Math.log(1 + most * 1.1);
			const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1e4, 1e5].find((s) => most / s <= 8) || most;

			ctx.textAlign = "right";
			ctx.strokeStyle = ldb.look.color("--line");
			for (let v = 0; v <= most; v += step) {
				ctx.fillStyle = ldb.look.color("--dim");
				ctx.fillText("+" + v, LEFT - 8, f(v));
				ctx.beginPath();
				ctx.moveTo(LEFT, f(v));
				ctx.lineTo(w - RIGHT, f(v));
				ctx.stroke();
			}
			queues.forEach((q, i) => {
				const x = middle(i, w);

				for (const m of q.more) {
					const r = 2 + (MOST - 2) * Math.sqrt(m.requests / many);

					ctx.globalAlpha = 0.75;
					ctx.fillStyle = ldb.look.color("--c-queue");
					ctx.beginPath();
					ctx.arc(x, f(m.ahead), r, 0, 7);
					ctx.fill();
					ctx.globalAlpha = 1;
					spots.push({ x, y: f(m.ahead), r: Math.max(r, 6), text: [name(q), q.where,
						`${m.ahead} more ahead than in the reference (${q.reference}): ${why.many(m.requests)} requests`] });
				}
				ctx.textAlign = "center";
				ctx.fillStyle = ldb.look.color("--fg");
				ctx.fillText(why.many(q.depth.count), x, top - 2);
			});
		}

		function middle(i, w) {
			return LEFT + (w - LEFT - RIGHT) * (i + 0.5) / queues.length;
		}

		function draw(ctx, w, h) {
			const split = TOP + (h - TOP - LABELS) * 0.55, bottom = h - LABELS;
			const f = plot.scale(Math.max(1, Math.min(...queues.map((q) => q.box.min_ns || q.box.q1_ns || 1)) * 0.8),
				Math.max(...queues.map((q) => q.box.max_ns)) * 1.2, bottom, split + MIDDLE);

			spots.length = 0;
			if (!queues.length)
				return;
			depths(ctx, w, TOP + 8, split);
			plot.axis(ctx, f, "y", LEFT, w - RIGHT, LEFT - 8);
			const room = (w - LEFT - RIGHT) / queues.length;

			queues.forEach((q, i) => {
				const x = middle(i, w), thick = Math.min(46, room * 0.5);

				plot.box(ctx, q.box, f, "y", x, thick, ldb.look.color("--c-queue"));
				spots.push({ x, y: (f(q.box.min_ns) + f(q.box.max_ns)) / 2, r: thick / 2, tall: Math.abs(f(q.box.max_ns) - f(q.box.min_ns)) / 2 + 4,
					text: [name(q), "waited more than the reference", ...plot.boxText(q.box)] });
				ctx.textAlign = "center";
				ctx.fillStyle = ldb.look.color("--fg");
				label(ctx, name(q), x, bottom + 14, room - 6);
				ctx.fillStyle = ldb.look.color("--dim");
				label(ctx, q.where, x, bottom + 31, room - 6);
			});
		}

		function label(ctx, s, x, y, room) {
			plot.text(ctx, s, x, y, room);
		}

		function at(x, y) {
			return spots.find((s) => Math.abs(s.x - x) <= s.r + 1 && Math.abs(s.y - y) <= (s.tall || s.r) + 1) || null;
		}

		return { node, draw: () => { if (queues.length) view.redraw(); }, spots };
	};
})();
