// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles buttons, keys, the mouse, the overview and the dialogs. */
"use strict";

tl.controls = (() => {
	const el = ldb.el;
	const KEYS = [
		["w s", "zoom in, out (at the pointer, if it is over the picture)"],
		["a d", "pan left, right"],
		["\u2190 \u2192", "previous, next bar in the row of the selection; else pan"],
		["\u2191 \u2193", "caller, callee of the selection; else scroll"],
		["PgUp PgDn", "scroll"],
		["Enter", "select the longest bar in view; then zoom to it"],
		["f", "follow the arc: wait \u2192 holder \u2192 what it executed"],
		["0", "fit everything"],
		["g", "the slowest requests"],
		["r", "back to the request that is shown"],
		["1 2 3", "rows by thread, by request, by CPU"],
		["/", "search; n next match, N previous"],
		["e", "arcs: wake-ups, hand-offs, waits"],
		["t c", "light or dark; colour-blind safe"],
		["Esc", "clear the selection, the search, the request"],
		["?", "this help"],
	];
	/* Returns the entries of the legend, except that of functions. */
	const legend = () => [...tl.kinds.filter((kind) => kind.row !== "function").map((kind) => [kind.colour, kind.words]),
			      ["run", "own thread on a CPU"], ["other", "other task"]];
	let pointer = null, drag = null;

	function button(id, text, title, action) {
		return el("button", { id, title, onclick: action }, text);
	}

	function viewButton(view, text, key) {
		return el("button", { "data-view": view, "aria-pressed": "false", title: `rows by ${view} (${key})`,
			onclick: () => tl.setView(view) }, text);
	}

	function tab(name, text) {
		return el("button", { id: `tab-${name}`, role: "tab", "data-tab": name, "aria-controls": "panel",
			onclick: () => showTab(name) }, text);
	}

	function showTab(name) {
		tl.state.tab = name;
		tl.panel.show();
	}

	function help() {
		return el("dialog", { id: "help", "aria-labelledby": "help-title" },
			el("h2", { id: "help-title" }, "Keys and mouse"),
			el("table", {}, KEYS.map(([keys, what]) => el("tr", {},
				el("td", {}, keys.split(" ").map((k) => [el("kbd", {}, k), " "])), el("td", {}, what)))),
			el("p", {}, "Drag to pan, wheel to zoom; Shift and wheel, or the wheel over the names, ",
			   "to scroll. Click a bar for details, a name to collapse its lane, the strip on top to go there."),
			el("p", { class: "dim" }, "Bars narrower than a pixel are merged: the colour is that of the ",
			   "longest one, as strong as the part of the pixel they cover. Hatched: unobserved, so ",
			   "nothing is known."),
			closeButton());
	}

	function closeButton() {
		return el("form", { method: "dialog" }, el("button", {}, "Close"));
	}

	function recording() {
		return el("dialog", { id: "recording", "aria-labelledby": "recording-title" },
			el("h2", { id: "recording-title" }, "This recording"), el("pre", { id: "head" }), closeButton());
	}

	function build() {
		document.body.append(
			el("header", {},
				el("h1", {}, "ldb ", el("span", { id: "cmdline" })),
				el("div", { id: "views", role: "group", "aria-label": "rows by" },
					viewButton("thread", "Threads", 1), viewButton("request", "Requests", 2),
					viewButton("cpu", "CPUs", 3)),
				el("input", { id: "search", type: "search", placeholder: "search: regular expression  (/)",
					      "aria-label": "search by regular expression", spellcheck: "false" }),
				button("slowest", "Slowest requests", "go to the slowest requests (g)", goToSlowest),
				button("fit", "Fit", "everything (0)", () => tl.fit()),
				button("arcs", "Arcs", "wake-ups, hand-offs, waits (e)", toggleArcs),
				ldb.look.buttons(),
				button("help-button", "?", "help (?)", () => document.getElementById("help").showModal())),
			el("div", { id: "notices" }),
			el("section", { id: "explanation", hidden: true, "aria-label": "the request that is shown" }),
			el("main", {},
				el("div", { id: "stage" },
					el("canvas", { id: "overview", "aria-hidden": "true" }),
					el("div", { id: "frame" },
						el("canvas", { id: "chart", tabindex: "0", role: "application",
							"aria-label": "timeline: w a s d move, Enter selects, question mark lists the keys",
							"aria-describedby": "live" }),
						el("div", { id: "scroll", "aria-hidden": "true" }),
						el("div", { id: "tip", hidden: true }))),
				el("aside", { "aria-label": "details" },
					el("div", { id: "tabs", role: "tablist" }, tab("details", "Details"),
					   tab("slowest", "Slowest"), tab("matches", "Matches")),
					el("div", { id: "panel", role: "tabpanel", tabindex: "0" }))),
			el("footer", { "aria-label": "legend" }, legend().map(([name, text]) =>
				el("span", { class: `key-${name}` }, el("i", { class: `swatch ${name}` }), text)),
				el("span", {}, el("i", { class: "swatch hatched" }), "unobserved"),
				el("span", {}, el("i", { class: "diamond" }, "\u25c6"), " moved to another CPU"),
				el("span", { class: "key-function" }, ...[0, 1, 2, 3].map((k) => el("i", { class: `swatch f${k}` })),
				   " functions, by name")),
			help(), recording(), el("div", { id: "live", class: "sr", role: "status", "aria-live": "polite" }));
		tl.panel.init(document.getElementById("panel"));
	}

	function goToSlowest() {
		const list = tl.d.requests.slowest;

		if (list.length)
			tl.lookAt(list[0]);
		showTab("slowest");
		const first = document.querySelector("#panel button");

		if (first)
			first.focus();
	}

	function toggleArcs() {
		tl.state.arcs = !tl.state.arcs;
		document.getElementById("arcs").setAttribute("aria-pressed", tl.state.arcs);
		tl.app.save();
		tl.app.invalidate();
	}

	function search(text, isQuiet) {
		const result = tl.search.run(text);

		if (!isQuiet) {
			tl.state.tab = text ? "matches" : "details";
			tl.panel.show();
			tl.app.say(!result ? "" : result.error || `${result.spans.all.count} calls match`);
			tl.app.save();
		}
		tl.app.invalidate();
	}

	function step(direction) {
		const found = tl.search.next(direction);

		if (found) {
			const tabName = tl.state.tab;

			tl.select(found.table, found.ref, true);
			tl.state.tab = tabName === "matches" ? "matches" : "details";
			tl.panel.show();
		} else {
			tl.app.say("no more matches");
		}
	}

	/*
	 * Moves the selection to the previous or next bar in its row, or to a row above or below.
	 */
	function move(dx, dy) {
		const bar = tl.selectedBar(), s = tl.state.selected;

		if (!bar || !bar.row)
			return false;
		if (s.table === "span") {
			const track = tl.data.trackOfSpan(s.ref), i = s.ref - track.base + dx;
			const other = tl.threads[track.thread].functions[track.depth + dy];

			if (dx && i >= 0 && i < track.n) {
				tl.select("span", track.base + i, true);
			} else if (dy && other) {
				const k = tl.data.firstAfter(other, dy < 0 ? (bar.start + bar.end) / 2 : bar.start);

				if (k < other.n && other.start[k] <= bar.end)
					tl.select("span", other.base + k, true);
			}
			return true;
		}
		const track = bar.row.track;

		if (!dx || !track || !track.refs)
			return false;
		const i = track.refs.indexOf(s.ref) + dx;

		if (i >= 0 && i < track.n)
			tl.select(track.table, track.refs[i], true);
		return true;
	}

	/*
	 * If nothing is selected, selects the longest bar of the visible rows; else zooms in on the
	 * selection.
	 */
	function enter() {
		if (tl.state.selected) {
			tl.zoomToSelection();
			return;
		}
		const { t0, t1 } = tl.state;
		let best = null, most = 0;

		for (const lane of tl.layout.lanes)
			for (const row of lane.rows) {
				const found = tl.views.find(row, (t0 + t1) / 2, (t1 - t0) / 2);
				const length = found ? Math.min(found.track.end[found.i], t1) -
					Math.max(found.track.start[found.i], t0) : 0;

				if (length > most) {
					most = length;
					best = found;
				}
			}
		if (best)
			tl.select(best.track.table, tl.data.refOf(best.track, best.i), true);
	}

	function escape() {
		if (tl.state.selected)
			tl.select(null);
		else if (tl.state.query)
			clearSearch();
		else if (tl.focus)
			tl.lookAt(-1);
	}

	function clearSearch() {
		document.getElementById("search").value = "";
		search("");
	}

	function zoomAt(factor) {
		tl.app.zoom(factor, pointer && pointer.x > tl.draw.gutter ? tl.draw.time(pointer.x) : undefined);
	}

	const ACTIONS = {
		w: () => zoomAt(0.75), s: () => zoomAt(1 / 0.75),
		a: () => tl.app.pan(-0.15), d: () => tl.app.pan(0.15),
		ArrowLeft: () => move(-1, 0) || tl.app.pan(-0.1), ArrowRight: () => move(1, 0) || tl.app.pan(0.1),
		ArrowUp: () => move(0, -1) || tl.app.scroll(-60), ArrowDown: () => move(0, 1) || tl.app.scroll(60),
		PageUp: () => tl.app.scroll(-tl.draw.room * 0.8), PageDown: () => tl.app.scroll(tl.draw.room * 0.8),
		Enter: enter, f: () => tl.follow(), 0: () => tl.fit(), g: goToSlowest,
		r: () => tl.focus && tl.lookAt(tl.focus.request),
		1: () => tl.setView("thread"), 2: () => tl.setView("request"), 3: () => tl.setView("cpu"),
		"/": () => document.getElementById("search").focus(), n: () => step(1), N: () => step(-1),
		e: toggleArcs, t: () => document.getElementById("theme").click(),
		c: () => document.getElementById("palette").click(), Escape: escape,
		"?": () => document.getElementById("help").showModal(),
	};

	function onKey(e) {
		const inText = e.target.tagName === "INPUT", inButton = e.target.tagName === "BUTTON";

		if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]"))
			return;
		if (inText) {
			if (e.key === "Escape" || e.key === "Enter") {
				document.getElementById("chart").focus();
				e.preventDefault();
			}
			return;
		}
		/*
		 * Keys for a focused button, and keys that scroll the panel, are not handled here.
		 */
		if ((inButton && (e.key === "Enter" || e.key === " ")) ||
		    (e.target.closest("aside") && /^(Arrow|Page)/.test(e.key)))
			return;
		const action = ACTIONS[e.key];

		if (action) {
			action();
			e.preventDefault();
		}
	}

	function at(e) {
		const box = document.getElementById("chart").getBoundingClientRect();

		return { x: e.clientX - box.left, y: e.clientY - box.top };
	}

	function onWheel(e) {
		const p = at(e), lines = e.deltaMode === 1 ? 16 : 1;

		e.preventDefault();
		if (e.deltaX && Math.abs(e.deltaX) > Math.abs(e.deltaY) && !e.shiftKey)
			tl.app.pan(e.deltaX * lines / tl.draw.width);
		else if (e.shiftKey || p.x < tl.draw.gutter)
			tl.app.scroll((e.deltaY || e.deltaX) * lines);
		else
			tl.app.zoom(Math.exp(Math.max(Math.min(e.deltaY * lines, 300), -300) * 0.0022), tl.draw.time(p.x));
	}

	function onDown(e) {
		if (e.button)
			return;
		const p = at(e);

		drag = { x: p.x, y: p.y, t0: tl.state.t0, t1: tl.state.t1, top: tl.state.y, moved: false };
		e.target.setPointerCapture(e.pointerId);
	}

	function onMove(e) {
		pointer = at(e);
		if (!drag) {
			hover(e);
			return;
		}
		const dx = pointer.x - drag.x, dy = pointer.y - drag.y;

		if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4)
			return;
		drag.moved = true;
		document.getElementById("tip").hidden = true;
		const by = dx * (drag.t1 - drag.t0) / (tl.draw.width - tl.draw.gutter);

		tl.state.y = drag.top - dy;
		tl.app.clampY();
		tl.setRange(drag.t0 - by, drag.t1 - by);
	}

	function onUp(e) {
		const was = drag, p = at(e);

		drag = null;
		if (!was || was.moved)
			return;
		if (p.x < tl.draw.gutter) {
			const lane = tl.draw.laneAt(p.y);

			if (lane) {
				tl.views.toggle(lane);
				tl.app.relayout();
			}
			return;
		}
		const found = tl.draw.hit(p.x, p.y);

		if (found)
			tl.select(found.track.table, tl.data.refOf(found.track, found.i));
		else
			tl.select(null);
	}

	function hover(e) {
		const tip = document.getElementById("tip"), found = tl.draw.hit(pointer.x, pointer.y);

		tip.hidden = !found;
		if (!found)
			return;
		const { track, i } = found, frame = document.getElementById("frame").getBoundingClientRect();

		tip.replaceChildren(el("b", {}, tl.draw.label(track, i)), el("br"),
			`${ldb.ns(track.end[i] - track.start[i])}`);
		tip.style.left = `${Math.min(pointer.x + 14, frame.width - tip.offsetWidth - 6)}px`;
		tip.style.top = `${pointer.y + 18 + tip.offsetHeight > frame.height ? pointer.y - tip.offsetHeight - 8 : pointer.y + 18}px`;
	}

	function listen() {
		const chart = document.getElementById("chart"), input = document.getElementById("search");
		let typing = 0;

		chart.addEventListener("wheel", onWheel, { passive: false });
		chart.addEventListener("pointerdown", onDown);
		chart.addEventListener("pointermove", onMove);
		chart.addEventListener("pointerup", onUp);
		chart.addEventListener("pointercancel", () => { drag = null; });
		chart.addEventListener("pointerleave", () => { pointer = null; document.getElementById("tip").hidden = true; });
		document.addEventListener("keydown", onKey);
		input.addEventListener("input", () => {
			clearTimeout(typing);
			typing = setTimeout(() => search(input.value), 180);
		});
		/* The canvas changes its size also when the texts above it grow. */
		new ResizeObserver(() => {
			tl.draw.resize();
			tl.overview.prepare();
			tl.app.relayout();
		}).observe(document.getElementById("stage"));
		new ResizeObserver(() => {
			tl.draw.resize();
			tl.app.relayout();
		}).observe(document.getElementById("frame"));
		window.addEventListener("hashchange", () => {
			if (location.hash.slice(1) !== tl.saved)
				tl.app.restore();
		});
		ldb.look.changed(() => {
			tl.draw.refreshColors();
			tl.overview.prepare();
			tl.app.save();
			tl.app.invalidate();
		});
		document.getElementById("cmdline").textContent = tl.about.cmdline;
		document.getElementById("cmdline").title = tl.about.cmdline;
		document.getElementById("head").textContent = tl.about.head;
		document.getElementById("arcs").setAttribute("aria-pressed", "true");
		tl.overview.listen();
	}

	return { build, listen, search };
})();

/*
 * The overview at the top: all requests by time and latency, or how busy the threads were; and
 * which range is visible.
 */
tl.overview = (() => {
	let canvas = null, ctx = null, picture = null, width = 0, height = 0, dpr = 1;

	const x = (t) => (t - tl.from) * width / (tl.to - tl.from);

	function dots(c) {
		const r = tl.d.requests, top = Math.log10(Math.max(r.length[r.slowest[0]], 10));
		let least = Infinity;

		for (let i = 0; i < r.n; i++)
			least = Math.min(least, r.length[i]);
		const low = Math.min(Math.max(top - 6, Math.log10(Math.max(least, 1))), top - 1);
		const seen = new Uint8Array(Math.ceil(width) * Math.ceil(height));

		c.fillStyle = ldb.look.color("--c-request");
		for (let i = 0; i < r.n; i++) {
			const part = (Math.log10(Math.max(r.length[i], 1)) - low) / (top - low);
			const px = Math.floor(Math.min(Math.max(x(r.start[i]), 0), width - 1));
			const py = Math.floor(height - 4 - Math.max(part, 0) * (height - 9));

			/*
			 * Skips dots on pixels that are drawn already, because there may be half a
			 * million dots.
			 */
			if (seen[py * Math.ceil(width) + px])
				continue;
			seen[py * Math.ceil(width) + px] = 1;
			c.fillRect(px - 1, py - 1, 2, 2);
		}
		c.fillStyle = ldb.look.color("--mark");
		for (const i of r.slowest.slice(0, 20)) {
			const part = (Math.log10(Math.max(r.length[i], 1)) - low) / (top - low);

			c.beginPath();
			c.arc(Math.max(x(r.start[i]), 2), height - 4 - Math.max(part, 0) * (height - 9), 2.5, 0, 7);
			c.fill();
		}
	}

	function busy(c) {
		const line = new Uint32Array(Math.ceil(width)), view = { t0: tl.from, scale: width / (tl.to - tl.from) };
		const tracks = tl.threads.map((t) => t.functions[0] || t.runTrack).filter((t) => t && t.n).slice(0, 12);
		const h = Math.max(Math.floor((height - 6) / Math.max(tracks.length, 1)), 2);

		tracks.forEach((track, k) => {
			line.fill(tl.paint.background);
			tl.paint.line(track, view, 0, line.length, line, true, null);
			const image = new ImageData(line.length, 1);

			new Uint32Array(image.data.buffer).set(line);
			for (let y = 0; y < h - 1; y++)
				c.putImageData(image, 0, 3 + k * h + y);
		});
	}

	function prepare() {
		canvas = document.getElementById("overview");
		const box = canvas.getBoundingClientRect();

		dpr = window.devicePixelRatio || 1;
		width = Math.max(box.width, 50);
		height = Math.max(box.height, 20);
		canvas.width = width * dpr;
		canvas.height = height * dpr;
		ctx = canvas.getContext("2d", { alpha: false });
		picture = document.createElement("canvas");
		picture.width = Math.ceil(width);
		picture.height = Math.ceil(height);
		const c = picture.getContext("2d");

		c.fillStyle = ldb.look.color("--bg");
		c.fillRect(0, 0, width, height);
		if (tl.d.requests.n)
			dots(c);
		else
			busy(c);
	}

	function draw() {
		const a = x(tl.state.t0), b = Math.max(x(tl.state.t1), a + 3);

		ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
		ctx.drawImage(picture, 0, 0);
		ctx.fillStyle = ldb.look.color("--panel");
		ctx.globalAlpha = 0.5;
		ctx.fillRect(0, 0, a, height);
		ctx.fillRect(b, 0, width - b, height);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = ldb.look.color("--accent");
		ctx.strokeRect(a + 0.5, 0.5, b - a - 1, height - 1);
	}

	function listen() {
		const node = document.getElementById("overview");
		const go = (e) => {
			const t = tl.from + (e.clientX - node.getBoundingClientRect().left) * (tl.to - tl.from) / width;
			const half = (tl.state.t1 - tl.state.t0) / 2;

			tl.setRange(t - half, t + half);
		};

		node.addEventListener("pointerdown", (e) => {
			node.setPointerCapture(e.pointerId);
			go(e);
		});
		node.addEventListener("pointermove", (e) => e.buttons & 1 && go(e));
		node.addEventListener("wheel", (e) => {
			e.preventDefault();
			tl.app.zoom(Math.exp(Math.max(Math.min(e.deltaY, 300), -300) * 0.0022));
		}, { passive: false });
	}

	return { prepare, draw, listen };
})();
