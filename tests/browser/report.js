// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the report page of a small trace, and of one with so many events that its page has only
 * sums: it must show what ldb-report --json says, for all requests and for those chosen in the heat
 * map.
 *
 *	report.js SMALL.html SMALL.data SUMMED.html SUMMED.data
 *
 * SMALL's invocations are in its page one by one, SUMMED's are not.
 */
"use strict";

const { execFileSync } = require("child_process");
const { run } = require("./browser");

const [smallPage, smallTrace, summedPage, summedTrace] = process.argv.slice(2);

function report(trace, ...args) {
	const doc = JSON.parse(execFileSync("ldb-report", ["-q", "-i", trace, "--json", ...args],
		{ encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));

	return doc.functions || doc.locks || doc.requests || doc;
}

/*
 * Returns the columns `keys` of each row, by its columns `names`, so that the order does not count.
 */
function byName(rows, keys, names) {
	const out = {};

	for (const row of rows)
		out[JSON.stringify(names.map((n) => row[n]))] = keys.map((k) => row[k]);
	return out;
}

function sorted(object) {
	return Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1));
}

const SITE = ["function", "symbol", "caller", "file", "line", "func_file", "func_line", "module"];
const FUNCTION = ["function", "symbol", "func_file", "func_line", "module"];
const EXACT = ["count", "open", "max_ns", "mean_ns", "total_ns", "resolution_max_ns"];
const PERCENTILES = ["p50_ns", "p99_ns", "p999_ns", "p9999_ns"];
const CLASS = ["count", "incomplete", "lost_handoffs", "max_ns", "mean_ns", "total_ns"];

async function ready(t, file, o) {
	const page = await t.open(file, o);

	await page.waitForSelector("html[data-ready]");
	return page;
}

/* Drags from one bin and row of the heat map to another. */
async function drag(page, from, to) {
	const [a, b] = await page.evaluate(([x, y]) => [report.heat.place(...x), report.heat.place(...y)], [from, to]);

	await page.mouse.move(...a);
	await page.mouse.down();
	await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
	await page.mouse.move(...b);
	await page.mouse.up();
}

function same(t, name, got, wanted) {
	t.equal(name, sorted(got), sorted(wanted));
}

/*
 * Returns true if the percentiles differ by at most 3.2 % and 1 ns: the page computes them from
 * buckets.
 */
function near(got, wanted) {
	return Object.keys(wanted).every((k) => got[k] && wanted[k].every((v, i) =>
		Math.abs(got[k][i] - v) <= v * 0.032 + 1));
}

async function compareChoice(t, page, trace, isEach, name) {
	const window = (await page.textContent("#window")).split(" ");
	const f = report(trace, ...window), byFunction = report(trace, "--by=function", ...window);
	const c = report(trace, "--requests", "--top=3", ...window);
	const [sites, functions, classes] = await page.evaluate(() => {
		const s = { ...report.choice, mode: "time" };

		return [report.data.functions(s, "callsite"), report.data.functions(s, "function"), report.data.classes(s)];
	});

	t.ok(`${name}: there is something in it (${window.join(" ")})`, f.length > 0 && c.length > 0);
	same(t, `${name}: functions, sums`, byName(sites, EXACT, SITE), byName(f, EXACT, SITE));
	same(t, `${name}: by function, sums`, byName(functions, EXACT, FUNCTION), byName(byFunction, EXACT, FUNCTION));
	same(t, `${name}: classes`, byName(classes, CLASS, ["class"]), byName(c, CLASS, ["class"]));
	const keys = isEach ? [...PERCENTILES, "resolution_ns", "exact"] : PERCENTILES;
	const got = byName(sites, keys, SITE), wanted = byName(f, keys, SITE);

	if (isEach)
		same(t, `${name}: percentiles and resolution`, got, wanted);
	else
		t.ok(`${name}: percentiles within 3 %`, near(got, wanted), { got, wanted });
	const gotClass = byName(classes, PERCENTILES, ["class"]), wantedClass = byName(c, PERCENTILES, ["class"]);

	same(t, `${name}: percentiles of classes`, gotClass, wantedClass);
}

/* Returns what each cell of a table shows: its time in ns, or else its text. */
async function shown(page, table) {
	return page.$$eval(`#${table} tbody tr`, (rows) => rows.map((tr) => [...tr.cells].map((td) =>
		td.dataset.ns === undefined ? td.textContent : Number(td.dataset.ns))));
}

async function column(page, table, key) {
	const heads = await page.$$eval(`#${table} thead th`, (ths) => ths.map((th) => th.dataset.key));

	return (await shown(page, table)).map((row) => row[heads.indexOf(key)]);
}

async function testTables(t, page, trace) {
	await page.click("[data-id=functions]");
	const more = async () => {
		if (await page.isVisible("text=Show more"))
			await page.click("text=Show more");
	};

	await more();
	const all = report(trace), wanted = all.map((f) => f.p9999_ns).sort((a, b) => b - a);

	t.equal("the functions of --json are shown, worst first", (await column(page, "functions", "p9999_ns")).slice(0, 20), wanted.slice(0, 20));
	for (const key of ["count", "p50_ns", "p99_ns", "p999_ns", "max_ns", "mean_ns", "total_ns", "resolution_ns"])
		t.equal(`column ${key}`, (await column(page, "functions", key)).sort((a, b) => a - b), all.map((f) => f[key]).sort((a, b) => a - b));
	await page.click("#functions th[data-key=count] button");
	const counts = all.map((f) => f.count).sort((a, b) => b - a);

	t.equal("a click on a head sorts", await column(page, "functions", "count"), counts);
	await page.click("#functions th[data-key=count] button");
	t.equal("another one the other way", await column(page, "functions", "count"), counts.reverse());
	t.equal("and says so", await page.getAttribute("#functions th[data-key=count]", "aria-sort"), "ascending");
	const most = Math.max(...all.map((f) => f.max_ns)), half = Math.floor(most / 2);

	await page.fill(".sheet .filter", `max>${half}ns`);
	await more();
	t.equal("a filter by a number", (await column(page, "functions", "max_ns")).length, all.filter((f) => f.max_ns > half).length);
	const first = all[0].function, texts = (f) => [f.function, f.caller, f.file, f.func_file, f.module, f.symbol];

	await page.fill(".sheet .filter", `^${first}$`);
	await more();
	t.equal("a filter by a regular expression", (await shown(page, "functions")).length,
		all.filter((f) => texts(f).includes(first)).length);
	await page.fill(".sheet .filter", "(");
	await more();
	t.equal("an invalid expression is searched for as it is", (await shown(page, "functions")).length,
		all.filter((f) => texts(f).some((s) => s && s.includes("("))).length);
	await page.fill(".sheet .filter", "");
	await page.click("text=All columns");
	const heads = await page.$$eval("#functions thead th", (ths) => ths.map((th) => th.dataset.key));

	t.equal("all columns of --json", heads.slice().sort(), Object.keys(all[0]).sort());
	await page.click("text=All columns");
	await page.selectOption("#by", "function");
	await more();
	t.equal("by function", (await column(page, "functions", "total_ns")).sort((a, b) => a - b),
		report(trace, "--by=function").map((f) => f.total_ns).sort((a, b) => a - b));
	await page.selectOption("#by", "callsite");
}

async function testDistributions(t, page) {
	await page.click("[data-id=functions]");
	await page.click("#functions th[data-key=max_ns] button");
	const p = (await shown(page, "functions"))[0];

	await page.click("#functions tbody tr");
	await page.waitForSelector("#cdf canvas");
	t.equal("a row opens its distribution", await page.getAttribute("[data-id=distributions]", "aria-selected"), "true");
	t.ok("with its percentiles", (await shown(page, "dist-numbers"))[0].includes(p[6]), p);
	t.ok("a histogram", await page.$("#histogram canvas"));
	await page.selectOption(".dist select", "classes");
	t.ok("of classes, too", (await shown(page, "dist-numbers")).some((row) => String(row[0]).includes("all requests")));
}

async function testFlame(t, page) {
	await page.click("[data-id=flame]");
	await page.waitForSelector("#flame svg g.frame");
	/* The frames grow for some time until they have their final width. */
	await page.waitForTimeout(1000);
	const sums = await page.evaluate(() => {
		const check = (n) => [...n.children.values()].reduce((ok, c) => ok && check(c), true) &&
			n.all[0] === n.own[0] + [...n.children.values()].reduce((sum, c) => sum + c.all[0], 0);
		const root = report.views.get("flame").flame.root;

		return [check(root), root.all[0]];
	});

	t.ok("a frame's time is its own and that of its children", sums[0] && sums[1] > 0, sums);
	const frames = await page.$$eval("#flame g.frame", (gs) => gs.length);
	const name = await page.$$eval("#flame g.frame", (gs) => gs[2].getAttribute("name"));
	const width = () => page.$eval(`#flame g.frame[name="${CSS_escape(name)}"] rect`, (r) => Number(r.getAttribute("width")));
	const before = await width();

	await page.click(`#flame g.frame[name="${CSS_escape(name)}"]`);
	await page.waitForTimeout(1000);
	const after = await width();

	t.ok("a click on a frame zooms", after > before, { name, before, after });
	await page.click("text=Reset zoom");
	await page.waitForTimeout(1000);
	const back = [await width(), await page.$$eval("#flame g.frame", (g) => g.length)];

	t.ok("and back", Math.abs(back[0] - before) < 1 && back[1] === frames, { before, frames, back });
	await page.fill("#flame-search", name);
	t.ok("a search finds frames", /^[1-9][0-9]* frames/.test(await page.textContent("#flame-found")), await page.textContent("#flame-found"));
	await page.fill("#flame-search", "(");
	t.ok("an invalid expression is reported", (await page.textContent("#flame-found")).includes("not a regular"));
	await page.fill("#flame-search", "");
	await page.hover("#flame g.frame >> nth=1");
	t.ok("a frame says how long, exactly", /[0-9] ?ns\)/.test((await page.textContent("#flame-details")).replace(/\u202f/g, " ")));
}

function CSS_escape(s) {
	return s.replace(/["\\]/g, "\\$&");
}

async function testDifferential(t, page) {
	await page.selectOption("#flame-what", "slow");
	const [root, expected] = await page.evaluate(() => {
		const d = report.data, all = d.latencies(null).get(-1), bits = d.doc.heat_bits;
		const lo = d.bucketOf(d.latencies(null).get(-1).percentile(99, 100), bits);
		const s = { i: 0, j: d.doc.edges.length, lo, hi: Infinity, class: -1, mode: "requests" };
		const total = d.flame(s).reduce((a, b) => a + b, 0);

		return [report.views.get("flame").flame.root.all, [total / d.count(s), all.count]];
	});

	t.ok("the slowest requests: time per request", Math.abs(root[0] - expected[0]) < 1, { root, expected });
	t.ok("take longer than the median ones", root[0] > root[1] && root[1] > 0, root);
	t.ok("and it is said what was compared", /slowest requests .* against the .* median/.test(await page.getAttribute("#flame-details", "data-what")));
	await page.selectOption("#flame-what", "all");
}

async function testChoice(t, page, trace, isEach, name) {
	const [nr, rows] = await page.evaluate(() => [report.data.doc.edges.length - 1, report.heat.rows]);

	for (const [i, j] of isEach ? [[0.2, 0.45], [0.5, 0.5], [0, 0.1], [0.7, 1]] : [[0.3, 0.6], [0.9, 1]]) {
		await drag(page, [Math.floor(i * (nr - 1)), 0], [Math.floor(j * (nr - 1)), rows - 1]);
		/*
		 * In summed pages, calls are stored for steps of several bins, so the choice may
		 * become wider.
		 */
		await page.click("[data-mode=time]");
		await compareChoice(t, page, trace, isEach, `${name} ${i} to ${j}`);
	}
	await page.click("[data-mode=requests]");
	await drag(page, [0, 0], [nr - 1, rows - 1]);
	const whole = await page.evaluate(() => report.choice);

	t.ok(`${name}: dragged over all`, whole.i === 0 && whole.j === nr - 1 && whole.is_full, whole);
	/*
	 * Only slow requests are chosen: no faster one is shown, and the numbers of the table
	 * agree.
	 */
	const row = Math.floor(rows * 0.6);

	await drag(page, [0, row], [nr - 1, rows - 1]);
	await page.click("[data-id=requests]");
	const limit = await page.evaluate(() => report.data.bucketFrom(report.choice.lo, report.data.doc.heat_bits));
	const slow = await column(page, "slowest", "latency_ns");

	t.ok(`${name}: slow requests are chosen`, slow.length > 0 && slow.every((v) => v >= limit), { limit, slow });
	const all = report(trace, "--requests", "--top=100000000")[0].slowest.filter((q) => q.latency_ns >= limit);

	t.equal(`${name}: all of them`, await page.textContent("#chosen"),
		all.length.toLocaleString("en").replace(/,/g, "\u202f") + " requests");
	t.equal(`${name}: and their sum`, (await shown(page, "classes")).find((r) => r[0] === "all requests").at(-1), all.reduce((sum, q) => sum + q.latency_ns, 0));
	/* The calls for these requests are a part of the calls for all requests. */
	const parts = await page.evaluate(() => {
		const d = report.data, s = report.choice, sum = (c) => d.functions(c, "function").reduce((n, f) => n + f.count, 0);

		return [sum(s), sum({ ...s, lo: 0, hi: s.lo - 1 }), sum({ ...s, lo: 0, hi: Infinity })];
	});

	t.ok(`${name}: what was done for them and for the others is all`, parts[0] > 0 && parts[0] + parts[1] === parts[2], parts);
	const hash = await page.evaluate(() => location.hash);

	await page.click("text=Choose all");
	t.equal(`${name}: and everything again`, await page.evaluate(() => report.choice), null);
	return hash;
}

run(async (t) => {
	const page = await ready(t, smallPage);

	t.ok("invocations one by one", await page.evaluate(() => report.data.doc.each_call && report.data.doc.each_request));
	await testTables(t, page, smallTrace);
	await testDistributions(t, page);
	await testFlame(t, page);
	await testDifferential(t, page);
	const hash = await testChoice(t, page, smallTrace, true, "each");

	await page.click("#palette");
	await page.click("#theme");
	t.equal("palette and theme", await page.evaluate(() => [ldb.look.palette, ldb.look.theme]), ["safe", "dark"]);
	await page.focus("#heat");
	for (const key of ["ArrowRight", "ArrowUp", "Shift+ArrowRight", "Shift+ArrowUp"])
		await page.keyboard.press(key);
	t.ok("the heat map is reachable by keys", await page.evaluate(() => report.choice && report.choice.j === 2));
	await page.keyboard.press("Escape");
	t.equal("Escape chooses all", await page.evaluate(() => report.choice), null);
	await t.close(page, "small");

	const saved = await ready(t, smallPage, { hash: hash.slice(1) });

	t.ok("a choice is restored from the address", await saved.evaluate(() => report.choice && report.choice.lo > 0), hash);
	await t.close(saved, "saved");

	const summed = await ready(t, summedPage, { width: 700, height: 900 });

	t.ok("invocations summed", await summed.evaluate(() => !report.data.doc.each_call));
	await testChoice(t, summed, summedTrace, false, "summed");
	t.ok("nothing is wider than a narrow window", await summed.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	await t.close(summed, "summed");
});
