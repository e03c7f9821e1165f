// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Controls the page of ldb-why: what slow requests have in common, and why each of them was
 * slow.  A cause, a category and a request can be selected; the address contains the selection.
 */
"use strict";

(async () => {
	const el = ldb.el, doc = why.doc, many = why.many;
	const main = el("main");
	const views = {};
	const state = { target: -1, cause: -1, group: "", set };

	document.body.append(main);
	try {
		await why.read();
	} catch (e) {
		main.append(el("p", { class: "warn" }, "This page cannot be read here: " + e.message));
		throw e;
	}

	function card(id, title, ...children) {
		return el("section", { class: "card", id: "card-" + id }, el("h2", {}, title), ...children);
	}

	/* Head of the page */

	function percentiles(lo, hi) {
		return `p${+lo.toFixed(3)} to p${+hi.toFixed(3)}`;
	}

	function whatTargets() {
		const o = doc.options;

		if (o.has_id)
			return "the request that was asked for";
		return o.slowest ? `the ${many(doc.targets)} slowest` : `those from ${percentiles(o.target_lo, o.target_hi)} of their class`;
	}

	/* Returns a sentence on the biggest causes. */
	function sentence() {
		const most = doc.causes.slice().sort((a, b) => b.total_ns - a.total_ns).slice(0, 3);
		const all = doc.blame[0].all_ns;

		if (!doc.targets)
			return `No request of ${many(doc.requests)} is among ${whatTargets()}.`;
		const parts = most.filter((c, i) => !i || c.total_ns > all / 20).map((c) => {
			const chain = c.chain.slice(1).map(linkText).filter(Boolean).join(", ");

			return `${why.share(c.total_ns, all)} ${c.text}, ${many(c.requests)} request${c.requests === 1 ? "" : "s"}` + (chain ? ` (the slowest: ${chain})` : "");
		});

		return `Of ${many(doc.requests)} requests ${many(doc.targets)} ${doc.targets === 1 ? "is" : "are"} explained here: ${whatTargets()}. ` +
			`${doc.targets === 1 ? "It takes" : "Together they take"} ${ldb.ns(all)} longer than usual: ` +
			(parts.length ? parts.join("; ") + "." : "no cause was found.");
	}

	function fact(label, value, title, isBad) {
		return el("div", { title }, el("dt", {}, label), el("dd", { class: isBad ? "bad" : "" }, value));
	}

	function facts() {
		const c = doc.coverage, lost = doc.summary.lost.total;
		const percent = (v) => (100 * v).toFixed(1) + " %";

		return el("dl", { class: "strip", id: "facts" },
			fact("explained, least", percent(c.min), "the least part of a target's deviation that causes explain; above 100 %: something else took less", c.min < 0.8),
			fact("explained, median", percent(c.median), "of half of the targets at least this part is explained"),
			fact("unknown", percent(c.unknown), "part of the targets' time of which nothing is known", c.unknown > 0.05),
			fact("chains followed", many(c.chains), "targets of which it is known who ended the wait, and why that was late"),
			fact("kernel events", doc.has_sched ? doc.summary.kernel_events || "yes" : "none", "without them it is not known why a thread did not run", !doc.has_sched),
			fact("page faults", doc.has_faults ? "recorded" : "not recorded"), fact("interrupts", doc.has_irqs ? "recorded" : "not recorded"),
			fact("not ended", many(doc.incomplete), "requests that had not ended: they are not in this page"),
			fact("lost hand-offs", many(doc.lost_handoffs), "requests that were put into a queue and never taken out", doc.lost_handoffs > 0),
			fact("lost records", lost ? many(lost) : "none", "of all kinds", lost > 0),
			doc.targets > why.count ? fact("one by one", many(why.count), `the slowest of the ${many(doc.targets)} targets; boxes and flames are of all`) : null,
			fact("recorded", ldb.ns(doc.duration_ns)));
	}

	function classes() {
		const t = makeTable({ id: "classes", sort: "targets", columns: [
			{ key: "name", label: "class", type: "text", class: "name" },
			{ key: "requests", label: "requests", type: "number" },
			{ key: "targets", label: "targets", type: "number", title: "slow ones that are explained" },
			{ key: "target_lo_ns", label: "from", type: "ns", title: "the least latency of a target" },
			{ key: "target_hi_ns", label: "to", type: "ns", title: "the greatest" },
			{ key: "reference", label: "reference", type: "number", title: `usual ones: ${percentiles(doc.options.reference_lo, doc.options.reference_hi)}` },
			{ key: "reference_lo_ns", label: "from", type: "ns" }, { key: "reference_hi_ns", label: "to", type: "ns" },
			{ key: "reference_ns", label: "median", type: "ns", title: "of the reference: what a deviation is from" },
		] });

		t.show(doc.classes.map((c) => ({ ...c, name: c.class || "(no class)" })));
		return t.node;
	}

	/* Causes */

	function boxOf(i) {
		for (const g of doc.boxes)
			for (const c of g.causes)
				if (c.number === i)
					return c.box;
		return {};
	}

	function causeTable() {
		const ns = (key, label, title, more) => ({ key, label, title, type: "ns", ...more });
		const table = makeTable({ id: "causes", sort: "total_ns", hint: "filter: regex, total>1ms, targets>=10", picked: (r) => r.number === state.cause,
			onpick: (r) => state.set({ cause: state.cause === r.number ? -1 : r.number }), columns: [
				{ key: "text", label: "cause", type: "text", class: "name", make: (r) =>
					el("span", { title: r.sentence || r.text }, plot.mark(r.number), r.text) },
				{ key: "category", label: "category", type: "text" },
				{ key: "first", label: "first of", type: "number", title: "targets whose first cause it is" },
				{ key: "requests", label: "targets", type: "number", title: "that have it" },
				ns("median_ns", "median", "of what it added to those that have it"),
				ns("total_ns", "total", "added to all targets"), ns("reference_ns", "usual", "its median in the reference"),
				{ key: "anomaly", label: "anomaly", type: "text", title: "of NSight's classes" },
				{ key: "chain_text", label: "leads to", type: "text", title: "of the slowest target with it" },
				...(doc.causes.some((c) => c.inside) ? [{ key: "inside", label: "inside of it", type: "text",
					title: "lines, functions of libraries and of the kernel, by samples; in brackets the interval, 95 %" }] : []),
				{ key: "advice", label: "what helps", type: "text" },
				{ key: "cause", label: "kind", type: "text", rare: true }, { key: "label", label: "label", type: "text", rare: true },
				{ key: "path", label: "path", type: "text", rare: true },
				{ key: "has_faults", label: "page faults", type: "bool", rare: true },
				ns("min_ns", "least", "", { rare: true }), ns("q1_ns", "q1", "", { rare: true }),
				ns("q3_ns", "q3", "", { rare: true }), ns("max_ns", "greatest", "", { rare: true }),
			] });

		table.show(doc.causes.map((c, number) => ({ ...c, number, ...boxOf(number), count: undefined,
			median_ns: c.median_ns, total_ns: c.total_ns, category: c.category || "\u2013",
			chain_text: c.chain.slice(1).map(linkText).join(" \u2190 ") })));
		views.causes = { draw: table.draw, table };
		return table.node;
	}

	function linkText(l) {
		const words = { held_by: "held by", woken_by: "woken by", taken_by: "taken out by", io: "I/O", function: "" };
		const kind = l.kind in words ? words[l.kind] : l.kind.replace(/_/g, " ");
		const name = l.kind === "held_by" || l.kind === "woken_by" ? [l.label, [l.thread, l.tid || ""].join(" ").trim()].filter(Boolean).join(", ") : l.label;

		return [kind, name, l.call ? `(${l.call})` : ""].filter(Boolean).join(" ");
	}

	/* Returns the traits that slow requests share; "": none in the page. */
	function shared() {
		const s = doc.shared;

		if (!s || !s.slow)
			return "";
		const percent = (key, label, title) => ({ key, label, title, type: "number" });
		const table = makeTable({ id: "shared", sort: "rank", columns: [
			{ key: "rank", label: "#", type: "number" },
			{ key: "trait", label: "what they share", type: "text", class: "name" },
			percent("slow_percent", "% of slow", `of the ${many(s.slow)} slow ones that were compared`),
			percent("usual_percent", "% of usual", `of the ${many(s.usual)} usual ones`),
			{ key: "lift", label: "lift", type: "number", title: "how many times as often" },
			{ key: "p_adjusted", label: "p", type: "number",
			  title: `adjusted: so often any of ${many(s.tests)} traits was as improbable in ${many(s.draws)} draws of who is slow` },
			{ key: "slow", label: "slow", type: "number", rare: true },
			{ key: "usual", label: "usual", type: "number", rare: true },
		] });
		const tenth = (v) => Math.round(10 * v) / 10;

		table.show(s.found.map((f, i) => ({ ...f, rank: i + 1, slow_percent: tenth(100 * f.slow_share),
			usual_percent: tenth(100 * f.usual_share), lift: f.lift === undefined ? undefined : tenth(f.lift) })));
		return card("shared", "What slow ones share", s.found.length ? table.node :
			el("p", { class: "dim" }, `None of ${many(s.tests)} traits distinguishes them from usual requests.`));
	}

	/* The selected request */

	function chainOf(t) {
		const items = [];

		(t.chain || []).forEach((l, i) => {
			if (i)
				items.push(el("li", { class: "arrow", "aria-hidden": "true" }, "\u2190"));
			items.push(el("li", {}, el("b", {}, linkText(l)),
				el("span", {}, `${ldb.ns(l.ns)}${l.resolution_ns ? ` \u00b1${ldb.ns(l.resolution_ns)}` : ""}`,
					l.file ? ` ${l.file}` : "", l.thread && l.kind !== "held_by" && l.kind !== "woken_by" ? ` on ${l.thread} ${l.tid || ""}` : ""),
				el("span", { class: "how" }, `known by ${l.source}` + (l.certainty === "exact" ? "" : `, ${l.certainty}`) + (l.confidence < 1 ? `, ${Math.round(100 * l.confidence)} %` : ""))));
		});
		return el("ol", { class: "chain", id: "chain" }, items);
	}

	function amountsOf(t) {
		const rows = t.amounts.map((a) => {
			const bar = el("i"), c = doc.causes[a.cause];

			bar.style.width = Math.min(100, 100 * a.ns / Math.max(t.deviation_ns, 1)).toFixed(2) + "%";
			bar.style.background = plot.colorOf(a.cause);
			return el("tr", {}, el("td", {}, plot.mark(a.cause), c.text), el("td", { class: "num", "data-ns": a.ns, title: ldb.exact(a.ns) }, ldb.ns(a.ns)),
				el("td", { class: "num dim" }, a.more ? `${many(a.more)} more` : ""), el("td", { class: "num dim" }, why.share(a.ns, t.deviation_ns)),
				el("td", { class: "bar" }, bar));
		});

		return el("table", { class: "amounts", id: "amounts" }, el("tbody", {}, rows));
	}

	function requestCard() {
		const instance = makeInstance(), body = el("div", { id: "request" });
		const step = (d) => () => move(d);
		const title = el("h2", {}, "The request");
		const node = el("section", { class: "card", id: "card-request" }, title, el("div", { class: "tools" },
			el("span", { class: "nav" }, el("button", { onclick: step(-1), title: "the next slower one (k)" }, "\u2190 slower"),
				el("button", { onclick: step(1), title: "the next faster one (j)" }, "faster \u2192"))), body, instance.node);
		let shown = -1;

		views.request = { draw() {
			const i = state.target >= 0 ? state.target : 0;

			node.hidden = !why.count;
			if (!why.count)
				return;
			if (shown !== i) {
				const t = why.target(i);

				shown = i;
				title.textContent = `Request ${t.req}${t.class ? " " + t.class : ""}: ${ldb.ns(t.latency_ns)}` + (i ? "" : ", the slowest");
				body.replaceChildren(el("p", { id: "sentence" }, t.sentence),
					el("p", { class: "dim" }, `${ldb.ns(t.deviation_ns)} more than usual, of which ${(100 * t.coverage).toFixed(1)} % is explained; ` +
						`of ${ldb.ns(t.unknown_ns)} nothing is known` + (t.ahead ? `; ${many(t.ahead)} request${t.ahead === 1 ? " was" : "s were"} ahead` : "") + "."),
					t.chain && t.chain.length ? chainOf(t) : "", amountsOf(t));
				instance.show(i);
			} else {
				instance.draw();
			}
		}, instance };
		return node;
	}

	/*
	 * Selects the next (d is 1) or the previous (-1) target that has the selected cause or
	 * category.
	 */
	function move(d) {
		let i = state.target >= 0 ? state.target : 0;

		do
			i += d;
		while (i >= 0 && i < why.count && !isWanted(i));
		if (i >= 0 && i < why.count)
			state.set({ target: i });
	}

	function isWanted(i) {
		if (state.cause < 0 && !state.group)
			return true;
		return why.amounts(i).some((a) => state.cause >= 0 ? a.cause === state.cause : doc.causes[a.cause].group === state.group);
	}

	function slowest() {
		const table = makeTable({ id: "slow", sort: "latency_ns", hint: "filter: regex, latency>1ms, explained<90", picked: (r) => r.rank === state.target,
			onpick: (r) => state.set({ target: r.rank }), columns: [
				{ key: "req", label: "request", type: "text", class: "mono" }, { key: "class", label: "class", type: "text" },
				{ key: "latency_ns", label: "latency", type: "ns" },
				{ key: "deviation_ns", label: "more than usual", type: "ns" }, { key: "start_ns", label: "begun", type: "ns" },
				{ key: "first", label: "first cause", type: "text", class: "name", make: (r) => el("span", { title: r.first },
					r.amounts.length ? plot.mark(r.amounts[0].cause) : "", r.first) },
				{ key: "first_ns", label: "of it", type: "ns" },
				{ key: "root_text", label: "in the end", type: "text" },
				{ key: "covered", label: "explained", type: "number", title: "% of what is more than usual" },
				{ key: "unknown_ns", label: "unknown", type: "ns" }, { key: "ahead", label: "ahead", type: "number", title: "requests it was behind" },
			] });
		const note = el("p", { class: "dim" });
		const SHOWN = 2000;

		views.slow = { draw() {
			const list = [];

			for (let i = 0; i < why.count && list.length < SHOWN; i++)
				if (isWanted(i)) {
					const t = why.target(i);

					list.push({ ...t, first: t.amounts.length ? doc.causes[t.amounts[0].cause].text : "\u2013",
						first_ns: t.amounts.length ? t.amounts[0].ns : 0, root_text: [t.root, t.root_label].filter(Boolean).join(" "),
						covered: Math.round(1000 * t.coverage) / 10 });
				}
			note.textContent = state.cause >= 0 ? `Those that have the cause that is picked: ${doc.causes[state.cause].text}.` :
				state.group ? `Those that have a cause of ${state.group}.` : list.length < why.count ? `The ${many(list.length)} slowest.` : "";
			table.show(list);
		}, table };
		return el("div", {}, note, table.node);
	}

	/* URL and keys */

	function link() {
		const p = new URLSearchParams();

		if (state.target >= 0)
			p.set("req", why.id(state.target));
		if (state.cause >= 0)
			p.set("cause", state.cause);
		if (state.group)
			p.set("group", state.group);
		history.replaceState(null, "", p.toString() ? "#" + p : location.pathname + location.search);
	}

	function restore() {
		const p = new URLSearchParams(location.hash.slice(1)), cause = Number(p.get("cause") ?? -1);

		if (p.has("req") && why.tables.rank.has(p.get("req")))
			state.target = why.tables.rank.get(p.get("req"));
		if (Number.isInteger(cause) && cause >= 0 && cause < doc.causes.length)
			state.cause = cause;
		if (doc.boxes.some((g) => g.group === p.get("group")))
			state.group = p.get("group");
	}

	function set(more) {
		Object.assign(state, more);
		if (state.group && state.cause >= 0 && doc.causes[state.cause].group !== state.group)
			state.group = "";
		draw();
		try {
			link();
		} catch {
			/* Some browsers do not permit this for local files. */
		}
	}

	function draw() {
		for (const v of Object.values(views))
			v.draw();
	}

	function header() {
		const title = doc.title.length > 90 ? doc.title.slice(0, 90) + "\u2026" : doc.title;

		return el("header", {}, el("h1", { title: doc.title }, title), el("div", { class: "right" }, ldb.look.buttons()));
	}

	function build() {
		const make = (name, view) => {
			views[name] = view;
			return view.node;
		};

		main.append(header(), el("p", { class: "lead", id: "lead" }, sentence()), card("facts", "How reliable this is", facts()),
			card("causes", "Causes", causeTable()), shared(),
			card("balloons", "Which requests were slow, and why", make("balloons", makeBalloons(state))),
			requestCard(),
			card("boxes", "What causes added to the requests that have them", make("boxes", makeBoxes(state))),
			el("div", { class: "two" }, card("queues", "How many requests more than usual were ahead", make("queues", makeQueues())),
				card("cpus", "Running tasks during the slow requests", make("cpus", makeCpus()))),
			card("blame", "Where the deviation comes from", make("blame", makeBlame())),
			card("slow", "Slow requests", slowest()),
			card("classes", "Classes: what is slow, and compared with what", doc.options.against ?
				el("p", {}, `The reference is of another recording: ${doc.options.against}.`) : "", classes()),
			el("p", { class: "dim" }, "Keys: j and k for the next request, Escape for all, t for light or dark, c for colours. ",
				`Made by ldb ${doc.version}.`));
	}

	build();
	restore();
	draw();
	ldb.look.keys({ j: () => move(1), k: () => move(-1), Escape: () => set({ target: -1, cause: -1, group: "" }) });
	ldb.look.changed(draw);
	let timer = 0;

	addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(draw, 120);
	});
	/* For tests, and for users of the browser's console. */
	window.page = { why, state, views, move };
	document.documentElement.dataset.ready = "1";
})();
