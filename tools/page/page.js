// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions for all pages.  Names come from traces and may be hostile: they become text nodes,
 * never HTML.
 */
"use strict";

const ldb = (() => {
	/* Returns the object that page_json_begin() has written; null: there is none. */
	function json(id) {
		const node = document.getElementById(id);

		return node ? JSON.parse(node.textContent) : null;
	}

	function fromBase64(text) {
		if (Uint8Array.fromBase64)
			return Uint8Array.fromBase64(text);
		const binary = atob(text), bytes = new Uint8Array(binary.length);

		for (let i = 0; i < binary.length; i++)
			bytes[i] = binary.charCodeAt(i);
		return bytes;
	}

	async function inflate(bytes) {
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));

		return new Uint8Array(await new Response(stream).arrayBuffer());
	}

	/* Decodes values of up to four bytes, which fit into 32-bit numbers. */
	function narrow(bytes, at, nr, planes, how) {
		const out = new Float64Array(nr);
		const p0 = at, p1 = at + nr, p2 = at + 2 * nr, p3 = at + 3 * nr;
		let sum = 0;

		for (let i = 0; i < nr; i++) {
			let v = planes > 0 ? bytes[p0 + i] : 0;

			if (planes > 1) v |= bytes[p1 + i] << 8;
			if (planes > 2) v |= bytes[p2 + i] << 16;
			if (planes > 3) v |= bytes[p3 + i] << 24;
			if (how === "p")
				v = v >>> 0;
			else
				v = (v >>> 1) ^ -(v & 1);
			if (how === "d")
				v = sum += v;
			out[i] = v;
		}
		return out;
	}

	function wide(bytes, at, nr, planes, how) {
		const out = new Float64Array(nr);
		let sum = 0;

		for (let i = 0; i < nr; i++) {
			let low = 0, high = 0;

			for (let p = 0; p < planes; p++) {
				const b = bytes[at + p * nr + i];

				if (p < 4)
					low |= b << 8 * p;
				else
					high |= b << 8 * (p - 4);
			}
			low >>>= 0;
			high >>>= 0;
			let v = high * 4294967296 + low;

			if (how !== "p") {
				const odd = low & 1;

				v = high * 2147483648 + (low >>> 1);
				if (odd)
					v = -v - 1;
			}
			if (how === "d")
				v = sum += v;
			out[i] = v;
		}
		return out;
	}

	/*
	 * Returns the table that page_columns() has written: { name: Float64Array }.  The element's
	 * text is removed, because each table is read only once.
	 */
	async function columns(id) {
		const node = document.getElementById(id), table = {};

		if (!node)
			return null;
		const bytes = await inflate(fromBase64(node.textContent));
		let at = 0;

		for (const column of (node.dataset.columns || "").split(" ").filter(Boolean)) {
			const [name, planes, how, count] = column.split(":");
			const read = planes > 4 ? wide : narrow;

			table[name] = read(bytes, at, +count, +planes, how);
			at += planes * count;
		}
		node.textContent = "";
		return table;
	}

	/* Formats "1.24 ms", as the tools do. */
	function ns(v) {
		const units = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
		const sign = v < 0 ? "-" : "", abs = Math.abs(v);
		let i = 0;

		while (i < 3 && abs / units[i][1] >= 999.5)
			i++;
		const scaled = abs / units[i][1];

		if (i === 0)
			return sign + Math.round(scaled) + " ns";
		return sign + scaled.toFixed(scaled < 9.995 ? 2 : scaled < 99.95 ? 1 : 0) + " " + units[i][0];
	}

	/* Formats "12 345 678 ns", exactly; the blanks are narrow and do not break. */
	function exact(v) {
		return String(Math.round(v)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") + "\u202fns";
	}

	/* Makes an element: el("button", { onclick: f, "aria-label": "x" }, "text", node, ...) */
	function el(tag, props, ...children) {
		const node = document.createElement(tag);

		for (const [key, value] of Object.entries(props || {})) {
			if (value === undefined || value === null || value === false)
				continue;
			if (key.startsWith("on"))
				node.addEventListener(key.slice(2), value);
			else if (key === "class")
				node.className = value;
			else
				node.setAttribute(key, value === true ? "" : value);
		}
		node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
		return node;
	}

	/*
	 * Returns the smallest of the sorted values that at least num / den of them do not exceed.
	 */
	function percentile(sorted, num, den) {
		return sorted.length ? sorted[Math.max(Math.ceil(sorted.length * num / den), 1) - 1] : 0;
	}

	/* Themes and palettes; listeners are called after a change. */
	const listeners = [];

	function store(key, value) {
		/* Some browsers have no localStorage for files. */
		try {
			localStorage.setItem("ldb-" + key, value);
		} catch {
			return;
		}
	}

	function stored(key) {
		try {
			return localStorage.getItem("ldb-" + key);
		} catch {
			return null;
		}
	}

	const look = {
		get theme() { return document.documentElement.dataset.theme; },
		get palette() { return document.documentElement.dataset.palette; },
		set(key, value) {
			if (document.documentElement.dataset[key] === value)
				return;
			document.documentElement.dataset[key] = value;
			store(key, value);
			for (const f of listeners)
				f();
		},
		changed(f) { listeners.push(f); },
		/* Returns a colour of page.css, "--c-wait". */
		color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); },
		/* Makes the buttons for theme and palette. */
		buttons() {
			const theme = el("button", { id: "theme", title: "light or dark (t)",
				onclick: () => look.set("theme", look.theme === "dark" ? "light" : "dark") });
			const palette = el("button", { id: "palette", title: "colours for colour-blind eyes (c)",
				onclick: () => look.set("palette", look.palette === "safe" ? "calm" : "safe") },
				"Colour-blind safe");
			const show = () => {
				theme.textContent = look.theme === "dark" ? "Light" : "Dark";
				palette.setAttribute("aria-pressed", look.palette === "safe");
			};

			look.changed(show);
			show();
			return [theme, palette];
		},
		/*
		 * Handles keys: t and c act like the buttons; others = { key: function } has
		 * further ones.
		 */
		keys(others) {
			const does = { t: () => document.getElementById("theme").click(), c: () => document.getElementById("palette").click(), ...others };

			document.addEventListener("keydown", (e) => {
				if (!/^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName) && !e.ctrlKey && !e.metaKey && !e.altKey && does[e.key])
					does[e.key](e);
			});
		},
	};
	const dark = window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches;

	document.documentElement.dataset.theme = stored("theme") || (dark ? "dark" : "light");
	document.documentElement.dataset.palette = stored("palette") || "calm";

	return { json, columns, ns, exact, el, percentile, look };
})();
