// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Controls the page of ldb-flows: the selected component, or pair of components, filters the
 * functions.
 */
"use strict";

(() => {
	const el = ldb.el, doc = ldb.json("flows"), main = el("main");
	const names = doc.components.filter((c) => !c.wait).map((c) => c.component);
	const MATRIX_MAX = 24;

	document.body.append(main);

	function many(n) {
		return n.toLocaleString("en").replace(/,/g, "\u202f");
	}

	function percent(part, whole) {
		return whole ? (100 * part / whole).toFixed(1) + " %" : "\u2013";
	}

	function color(name) {
		const at = names.indexOf(name);

		return name === "wait" ? "var(--c-wait)" : at < 0 ? "var(--c-other)" : `var(--f${at % 10})`;
	}

	function card(id, title, ...children) {
		return el("section", { class: "card", id: "card-" + id }, el("h2", {}, title), ...children);
	}

	function swatch(name) {
		return el("span", { class: "swatch", style: `background: ${color(name)}` });
	}

	function fact(label, value, title) {
		return el("div", { title }, el("dt", {}, label), el("dd", {}, value));
	}

	function facts() {
		const lost = doc.lost;

		return el("dl", { class: "strip", id: "facts" },
			fact("recorded", ldb.ns(doc.duration_ns)),
			fact("all threads", ldb.ns(doc.lifetime_ns), "how long they existed, together: 100 %"),
			fact("wait", percent(doc.wait_ns, doc.lifetime_ns), "in functions that wait"),
			fact("calls", many(doc.calls), "between components; counted exactly"),
			fact("timed", percent(doc.timed, doc.calls), "the time of others is estimated from these"),
			fact("without time", many(doc.unknown), "calls of functions that may not return or return twice, and calls that had not ended"),
			fact("not timed for lack of room", many(lost.no_slot)),
			fact("functions not followed", many(lost.address_taken + lost.unresolved + lost.limit),
				`${lost.address_taken}: the program may use their addresses otherwise; ${lost.unresolved}: not found; ${lost.limit}: no room`),
			fact("threads lost", many(lost.threads)));
	}

	/* The table of functions is made first, because the others filter it. */
	const functions = makeTable({ id: "functions", sort: "total_ns", hint: "filter: regex, total>1ms, calls>1000", columns: [
		{ key: "function", label: "function", type: "text", class: "name", make: (r) => el("span", { title: r.symbol },
			swatch(r.wait ? "wait" : r.callee), r.function) },
		{ key: "callee", label: "of", type: "text" }, { key: "caller", label: "called by", type: "text" },
		{ key: "calls", label: "calls", type: "number" },
		{ key: "total_ns", label: "total", type: "ns", of: "timed" },
		{ key: "error_ns", label: "\u00b1", type: "ns", of: "timed", title: "half-width of the 95 % confidence interval" },
		{ key: "mean_ns", label: "mean", type: "ns", of: "timed" }, { key: "p50_ns", label: "p50", type: "ns", of: "timed" },
		{ key: "p99_ns", label: "p99", type: "ns", of: "timed" }, { key: "max_ns", label: "max", type: "ns", of: "timed" },
		{ key: "min_ns", label: "min", type: "ns", of: "timed", rare: true }, { key: "timed", label: "timed", type: "number", rare: true },
		{ key: "shared_ns", label: "divided", type: "ns", of: "timed", rare: true, title: "each of n active threads has 1/n of the time" },
		{ key: "wait", label: "waits", type: "bool" },
	] });

	function pickFunctions(isWanted, title) {
		const note = document.getElementById("picked");

		functions.show(doc.functions.filter(isWanted));
		note.replaceChildren(title, title ? el("button", { onclick: () => pickFunctions(() => true, "") }, "Show all") : "");
	}

	function pickComponent(name) {
		pickFunctions((f) => (name === "wait" ? f.wait : !f.wait && f.callee === name) || f.caller === name,
			name === "wait" ? "Functions that wait. " : `Functions of ${name}, and those that it calls. `);
	}

	function pickCell(c) {
		pickFunctions((f) => f.caller === c.caller && (c.wait ? f.wait : !f.wait && f.callee === c.callee),
			`From ${c.caller} to ${c.wait ? "the wait" : c.callee}. `);
	}

	function parts() {
		return el("div", { class: "parts", id: "parts" }, doc.components.filter((c) => c.self_ns > 0).map((c) =>
			el("button", { style: `flex: ${c.self_ns / doc.lifetime_ns} 1 0; background: ${color(c.component)}`,
				title: `${c.component}: ${ldb.ns(c.self_ns)}, ${percent(c.self_ns, doc.lifetime_ns)}`,
				onclick: () => pickComponent(c.component) }, c.component)));
	}

	function components() {
		const table = makeTable({ id: "components", sort: "self_ns", hint: "filter: regex, self>1ms", onpick: (r) => pickComponent(r.component), columns: [
			{ key: "component", label: "component", type: "text", class: "name", make: (r) => el("span", { title: r.path }, swatch(r.component), r.component) },
			{ key: "percent", label: "%", type: "number", plain: true }, { key: "self_ns", label: "self", type: "ns", of: "self_ns" },
			{ key: "error_ns", label: "\u00b1", type: "ns", of: "one", title: "half-width of the 95 % confidence interval" },
			{ key: "calls", label: "calls into it", type: "number" }, { key: "in_ns", label: "in them", type: "ns", of: "one" },
			{ key: "out_ns", label: "in calls out of it", type: "ns", of: "one" },
			{ key: "self_shared_ns", label: "divided", type: "ns", of: "one", rare: true, title: "each of n active threads has 1/n of the time" },
		] });

		table.show(doc.components.map((c) => ({ ...c, one: 1, percent: Math.round(1000 * c.share) / 10 })));
		return table.node;
	}

	function matrix() {
		const shown = names.slice(0, MATRIX_MAX), most = Math.max(1, ...doc.matrix.map((c) => c.total_ns));
		const find = (from, to) => doc.matrix.filter((c) => c.caller === from && (to === "wait" ? c.wait : !c.wait && c.callee === to));
		const cell = (from, to) => {
			const found = find(from, to), ns = found.reduce((sum, c) => sum + c.total_ns, 0);
			const strength = found.length ? 8 + 60 * Math.sqrt(ns / most) : 0;

			return el("td", { class: "num", style: found.length ? `background: color-mix(in srgb, ${color(to)} ${strength}%, transparent)` : "" },
				found.length ? el("button", { title: `${from} \u2192 ${to}: ${ldb.exact(ns)}`, onclick: () => pickCell(found[0]) }, ldb.ns(ns)) : "");
		};

		return el("div", { class: "scroll" }, el("table", { class: "matrix", id: "matrix" },
			el("thead", {}, el("tr", {}, el("th", {}, "from \\ to"), [...shown, "wait"].map((n) => el("th", { scope: "col", title: n }, n)))),
			el("tbody", {}, shown.map((from) => el("tr", {}, el("th", { scope: "row", title: from }, swatch(from), from),
				[...shown, "wait"].map((to) => cell(from, to)))))),
		names.length > MATRIX_MAX ? el("p", { class: "dim" }, `${many(names.length - MATRIX_MAX)} more components have less time.`) : null);
	}

	function pools() {
		const table = makeTable({ id: "pools", sort: "effective_ns", hint: "filter: regex, wait>1s", columns: [
			{ key: "pool", label: "pool", type: "text", class: "name" }, { key: "routine", label: "begins with", type: "text" },
			{ key: "threads", label: "threads", type: "number" }, { key: "lifetime_ns", label: "existed", type: "ns", of: "threads" },
			{ key: "wait_ns", label: "waited", type: "ns", of: "threads" }, { key: "effective_ns", label: "worked", type: "ns", of: "threads" },
			{ key: "percent", label: "% busy", type: "number", plain: true }, { key: "min_ns", label: "least", type: "ns", of: "threads" },
			{ key: "mean_ns", label: "mean", type: "ns", of: "threads" }, { key: "max_ns", label: "most", type: "ns", of: "threads" },
			{ key: "imbalance", label: "most / mean", type: "number", plain: true, title: "1: balanced" },
		] });

		table.show(doc.pools.map((p) => ({ ...p, percent: Math.round(1000 * p.busy) / 10, imbalance: Math.round(100 * p.imbalance) / 100 || null })));
		return table.node;
	}

	function threads() {
		const table = makeTable({ id: "threads", sort: "effective_ns", hint: "filter: regex, wait>1s", columns: [
			{ key: "tid", label: "tid", type: "number", plain: true }, { key: "thread", label: "name", type: "text", class: "name" },
			{ key: "pool", label: "pool", type: "text" }, { key: "lifetime_ns", label: "existed", type: "ns", of: "one" },
			{ key: "wait_ns", label: "waited", type: "ns", of: "one" }, { key: "effective_ns", label: "worked", type: "ns", of: "one" },
			{ key: "error_ns", label: "\u00b1", type: "ns", of: "one" }, { key: "calls", label: "calls", type: "number" },
			{ key: "longest", label: "longest in", type: "text" }, { key: "longest_ns", label: "for", type: "ns", of: "one" },
		] });

		table.show(doc.threads.map((t) => ({ ...t, one: 1 })));
		return table.node;
	}

	main.append(el("header", {}, el("h1", {}, doc.title), el("div", { class: "right" }, ldb.look.buttons())),
		card("facts", "Time between components", facts()),
		card("components", "Self time of components, and the wait: all of the threads' time", parts(), el("p"), components()),
		card("bands", "Time in calls: who calls (left) whom (right)", drawBands(doc.matrix, { color, pick: pickCell })),
		card("matrix", "From component to component", matrix()),
		card("functions", "Functions of libraries, and who calls them", el("p", { id: "picked" }), functions.node),
		el("div", { class: "two" }, card("pools", "Pools: threads that are alike", pools()), card("threads", "Threads", threads())));
	pickFunctions(() => true, "");
	ldb.look.keys();
})();
