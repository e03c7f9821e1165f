// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the side panel: the selection, the matches of a search, the slowest requests. */
"use strict";

tl.panel = (() => {
	const el = ldb.el, SLOWEST = 100, NAMES = 40;
	let body = null;

	function init(node) {
		body = node;
	}

	function go(text, action, title) {
		return el("button", { class: "link", onclick: action, title }, text);
	}

	function threadLink(thread, t) {
		return thread < 0 ? "" : go(tl.threads[thread].label, () => tl.showThread(thread, t), "show this thread");
	}

	function table(rows) {
		return el("dl", {}, rows.filter((r) => r && r[1] !== "" && r[1] !== null && r[1] !== undefined &&
			!(Array.isArray(r[1]) && !r[1].length))
			.map(([name, ...value]) => [el("dt", {}, name), el("dd", {}, ...value)]));
	}

	function span(ns, res) {
		return [el("b", { class: "mono" }, ldb.exact(ns)), ` (${ldb.ns(ns)})`,
			res === null ? "" : [el("br"), el("span", { class: "dim", title: "resolution" }, "\u00b1 ", ldb.exact(res))]];
	}

	function times(start, length, res, what) {
		return [
			[what || "Duration", span(length, res)],
			["Start", el("span", { class: "mono" }, ldb.exact(start))],
			["End", el("span", { class: "mono" }, ldb.exact(start + length))],
		];
	}

	/* Returns the whole duration, as in ldb-report, if it differs from that of the bar. */
	function whole(extra, dres, length, res) {
		return !extra && !dres ? null : ["In ldb-report", span(length + extra, res + dres)];
	}

	function contextText(i, t) {
		const p = tl.data.context(i), thread = tl.data.threadOfContext(i, t);

		return thread >= 0 ? threadLink(thread, t) : p.text;
	}

	/* Returns links to at most four of the requests on which a thread works within [from, to). */
	function requestsOf(thread, from, to) {
		const p = tl.d.parts, found = [];

		for (const track of tl.threads[thread].requests)
			for (let i = tl.data.firstAfter(track, from); i < track.n && track.start[i] < to &&
			     found.length < 4; i++) {
				const r = p.request[tl.data.refOf(track, i)];

				if (!found.includes(r))
					found.push(r);
			}
		return found.map((r) => [go(tl.data.requestId(r), () => tl.lookAt(r), "show this request"), " "]);
	}

	/* Returns how many segments of a kind begin in [from, to). */
	function countStarts(tracks, kind, from, to) {
		let nr = 0;

		for (const track of tracks)
			for (let i = tl.data.firstAfter(track, from - 1); i < track.n && track.start[i] < to; i++)
				nr += track.start[i] >= from && tl.d.others.kind[tl.data.refOf(track, i)] === kind ? 1 : 0;
		return nr;
	}

	/* Returns the total length of the bars of some tracks within [from, to]. */
	function within(tracks, from, to) {
		let sum = 0;

		for (const track of tracks)
			for (let i = tl.data.firstAfter(track, from); i < track.n && track.start[i] < to; i++)
				sum += Math.min(track.end[i], to) - Math.max(track.start[i], from);
		return sum;
	}

	/* Returns the functions that a thread executed at t, outermost first. */
	function stackAt(thread, t) {
		const list = [];

		tl.threads[thread].functions.forEach((track) => {
			const i = tl.data.firstAfter(track, t);

			if (i < track.n && track.start[i] <= t)
				list.push(track.base + i);
		});
		return list;
	}

	function spanLink(ref) {
		return go(tl.data.callOf(tl.d.spans.call[ref]).text, () => tl.select("span", ref, true), "select it");
	}

	function spanDetails(ref) {
		const s = tl.d.spans, call = tl.data.callOf(s.call[ref]), track = tl.data.trackOfSpan(ref);
		const thread = tl.threads[track.thread], from = s.start[ref], to = s.end[ref];
		const inner = thread.functions[track.depth + 1];
		const below = inner ? within([inner], from, to) : 0;
		const lock = within(thread.waits, from, to), off = within(thread.off, from, to);
		const nrEvents = (kind) => countStarts(thread.events, kind, from, to);
		const stack = stackAt(track.thread, from).filter((r) => tl.data.trackOfSpan(r).depth < track.depth);

		return [call.text, "function", [
			["Called at", tl.data.siteText(call.site)],
			["Defined", tl.data.placeText(call.file, call.line)],
			...times(from, s.length[ref], s.res[ref]),
			whole(s.extra[ref], s.dres[ref], s.length[ref], s.res[ref]),
			["Not in calls", ldb.exact(s.length[ref] - below)],
			lock ? ["Waits for locks", ldb.exact(lock)] : null,
			off ? ["Off the CPU", ldb.exact(off)] : null,
			nrEvents(tl.INTERRUPT) ? ["Interrupts", String(nrEvents(tl.INTERRUPT))] : null,
			nrEvents(tl.PAGE_FAULT) ? ["Page faults", String(nrEvents(tl.PAGE_FAULT))] : null,
			["Thread", threadLink(track.thread, from)],
			["Request", requestsOf(track.thread, from, to)],
			stack.length ? ["Called from", stack.map((r) => [spanLink(r), " "])] : null,
			s.flags[ref] & tl.F.TRUNCATED ? ["", "It was running when the recording began or ended."] : null,
		]];
	}

	function running(ref) {
		const o = tl.d.others, list = [];

		for (let k = 0; k < o.running[ref]; k++) {
			const at = o.running_at[ref] + k;

			list.push(el("div", {}, contextText(tl.d.running.context[at], o.start[ref]), " ",
				     el("span", { class: "mono dim" }, ldb.exact(tl.d.running.ns[at]))));
		}
		return list.length ? ["Running tasks", list] : null;
	}

	function cpuText(ref) {
		const o = tl.d.others, { from: a, to: b, cpu } = o;

		if (a[ref] >= 0 && b[ref] >= 0 && a[ref] !== b[ref])
			return `${a[ref]} \u2192 ${b[ref]}`;
		return cpu[ref] >= 0 ? String(cpu[ref]) : "";
	}

	function holderRows(ref) {
		const o = tl.d.others, hold = tl.arcs.holderOf(ref), owner = o.owner[ref] - 1;

		if (hold < 0)
			return [["Holder", owner >= 0 ? threadLink(owner, o.start[ref]) : "not known"]];
		const t = (Math.max(o.start[hold], o.start[ref]) + Math.min(o.end[hold], o.end[ref])) / 2;
		const stack = stackAt(o.thread[hold], t);

		return [
			["Holder", threadLink(o.thread[hold], o.start[ref]), " ",
			 go("follow the arc (f)", () => tl.follow(), "to what the holder did")],
			stack.length ? ["It executed", stack.map((r) => [spanLink(r), " "])] : null,
		];
	}

	function waiterRow(ref) {
		const o = tl.d.others, waits = tl.arcs.waitersOf(ref);

		return waits.length ? ["Made wait", waits.slice(0, 12).map((w) => el("div", {},
			go(tl.threads[o.thread[w]].label, () => tl.select("other", w, true), "select its wait"), " ",
			el("span", { class: "mono dim" }, ldb.exact(o.length[w]))))] : null;
	}

	function otherDetails(ref) {
		const o = tl.d.others, kind = o.kind[ref], lock = o.lock[ref] ? tl.data.lockOf(o.lock[ref]).text : "";
		const isWait = kind === tl.LOCK_WAIT || kind === tl.FUTEX_WAIT, from = o.start[ref];
		const stack = stackAt(o.thread[ref], from + o.length[ref] / 2), flags = o.flags[ref];

		return [tl.draw.label({ table: "other", refs: [ref] }, 0), tl.kinds[kind].words, [
			[kind === tl.INTERRUPT ? "Interrupt" : kind === tl.EVENT ? "Event" : kind === tl.SYSCALL || kind === tl.BLOCKED ? "System call" : "Lock", lock],
			["At", tl.data.siteText(tl.data.siteOf(o.site[ref]))],
			...times(from, o.length[ref], o.res[ref]),
			whole(o.extra[ref], o.dres[ref], o.length[ref], o.res[ref]),
			kind === tl.LOCK_WAIT && o.asleep[ref] ? ["Asleep", ldb.exact(o.asleep[ref])] : null,
			...(isWait ? holderRows(ref) : []),
			kind === tl.LOCK_HOLD ? waiterRow(ref) : null,
			kind === tl.BLOCKED ? ["State", tl.about.states[o.state[ref]]] : null,
			o.by[ref] ? ["Preempted by", contextText(o.by[ref], from)] : null,
			running(ref),
			o.waker[ref] ? ["Woken by", contextText(o.waker[ref], o.end[ref])] : null,
			["CPU", cpuText(ref)],
			["Thread", threadLink(o.thread[ref], from)],
			stack.length ? ["Meanwhile in", stack.map((r) => [spanLink(r), " "])] : null,
			["Request", requestsOf(o.thread[ref], from, o.end[ref])],
			flags & tl.F.MAJOR ? ["", "It was read from a disk."] : null,
			flags & tl.F.THROTTLED ? ["", "No task took the CPU: a quota?"] : null,
			flags & tl.F.INFERRED ? ["", "The hold itself was not recorded: it is known from the wait."] : null,
			flags & tl.F.FAILED ? ["", "It ended without the lock."] : null,
			flags & tl.F.TRUNCATED ? ["", "It was in progress when the recording began or ended."] : null,
			flags & tl.F.LOST ? ["", "Kernel events were lost about then."] : null,
		]];
	}

	function runDetails(ref) {
		const r = tl.d.runs, p = tl.data.context(r.context[ref]);
		const thread = tl.data.threadOfContext(r.context[ref], r.start[ref]);

		return [p.text, "running task", [
			["CPU", String(r.cpu[ref])],
			...times(r.start[ref], r.length[ref], tl.about.sched_res_ns),
			["Thread", threadLink(thread, r.start[ref])],
			["Request", thread < 0 ? "" : requestsOf(thread, r.start[ref], r.end[ref])],
			r.flags[ref] & tl.F.NO_START ? ["", "It was running before the first event."] : null,
			r.flags[ref] & tl.F.NO_END ? ["", "It was still running at the last event."] : null,
		]];
	}

	function partLine(ref) {
		const p = tl.d.parts, isQueue = p.flags[ref] & tl.F.QUEUE;
		const what = isQueue ? "queue " + tl.data.lockOf(p.queue[ref]).name :
			     p.thread[ref] ? tl.threads[p.thread[ref] - 1].label : "?";

		return el("div", {}, go(what, () => tl.select("part", ref, true), "select it"), " ",
			  el("span", { class: "mono dim" }, ldb.exact(p.length[ref])));
	}

	function requestDetails(ref) {
		const r = tl.d.requests, parts = [];

		for (let a = r.first[ref]; a < r.first[ref + 1] && parts.length < 30; a++)
			parts.push(partLine(a));
		return [`req ${tl.data.requestId(ref)}`, "request", [
			["Class", tl.names.strings[r.class[ref]]],
			r.notes[ref] ? ["Noted", tl.names.strings[r.notes[ref]]] : null,
			...times(r.start[ref], r.length[ref], null, "Latency"),
			["Spans", parts],
			r.flags[ref] & tl.F.COMPLETE ? null : ["", "Its end was not recorded."],
			r.flags[ref] & tl.F.LOST_HANDOFF ? ["", "It was put into a queue and never taken out."] : null,
			["", go("show it", () => tl.lookAt(ref), "zoom to it, show what it was blocked by")],
		]];
	}

	function partDetails(ref) {
		const p = tl.d.parts, isQueue = p.flags[ref] & tl.F.QUEUE;

		return [tl.draw.label({ table: "part", refs: [ref] }, 0), isQueue ? "in a queue" : "works on a request", [
			["Request", go(tl.data.requestId(p.request[ref]), () => tl.lookAt(p.request[ref]), "show it")],
			...times(p.start[ref], p.length[ref], null),
			[isQueue ? "Put there by" : "Thread", p.thread[ref] ? threadLink(p.thread[ref] - 1, p.start[ref]) : ""],
			isQueue && p.to_thread[ref] ? ["Taken by", threadLink(p.to_thread[ref] - 1, p.end[ref])] : null,
			["Ended at", tl.data.siteText(tl.data.siteOf(p.site[ref]))],
			p.flags[ref] & tl.F.OPEN ? ["", "Its end was not observed."] : null,
		]];
	}

	const DETAILS = { span: spanDetails, other: otherDetails, run: runDetails, request: requestDetails,
			  part: partDetails };

	/*
	 * Returns heading, kind and rows of the selection; also used as the text for a screen
	 * reader.
	 */
	function describe(s) {
		return DETAILS[s.table](s.ref);
	}

	function details() {
		const s = tl.state.selected;

		if (!s)
			return el("p", { class: "dim" }, "Click a bar, or press ", el("kbd", {}, "Enter"),
				  " to select one. ", el("kbd", {}, "?"), " lists all keys.");
		const [name, kind, rows] = describe(s);

		return [el("div", { class: "kind" }, kind), el("h2", { id: "selected-name" }, name),
			table(rows), el("div", { class: "actions" },
				el("button", { onclick: () => tl.zoomToSelection() }, "Zoom to it"))];
	}

	/* Requests */
	function slowest() {
		const r = tl.d.requests, most = r.slowest.length ? r.length[r.slowest[0]] : 1;

		if (!r.n)
			return el("p", { class: "dim" }, "No request was tagged in this recording.");
		return [el("p", { class: "dim" }, `The slowest of ${r.n.toLocaleString("en")}; `,
			   "those with a dot have their causes on this page."),
			el("ol", { class: "slowest" }, r.slowest.slice(0, SLOWEST).map((i) => {
				const isShown = tl.focus && tl.focus.request === i;
				const bar = el("span", { class: "bar" });

				bar.style.width = `${Math.max(100 * r.length[i] / most, 0.5)}%`;
				return el("li", {}, el("button", { class: "row", "aria-current": isShown ? "true" : null,
					onclick: () => tl.lookAt(i) }, bar,
					el("span", {}, tl.explanationOf(i) ? "\u2022 " : "", `req ${tl.data.requestId(i)}`,
					   el("span", { class: "dim" }, " ", tl.names.strings[r.class[i]])),
					el("span", { class: "num mono" }, ldb.ns(r.length[i]))));
			}))];
	}

	/* Matches */
	function numbers(name, s, cls) {
		return el("tr", { class: cls }, el("td", {}, name), el("td", { class: "num" }, s.count.toLocaleString("en")),
			...[s.sum, s.min, s.max, s.p99].map((v) => el("td", { class: "num", title: ldb.exact(v) },
				s.count ? ldb.ns(v) : "")));
	}

	function matches() {
		const result = tl.search.result;

		if (!result)
			return el("p", { class: "dim" }, "Type a regular expression above: ", el("kbd", {}, "/"));
		if (result.error)
			return el("p", { class: "bad", role: "alert" }, result.error);
		const head = el("tr", {}, ["", "count", "sum", "min", "max", "p99"].map((h, i) =>
			el("th", { class: i ? "num" : "", scope: "col" }, h)));
		const groups = [["functions", result.spans.all], ["locks, off CPU", result.others],
				["tasks on CPUs", result.runs], ["requests", result.requests]];
		const names = result.spans.names;

		return [el("table", { class: "sums", id: "sums" }, head,
			...groups.filter(([, s]) => s.count).map(([name, s]) => numbers(name, s, "group")),
			...names.slice(0, NAMES).map((s) => numbers(el("span", { class: "name", title: s.name }, s.name), s, ""))),
			tl.about.functions_left_out && result.spans.all.count ? el("p", { class: "dim" },
				`Without calls shorter than ${ldb.ns(tl.about.functions_min_ns)}, which are not on this page.`) : "",
			groups.every(([, s]) => !s.count) ? el("p", { class: "dim" }, "Nothing matches.") : "",
			result.spans.nrOpen ? el("p", { class: "dim" }, `and ${result.spans.nrOpen} that ran when the recording began or ended`) : "",
			names.length > NAMES ? el("p", { class: "dim" }, `and ${names.length - NAMES} more names`) : "",
			el("p", { class: "dim" }, el("kbd", {}, "n"), " next, ", el("kbd", {}, "N"), " previous match")];
	}

	function show() {
		const tab = tl.state.tab;

		for (const b of document.querySelectorAll("#tabs button"))
			b.setAttribute("aria-selected", b.dataset.tab === tab);
		body.setAttribute("aria-labelledby", `tab-${tab}`);
		body.replaceChildren(...[tab === "slowest" ? slowest() : tab === "matches" ? matches() : details()].flat(Infinity));
	}

	return { init, show, describe, stackAt };
})();
