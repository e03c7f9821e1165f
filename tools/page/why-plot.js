// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes canvases, and draws logarithmic axes, the marks of causes, and the text at the pointer. */
"use strict";

const plot = (() => {
	/* Shapes of marks, drawn around the origin with a radius of about 1. */
	const SHAPES = [
		"M1,0A1,1 0 1 1 -1,0A1,1 0 1 1 1,0Z",
		"M-.88,-.88H.88V.88H-.88Z",
		"M0,-1.12L1.08,.78H-1.08Z",
		"M0,-1.2L1.1,0L0,1.2L-1.1,0Z",
		"M0,1.12L1.08,-.78H-1.08Z",
		"M-.38,-1.05H.38V-.38H1.05V.38H.38V1.05H-.38V.38H-1.05V-.38H-.38Z",
		"M1.05,0L.52,.92H-.52L-1.05,0L-.52,-.92H.52Z",
		"M0,-1.2L.34,-.4L1.2,-.33L.55,.22L.76,1.1L0,.62L-.76,1.1L-.55,.22L-1.2,-.33L-.34,-.4Z",
	];
	const MARKS = 16, COLORS = 8;
	const paths = SHAPES.map((d) => new Path2D(d));

	/* The causes that took most time have different marks. */
	const place = new Uint32Array(why.doc.causes.length);

	why.doc.causes.map((c, i) => i).sort((a, b) => why.doc.causes[b].total_ns - why.doc.causes[a].total_ns || a - b)
		.forEach((cause, i) => { place[cause] = i; });

	/*
	 * After eight causes, colours are repeated with other shapes; when these are used up, all
	 * further marks are the same.
	 */
	function shapeOf(cause) {
		const at = place[cause];

		return at < COLORS ? at : at < MARKS ? (at + 3) % COLORS : 0;
	}

	/* Caches: there may be many thousands of marks, so each colour is read once. */
	const known = new Map(), sprites = new Map();

	ldb.look.changed(() => {
		known.clear();
		sprites.clear();
	});

	function color(name) {
		if (!known.has(name))
			known.set(name, ldb.look.color(name));
		return known.get(name);
	}

	function colorOf(cause) {
		return color(place[cause] < MARKS ? "--k" + place[cause] % COLORS : "--k-rest");
	}

	function paint(ctx, cause, r) {
		ctx.scale(r, r);
		ctx.fillStyle = colorOf(cause);
		ctx.fill(paths[shapeOf(cause)]);
		/* A small mark has no edge, which would leave no room inside. */
		if (r > 3.4) {
			ctx.lineWidth = 1 / r;
			ctx.strokeStyle = color("--raised");
			ctx.stroke(paths[shapeOf(cause)]);
		}
	}

	/* Returns a painted mark from the cache; radii are rounded to quarters. */
	function sprite(cause, r, dpr) {
		const key = `${Math.min(place[cause], MARKS)} ${r} ${dpr}`;

		if (!sprites.has(key)) {
			const view = document.createElement("canvas"), ctx = view.getContext("2d"), size = Math.ceil((2.6 * r + 2) * dpr);

			view.width = view.height = size;
			ctx.translate(size / 2, size / 2);
			ctx.scale(dpr, dpr);
			paint(ctx, cause, r);
			sprites.set(key, view);
		}
		return sprites.get(key);
	}

	function draw(ctx, cause, x, y, radius, alpha) {
		const dpr = devicePixelRatio || 1, r = Math.round(radius * 4) / 4 || 0.25, view = sprite(cause, r, dpr);
		const size = view.width / dpr;

		ctx.globalAlpha = alpha;
		ctx.drawImage(view, x - size / 2, y - size / 2, size, size);
		ctx.globalAlpha = 1;
	}

	function mark(cause) {
		const svg = d3.create("svg:svg").node(), path = d3.create("svg:path").node();

		svg.setAttribute("viewBox", "-1.3 -1.3 2.6 2.6");
		svg.setAttribute("width", 13);
		svg.setAttribute("height", 13);
		svg.setAttribute("class", "mark");
		svg.setAttribute("aria-hidden", "true");
		path.setAttribute("d", SHAPES[shapeOf(cause)]);
		path.style.fill = place[cause] < MARKS ? `var(--k${place[cause] % COLORS})` : "var(--k-rest)";
		svg.append(path);
		return svg;
	}

	/* Makes a canvas as wide as its node; draw(ctx, width, height) is called when necessary. */
	function canvas(options) {
		const node = ldb.el("div", { class: "plotbox" });
		const view = ldb.el("canvas", { id: options.id, role: "img", "aria-label": options.label });
		const tip = ldb.el("div", { class: "tip" });
		let width = 0, height = 0;

		tip.hidden = true;
		node.append(view, tip);

		function redraw() {
			const dpr = devicePixelRatio || 1;

			width = node.clientWidth;
			if (!width)
				return;
			height = typeof options.height === "function" ? options.height(width) : options.height;
			view.width = Math.round(width * dpr);
			view.height = Math.round(height * dpr);
			view.style.height = height + "px";
			const ctx = view.getContext("2d");

			ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
			ctx.clearRect(0, 0, width, height);
			ctx.font = "12px system-ui, \"DejaVu Sans\", sans-serif";
			ctx.textBaseline = "middle";
			options.draw(ctx, width, height);
		}

		/*
		 * Shows the text of the object at the pointer.  options.at(x, y) returns an object
		 * whose .text is an array of lines, or null.
		 */
		function point(e) {
			const box = view.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
			const at = options.at && options.at(x, y);

			tip.hidden = !at;
			view.style.cursor = at && options.pick ? "pointer" : "";
			if (!at)
				return;
			tip.replaceChildren(...at.text.map((line, i) => ldb.el("div", {}, i ? line : ldb.el("b", {}, line))));
			tip.style.left = Math.max(0, Math.min(x + 14, width - tip.offsetWidth - 4)) + "px";
			tip.style.top = (y + 20 + tip.offsetHeight > height ? Math.max(0, y - tip.offsetHeight - 10) : y + 16) + "px";
		}

		view.addEventListener("pointermove", point);
		view.addEventListener("pointerleave", () => { tip.hidden = true; });
		view.addEventListener("click", (e) => {
			const box = view.getBoundingClientRect();

			if (options.pick)
				options.pick(options.at(e.clientX - box.left, e.clientY - box.top));
		});
		return { node, view, tip, redraw, get width() { return width; }, get height() { return height; } };
	}

	/* Makes a logarithmic scale, which converts lo and hi to the pixels a and b. */
	function scale(lo, hi, a, b) {
		const l = Math.log10(Math.max(lo, 1)), h = Math.max(Math.log10(Math.max(hi, 1)), l + 0.05);

		const f = (v) => a + (b - a) * (Math.log10(Math.max(v, 1)) - l) / (h - l);

		f.ticks = (room) => ticks(10 ** l, 10 ** h, Math.abs(b - a) / room);
		return f;
	}

	/*
	 * Returns round values from lo to hi for an axis: 1, 2 and 5 times powers of ten, or fewer
	 * if these are more than `most`.
	 */
	function ticks(lo, hi, most) {
		const first = Math.floor(Math.log10(lo)), last = Math.ceil(Math.log10(hi));
		let list = [];

		for (const [steps, every] of [[[1, 2, 5], 1], [[1, 3], 1], [[1], 1], [[1], 2], [[1], 3]]) {
			list = [];
			for (let p = first; p <= last; p += every)
				for (const s of steps)
					if (s * 10 ** p >= lo * 0.999 && s * 10 ** p <= hi * 1.001)
						list.push(s * 10 ** p);
			if (list.length <= Math.max(most, 2))
				break;
		}
		return list.length ? list : [lo];
	}

	/*
	 * Draws lines across the plot, from `from` to `to`, with their values at `at`: which is "x"
	 * for vertical lines, "y" for horizontal ones.
	 */
	function axis(ctx, f, which, from, to, at) {
		ctx.save();
		ctx.strokeStyle = ldb.look.color("--line");
		ctx.fillStyle = ldb.look.color("--dim");
		ctx.lineWidth = 1;
		ctx.textAlign = which === "x" ? "center" : "right";
		for (const v of f.ticks(which === "x" ? 66 : 30)) {
			const p = Math.round(f(v)) + 0.5;

			ctx.beginPath();
			if (which === "x") {
				ctx.moveTo(p, from);
				ctx.lineTo(p, to);
				ctx.fillText(ldb.ns(v), p, at);
			} else {
				ctx.moveTo(from, p);
				ctx.lineTo(to, p);
				ctx.fillText(ldb.ns(v), at, p);
			}
			ctx.stroke();
		}
		ctx.restore();
	}

	/* Draws a string, shortened if it does not fit. */
	function text(ctx, s, x, y, room) {
		let cut = s;

		if (ctx.measureText(s).width > room) {
			while (cut && ctx.measureText(cut + "\u2026").width > room)
				cut = cut.slice(0, -1);
			cut += "\u2026";
		}
		ctx.fillText(cut, x, y);
	}

	/* Draws a box along "x" or "y", centred on `at`. */
	function box(ctx, b, f, which, at, thick, color) {
		const line = (v0, v1, w) => {
			const a = f(v0), e = f(v1);

			ctx.beginPath();
			if (which === "x") {
				ctx.moveTo(a, at - w);
				ctx.lineTo(e, at + w);
			} else {
				ctx.moveTo(at - w, a);
				ctx.lineTo(at + w, e);
			}
			ctx.stroke();
		};
		const q1 = f(b.q1_ns), q3 = f(b.q3_ns), half = thick / 2;

		ctx.save();
		ctx.strokeStyle = color;
		ctx.lineWidth = 1.5;
		line(b.min_ns, b.max_ns, 0);
		line(b.min_ns, b.min_ns, half * 0.55);
		line(b.max_ns, b.max_ns, half * 0.55);
		ctx.fillStyle = ldb.look.color("--raised");
		const rect = which === "x" ? [Math.min(q1, q3), at - half, Math.max(Math.abs(q3 - q1), 2), thick] :
			[at - half, Math.min(q1, q3), thick, Math.max(Math.abs(q3 - q1), 2)];

		ctx.fillRect(...rect);
		ctx.globalAlpha = 0.45;
		ctx.fillStyle = color;
		ctx.fillRect(...rect);
		ctx.globalAlpha = 1;
		ctx.strokeRect(...rect);
		ctx.lineWidth = 3;
		line(b.median_ns, b.median_ns, half);
		ctx.restore();
	}

	function boxText(b) {
		return [`${why.many(b.count)} requests, ${ldb.ns(b.total_ns)} in all`,
			`median ${ldb.ns(b.median_ns)} (${ldb.exact(b.median_ns)})`,
			`quartiles ${ldb.ns(b.q1_ns)}, ${ldb.ns(b.q3_ns)}`, `from ${ldb.ns(b.min_ns)} to ${ldb.ns(b.max_ns)}`];
	}

	return { canvas, scale, axis, box, boxText, text, draw, mark, colorOf, place };
})();
