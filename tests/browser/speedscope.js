// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens a profile in speedscope, over file://, and compares the times of each frame in its sandwich
 * view with the events: node speedscope.js INDEX.HTML FILE.
 *
 * It prints "profile<TAB>frame<TAB>total ns<TAB>self ns", from the events; differences, errors, and
 * requests for anything that is not a file, are printed to stderr, and then the exit status is 1.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { examine } = require("./browser");

const [index, file] = process.argv.slice(2);
const problems = [];

/* Recursion is counted once, as speedscope does. */
function addUp(profile, frames) {
	const rows = new Map();
	const stack = [];
	let last = profile.startValue;

	for (const e of profile.events) {
		if (e.at < last)
			problems.push(`${profile.name}: ${e.at} comes after ${last}`);
		const names = stack.map((f) => frames[f].name);
		for (const name of new Set(names))
			rows.get(name).total += e.at - last;
		if (stack.length)
			rows.get(names[names.length - 1]).self += e.at - last;
		last = e.at;
		if (e.type === "O") {
			const { name } = frames[e.frame];

			if (!rows.has(name))
				rows.set(name, { total: 0, self: 0 });
			stack.push(e.frame);
		} else if (stack.pop() !== e.frame) {
			problems.push(`${profile.name}: the frame that is closed at ${e.at} is not the one opened last`);
		}
	}
	if (stack.length || last !== profile.endValue)
		problems.push(`${profile.name}: ends at ${last} with ${stack.length} open`);
	return rows;
}

/* Reads "12.70ms (99%)" as a range of ns; null: another format, such as that of minutes, "1:03". */
function range(text) {
	const units = { ns: 1, "µs": 1e3, "μs": 1e3, ms: 1e6, s: 1e9 };
	const m = /^([0-9.]+)(ns|µs|μs|ms|s) /.exec(text);

	if (!m)
		return null;
	const half = 0.5001 * 10 ** -((m[1].split(".")[1] || "").length);

	return [(Number(m[1]) - half) * units[m[2]], (Number(m[1]) + half) * units[m[2]]];
}

async function shown(page) {
	return page.$$eval("table tr", (trs) => trs.map((tr) =>
		[...tr.querySelectorAll("td")].map((td) => td.innerText.trim())).filter((r) => r.length === 3 && r[0].includes("%")));
}

function compare(name, rows, cells) {
	for (const [total, self, frame] of cells) {
		const row = rows.get(frame);

		if (!row) {
			problems.push(`${name}: shows ${frame}, which has no event`);
			continue;
		}
		for (const [what, text] of [["total", total], ["self", self]]) {
			const r = range(text);

			if (!r || row[what] < r[0] || row[what] > r[1])
				problems.push(`${name}: ${frame}: ${what} ${text}, but ${row[what]} ns of events`);
		}
	}
	if (!cells.length)
		problems.push(`${name}: nothing is shown`);
	if (cells.length !== rows.size && cells.length < 20)
		problems.push(`${name}: ${cells.length} of ${rows.size} frames are shown`);
}

async function look(browser) {
	const loader = path.resolve(`${file}.loader.js`);
	const data = fs.readFileSync(file);
	const { profiles, shared } = JSON.parse(data);
	const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });

	page.on("pageerror", (e) => problems.push(`exception: ${e}`));
	page.on("console", (m) => m.type() === "error" && problems.push(`console: ${m.text()}`));
	page.on("request", (r) => r.url().startsWith("file:") || r.url().startsWith("data:") ||
		problems.push(`request: ${r.url()}`));
	fs.writeFileSync(loader, `speedscope.loadFileFromBase64("x.speedscope.json", "${data.toString("base64")}")`);
	await page.goto(`${pathToFileURL(index).href}#localProfilePath=${loader}`);
	for (const [i, profile] of profiles.entries()) {
		const rows = addUp(profile, shared.frames);
		const title = profiles.length > 1 ? `${profile.name} (${i + 1}/${profiles.length})` : profile.name;

		await page.getByText(title).first().waitFor({ timeout: 20000 });
		await page.getByText("Sandwich").first().click();
		await page.getByText("Symbol Name").first().waitFor({ timeout: 20000 });
		await page.waitForTimeout(100);
		compare(profile.name, rows, await shown(page));
		for (const [name, row] of rows)
			console.log([profile.name, name, row.total, row.self].join("\t"));
		await page.keyboard.press("n");
	}
}

examine(look, problems);
