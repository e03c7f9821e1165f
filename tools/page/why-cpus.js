// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws the core-context summary: for each CPU, for how much of the total time of all targets it
 * ran the program, ran another task, or was idle.
 */
"use strict";

const makeCpus = (() => {
	const ROW = 32, TOP = 6, LEFT = 66, RIGHT = 60, AXIS = 24, COLORS = 8;

	return function makeCpus() {
		const el = ldb.el, c = why.doc.cpus, spots = [];
		const totals = new Map();
		const view = plot.canvas({ id: "cpus", height: () => TOP + c.cpus.length * ROW + AXIS, draw, at,
			label: "running tasks of all CPUs during the targets" });
		const legend = el("div", { class: "legend cpus" });
		const node = el("div", {}, c.cpus.length ? [view.node, legend] : el("p", { class: "empty" }, c.kernel_events ?
			"No running task is known during the targets." :
			"Which tasks ran on the CPUs is known from kernel events, of which there are none in this recording."));

		for (const cpu of c.cpus)
			for (const k of cpu.contexts)
				totals.set(key(k), { ...k, ns: k.ns + (totals.has(key(k)) ? totals.get(key(k)).ns : 0) });
		const named = [...totals.values()].filter((k) => k.kind !== "idle").sort((a, b) => b.own - a.own || b.ns - a.ns);

		function key(k) {
			return `${k.kind} ${k.own} ${k.context}`;
		}

		/* Threads of the program are blue and green; other tasks have other colours. */
		const OWN = [1, 3, 5], OTHERS = [0, 2, 4, 6, 7];

		function color(k) {
			if (k.kind === "idle")
				return ldb.look.color("--line");
			const list = named.filter((n) => n.own === k.own), at = list.findIndex((n) => key(n) === key(k));
			const from = k.own ? OWN : OTHERS;

			return at < from.length ? ldb.look.color("--k" + from[at]) : ldb.look.color("--k-rest");
		}

		function draw(ctx, w) {
			const f = (ns) => LEFT + (w - LEFT - RIGHT) * ns / Math.max(c.lifetime_ns, 1);

			spots.length = 0;
			c.cpus.forEach((cpu, i) => {
				const y = TOP + i * ROW, h = ROW - 8;
				let sum = 0;

				ctx.fillStyle = ldb.look.color("--fg");
				ctx.textAlign = "right";
				ctx.fillText("CPU " + cpu.cpu, LEFT - 10, y + h / 2);
				ctx.strokeStyle = ldb.look.color("--line");
				ctx.strokeRect(LEFT + 0.5, y + 0.5, w - LEFT - RIGHT - 1, h - 1);
				for (const k of cpu.contexts) {
					const x0 = f(sum), x1 = f(sum += k.ns);

					ctx.fillStyle = color(k);
					ctx.fillRect(x0, y, Math.max(x1 - x0, 0.5), h);
					if (x1 - x0 > 60) {
						ctx.fillStyle = k.kind === "idle" ? ldb.look.color("--dim") : ldb.look.color("--raised");
						ctx.textAlign = "left";
						plot.text(ctx, k.context, x0 + 6, y + h / 2 + 1, x1 - x0 - 10);
					}
					spots.push({ x0, x1: Math.max(x1, x0 + 1), y0: y, y1: y + h, text: [`CPU ${cpu.cpu}: ${k.context}${k.own ? " (the program)" : ""}`,
						`${why.share(k.ns, c.lifetime_ns)} of the targets' time`, `${ldb.ns(k.ns)} (${ldb.exact(k.ns)})`] });
				}
				if (sum < c.lifetime_ns)
					spots.push({ x0: f(sum), x1: w - RIGHT, y0: y, y1: y + h, text: [`CPU ${cpu.cpu}: running task not known`,
						`${why.share(c.lifetime_ns - sum, c.lifetime_ns)} of the targets' time`] });
			});
			ctx.fillStyle = ldb.look.color("--dim");
			ctx.textAlign = "center";
			for (let p = 0; p <= 100; p += 25)
				ctx.fillText(p + " %", f(c.lifetime_ns * p / 100), TOP + c.cpus.length * ROW + 10);
		}

		function at(x, y) {
			return spots.find((s) => x >= s.x0 && x <= s.x1 && y >= s.y0 && y <= s.y1) || null;
		}

		function show() {
			const idle = [...totals.values()].find((k) => k.kind === "idle");

			if (!c.cpus.length)
				return;
			view.redraw();
			legend.replaceChildren(...[...named.slice(0, COLORS + 4), idle].filter(Boolean).map((k) => {
				const swatch = el("span", { class: "swatch" });

				swatch.style.background = color(k);
				return el("span", {}, swatch, `${k.context}${k.own ? " (the program)" : ""} ${why.share(k.ns, c.lifetime_ns * c.cpus.length)}`);
			}));
		}

		return { node, draw: show, spots };
	};
})();
