// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests what timeline-limits.t prepared: names that are markup, losses, damage, and very many
 * events.
 */
"use strict";

const fs = require("fs");
const { run } = require("./browser");
const { details, ready, find } = require("./timeline-lib");

async function hostile(t) {
	const page = await ready(await t.open("known-markup.html"));

	for (const view of ["request", "cpu", "thread"])
		await page.evaluate((v) => tl.setView(v), view);
	t.equal("whatever is selected, there is no markup", await page.evaluate(() => {
		let nr = 0;
		const all = [["span", tl.d.spans], ["other", tl.d.others], ["run", tl.d.runs], ["part", tl.d.parts],
			     ["request", tl.d.requests]];

		for (const [table, { n }] of all)
			for (let i = 0; i < n; i++) {
				tl.select(table, i, true);
				nr += document.querySelectorAll("img, svg, body script:not([nonce]):not([type])").length;
			}
		return nr;
	}), 0);
	await find(page, "<");
	await page.click("#tab-slowest");
	await page.click("#about-button");
	t.equal("markup in names is text", await page.evaluate(() => [window.owned, document.querySelectorAll("img, svg").length,
		tl.threads[0].name]), [undefined, 0, "<img src=x onerror=window.owned=2>"]);
	t.ok("and shown", (await page.textContent("#sentence")).includes("</script><script>window.owned=1</script>"));
	t.equal("scripts without the page's nonce do not run", await page.evaluate(() => {
		const s = document.createElement("script");

		s.textContent = "window.owned = 6";
		document.body.append(s);
		return window.owned;
	}), undefined);
	t.ok("which the browser says", page.problems.length > 0 && page.problems.every((p) => /Content Security Policy/.test(p)),
	     page.problems);
	await page.context().close();
	for (const kind of ["hostile", "kernelonly", "plain", "empty"]) {
		const other = await ready(await t.open(`known-${kind}.html`, { width: 1000, height: 600 }));

		for (const view of ["request", "cpu", "thread"])
			await other.evaluate((v) => tl.setView(v), view);
		await other.keyboard.press("g");
		await other.keyboard.press("Enter");
		await t.close(other, kind);
	}
}

async function whatIsMissing(t) {
	const known = await ready(await t.open("known-figure1.html"));
	const text = await known.textContent("#notices");

	t.ok("losses and gaps are on the page", /3 records lost/.test(text) && /2\.00 ms in 1 observation gap/.test(text), text);
	await known.click("#about-button");
	t.ok("the head of the reports, too", /20 observed of 2\.00 k/.test(await known.textContent("#head")));
	await t.close(known, "losses");

	t.equal("a damaged trace: the exit status", fs.readFileSync("cut.status", "utf8").trim(), "3");
	const cut = await ready(await t.open("cut.html")), message = fs.readFileSync("cut.err", "utf8");
	const notice = await cut.textContent("#notices");

	t.ok("and the page says what stderr says", notice.includes(message.trim().replace("ldb-timeline: ", "")),
	     [notice, message]);
	await t.close(cut, "damage");

	const part = await ready(await t.open("known-window.html"));

	t.ok("--from, --to: a part", /a part of the recording/.test(await part.textContent("#notices")) &&
	     await part.evaluate(() => tl.from >= 29e6 && tl.to <= 51e6), await part.evaluate(() => [tl.from, tl.to]));
	await t.close(part, "a part");

	const big = await ready(await t.open("big.html"));

	t.ok("more than a million calls: the shortest are left out", /[\d,]+ calls shorter than [\d.]+ .?s left out/
		.test(await big.textContent("#notices")), await big.textContent("#notices"));
	t.ok("about a million are there", await big.evaluate(() => tl.d.spans.n > 900000 && tl.d.spans.n <= 1000000),
	     await big.evaluate(() => tl.d.spans.n));
	t.ok("in less than 10 MB", fs.statSync("big.html").size < 10e6, fs.statSync("big.html").size);
	/*
	 * Tests the arc of a request that goes through a queue, and that a click on a lane's name
	 * collapses the lane.
	 */
	const handed = await big.evaluate(() => {
		const p = tl.d.parts, i = tl.focus.parts.find((k) => p.flags[k] & tl.F.QUEUE), arcs = () => tl.arcs.ofSelection();

		tl.select("part", i, true);
		return { nr: arcs().length, ends: arcs().every((a) => a.from.row && a.to.row && a.from.row !== a.to.row),
			 to: tl.threads[p.to_thread[i] - 1].label };
	});

	t.ok("an arc from who put it into the queue to who took it", handed.nr === 1 && handed.ends, handed);
	t.equal("which the details name", (await details(big))["Taken by"], handed.to);
	const lane = await big.evaluate(() => tl.layout.lanes[1].h);
	const box = await (await big.$("#chart")).boundingBox();

	await big.evaluate(() => tl.app.scroll(-1e9));
	await big.mouse.click(box.x + 20, box.y + await big.evaluate(() => 26 + tl.layout.lanes[1].y + 12));
	t.ok("a click on its name collapses a lane", await big.evaluate(() => tl.layout.lanes[1].h) < lane / 2);
	t.ok("levels of detail show what single bars would", await big.evaluate(sameWithoutLevels));
	await t.close(big, "a big one");
}

/*
 * Runs in the page: returns true if rows of merged bars are drawn on the same pixels as separate
 * bars, except for at most w / 100 pixels of all rows.
 */
function sameWithoutLevels() {
	const w = 1200, view = { t0: tl.from, scale: w / (tl.to - tl.from) };
	let worst = 0;

	for (const thread of tl.threads) {
		for (const track of thread.functions) {
			const plain = { ...track, n: track.n, mips: [] }, a = new Uint32Array(w), b = new Uint32Array(w);

			tl.paint.line(track, view, 0, w, a, false, null);
			tl.paint.line(plain, view, 0, w, b, false, null);
			/* Colours may differ at the border of a merged bar. */
			for (let x = 0; x < w; x++)
				worst += (a[x] === 0) !== (b[x] === 0);
		}
	}
	return worst <= w / 100;
}

run(async (t) => {
	await hostile(t);
	await whatIsMissing(t);
});
