// SPDX-License-Identifier: GPL-2.0-or-later
/* Controls the page of ldb-flows --diff: the selected component filters the functions. */
"use strict";

(() => {
	const el = ldb.el, doc = ldb.json("flows-diff"), main = el("main");
	const changeOf = (r) => (r.delta_ns > 0 ? "more" : "less");

	document.body.append(main);

	function card(id, title, ...children) {
		return el("section", { class: "card", id: "card-" + id }, el("h2", {}, title), ...children);
	}

	function fact(label, before, after) {
		return el("div", {}, el("dt", {}, label), el("dd", {}, `${ldb.ns(before)} \u2192 ${ldb.ns(after)}`));
	}

	/*
	 * Draws a bar: to the right of the middle if more time is spent than before, pale if the
	 * change is within the error.
	 */
	function drawChange(r, most) {
		const width = most ? 50 * Math.abs(r.delta_ns) / most : 0;

		return el("div", { class: "change", title: `${r.delta_ns > 0 ? "+" : ""}${ldb.exact(r.delta_ns)}` }, el("span", {
			class: changeOf(r) + (r.beyond_error ? "" : " unsure"),
			style: `width: ${width}%; margin-left: ${r.delta_ns > 0 ? 50 : 50 - width}%` }));
	}

	function columns(names, most) {
		return [...names,
			{ key: "before_ns", label: "before", type: "ns", of: "one" }, { key: "after_ns", label: "after", type: "ns", of: "one" },
			{ key: "delta_ns", label: "change", type: "ns", of: "one" },
			{ key: "error_ns", label: "\u00b1", type: "ns", of: "one", title: "half-width of the 95 % confidence interval of the change" },
			{ key: "size_ns", label: "", type: "ns", of: "one", title: "sort by the size of the change", make: (r) => drawChange(r, most) },
			{ key: "beyond_error", label: "beyond it", type: "bool", title: "is the change greater than its error?" },
			{ key: "calls_before", label: "calls", type: "number" }, { key: "calls_after", label: "now", type: "number" },
		];
	}

	function table(id, list, names, onpick) {
		const rows = list.map((r) => ({ ...r, one: 1, size_ns: Math.abs(r.delta_ns) }));
		const t = makeTable({ id, sort: "size_ns", hint: "filter: regex, change>1ms, calls>1000", onpick,
			columns: columns(names, Math.max(0, ...rows.map((r) => r.size_ns))) });

		t.show(rows);
		return { ...t, rows };
	}

	const functions = table("functions", doc.functions, [
		{ key: "function", label: "function", type: "text", class: "name" }, { key: "callee", label: "of", type: "text" },
		{ key: "caller", label: "called by", type: "text" }]);

	function pick(name) {
		const note = document.getElementById("picked");

		functions.show(functions.rows.filter((f) => !name || f.callee === name || f.caller === name));
		note.replaceChildren(name ? `Functions of ${name}, and those that it calls. ` : "",
			name ? el("button", { onclick: () => pick(null) }, "Show all") : "");
	}

	const components = table("components", doc.components,
		[{ key: "callee", label: "component", type: "text", class: "name" }], (r) => pick(r.callee));

	main.append(el("header", {}, el("h1", {}, doc.title), el("div", { class: "right" }, ldb.look.buttons())),
		card("facts", `Compared with ${doc.before}`, el("dl", { class: "strip", id: "facts" },
			fact("all threads", doc.lifetime_before_ns, doc.lifetime_after_ns), fact("wait", doc.wait_before_ns, doc.wait_after_ns))),
		card("components", "Self time of components, and the wait", components.node),
		card("functions", "Functions of libraries, and who calls them", el("p", { id: "picked" }), functions.node));
	ldb.look.keys();
})();
