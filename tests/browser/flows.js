// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the page of ldb-flows: it must show what --json says, and selecting a component must filter
 * the functions.
 *
 *	flows.js KNOWN.html KNOWN.data DIFF.html BEFORE.data
 */
"use strict";

const { execFileSync } = require("child_process");
const { run } = require("./browser");

const [knownPage, knownTrace, diffPage, beforeTrace] = process.argv.slice(2);

function jsonOf(...options) {
	return JSON.parse(execFileSync("ldb-flows", ["-q", "-i", knownTrace, "--json", ...options],
		{ encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
}

const json = jsonOf();

function functionsShown(page) {
	return page.$$eval("#functions tbody tr", (rows) => rows.map((r) => r.cells[0].textContent));
}

async function testTables(t, page) {
	t.equal("one row for each function", (await functionsShown(page)).sort(), json.functions.map((f) => f.function).sort());
	t.equal("one for each component", await page.$$eval("#components tbody tr", (rows) => rows.length), json.components.length);
	t.equal("parts of the time of all threads", await page.$$eval("#parts button", (list) => list.map((b) => b.textContent)),
		json.components.filter((c) => c.self_ns > 0).map((c) => c.component));
	t.equal("pools and threads", await page.evaluate(() => ["pools", "threads"].map((id) =>
		document.querySelectorAll(`#${id} tbody tr`).length)), [json.pools.length, json.threads.length]);
}

async function testPicks(t, page) {
	const cell = json.matrix.find((c) => !c.wait), part = json.components.find((c) => c.self_ns > 0 && !c.wait);
	const of = json.functions.filter((f) => !f.wait && f.caller === cell.caller && f.callee === cell.callee);

	await page.click(`#matrix button[title^="${cell.caller} \u2192 ${cell.callee}:"]`);
	t.equal("a cell of the matrix: its functions", (await functionsShown(page)).sort(), of.map((f) => f.function).sort());
	await page.click("#picked button");
	t.equal("and all again", (await functionsShown(page)).length, json.functions.length);
	await page.click(`#parts button[title^="${part.component}:"]`);
	t.equal("a component: its functions, and those that it calls", (await functionsShown(page)).length,
		json.functions.filter((f) => (!f.wait && f.callee === part.component) || f.caller === part.component).length);
	await page.click("#picked button");
}

async function testBands(t, page) {
	const bands = await page.$$eval(".bands path", (list) => list.map((p) => p.getBBox()).map((b) => b.width > 10 && b.height > 0));

	t.ok("bands are drawn", bands.length > 0 && bands.every((b) => b), bands);
}

async function testDiff(t) {
	const page = await t.open(diffPage), diff = jsonOf("--diff", beforeTrace);
	const changes = () => page.$$eval("#functions tbody tr", (rows) => rows.map((r) => [r.cells[0].textContent, Number(r.cells[5].dataset.ns)]));
	const of = (list) => list.map((f) => [f.function, f.delta_ns]);

	await page.waitForSelector("#functions tbody tr");
	t.equal("a comparison: the greatest change first", await changes(), of(diff.functions));
	const [sides, wanted] = [await page.$$eval("#functions .change span", (list) => list.map((s) => s.className)),
		diff.functions.map((f) => (f.delta_ns > 0 ? "more" : "less") + (f.beyond_error ? "" : " unsure"))];

	t.equal("which side, and whether it is beyond the error", sides, wanted);
	await page.click("#components tbody tr");
	t.equal("a component: its functions, and those that it calls", await changes(), of(diff.functions.filter((f) =>
		[f.callee, f.caller].includes(diff.components[0].callee))));
	await page.click("#picked button");
	t.equal("and all again", (await changes()).length, diff.functions.length);
	await t.close(page, "a comparison");
}

run(async (t) => {
	const page = await t.open(knownPage);

	await page.waitForSelector("#threads tbody tr");
	await testTables(t, page);
	await testPicks(t, page);
	await testBands(t, page);
	await page.keyboard.press("t");
	await page.keyboard.press("c");
	t.equal("other looks have the same rows", (await functionsShown(page)).length, json.functions.length);
	await t.close(page, "a known trace");
	const narrow = await t.open(knownPage, { width: 480 });

	await narrow.waitForSelector("#threads tbody tr");
	t.ok("a narrow window is not scrolled sideways", await narrow.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	await t.close(narrow, "a narrow window");
	await testDiff(t);
});
