// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes tables that are sorted by a click on a column's head and filtered by typed words and
 * regular expressions, which must match a text of the row, and conditions like p99>1ms or
 * count>=100.
 *
 *	const t = makeTable({ columns, sort: "p99_ns", onpick: (row) => ... });
 *	parent.append(t.node);
 *	t.show(rows);
 *
 * A column: { key, label, type: "text" | "ns" | "number" | "bool", title, rare }.  Rare columns are
 * shown only if all columns are shown.
 */
"use strict";

const makeTable = (() => {
	const STEP = 200;	/* rows that are added at a time */
	const units = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, "": 1 };

	function condition(word, columns) {
		const m = /^([a-z0-9_.]+?)(_ns)?(>=|<=|>|<|=)(-?[0-9.]+)(ns|us|ms|s|)$/i.exec(word);
		const column = m && columns.find((c) => [c.key, c.key.replace(/_ns$/, ""), c.label.toLowerCase()]
			.includes(m[1].toLowerCase()));

		if (!column || column.type === "text")
			return null;
		const value = m[4] * units[m[5].toLowerCase()];

		return (row) => {
			const v = Number(row[column.key]);

			return m[3] === ">" ? v > value : m[3] === "<" ? v < value : m[3] === "=" ? v === value :
				m[3] === ">=" ? v >= value : v <= value;
		};
	}

	function pattern(word, columns) {
		const texts = columns.filter((c) => c.type === "text").map((c) => c.key);
		let re;

		try {
			re = new RegExp(word, "i");
		} catch {
			re = { test: (s) => s.toLowerCase().includes(word.toLowerCase()) };
		}
		return (row) => texts.some((key) => re.test(String(row[key] ?? "")));
	}

	function makeFilter(text, columns) {
		const tests = text.split(/\s+/).filter(Boolean).map((w) => condition(w, columns) || pattern(w, columns));

		return (row) => tests.every((f) => f(row));
	}

	function compare(a, b) {
		if (typeof a === "string" || typeof b === "string")
			return String(a ?? "").localeCompare(String(b ?? ""));
		return (a ?? -1) - (b ?? -1);
	}

	function cell(column, row) {
		const v = row[column.key];

		if (column.make)
			return ldb.el("td", {}, column.make(row));
		if (v === null || v === undefined)
			return ldb.el("td", { class: column.type === "text" ? "" : "num dim" }, "\u2013");
		/* Without values there is no percentile, although --json prints 0. */
		if (column.type === "ns" && row[column.of || "count"] === 0 && !/(^|\.)total|^(start|end)/.test(column.key))
			return ldb.el("td", { class: "num dim", "data-ns": v }, "\u2013");
		if (column.type === "ns")
			return ldb.el("td", { class: "num" + (column.bar ? " bar" : ""), "data-ns": v, title: ldb.exact(v) },
				column.approx && column.approx(row) ? "\u2248" : "", ldb.ns(v));
		if (column.type === "number")
			return ldb.el("td", { class: "num", "data-ns": v }, column.plain ? String(v) : v.toLocaleString("en").replace(/,/g, "\u202f"));
		if (column.type === "bool")
			return ldb.el("td", { class: "dim" }, v ? "yes" : "no");
		/* If a path is too long, its end is shown. */
		return ldb.el("td", { class: "text " + (column.class || ""), title: String(v) },
			column.class === "file" ? ldb.el("bdi", {}, String(v)) : String(v));
	}

	return function makeTable(options) {
		const el = ldb.el;
		let rows = [], shown = STEP, all = false, sort = options.sort, down = true;
		const head = el("tr"), body = el("tbody"), count = el("span", { class: "dim" });
		const more = el("button", { onclick: () => { shown += 5 * STEP; draw(); } }, "Show more");
		const filter = el("input", { type: "search", class: "filter", placeholder: options.hint ||
			"filter: regex, p99>1ms, count>=10", "aria-label": "filter the table", oninput: () => {
			shown = STEP;
			draw();
		} });
		const columnsButton = el("button", { "aria-pressed": "false", title: "also the columns that are rarely needed",
			onclick: () => {
				all = !all;
				columnsButton.setAttribute("aria-pressed", all);
				draw();
			} }, "All columns");
		const hasRare = options.columns.some((c) => c.rare);
		const node = el("div", { class: "sheet" },
			el("div", { class: "tools" }, filter, hasRare ? columnsButton : null, options.tools, count),
			el("div", { class: "scroll" }, el("table", { id: options.id }, el("thead", {}, head), body)), more);

		function columns() {
			return options.columns.filter((c) => all || !c.rare);
		}

		function order(column) {
			if (sort === column.key)
				down = !down;
			else
				down = column.type !== "text";
			sort = column.key;
			draw();
		}

		function drawHead() {
			head.replaceChildren(...columns().map((c) => el("th", { scope: "col", "data-key": c.key,
				class: c.type === "text" ? "" : "num",
				"aria-sort": sort === c.key ? (down ? "descending" : "ascending") : "none" },
			c.sortable === false ? c.label : el("button", { title: c.title || c.label, onclick: () => order(c) },
				c.label, el("span", { class: "arrow", "aria-hidden": "true" },
					sort !== c.key ? "" : down ? " \u25be" : " \u25b4")))));
		}

		function draw() {
			const isWanted = makeFilter(filter.value, options.columns);
			const wanted = rows.filter(isWanted);
			const stable = wanted.map((row, i) => [row, i]);

			stable.sort((a, b) => (down ? -1 : 1) * compare(a[0][sort], b[0][sort]) || a[1] - b[1]);
			drawHead();
			body.replaceChildren(...stable.slice(0, shown).map(([row]) => {
				const tr = el("tr", { class: options.onpick ? "pick" : "" }, columns().map((c) => cell(c, row)));

				if (options.picked && options.picked(row))
					tr.classList.add("picked");
				if (options.onpick)
					tr.addEventListener("click", () => options.onpick(row, tr));
				return tr;
			}));
			count.textContent = wanted.length === rows.length ? rows.length + (rows.length === 1 ? " row" : " rows") :
				wanted.length + " of " + rows.length + " rows";
			more.hidden = wanted.length <= shown;
			node.classList.toggle("empty", !rows.length);
		}

		return {
			node, draw, filter,
			show(list) {
				rows = list;
				shown = STEP;
				draw();
			},
			get rows() { return rows; },
		};
	};
})();
