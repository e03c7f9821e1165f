// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws box plots of the time that causes added to the targets which have them: for all causes, by
 * category (or by kind, for causes without a category), or for the causes of one category.
 */
"use strict";

const makeBoxes = (() => {
	const TOP = 26, RIGHT = 16, SHOWN = 24, NARROW = 640;

	return function makeBoxes(state) {
		const el = ldb.el, doc = why.doc;
		let rows = [], by = "cause", f = null, left = 300;
		const buttons = ["cause", "category"].map((what) => el("button", { id: "by-" + what, onclick: () => {
			by = what;
			state.set({ group: "" });
			show();
		} }, what === "cause" ? "By cause" : "By category"));
		const order = el("select", { id: "box-order", "aria-label": "order of the boxes", onchange: () => show() },
			[["total", "most time first"], ["median", "greatest median first"], ["count", "most requests first"]]
				.map(([value, label]) => el("option", { value }, label)));
		const back = el("button", { onclick: () => state.set({ group: "" }) });
		const view = plot.canvas({ id: "boxes", height: (w) => TOP + 14 + Math.max(rows.length, 1) * height(w), draw, at, pick,
			label: "box plot of what causes added" });
		const more = el("p", { class: "dim" });
		const node = el("div", {}, el("div", { class: "tools" }, el("span", { class: "segmented" }, buttons), order, back), view.node, more);

		/* On a narrow screen names are above their boxes. */
		function height(w) {
			return w < NARROW ? 50 : 34;
		}

		function causesOf(g) {
			return g.causes.map((c) => ({ name: doc.causes[c.number].text, cause: c.number, box: c.box }));
		}

		function show() {
			const key = order.value === "count" ? "count" : order.value + "_ns";
			const zoomed = doc.boxes.find((g) => g.group === state.group);

			rows = zoomed ? causesOf(zoomed) : by === "cause" ? doc.boxes.flatMap(causesOf) :
				doc.boxes.map((g) => ({ name: g.group, group: g.group, nr: g.causes.length, box: g.box, cause: g.causes[0].number }));
			rows = rows.filter((r) => r.box.count).sort((a, b) => b.box[key] - a.box[key]);
			more.textContent = rows.length > SHOWN ? `${rows.length - SHOWN} more causes are in the table above.` : "";
			rows = rows.slice(0, SHOWN);
			buttons.forEach((b) => b.setAttribute("aria-pressed", !zoomed && b.id === "by-" + by));
			back.hidden = !zoomed;
			back.textContent = `\u2190 all; shown: ${state.group}`;
			view.redraw();
		}

		function draw(ctx, w, h) {
			const lo = Math.min(...rows.map((r) => r.box.min_ns)), hi = Math.max(...rows.map((r) => r.box.max_ns));

			if (!rows.length) {
				ctx.fillStyle = ldb.look.color("--dim");
				ctx.fillText("No cause was found.", 4, TOP);
				return;
			}
			const isNarrow = w < NARROW, ROW = height(w);

			left = isNarrow ? w - RIGHT : Math.min(420, w * 0.36);
			f = plot.scale(lo * 0.8, hi * 1.2, isNarrow ? 30 : left + 10, w - RIGHT);
			plot.axis(ctx, f, "x", TOP - 8, h, TOP - 16);
			rows.forEach((r, i) => {
				const middle = TOP + i * ROW + ROW / 2, y = isNarrow ? middle - 11 : middle, isPicked = r.cause === state.cause && !r.group;

				if (isPicked) {
					ctx.fillStyle = ldb.look.color("--accent");
					ctx.globalAlpha = 0.12;
					ctx.fillRect(0, middle - ROW / 2, w, ROW);
					ctx.globalAlpha = 1;
				}
				if (!r.group)
					plot.draw(ctx, r.cause, 10, y, 6, 1);
				ctx.fillStyle = ldb.look.color("--fg");
				ctx.textAlign = "left";
				plot.text(ctx, r.name + (r.group && r.nr > 1 ? ` (${r.nr} causes)` : ""), r.group ? 4 : 24, y, left - 78);
				ctx.fillStyle = ldb.look.color("--dim");
				ctx.textAlign = "right";
				ctx.fillText(why.many(r.box.count), left - 4, y);
				plot.box(ctx, r.box, f, "x", isNarrow ? middle + 10 : y, 16, r.group ? ldb.look.color("--accent") : plot.colorOf(r.cause));
			});
		}

		function at(x, y) {
			const r = rows[Math.floor((y - TOP) / height(view.width))];

			return r ? { row: r, text: [r.name, ...plot.boxText(r.box)] } : null;
		}

		function pick(found) {
			if (!found)
				return;
			if (found.row.group)
				state.set({ group: found.row.group, cause: -1 });
			else
				state.set({ cause: state.cause === found.row.cause ? -1 : found.row.cause });
		}

		return {
			node, draw: show, order,
			get rows() { return rows; },
			/* Returns where the box of a row is in the page; for tests. */
			place(i) {
				const box = view.view.getBoundingClientRect();

				return [box.left + f(rows[i].box.median_ns), box.top + TOP + (i + 0.5) * height(view.width)];
			},
		};
	};
})();
