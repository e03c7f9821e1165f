// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests what timeline.t prepared, in a browser: Figure 1, kernel events, interruptions and arcs. */
"use strict";

const { run } = require("./browser");
const { json, digits, details, exact, range, settled, ready, find } = require("./timeline-lib");

/*
 * Returns the segments of --json that are not on the page with the same nanoseconds.  On the page,
 * functions are not clipped to the request's time.  So if an end of a segment differs from the end
 * of its function, it must be an end of another segment: of a span of the request, of a wait or of
 * a hold.
 */
function missing(page, timeline) {
	const wanted = timeline.segments.filter((s) => s.full_start_ns === undefined && !s.truncated &&
		s.kind !== "request" && s.kind !== "queue" &&
		/* This hold is inferred from the wait that it explains, which the page has. */
		!(s.kind === "lock_hold" && s.inferred && s.lock_kind === "futex"));
	const ends = timeline.segments.filter((s) => s.kind !== "function")
		.flatMap((s) => [s.start_ns, s.end_ns]);

	return page.evaluate(([segments, list]) => {
		const cuts = new Set(list), spans = new Map(), others = new Set();
		const { spans: s, others: o } = tl.d;
		const isCut = (w, i) => (w.start_ns === s.start[i] || (w.start_ns > s.start[i] && cuts.has(w.start_ns))) &&
			(w.end_ns === s.end[i] || (w.end_ns < s.end[i] && cuts.has(w.end_ns)));

		for (let i = 0; i < s.n; i++) {
			const t = tl.threads[tl.data.trackOfSpan(i).thread];
			const key = [t.tid, tl.data.callOf(s.call[i]).name, s.res[i]].join();

			if (!spans.has(key))
				spans.set(key, []);
			spans.get(key).push(i);
		}
		for (let i = 0; i < o.n; i++)
			others.add([tl.threads[o.thread[i]].tid, tl.kinds[o.kind[i]].name, o.start[i], o.end[i], o.res[i]].join());
		return segments.filter((w) => !(w.kind === "function" ?
			(spans.get([w.tid, w.name, w.resolution_ns].join()) || []).some((i) => isCut(w, i)) :
			others.has([w.tid, w.kind, w.start_ns, w.end_ns, w.resolution_ns].join())));
	}, [wanted, ends]).then((list) => ({ nr: wanted.length, list: list.slice(0, 3) }));
}

async function figure1(t) {
	const timeline = json("figure1.json")[0], report = json("figure1-report.json").functions;
	const page = await ready(await t.open("figure1.html"));

	t.ok("figure 1: the sentence names the request, its wait and snapshot",
	     new RegExp(`^req ${timeline.req}: .* waiting for mutex .*held by snapshot\\(\\) figure1.cc:\\d+ of thread background \\d+`)
		.test(await page.textContent("#sentence")), await page.textContent("#sentence"));
	const shown = await page.evaluate(() => ({ from: tl.state.t0, to: tl.state.t1 }));

	t.ok("it opens at the slowest request", shown.from < timeline.start_ns && shown.to > timeline.end_ns &&
	     shown.to - shown.from < 2 * timeline.latency_ns, shown);

	/* Follows the arc from the wait to its cause. */
	const wait = await details(page), cause = timeline.segments.filter((s) => s.kind === "lock_wait" && !s.blocks_req)
		.sort((a, b) => b.end_ns - b.start_ns - (a.end_ns - a.start_ns))[0];

	t.equal("the wait is selected", wait.kind, "lock wait");
	t.equal("its duration, to the nanosecond", exact(wait.Duration), cause.end_ns - cause.start_ns);
	t.equal("its start", exact(wait.Start), cause.start_ns);
	t.ok("its place", wait.At.includes(`figure1.cc:${cause.line}`), wait.At);
	t.ok("arcs lead from it", await page.evaluate(() => tl.arcs.ofSelection().length >= 2 &&
		tl.arcs.ofSelection().every((a) => a.from.row && a.to.row)));
	await page.keyboard.press("f");
	const hold = await details(page);

	t.equal("f: the holder's hold", [hold.kind, /^background/.test(hold.Thread)], ["lock held", true]);
	await page.keyboard.press("f");
	const held = await details(page);

	t.ok("f again: snapshot, which it executed", held.name === "snapshot()" ||
	     (held["Called from"] || "").includes("snapshot()"), held);
	t.ok("with its source line", /figure1\.cc:\d+/.test(held.Defined) && /figure1\.cc:\d+/.test(held["Called at"]), held);
	t.ok("and its resolution", /\u00b1/.test(held.Duration), held.Duration);

	/* The slowest requests. */
	await page.click("#slowest");
	t.ok("the slowest requests are listed, this one first",
	     (await page.textContent("#panel li button")).includes(`req ${timeline.req}`));
	await page.evaluate(() => tl.select("request", tl.focus.request));
	t.equal("the latency, to the nanosecond", exact((await details(page)).Latency), timeline.latency_ns);

	const lost = await missing(page, timeline);

	t.ok(`all ${lost.nr} segments of --json are there, to the nanosecond`, lost.nr > 0 && !lost.list.length, lost);
	await searching(t, page, report);
	await moving(t, page);
	await looks(t, page);
	await t.close(page, "figure 1");
}

/* Compares the sums of a search with those of ldb-report. */
async function searching(t, page, report) {
	const rows = report.filter((r) => r.function === "request_handler");
	const sum = (key) => rows.reduce((a, r) => a + r[key], 0);

	await page.keyboard.press("/");
	t.equal("/ leads to the search", await page.evaluate(() => document.activeElement.id), "search");
	await find(page, "^request_handler$");
	const cells = await page.$$eval("#sums tr:nth-child(2) td", (tds) =>
		tds.map((td) => ({ text: td.textContent, title: td.title })));

	t.equal("search: count is that of ldb-report", digits(cells[1].text), sum("count"));
	t.equal("sum", digits(cells[2].title), sum("total_ns"));
	t.equal("max", digits(cells[4].title), Math.max(...rows.map((r) => r.max_ns)));
	if (rows.length === 1 && rows[0].exact)
		t.equal("p99", digits(cells[5].title), rows[0].p99_ns);
	t.ok("what does not match is faded", await page.evaluate(() => tl.state.matches.includes(0)));
	await page.keyboard.press("Escape");
	await page.keyboard.press("n");
	t.equal("n goes to a match", await page.evaluate(() => tl.state.selected.table === "span" &&
		tl.data.callOf(tl.d.spans.call[tl.state.selected.ref]).name), "request_handler");
	/* Compares the waits for the lock with ldb-report --mutex. */
	const lock = json("figure1-locks.json").locks.find((l) => l.name === "lock");

	await find(page, `^lock wait mutex ${lock.lock} \\(lock\\)`);
	t.equal("waits for the lock: count, sum, p99, max", await page.evaluate(() => {
		const { count, sum, p99, max } = tl.search.result.others;

		return [count, sum, p99, max];
	}), ["count", "total_ns", "p99_ns", "max_ns"].map((key) => lock.waits[key]));
	await find(page, "(");
	t.ok("an invalid expression is reported", /regular expression/.test(await page.textContent("#panel .bad")));
	await find(page, "");
	t.ok("no search, nothing faded", await page.evaluate(() => !tl.state.matches));
}

/* Tests mouse, keys, and the saved view. */
async function moving(t, page) {
	await page.focus("#chart");
	await page.keyboard.press("r");
	const before = await range(page), box = await (await page.$("#chart")).boundingBox();
	const middle = { x: box.x + box.width * 0.6, y: box.y + box.height * 0.3 };
	const under = () => page.evaluate(([x]) => tl.draw.time(x), [middle.x - box.x]);

	await page.mouse.move(middle.x, middle.y);
	const at = await under();

	await page.mouse.wheel(0, -240);
	await page.waitForFunction((was) => tl.state.t1 - tl.state.t0 !== was, before);
	t.ok("the wheel zooms in", await range(page) < before * 0.8);
	t.ok("around the pointer", Math.abs(await under() - at) < before / 1000);
	const from = await page.evaluate(() => tl.state.t0);

	await page.mouse.down();
	await page.mouse.move(middle.x + 120, middle.y + 5, { steps: 4 });
	await page.mouse.up();
	t.ok("dragging pans", await page.evaluate(() => tl.state.t0) < from);
	const zoomed = await range(page);

	await page.keyboard.press("s");
	t.ok("s zooms out", await range(page) > zoomed);
	await page.keyboard.press("w");
	t.ok("w zooms in", Math.abs(await range(page) - zoomed) < zoomed * 0.01);
	const left = await page.evaluate(() => tl.state.t0);

	await page.keyboard.press("d");
	t.ok("d pans right", await page.evaluate(() => tl.state.t0) > left);
	await page.keyboard.press("a");
	await page.keyboard.press("0");
	t.ok("0 fits everything", await page.evaluate(() => tl.state.t0 <= tl.from && tl.state.t1 >= tl.to));
	await page.keyboard.press("r");
	for (const view of [["2", "request"], ["3", "cpu"], ["1", "thread"]]) {
		await page.keyboard.press(view[0]);
		t.equal(`${view[0]}: rows by ${view[1]}`, await page.evaluate(() => tl.state.view), view[1]);
	}
	await page.keyboard.press("?");
	t.ok("? opens the help", await page.isVisible("#help"));
	await page.keyboard.press("Escape");
	t.ok("Escape closes it", !await page.isVisible("#help"));

	await page.keyboard.press("2");
	await page.waitForFunction(() => /v=request/.test(location.hash));
	const state = () => page.evaluate(() => [tl.state.view, Math.round(tl.state.t0), Math.round(tl.state.t1),
		tl.focus && tl.data.requestId(tl.focus.request), tl.state.selected]);
	const saved = await state();

	await page.reload();
	await ready(page);
	t.equal("the view is saved in the URL", await state(), saved);
	await page.keyboard.press("Tab");
	const reached = [];

	for (let i = 0; i < 20; i++) {
		reached.push(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.view));
		await page.keyboard.press("Tab");
	}
	t.ok("Tab reaches the controls, the picture and the panel", ["thread", "search", "fit", "palette", "chart",
		"tab-details"].every((id) => reached.includes(id)), reached);
	t.ok("all of them have names", await page.evaluate(() => [...document.querySelectorAll("button, input, canvas")]
		.every((n) => n.textContent || n.getAttribute("aria-label") || n.getAttribute("aria-hidden"))));
}

async function looks(t, page) {
	const picture = () => page.evaluate(() => document.getElementById("chart").toDataURL().length +
		document.getElementById("chart").toDataURL().slice(-4000));

	await page.keyboard.press("1");
	await page.keyboard.press("r");
	await settled(page);
	const calm = await picture();

	await page.click("#palette");
	await settled(page);
	const safe = await picture();

	t.ok("another palette, another picture", safe !== calm &&
	     await page.evaluate(() => document.documentElement.dataset.palette) === "safe");
	await page.click("#theme");
	await settled(page);
	t.ok("dark", await picture() !== safe &&
	     await page.evaluate(() => document.documentElement.dataset.theme) === "dark");
	await page.click("#theme");
	await page.click("#palette");
	await settled(page);
	t.ok("and back", await picture() === calm);
	await page.setViewportSize({ width: 620, height: 460 });
	await settled(page);
	t.ok("a small window keeps the picture and the panel", await page.evaluate(() => {
		const box = (id) => document.getElementById(id).getBoundingClientRect();

		return box("chart").height > 90 && box("panel").height > 60 && document.body.scrollWidth <= innerWidth;
	}), await page.evaluate(() => ["chart", "panel"].map((id) => document.getElementById(id).getBoundingClientRect())));
}

async function kernelEvents(t) {
	const page = await ready(await t.open("known-sched.html"));
	const lists = json("known-sched.json");

	for (const timeline of lists) {
		const lost = await missing(page, timeline);

		t.ok(`kernel events: request ${timeline.req}: all ${lost.nr} segments, to the nanosecond`,
		     lost.nr > 0 && !lost.list.length, lost);
	}
	t.ok("the holder was preempted, the sentence says by whom", /of that 9\.00 ms preempted by hog/
		.test(await page.textContent("#sentence")));
	await page.evaluate(() => {
		const o = tl.d.others, i = o.kind.findIndex((k, n) => k === tl.PREEMPTED && o.thread[n] === 1);

		tl.select("other", i, true);
	});
	const off = await details(page);

	t.equal("preempted by", off["Preempted by"], "hog (pid 900)");
	t.equal("running tasks, how long", [/^hog/.test(off["Running tasks"]), off.CPU, exact(off.Duration)],
		[true, "1", 9995000]);
	t.equal("the lane of each CPU", await page.evaluate(() => {
		tl.setView("cpu");
		return tl.layout.lanes.map((l) => l.label);
	}), ["CPU 0", "CPU 1", "CPU 3"]);
	t.equal("a task of another program had one", await page.evaluate(() => {
		const r = tl.d.runs, i = r.context.findIndex((p) => /^hog/.test(tl.data.context(p).text));

		tl.select("run", i, true);
		return document.getElementById("selected-name").textContent;
	}), "hog (pid 900)");
	t.ok("wake-ups and migrations are drawn", await page.evaluate(() => {
		tl.lookAt(-1);
		tl.fit();
		return tl.arcs.inView(100).length >= 2 && tl.arcs.migrations(100).length === 1;
	}));
	await t.close(page, "kernel events");

	const asked = await ready(await t.open("known-req3.html"));

	t.ok("--req: it opens there", /^req 3: .*runnable behind hog/.test(await asked.textContent("#sentence")),
	     await asked.textContent("#sentence"));
	await t.close(asked, "--req");
}

async function hits(t) {
	const page = await ready(await t.open("known-chain.html"));
	const select = (name) => page.evaluate((kind) => {
		const o = tl.d.others, i = o.kind.findIndex((k) => tl.kinds[k].name === kind);

		tl.select("other", i, true);
		return tl.layout.lanes.filter((l) => l.rows.some((r) => r.type === "event" && r.track.refs.includes(i)))
			.map((l) => l.label);
	}, name);

	t.equal("an interrupt is in a row of its thread", await select("interrupt"), ["main 1"]);
	const irq = await details(page);

	t.equal("its name, its CPU, how long it took, and the request that it interrupted", [irq.name, irq.Interrupt, irq.CPU, exact(irq.Duration), irq.Request],
		["eth0", "eth0", "1", 1000, "1 "]);
	t.equal("a page fault, too", await select("page_fault"), ["main 1"]);
	t.equal("which takes no time", exact((await details(page)).Duration), 0);
	await find(page, "eth0");
	t.ok("they are found", await page.evaluate(() => tl.d.others.isMatch.reduce((a, b) => a + b, 0) === 1));
	await t.close(page, "interrupts and page faults");
}

/* Each wait of the request has its arcs, and so has the wait of the thread that it waited for. */
async function arcs(t) {
	const page = await ready(await t.open("known-waits.html"));
	const drawn = await page.evaluate(() => tl.arcs.ofFocus().filter((a) => a.color === "mark")
		.map((a) => [a.from.row.lane.thread, a.to.row.lane.thread, a.from.row.type, a.to.row.type,
			     Math.round(a.from.t / 1000)]));
	const of = (waiter, holder, at) => [waiter, holder, "wait", "hold", at];
	const number = await page.evaluate(() => Object.fromEntries(tl.threads.map((l) => [l.tid, l.index])));

	t.equal("an arc for each wait of the chain", drawn.sort((a, b) => a[4] - b[4]), [of(number[1], number[2], 100),
		of(number[2], number[3], 110), of(number[1], number[3], 300), of(number[1], number[2], 500)]);
	t.equal("and one back", await page.evaluate(() => tl.arcs.ofFocus().filter((a) => a.color === "c-hold").length), 4);
	t.equal("none is left out", await page.evaluate(() => tl.focus.explanation.edges_left_out), 0);
	t.equal("those that are too narrow have one", await page.evaluate(() => {
		tl.state.t1 = tl.state.t0 + 1e9;
		return tl.arcs.ofFocus().length;
	}), 4);
	await t.close(page, "arcs");
}

run(async (t) => {
	await figure1(t);
	await kernelEvents(t);
	await hits(t);
	await arcs(t);
});
