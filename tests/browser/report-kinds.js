// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests report pages of traces of several kinds; report-kinds.t has made the traces. */
"use strict";

const { execFileSync } = require("child_process");
const { run } = require("./browser");

function report(trace, ...args) {
	const doc = JSON.parse(execFileSync("ldb-report", ["-q", "-i", trace, "--json", ...args],
		{ encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));

	return doc.functions || doc.locks || doc.requests || doc;
}

async function ready(t, file, o) {
	const page = await t.open(file, o);

	await page.waitForSelector("html[data-ready]");
	return page;
}

/* Opens every tab, and returns their texts. */
async function walk(page) {
	const texts = {};

	for (const tab of await page.$$eval("nav button", (bs) => bs.map((b) => b.dataset.id))) {
		await page.click(`nav [data-id=${tab}]`);
		await page.waitForTimeout(80);
		texts[tab] = await page.textContent("#content");
	}
	return texts;
}

async function numbers(page, table) {
	return page.$$eval(`#${table} tbody tr`, (rows) => rows.map((tr) => [...tr.cells].map((td) =>
		td.dataset.ns === undefined ? td.textContent : Number(td.dataset.ns))));
}

async function testFigure1(t) {
	const page = await ready(t, "figure1.html"), texts = await walk(page);

	t.equal("parts", Object.keys(texts), ["overview", "requests", "functions", "distributions", "flame", "locks"]);
	t.ok("the lost records", texts.overview.includes("3 records overrun"), texts.overview);
	t.ok("and the observation gap", texts.overview.includes("2.00 ms in 1"), texts.overview);
	await page.click("nav [data-id=locks]");
	const lock = report("figure1.data", "--mutex")[0], row = (await numbers(page, "locks"))[0];

	t.equal("the lock's numbers", row, ["db_lock", "mutex", ...["waits", "holds"].flatMap((op) =>
		["count", "p50_ns", "p99_ns", "max_ns", "total_ns"].map((k) => lock[op][k]))]);
	t.equal("its holder", (await numbers(page, "lock-owners"))[0].slice(0, 4), ["snapshotter", 2, 1, lock.holders[0].wait_ns]);
	await page.click("nav [data-id=requests]");
	const slow = (await numbers(page, "slowest"))[0];

	t.equal("the slowest request and why", slow.slice(0, 5), ["4711", "", 12750000, 30000000, 12499800]);
	await page.click("nav [data-id=flame]");
	await page.waitForTimeout(100);
	const wait = await page.evaluate(() => [...report.views.get("flame").flame.root.children.values()]
		.find((n) => n.name === "request_handler").children.get("lock_wait [lock db_lock]").all[0]);

	t.equal("the wait is a frame", wait, 12499800);
	await page.setViewportSize({ width: 420, height: 800 });
	for (const tab of Object.keys(texts)) {
		await page.click(`nav [data-id=${tab}]`);
		await page.waitForTimeout(150);
		t.ok(`${tab} fits a narrow window`, await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	}
	await t.close(page, "figure1");
}

async function testSched(t) {
	const page = await ready(t, "sched.html"), k = report("sched.data", "--sched");

	await page.click("nav [data-id=cpu]");
	const rows = await numbers(page, "sched"), all = rows.find((r) => r[0] === "all threads");

	t.equal("run-queue delay of all threads", all.slice(2, 8), ["count", "p50_ns", "p99_ns", "p999_ns", "max_ns", "total_ns"].map((c) => k.all.delays[c]));
	t.equal("and of each", rows.length, k.threads.length + 1);
	const hog = (await numbers(page, "antagonists")).find((r) => r[0] === "hog"), expected = k.antagonists.find((p) => p.name === "hog");

	t.equal("running tasks", hog.slice(1), [expected.pid, expected.count, expected.total_ns, expected.max_ns]);
	await t.close(page, "sched");
}

async function testHostile(t) {
	for (const name of ["hostile", "markup", "markup-diff"]) {
		const page = await ready(t, `${name}.html`), texts = await walk(page);

		t.equal(`${name}: no name runs`, await page.evaluate(() => window.owned), undefined);
		t.equal(`${name}: none is an element`, await page.$$eval("main img, main iframe, main script, main a", (e) => e.length), 0);
		if (name !== "hostile")
			t.ok(`${name}: names are shown as they are`, Object.values(texts).some((x) => x.includes("<img src=x onerror=window.owned=2>") || x.includes("</script>")), texts);
		await t.close(page, name);
	}
}

async function testNothing(t) {
	for (const name of ["plain", "empty", "kernelonly"]) {
		const page = await ready(t, `${name}.html`), texts = await walk(page);

		t.ok(`${name}: no part without rows`, !("requests" in texts) && !("locks" in texts), Object.keys(texts));
		await t.close(page, name);
	}
	const page = await ready(t, "plain.html");

	t.ok("without requests, the map is of invocations", (await page.textContent("#choice")).includes("No requests were tagged"));
	await page.focus("#heat");
	await page.keyboard.press("ArrowRight");
	await page.keyboard.press("Enter");
	t.equal("and time can be chosen", await page.evaluate(() => report.choice.mode), "time");
	await t.close(page, "plain, chosen");
}

async function testDiff(t) {
	const page = await ready(t, "diff.html"), a = report("a.data"), b = report("b.data");

	await page.click("nav [data-id=diff]");
	await page.click("text=All columns");
	for (let k = 0; k < 3 && await page.isVisible("text=Show more"); k++)
		await page.click("text=Show more");
	const rows = await numbers(page, "diff");
	const sum = (list, column) => list.reduce((n, row) => n + (Number(row[column]) || 0), 0);

	t.equal("all functions of this recording", sum(rows, 3), sum(a, "count"));
	t.equal("and of the other", sum(rows, 4), sum(b, "count"));
	const f = a.find((x) => x.count > 20), g = b.find((x) => ["function", "caller", "file", "line"].every((k) => x[k] === f[k]));
	const row = rows.find((r) => r[0] === f.function && r[1] === f.caller && r[3] === f.count);

	t.equal("side by side", row.slice(3, 13), [f.count, g.count, f.p50_ns, g.p50_ns, f.p99_ns, g.p99_ns, f.p9999_ns, g.p9999_ns, f.max_ns, g.max_ns]);
	await page.click("nav [data-id=flame]");
	await page.selectOption("#flame-what", "other");
	const root = await page.evaluate(() => [report.views.get("flame").flame.root.all, report.data.other.requests[0].count,
		report.data.otherFlame(true).reduce((x, y) => x + y, 0)]);

	t.ok("the other one's time per request", Math.abs(root[0][1] - root[2] / root[1]) < 1 && root[0][1] > 0, root);
	t.equal("of its requests", root[1], report("b.data", "--requests")[0].count);
	await page.click("text=Widths of the other");
	t.ok("as wide as in the other", (await page.$$("#flame g.frame")).length > 3);
	await t.close(page, "diff");
}

async function testPart(t) {
	const page = await ready(t, "part.html"), f = report("a.data", "--from", "5ms", "--to", "15ms");
	const mine = await page.evaluate(() => report.data.functions(null, "callsite").map((x) => [x.count, x.total_ns]));
	const computed = await page.evaluate(() => report.data.functions({ i: 0, j: 1e9, lo: 0, hi: Infinity, class: -1, mode: "time" }, "callsite")
		.reduce((s, x) => [s[0] + x.count, s[1] + x.total_ns], [0, 0]));

	t.equal("--from and --to", mine.sort(), f.map((x) => [x.count, x.total_ns]).sort());
	t.equal("what is in the page is the same", computed, f.reduce((s, x) => [s[0] + x.count, s[1] + x.total_ns], [0, 0]));
	await t.close(page, "part");
	const thread = await ready(t, "thread.html");

	t.equal("--thread", await thread.evaluate(() => report.data.functions({ i: 0, j: 1e9, lo: 0, hi: Infinity, class: -1, mode: "time" }, "callsite").reduce((s, x) => s + x.count, 0)),
		report("a.data", "--thread=worker-3").reduce((s, x) => s + x.count, 0));
	await t.close(thread, "thread");
}

run(async (t) => {
	await testFigure1(t);
	await testSched(t);
	await testHostile(t);
	await testNothing(t);
	await testDiff(t);
	await testPart(t);
});
