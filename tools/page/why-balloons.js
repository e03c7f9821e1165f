// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the outlier plot: latencies in order of arrival.  The three biggest causes of each target
 * are circles whose size is the time that they added.  The first circle is at the request's
 * latency; each further one is where the latency would be without the causes before it.
 */
"use strict";

const makeBalloons = (() => {
	const CAUSES = 3, LEFT = 66, RIGHT = 18, TOP = 14, BOTTOM = 34, LEAST = 3;

	function all() {
		const list = [];

		for (let i = 0; i < why.count; i++) {
			let y = why.tables.targets.latency[i];
			const a = why.tables.amounts, end = Math.min(why.tables.first[i] + CAUSES, why.tables.first[i + 1]);

			for (let k = why.tables.first[i]; k < end; k++) {
				list.push({ target: i, cause: a.cause[k], ns: a.ns[k], x: why.tables.targets.number[i], y: Math.max(y, 1) });
				y -= a.ns[k];
			}
		}
		return list.sort((a, b) => b.ns - a.ns);
	}

	return function makeBalloons(state) {
		const el = ldb.el, balloons = all(), bins = why.tables.bins;
		const most = balloons.length ? balloons[0].ns : 1;
		/*
		 * If there are many circles, they are smaller, so that they do not cover each
		 * other.
		 */
		const MOST = balloons.length < 500 ? 15 : balloons.length < 20000 ? 12 : 8;
		let from = 0, to = Math.max(why.doc.requests, 1), drag = null, fx, fy;
		let lo = Infinity, hi = 2;

		for (const v of bins.min)
			lo = Math.min(lo, Math.max(v, 1));
		for (const b of balloons)
			lo = Math.min(lo, b.y);
		for (const v of bins.max)
			hi = Math.max(hi, v);
		lo = Math.min(lo, hi);
		const view = plot.canvas({ id: "balloons", height: (w) => (w < 700 ? 300 : 400), draw, at, pick,
			label: "latencies of requests in order of arrival, and the causes of the slow ones" });
		const marks = el("div", { class: "marks", id: "marks" });
		const reset = el("button", { onclick: () => zoom(0, why.doc.requests) }, "All requests");
		const note = el("p", { class: "dim" }, "An outlier plot (NSight: balloon plot): causes of slow requests, as big as what they added. " +
			"The grey line is the median of all requests, the band from least to greatest. Drag to zoom, click for the request.");
		const node = el("div", {}, view.node, marks, el("div", { class: "tools" }, note, reset));

		reset.hidden = true;

		function zoom(a, b) {
			from = Math.max(0, Math.min(a, b));
			to = Math.min(why.doc.requests, Math.max(a, b));
			if (to - from < 5)
				[from, to] = [Math.max(0, from - 3), from + 3];
			reset.hidden = from === 0 && to === why.doc.requests;
			view.redraw();
		}

		function radius(b) {
			return LEAST + (MOST - LEAST) * Math.sqrt(b.ns / most);
		}

		function band(ctx) {
			ctx.fillStyle = ldb.look.color("--c-part");
			ctx.globalAlpha = 0.55;
			for (let i = 0; i < bins.first.length; i++) {
				const x0 = fx(bins.first[i]), x1 = fx(bins.first[i] + bins.count[i]);

				if (x1 >= LEFT && x0 <= view.width - RIGHT)
					ctx.fillRect(x0, fy(bins.max[i]), Math.max(x1 - x0, 1), Math.max(1, fy(Math.max(bins.min[i], 1)) - fy(bins.max[i])));
			}
			ctx.globalAlpha = 1;
			ctx.strokeStyle = ldb.look.color("--dim");
			ctx.lineWidth = 1;
			ctx.beginPath();
			for (let i = 0; i < bins.first.length; i++) {
				const x = fx(bins.first[i] + bins.count[i] / 2), y = fy(bins.median[i]);

				if (i)
					ctx.lineTo(x, y);
				else
					ctx.moveTo(x, y);
			}
			ctx.stroke();
		}

		function dimmed(b) {
			return state.cause >= 0 ? b.cause !== state.cause : state.group ? why.doc.causes[b.cause].group !== state.group : false;
		}

		/* Draws a line through the circles of a target, down to the reference. */
		function stem(ctx) {
			const mine = balloons.filter((b) => b.target === state.target);

			if (state.target < 0)
				return;
			const t = why.target(state.target), x = fx(t.number + 0.5);

			ctx.strokeStyle = ldb.look.color("--mark");
			ctx.lineWidth = 1.5;
			ctx.beginPath();
			ctx.moveTo(x, fy(t.latency_ns));
			ctx.lineTo(x, fy(Math.max(t.latency_ns - t.deviation_ns, 1)));
			ctx.stroke();
			for (const b of mine) {
				plot.draw(ctx, b.cause, x, fy(b.y), radius(b), 1);
				ctx.beginPath();
				ctx.arc(x, fy(b.y), radius(b) + 3, 0, 7);
				ctx.stroke();
			}
		}

		function draw(ctx, w, h) {
			const linear = (a, b) => (v) => LEFT + (w - LEFT - RIGHT) * (v - a) / Math.max(b - a, 1);

			fx = linear(from, to);
			fy = plot.scale(lo * 0.85, hi * 1.25, h - BOTTOM, TOP);
			plot.axis(ctx, fy, "y", LEFT, w - RIGHT, LEFT - 8);
			ctx.save();
			ctx.beginPath();
			ctx.rect(LEFT - 6, 0, w - LEFT + 6, h - BOTTOM + 8);
			ctx.clip();
			band(ctx);
			for (const b of balloons)
				if (dimmed(b))
					plot.draw(ctx, b.cause, fx(b.x + 0.5), fy(b.y), radius(b), 0.12);
			for (const b of balloons)
				if (!dimmed(b))
					plot.draw(ctx, b.cause, fx(b.x + 0.5), fy(b.y), radius(b), 0.72);
			stem(ctx);
			if (drag && drag.moved) {
				ctx.fillStyle = ldb.look.color("--accent");
				ctx.globalAlpha = 0.2;
				ctx.fillRect(Math.min(drag.a, drag.b), 0, Math.abs(drag.b - drag.a), h);
			}
			ctx.restore();
			ctx.fillStyle = ldb.look.color("--dim");
			ctx.textAlign = "left";
			ctx.fillText(why.many(Math.round(from) + 1), LEFT, h - BOTTOM + 16);
			ctx.textAlign = "center";
			ctx.fillText("requests in order of arrival", (LEFT + w - RIGHT) / 2, h - BOTTOM + 16);
			ctx.textAlign = "right";
			ctx.fillText(why.many(Math.round(to)), w - RIGHT, h - BOTTOM + 16);
		}

		function nearest(x, y) {
			let best = null, least = 15 * 15;

			for (const b of balloons) {
				const dx = fx(b.x + 0.5) - x, dy = fy(b.y) - y, d = dx * dx + dy * dy, r = radius(b);

				/*
				 * If several circles are under the pointer, the smallest one is
				 * selected, because it is drawn on top.
				 */
				const far = d <= r * r ? -1 / r : d - r * r;

				if (!dimmed(b) && far < least) {
					least = far;
					best = b;
				}
			}
			return best;
		}

		function at(x, y) {
			const b = fx && nearest(x, y);

			if (!b)
				return null;
			const t = why.target(b.target);

			return { balloon: b, text: [`req ${t.req}${t.class ? " " + t.class : ""}: ${ldb.ns(t.latency_ns)}`,
				...t.amounts.slice(0, CAUSES).map((a) => `${ldb.ns(a.ns)} ${why.doc.causes[a.cause].text}`),
				t.amounts.length > CAUSES ? `and ${t.amounts.length - CAUSES} more` : "",
				t.root_label ? `in the end: ${t.root} ${t.root_label}` : ""].filter(Boolean) };
		}

		function pick(found) {
			if (!drag || !drag.moved)
				state.set({ target: found ? found.balloon.target : -1 });
			drag = null;
		}

		view.view.addEventListener("pointerdown", (e) => {
			const x = e.clientX - view.view.getBoundingClientRect().left;

			drag = { a: x, b: x, moved: false };
		});
		view.view.addEventListener("pointermove", (e) => {
			if (!drag || !e.buttons)
				return;
			drag.b = e.clientX - view.view.getBoundingClientRect().left;
			drag.moved = drag.moved || Math.abs(drag.b - drag.a) > 6;
			if (drag.moved)
				view.redraw();
		});
		view.view.addEventListener("pointerup", () => {
			const back = (x) => from + (x - LEFT) / (view.width - LEFT - RIGHT) * (to - from);

			if (drag && drag.moved)
				zoom(back(drag.a), back(drag.b));
		});
		view.view.addEventListener("dblclick", () => zoom(0, why.doc.requests));

		function drawMarks() {
			marks.replaceChildren(...why.doc.causes.map((c, i) => [c, i]).filter(([c]) => c.first)
				.sort((a, b) => plot.place[a[1]] - plot.place[b[1]]).slice(0, 16).map(([c, i]) =>
				el("button", { "aria-pressed": state.cause === i, title: c.text, onclick: () => state.set({ cause: state.cause === i ? -1 : i, group: "" }) },
					plot.mark(i), el("span", {}, c.text), el("span", { class: "dim" }, why.many(c.first)))));
		}

		return {
			node, balloons, zoom,
			/* Returns where a circle is in the page; for tests. */
			place(b) {
				const box = view.view.getBoundingClientRect();

				return [box.left + fx(b.x + 0.5), box.top + fy(b.y)];
			},
			draw() {
				drawMarks();
				view.redraw();
			},
			get range() { return [from, to]; },
		};
	};
})();
