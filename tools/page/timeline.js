// SPDX-License-Identifier: GPL-2.0-or-later
/* Controls the page: the view, the selection, the shown request, and the URL. */
"use strict";

tl.state = { view: "thread", t0: 0, t1: 1, y: 0, selected: null, query: "", matches: null, arcs: true,
	     tab: "details" };
tl.font = getComputedStyle(document.body).fontFamily;
tl.frames = [];

tl.selectedBar = () => {
	const s = tl.state.selected;

	if (!s)
		return null;
	const table = tl.d[{ span: "spans", other: "others", run: "runs", part: "parts", request: "requests" }[s.table]];

	return { start: table.start[s.ref], end: table.end[s.ref], row: rowOfSelection(s) };
};

/* Returns the row that shows the selection in the current view; null: none does. */
function rowOfSelection({ table, ref }) {
	const d = tl.d, view = tl.state.view;
	const place = (thread, t, type, depth) => tl.views.place(tl.layout, view, thread, t, type, depth);
	const holding = (type, track) => tl.layout.lanes.flatMap((l) => l.rows).find((r) =>
		r.type === type && r.track && r.track.table === track && r.track.refs && r.track.refs.includes(ref));

	switch (table) {
	case "span": {
		const track = tl.data.trackOfSpan(ref), s = d.spans;

		return place(track.thread, (s.start[ref] + s.end[ref]) / 2, "function", track.depth);
	}
	case "other": {
		const o = d.others, kind = o.kind[ref];
		const type = tl.data.rowOf(kind);

		return view === "thread" ? tl.layout.lanes.filter((l) => l.thread === o.thread[ref])
			.flatMap((l) => l.rows).find((r) => r.type === type && r.track.refs.includes(ref)) ||
			null : place(o.thread[ref], (o.start[ref] + o.end[ref]) / 2, type);
	}
	case "run":
		return view === "cpu" ? holding("run", "run") :
		       place(tl.data.threadOfContext(d.runs.context[ref], d.runs.start[ref]), d.runs.start[ref], "function", 0);
	case "part":
		return holding(view === "request" ? "part" : "request", "part") || null;
	default:
		return view === "request" ? holding("request", "request") : null;
	}
}

tl.emptyText = () => (tl.state.view === "cpu" ? "No kernel events in this recording, so the running tasks of the CPUs are not known." :
	tl.state.view === "request" ? "No request was tagged in this recording." : "Nothing was recorded.");

/* Frames */
let isDrawing = false;

function invalidate() {
	if (isDrawing)
		return;
	isDrawing = true;
	requestAnimationFrame(() => {
		isDrawing = false;
		tl.frames.push(tl.draw.frame());
		if (tl.frames.length > 2000)
			tl.frames.shift();
		tl.overview.draw();
	});
}

function relayout() {
	tl.layout = tl.views.build(tl.state.view, tl.focus, tl.draw.room);
	clampY();
	invalidate();
}

function clampY() {
	const most = Math.max(tl.layout.height - tl.draw.room, 0);

	tl.state.y = Math.max(0, Math.min(tl.state.y, most));
	const bar = document.getElementById("scroll");

	bar.hidden = !most;
	bar.style.height = `${100 * tl.draw.room / (tl.layout.height || 1)}%`;
	bar.style.top = `${100 * tl.state.y / (tl.layout.height || 1)}%`;
}

/*
 * Sets the visible range of time: at least 20 ns, and at most half a range beyond the ends of the
 * recording.
 */
tl.setRange = (t0, t1) => {
	const whole = tl.to - tl.from, span = Math.max(Math.min(t1 - t0, whole * 1.1), 20);
	let from = (t0 + t1 - span) / 2;

	from = Math.max(tl.from - span / 2, Math.min(from, tl.to - span / 2));
	tl.state.t0 = from;
	tl.state.t1 = from + span;
	saveLater();
	invalidate();
};

function zoom(factor, at) {
	const { t0, t1 } = tl.state, t = at === undefined ? (t0 + t1) / 2 : at;

	tl.setRange(t - (t - t0) * factor, t + (t1 - t) * factor);
}

function pan(part) {
	const { t0, t1 } = tl.state, by = (t1 - t0) * part;

	tl.setRange(t0 + by, t1 + by);
}

function scroll(by) {
	tl.state.y += by;
	clampY();
	saveLater();
	invalidate();
}

tl.fit = () => {
	const margin = (tl.to - tl.from) * 0.01;

	tl.setRange(tl.from - margin, tl.to + margin);
};

tl.setView = (view) => {
	tl.state.view = view;
	tl.state.y = 0;
	for (const b of document.querySelectorAll("#views button"))
		b.setAttribute("aria-pressed", b.dataset.view === view);
	relayout();
	reveal();
	saveLater();
};

/* Scrolls the row of the selection into view. */
function reveal() {
	const bar = tl.selectedBar(), row = bar && bar.row;

	if (row) {
		const y = row.lane.y + row.y, room = tl.draw.room;

		if (y < tl.state.y + 4 || y + row.h > tl.state.y + room - 8)
			tl.state.y = y - room / 3;
	}
	clampY();
}

tl.select = (table, ref, show) => {
	tl.state.selected = table ? { table, ref } : null;
	const bar = tl.selectedBar();

	if (bar && show) {
		const { t0, t1 } = tl.state, span = t1 - t0;

		if (bar.end < t0 || bar.start > t1)
			tl.setRange(Math.min(bar.start, (bar.start + bar.end - span) / 2),
				    Math.max((bar.start + bar.end + span) / 2, bar.start + span));
		reveal();
	}
	if (table) {
		tl.state.tab = "details";
		const [name, kind] = tl.panel.describe(tl.state.selected);

		say(`${kind} ${name}, ${ldb.exact(bar.end - bar.start)}`);
	}
	tl.panel.show();
	saveLater();
	invalidate();
};

tl.zoomToSelection = () => {
	const bar = tl.selectedBar();

	if (bar) {
		const margin = Math.max((bar.end - bar.start) * 0.15, 20);

		tl.setRange(bar.start - margin, bar.end + margin);
		reveal();
	}
};

tl.showThread = (thread, t) => {
	if (tl.state.view !== "thread")
		tl.setView("thread");
	const lane = tl.layout.lanes.find((l) => l.thread === thread);

	if (!lane)
		return;
	tl.state.y = lane.y - 20;
	if (t < tl.state.t0 || t > tl.state.t1) {
		const half = (tl.state.t1 - tl.state.t0) / 2;

		tl.setRange(t - half, t + half);
	}
	clampY();
	invalidate();
};

/* Returns the innermost invocation that took at least half of a range of time; -1: none. */
function executedMost(thread, from, to) {
	let best = -1;

	for (const track of tl.threads[thread].functions)
		for (let i = tl.data.firstAfter(track, from); i < track.n && track.start[i] < to; i++)
			if (2 * (Math.min(track.end[i], to) - Math.max(track.start[i], from)) >= to - from)
				best = track.base + i;
	return best;
}

/*
 * Follows an arc from the selection: from a wait to the hold, from a hold to the function of its
 * thread, from a queue to the thread that took the request out, from a sleep to the waker.
 */
tl.follow = () => {
	const s = tl.state.selected, { others: o, parts: p } = tl.d;

	if (!s)
		return;
	if (s.table === "part" && p.flags[s.ref] & tl.F.QUEUE) {
		tl.showThread(p.to_thread[s.ref] - 1, p.end[s.ref]);
		return;
	}
	if (s.table !== "other")
		return;
	const kind = o.kind[s.ref];

	if (kind === tl.LOCK_WAIT || kind === tl.FUTEX_WAIT) {
		const hold = tl.arcs.holderOf(s.ref);

		/* The owner may be known even if its hold was not recorded. */
		const owner = o.owner[s.ref] - 1;
		const did = hold < 0 && owner >= 0 ? executedMost(owner, o.start[s.ref], o.end[s.ref]) : -1;

		tl.cameFrom = s.ref;
		if (hold >= 0)
			tl.select("other", hold, true);
		else if (did >= 0)
			tl.select("span", did, true);
		else
			say("The holder is not known.");
	} else if (kind === tl.LOCK_HOLD) {
		const from = tl.cameFrom >= 0 ? Math.max(o.start[tl.cameFrom], o.start[s.ref]) : o.start[s.ref];
		const to = tl.cameFrom >= 0 ? Math.min(o.end[tl.cameFrom], o.end[s.ref]) : o.end[s.ref];
		const ref = executedMost(o.thread[s.ref], from, to);

		if (ref >= 0)
			tl.select("span", ref, true);
		else
			say("No function of the holder was observed then.");
	} else if (o.waker[s.ref]) {
		tl.showThread(tl.data.threadOfContext(o.waker[s.ref], o.end[s.ref]), o.end[s.ref]);
	}
};

/* Requests */
tl.explanationOf = (request) => {
	const r = tl.d.requests;

	return tl.about.stories.find((s) => s.id === tl.data.requestId(request) && s.start === r.start[request]);
};

function addInterval(map, thread, start, end) {
	if (!map.has(thread))
		map.set(thread, []);
	map.get(thread).push([start, end]);
}

function merge(map) {
	for (const [thread, list] of map) {
		list.sort((a, b) => a[0] - b[0]);
		const merged = [];

		for (const [s, e] of list) {
			const last = merged[merged.length - 1];

			if (last && s <= last[1])
				last[1] = Math.max(last[1], e);
			else
				merged.push([s, e]);
		}
		map.set(thread, merged);
	}
}

function makeFocus(request) {
	const r = tl.d.requests, p = tl.d.parts, explanation = tl.explanationOf(request);
	const focus = { request, explanation, start: r.start[request], end: r.end[request], threads: [], parts: [],
			bright: new Map(), blockers: new Map() };
	const note = (thread) => {
		if (!focus.threads.includes(thread))
			focus.threads.push(thread);
	};

	for (let i = r.first[request]; i < r.first[request + 1]; i++) {
		focus.parts.push(i);
		if (!(p.flags[i] & tl.F.QUEUE) && p.thread[i]) {
			note(p.thread[i] - 1);
			addInterval(focus.bright, p.thread[i] - 1, p.start[i], p.end[i]);
		}
	}
	for (let i = 0; explanation && i < explanation.chain.length; i += 5) {
		const [thread, start, end] = explanation.chain.slice(i, i + 3);

		note(thread);
		addInterval(focus.bright, thread, start, end);
		addInterval(focus.blockers, thread, start, end);
	}
	merge(focus.bright);
	merge(focus.blockers);
	return focus;
}

tl.lookAt = (request, keepRange) => {
	tl.focus = request >= 0 ? makeFocus(request) : null;
	showStory();
	tl.layout = tl.views.build(tl.state.view, tl.focus, tl.draw.room);
	if (tl.focus && !keepRange) {
		const margin = Math.max((tl.focus.end - tl.focus.start) * 0.06, 50);

		tl.state.y = 0;
		tl.setRange(tl.focus.start - margin, tl.focus.end + margin);
		if (tl.state.view === "request")
			tl.select("request", request, true);
	}
	clampY();
	tl.panel.show();
	saveLater();
	invalidate();
};

/* Selects the longest invocation of a function by name in the shown request. */
function selectFunction(name) {
	const s = tl.d.spans, p = tl.d.parts;
	let best = -1, most = -1;

	if (!name)
		return;
	for (const part of tl.focus.parts) {
		if (p.flags[part] & tl.F.QUEUE || !p.thread[part])
			continue;
		for (const track of tl.threads[p.thread[part] - 1].functions)
			for (let i = tl.data.firstAfter(track, p.start[part]); i < track.n &&
			     track.start[i] < p.end[part]; i++)
				if (track.end[i] - track.start[i] > most &&
				    tl.data.callOf(s.call[track.base + i]).name === name) {
					most = track.end[i] - track.start[i];
					best = track.base + i;
				}
	}
	if (best >= 0)
		tl.select("span", best, true);
}

/* Selects the bar to which a cause refers. */
function selectCause(cause) {
	const at = cause.wait || cause.off, p = tl.d.parts;

	if (cause.in_queue && at) {
		const part = tl.focus.parts.find((i) => p.flags[i] & tl.F.QUEUE && p.start[i] === at[1]);

		if (part !== undefined)
			tl.select("part", part, true);
		return;
	}
	if (!at) {
		if (cause.func)
			selectFunction(cause.func);
		return;
	}
	const [thread, start, end] = at, t = tl.threads[thread];
	let best = -1, most = 0;

	for (const track of [...t.waits, ...t.off])
		for (let i = tl.data.firstAfter(track, start); i < track.n && track.start[i] < end; i++) {
			const both = Math.min(track.end[i], end) - Math.max(track.start[i], start);

			if (both > most) {
				most = both;
				best = tl.data.refOf(track, i);
			}
		}
	if (best >= 0)
		tl.select("other", best, true);
}

function causeButton(cause, latency) {
	const share = latency ? 100 * cause.ns / latency : 0;
	const swatch = ldb.el("span", { class: `swatch ${cause.kind}` });

	return ldb.el("button", { class: "cause", title: `${cause.text}\n${ldb.exact(cause.ns)}`,
		onclick: () => selectCause(cause) }, swatch,
		ldb.el("span", { class: "share" }, share && share < 1 ? "<1 %" : `${Math.round(share)} %`), ldb.el("span", { class: "what" }, cause.text));
}

function showStory() {
	const box = document.getElementById("explanation"), f = tl.focus;

	box.hidden = !f;
	if (!f) {
		box.replaceChildren();
		return;
	}
	const r = tl.d.requests, latency = r.length[f.request], id = tl.data.requestId(f.request);
	const text = f.explanation ? f.explanation.text + (f.explanation.interruptions ? `; ${f.explanation.interruptions}` : "") : `req ${id}: ${ldb.ns(latency)}`;
	const at = text.indexOf(":");

	box.replaceChildren(ldb.el("p", { id: "sentence" }, ldb.el("b", {}, text.slice(0, at + 1)), text.slice(at + 1)),
		ldb.el("div", { id: "causes" }, f.explanation ? f.explanation.causes.slice(0, 6).map((c) => causeButton(c, latency)) :
			ldb.el("span", { class: "dim" }, `Its causes are not on this page: ldb-timeline --req=${id} -o page.html`),
			f.explanation && f.explanation.causes.length > 6 ? ldb.el("span", { class: "dim" }, `and ${f.explanation.causes.length - 6} smaller`) : "",
			f.explanation && f.explanation.edges_left_out ? ldb.el("span", { class: "dim" }, `${f.explanation.edges_left_out} shorter arcs are left out`) : ""),
		ldb.el("button", { id: "leave", class: "quiet", title: "show all alike (Esc)", "aria-label": "stop showing this request",
			onclick: () => tl.lookAt(-1) }, "\u00d7"));
}

/* Says what was lost, damaged and left out */
function notices() {
	const a = tl.about, list = [];
	const nr = (n) => n.toLocaleString("en");

	if (a.damage) list.push(a.damage);
	if (a.lost) list.push(`${nr(a.lost)} records lost`);
	if (a.unobserved) list.push(`${nr(a.unobserved)} unobserved threads`);
	if (a.gap_ns) list.push(`scanner away for ${ldb.ns(a.gap_ns)} in ${nr(a.gaps)} ${a.gaps === 1 ? "observation gap" : "observation gaps"} (hatched)`);
	if (a.thread_gap_ns) list.push(`single threads unobserved for ${ldb.ns(a.thread_gap_ns)} (hatched)`);
	if (a.paused_ns) list.push(`scanner had no core of its own: slept ${ldb.ns(a.paused_ns)}`);
	if (a.broken) list.push(`${nr(a.broken)} switches without their counterpart`);
	if (a.functions_left_out) list.push(`${nr(a.functions_left_out)} calls shorter than ${ldb.ns(a.functions_min_ns)} left out`);
	if (a.too_deep) list.push(`${nr(a.too_deep)} calls nested too deep left out`);
	for (const l of a.left_out) list.push(`${nr(l.count)} ${l.what} up to ${ldb.ns(l.up_to)} left out`);
	if (a.wakeups_left_out) list.push(`${nr(a.wakeups_left_out)} earlier wake-ups left out`);
	if (a.migrations_left_out) list.push(`${nr(a.migrations_left_out)} earlier migrations left out`);
	if (a.from_ns !== undefined || a.to_ns !== undefined) list.push("a part of the recording");
	return list;
}

function showNotices() {
	const list = notices(), a = tl.about;
	const seen = a.kernel_only ? "kernel events only" :
		`${a.seen.toLocaleString("en")} of ${a.made.toLocaleString("en")} calls observed`;

	document.getElementById("notices").replaceChildren(
		ldb.el("button", { class: "quiet", id: "about-button", title: "all about this recording",
				   onclick: () => document.getElementById("recording").showModal() },
		       `${seen} \u00b7 ${a.kernel}`),
		...list.map((text) => ldb.el("span", { class: "notice" }, text)));
}

/* Sets the text for assistive technology. */
function say(text) {
	document.getElementById("live").textContent = text;
}

/*
 * Stores the view in the URL:
 * #v=thread&t=FROM~TO&y=..&req=ID@START&sel=TABLE.ROW&q=..&arcs=0&theme=..&palette=..
 */
let saving = 0;

function saveLater() {
	clearTimeout(saving);
	saving = setTimeout(save, 150);
}

function save() {
	const s = tl.state, p = new URLSearchParams();

	p.set("v", s.view);
	p.set("t", `${Math.round(s.t0)}~${Math.round(s.t1)}`);
	if (s.y) p.set("y", Math.round(s.y));
	p.set("req", tl.focus ? `${tl.data.requestId(tl.focus.request)}@${tl.focus.start}` : "");
	if (s.selected) p.set("sel", `${s.selected.table}.${s.selected.ref}`);
	if (s.query) p.set("q", s.query);
	if (!s.arcs) p.set("arcs", "0");
	p.set("theme", ldb.look.theme);
	p.set("palette", ldb.look.palette);
	tl.saved = p.toString();
	history.replaceState(null, "", "#" + tl.saved);
}

function restoreRequest(value, keepRange) {
	const match = /^(\d{1,20})(?:@(-?\d+))?$/.exec(value);
	const request = match ? tl.data.findRequest(match[1], match[2] === undefined ? undefined : +match[2]) : -1;

	tl.lookAt(request, keepRange);
}

/* Restores the view from the URL.  Returns false if the URL contains no view. */
function restore() {
	const text = location.hash.slice(1), p = new URLSearchParams(text);

	if (!text)
		return false;
	if (["light", "dark"].includes(p.get("theme"))) ldb.look.set("theme", p.get("theme"));
	if (["calm", "safe"].includes(p.get("palette"))) ldb.look.set("palette", p.get("palette"));
	const range = /^(-?\d+)~(-?\d+)$/.exec(p.get("t") || "");

	tl.state.arcs = p.get("arcs") !== "0";
	tl.setView(["thread", "request", "cpu"].includes(p.get("v")) ? p.get("v") : "thread");
	restoreRequest(p.get("req") || "", Boolean(range));
	if (range)
		tl.setRange(+range[1], +range[2]);
	else if (!tl.focus)
		tl.fit();
	const q = p.get("q") || "";

	document.getElementById("search").value = q;
	tl.controls.search(q, true);
	const sel = /^(span|other|run|part|request)\.(\d+)$/.exec(p.get("sel") || "");
	const tables = { span: "spans", other: "others", run: "runs", part: "parts", request: "requests" };

	if (sel && +sel[2] < tl.d[tables[sel[1]]].n)
		tl.select(sel[1], +sel[2], false);
	tl.state.y = +p.get("y") || 0;
	clampY();
	return true;
}

/*
 * If no view was restored, shows the requested request, or else the slowest one, or else
 * everything.
 */
function start() {
	tl.setView("thread");
	const first = tl.about.stories[0];
	const request = first ? tl.data.findRequest(first.id, first.start) : -1;

	if (request >= 0) {
		tl.lookAt(request);
		if (tl.focus.explanation && tl.focus.explanation.causes.length)
			selectCause(tl.focus.explanation.causes[0]);
		tl.lookAt(request);
	} else {
		tl.fit();
	}
}

/* timeline-controls.js */
tl.app = { invalidate, relayout, zoom, pan, scroll, save, say, restore, showStory, clampY };

(async () => {
	tl.data.readKinds();
	tl.controls.build();
	await tl.data.load();
	tl.callNames = Array.from({ length: tl.names.calls.length / 2 }, (_, i) => tl.data.callOf(i).text);
	tl.draw.init(document.getElementById("chart"));
	tl.draw.resize();
	tl.draw.refreshColors();
	showNotices();
	tl.controls.listen();
	tl.layout = tl.views.build("thread", null, tl.draw.room);
	if (!restore())
		start();
	tl.overview.prepare();
	tl.panel.show();
	tl.draw.frame();
	tl.overview.draw();
	/* For tests: the time from the start of loading the page until it was drawn. */
	tl.ready = performance.now();
	document.documentElement.dataset.ready = Math.round(tl.ready);
})();
