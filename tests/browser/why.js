// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests the page of ldb-why: pictures must be drawn, and must show what --json says.
 *
 *	why.js KNOWN.html KNOWN.data QUEUE.html QUEUE.data MARKUP.html NONE.html
 *
 * KNOWN has known kernel events; in QUEUE requests waited behind others; names in MARKUP contain
 * HTML; NONE has no request.
 */
"use strict";

const { execFileSync } = require("child_process");
const { run } = require("./browser");

const [knownPage, knownTrace, queuePage, queueTrace, markupPage, nonePage] = process.argv.slice(2);

function tool(name, trace, ...args) {
	return JSON.parse(execFileSync(name, ["-q", "-i", trace, "--json", ...args],
		{ encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] }));
}

const why = (trace, ...args) => tool("ldb-why", trace, "--slowest=60", ...args);
const plain = (s) => s.replace(/\u202f/g, " ");
const sum = (list) => list.reduce((a, b) => a + b, 0);

async function ready(t, file, o) {
	const page = await t.open(file, o);

	await page.waitForSelector("html[data-ready]");
	return page;
}

/*
 * Returns how many colours a canvas shows (1: nothing was drawn), and whether something other than
 * the background is drawn at all of the points.  It may be called only once for a canvas, because
 * Chromium warns if a canvas is read more often.
 */
function look(page, id, points = []) {
	return page.$eval("#" + id, (canvas, list) => {
		const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
		const box = canvas.getBoundingClientRect(), scale = canvas.width / box.width;
		const at = (x, y) => data.slice(4 * (Math.round(y) * canvas.width + Math.round(x)), 4 * (Math.round(y) * canvas.width + Math.round(x)) + 4).join(" ");

		for (let i = 0; i < data.length; i += 4)
			seen.add(data[i] << 24 | data[i + 1] << 16 | data[i + 2] << 8 | data[i + 3]);
		return { colors: seen.size, drawn: list.every(([x, y]) => at((x - box.left) * scale, (y - box.top) * scale) !== "0 0 0 0") };
	}, points);
}

async function drawn(t, page, name, id, points) {
	const seen = await look(page, id, points);

	t.ok(name, seen.colors > 4 && seen.drawn && points.length > 0, { ...seen, points });
}

async function tipAt(page, id, [x, y]) {
	await page.mouse.move(x, y);
	return plain((await page.$eval("#" + id, (canvas) => canvas.parentNode.querySelector(".tip"))
		.then(() => page.$eval("#" + id, (canvas) => {
			const tip = canvas.parentNode.querySelector(".tip");

			return tip.hidden ? "" : Array.from(tip.children, (c) => c.textContent).join("\n");
		}))));
}

async function testNumbers(t, page, trace) {
	const json = why(trace), got = await page.evaluate(() => {
		const list = [];

		for (let i = 0; i < window.page.why.count; i++)
			list.push(window.page.why.target(i));
		return list;
	});
	const keys = ["class", "start_ns", "latency_ns", "deviation_ns", "unknown_ns", "ahead", "resolution_ns", "sentence"];

	t.ok("there are targets", json.requests.length === 60);
	t.equal("targets, to the ns", got.map((r) => [r.req, ...keys.map((k) => r[k])]),
		json.requests.map((r) => [String(r.req), ...keys.map((k) => r[k])]));
	t.equal("their amounts", got.map((r) => r.amounts.map((a) => [a.ns, a.more])), json.requests.map((r) => r.amounts.map((a) => [a.ns, a.more])));
	t.equal("of these causes", await page.evaluate(() => {
		const p = window.page.why, list = [];

		for (let i = 0; i < p.count; i++)
			list.push(p.amounts(i).map((a) => [p.doc.causes[a.cause].cause, p.doc.causes[a.cause].label]));
		return list;
	}), json.requests.map((r) => r.amounts.map((a) => [a.cause, a.label])));
	t.ok("their coverage", got.every((r, i) => Math.abs(r.coverage - json.requests[i].coverage) < 2e-6));
	t.equal("their chains", got.map((r) => r.chain), json.requests.map((r) => r.chain));
	const cause = ["cause", "anomaly", "label", "category", "advice", "requests", "first", "median_ns", "total_ns", "reference_ns", "has_faults"];

	t.equal("causes", (await page.evaluate(() => window.page.why.doc.causes)).map((c) => [...cause.map((k) => c[k]), c.path]),
		json.causes.map((c) => [...cause.map((k) => c[k]), c.path.join(";")]));
	t.equal("classes", await page.evaluate(() => window.page.why.doc.classes), json.classes);
	const shown = await page.$$eval("#causes tbody tr", (rows) => rows.map((tr) => Number(tr.cells[5].dataset.ns)));

	t.equal("the table of causes, most time first", shown, json.causes.map((c) => c.total_ns).sort((a, b) => b - a));
	t.ok("the facts", plain(await page.textContent("#facts")).includes((100 * json.coverage.median).toFixed(1) + " %"));
	const lead = plain(await page.textContent("#lead"));

	t.ok("a sentence on top", lead.includes("60 are explained"), lead);
	return json;
}

/* Returns the amounts of each cause, from --json alone. */
function boxesOf(json) {
	const by = new Map();

	for (const r of json.requests)
		for (const a of r.amounts) {
			const key = JSON.stringify([a.cause, a.label]);

			by.set(key, [...(by.get(key) || []), a.ns]);
		}
	return by;
}

function quartiles(values) {
	const v = values.slice().sort((a, b) => a - b), at = (q) => v[Math.ceil(v.length * q / 4) - 1];

	return [v.length, v[0], at(1), at(2), at(3), v[v.length - 1], sum(v)];
}

async function testBoxes(t, page, json) {
	const rows = await page.evaluate(() => window.page.views.boxes.rows.map((r) => ({ ...r, c: window.page.why.doc.causes[r.cause] })));
	const all = boxesOf(json), keyOf = (c) => JSON.stringify([c.cause, c.label]);
	const times = new Map();

	for (const c of json.causes)
		times.set(keyOf(c), (times.get(keyOf(c)) || 0) + 1);
	/*
	 * Causes at different places may have the same name; the amounts in --json do not tell them
	 * apart.  So only rows whose name is unique are compared.
	 */
	const single = rows.filter((r) => times.get(keyOf(r.c)) === 1);

	t.ok("there are boxes of causes that can be told apart", single.length > 3, single.length);
	t.equal("quartiles of --json's amounts", single.map((r) => [r.box.count, r.box.min_ns, r.box.q1_ns, r.box.median_ns, r.box.q3_ns, r.box.max_ns, r.box.total_ns]),
		single.map((r) => quartiles(all.get(keyOf(r.c)))));
	await page.evaluate(() => document.getElementById("boxes").scrollIntoView({ block: "center" }));
	await drawn(t, page, "boxes are drawn", "boxes", await page.evaluate(() => window.page.views.boxes.rows.map((r, i) => window.page.views.boxes.place(i))));
	const tip = await tipAt(page, "boxes", await page.evaluate(() => window.page.views.boxes.place(1)));

	t.ok("a box says its median, exactly", tip.replace(/\D/g, "").includes(String(rows[1].box.median_ns)), { tip, box: rows[1].box });
	await page.selectOption("#box-order", "count");
	t.equal("boxes by requests", await page.evaluate(() => window.page.views.boxes.rows.map((r) => r.box.count)),
		(await page.evaluate(() => window.page.views.boxes.rows.map((r) => r.box.count))).sort((a, b) => b - a));
	await page.click("#by-category");
	const groups = await page.evaluate(() => window.page.views.boxes.rows.map((r) => [r.group, r.nr, r.box.total_ns]));

	t.equal("by category: all of the time", sum(groups.map((g) => g[2])), sum(json.causes.map((c) => c.total_ns)));
	await page.mouse.click(...await page.evaluate(() => window.page.views.boxes.place(0)));
	const zoomed = await page.evaluate(() => window.page.views.boxes.rows.map((r) => r.c || window.page.why.doc.causes[r.cause].group));

	t.ok("a click zooms into a category", zoomed.length === Math.min(groups[0][1], 24) && zoomed.every((g) => g === groups[0][0]), { zoomed, group: groups[0] });
	t.ok("which is in the address", (await page.evaluate(() => location.hash)).includes("group="));
	await page.keyboard.press("Escape");
	await page.click("#by-cause");
}

async function testBalloons(t, page, json) {
	await page.evaluate(() => document.getElementById("balloons").scrollIntoView({ block: "center" }));
	const balloons = await page.evaluate(() => window.page.views.balloons.balloons);

	t.equal("a circle for each of the first three causes", balloons.length, sum(json.requests.map((r) => Math.min(r.amounts.length, 3))));
	await drawn(t, page, "they are drawn", "balloons", await page.evaluate(() => {
		const b = window.page.views.balloons;

		return b.balloons.map((x) => b.place(x));
	}));
	const first = balloons.findIndex((b) => b.target === 0 && b.ns === json.requests[0].amounts[0].ns);
	const place = await page.evaluate((i) => window.page.views.balloons.place(window.page.views.balloons.balloons[i]), first);
	const tip = await tipAt(page, "balloons", place);

	t.ok("one says its request", tip.includes(`req ${json.requests[0].req}`) && tip.includes(json.requests[0].class), { tip, place });
	await page.mouse.click(...place);
	t.equal("a click picks it", await page.evaluate(() => window.page.state.target), 0);
	t.equal("in the address", new URLSearchParams((await page.evaluate(() => location.hash)).slice(1)).get("req"), String(json.requests[0].req));
	t.equal("the sentence", await page.textContent("#sentence"), json.requests[0].sentence);
	t.equal("its causes", await page.$$eval("#amounts td[data-ns]", (tds) => tds.map((td) => Number(td.dataset.ns))), json.requests[0].amounts.map((a) => a.ns));
	await page.keyboard.press("j");
	await page.keyboard.press("j");
	t.equal("keys go to the next ones", await page.textContent("#sentence"), json.requests[2].sentence);
	await page.keyboard.press("k");
	t.equal("and back", await page.textContent("#sentence"), json.requests[1].sentence);
	await page.keyboard.press("Escape");
	t.equal("Escape: none", await page.evaluate(() => [window.page.state.target, location.hash]), [-1, ""]);
	await page.evaluate(() => window.page.views.balloons.zoom(10, 50));
	t.equal("it can be zoomed", await page.evaluate(() => window.page.views.balloons.range), [10, 50]);
	await page.click("button:text-is(\"All requests\")");
	t.equal("and back", (await page.evaluate(() => window.page.views.balloons.range))[0], 0);
}

async function testMarks(t, page, json) {
	const most = json.causes.filter((c) => c.first).sort((a, b) => b.total_ns - a.total_ns)[0], nr = json.causes.indexOf(most);
	const c = json.causes[nr];

	await page.click("#marks button >> nth=0");
	t.equal("a mark picks a cause", await page.evaluate(() => window.page.state.cause), nr);
	const expected = await page.evaluate((n) => {
		const p = window.page.why;
		let count = 0;

		for (let i = 0; i < p.count; i++)
			count += p.amounts(i).some((a) => a.cause === n);
		return count;
	}, nr);

	t.equal("its targets alone are in the table", [await page.$$eval("#slow tbody tr", (rows) => rows.length), expected], [c.requests, c.requests]);
	await page.click("#marks button >> nth=0");
	t.equal("and again, all", await page.$$eval("#slow tbody tr", (rows) => rows.length), json.requests.length);
	await page.click("#slow tbody tr >> nth=4");
	t.equal("a row of the table picks a request", await page.textContent("#sentence"), json.requests[4].sentence);
}

async function testBlame(t, page, json, trace) {
	await page.evaluate(() => document.getElementById("blame").scrollIntoView({ block: "center" }));
	await page.waitForSelector("#blame svg g.frame");
	await page.waitForTimeout(600);
	const frames = await page.evaluate(() => window.page.why.doc.blame);
	const all = sum(json.requests.map((r) => Math.max(r.deviation_ns, sum(r.amounts.map((a) => a.ns)))));

	t.equal("blame: all of the deviation", frames[0].all_ns, all);
	t.equal("each frame is what is in it", frames.filter((f, i) =>
		f.all_ns !== f.own_ns + sum(frames.filter((c, k) => k && c.parent === i).map((c) => c.all_ns))), []);
	t.equal("as --blame --json says", frames, why(trace, "--blame").blame);
	t.ok("frames are drawn", (await page.$$eval("#blame g.frame", (gs) => gs.length)) > 5);
	await page.hover("#blame g.frame >> nth=1");
	const details = plain(await page.textContent("#blame-details"));

	t.ok("a frame says how long, exactly", frames.some((f) => details.includes(`(${String(f.all_ns).replace(/\B(?=(\d{3})+(?!\d))/g, " ")} ns)`)), details);
	await page.fill("#blame-search", "(");
	t.ok("an invalid expression is reported", (await page.textContent("#blame-found")).includes("not a regular"));
	await page.fill("#blame-search", ".");
	t.ok("a search finds frames", /^[1-9][0-9]* frames/.test(await page.textContent("#blame-found")));
	await page.fill("#blame-search", "");
}

async function testInstance(t, page, json, trace) {
	const rank = await page.evaluate(() => {
		for (let i = 0; i < window.page.why.count; i++)
			if (window.page.why.instance(i))
				return i;
		return -1;
	});
	const timeline = tool("ldb-timeline", trace, `--req=${json.requests[rank].req}`);
	const lengths = (list, key) => list.map(key).sort((a, b) => a - b).slice(-20);

	await page.evaluate((i) => window.page.state.set({ target: i }), rank);
	await page.evaluate(() => document.getElementById("instance").scrollIntoView({ block: "center" }));
	const segments = await page.evaluate((i) => window.page.why.instance(i), rank);

	t.equal("its segments are those of ldb-timeline", [segments.length, lengths(segments, (s) => s.end - s.start)],
		[timeline.segments.length, lengths(timeline.segments, (s) => s.end_ns - s.start_ns)]);
	const spots = await page.evaluate(() => {
		const box = document.getElementById("instance").getBoundingClientRect();

		return window.page.views.request.instance.spots.slice().sort((a, b) => (b.x1 - b.x0) - (a.x1 - a.x0))
			.map((s) => [box.left + (s.x0 + s.x1) / 2, box.top + (s.y0 + s.y1) / 2]);
	});

	t.ok("each segment is drawn", spots.length === segments.length);
	await drawn(t, page, "where it is", "instance", spots.slice(0, 50));
	t.ok("a part of it says how long", /\d ns\)/.test(await tipAt(page, "instance", spots[0])));
}

async function testCpus(t, page, trace) {
	const cpus = why(trace, "--cpus").cpus;

	await page.evaluate(() => document.getElementById("cpus").scrollIntoView({ block: "center" }));
	t.equal("as --cpus --json says", await page.evaluate(() => window.page.why.doc.cpus), cpus);
	t.ok("no CPU was busy for longer than the targets lasted", cpus.cpus.every((c) => c.known_ns <= cpus.lifetime_ns + 10 &&
		c.known_ns === sum(c.contexts.map((k) => k.ns))), cpus);
	const spots = await page.evaluate(() => {
		const box = document.getElementById("cpus").getBoundingClientRect();

		return window.page.views.cpus.spots.filter((s) => !/not known/.test(s.text[0])).map((s) => [box.left + (s.x0 + s.x1) / 2, box.top + (s.y0 + s.y1) / 2]);
	});
	const tip = await tipAt(page, "cpus", spots[0]);

	await drawn(t, page, "CPUs are drawn", "cpus", spots);

	t.ok("a part says who", tip.includes(cpus.cpus[0].contexts[0].context), tip);
}

async function testQueues(t, page, trace) {
	const queues = why(trace, "--queues").queues;

	t.ok("requests were behind others", queues.length > 0);
	t.equal("queues are those of --queues --json", await page.evaluate(() => window.page.why.doc.queues), queues);
	t.ok("there are as many dots as targets", queues.every((q) => sum(q.more.map((m) => m.requests)) === q.depth.count && q.box.count === q.depth.count));
	await page.evaluate(() => document.getElementById("queues").scrollIntoView({ block: "center" }));
	const spots = await page.evaluate(() => {
		const box = document.getElementById("queues").getBoundingClientRect();

		return window.page.views.queues.spots.map((s) => [box.left + s.x, box.top + s.y]);
	});

	t.equal("a disk for each depth, and a box for each queue", spots.length, sum(queues.slice(0, 12).map((q) => q.more.length + 1)));
	await drawn(t, page, "the breakdown is drawn", "queues", spots);
	t.ok("a disk says how many", /more ahead/.test(await tipAt(page, "queues", spots[0])));
}

async function testAddress(t, json) {
	const page = await ready(t, knownPage, { hash: `req=${json.requests[7].req}&cause=2`, dark: true });

	t.equal("the selection is restored from the address", await page.evaluate(() => [window.page.state.target, window.page.state.cause]), [7, 2]);
	t.equal("of the request", await page.textContent("#sentence"), json.requests[7].sentence);
	for (const theme of ["light", "dark"])
		for (const palette of ["calm", "safe"])
			await page.evaluate(([a, b]) => {
				ldb.look.set("theme", a);
				ldb.look.set("palette", b);
			}, [theme, palette]);
	t.ok("all looks are drawn", (await look(page, "balloons")).colors > 8);
	await t.close(page, "an address");
	const odd = await ready(t, knownPage, { hash: "req=99999999999999999999&cause=-7&group=%3Cb%3E&x", width: 480 });

	t.equal("what does not exist is not selected", await odd.evaluate(() => [window.page.state.target, window.page.state.cause, window.page.state.group]), [-1, -1, ""]);
	t.ok("a narrow window is not scrolled sideways", await odd.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
	await t.close(odd, "a narrow window");
}

run(async (t) => {
	const page = await ready(t, knownPage);
	const json = await testNumbers(t, page, knownTrace);

	await testBalloons(t, page, json);
	await testMarks(t, page, json);
	await testBoxes(t, page, json);
	await testInstance(t, page, json, knownTrace);
	await testCpus(t, page, knownTrace);
	await testBlame(t, page, json, knownTrace);
	await t.close(page, "a known trace");
	await testAddress(t, json);
	const queue = await ready(t, queuePage);

	await testNumbers(t, queue, queueTrace);
	await testQueues(t, queue, queueTrace);
	await t.close(queue, "a queue");
	const markup = await ready(t, markupPage);

	t.ok("names are shown as they are", (await markup.textContent("#classes")).includes("</script><script>"));
	t.equal("and nothing else", await markup.evaluate(() => [window.owned, document.querySelectorAll("main img, main script").length]), [undefined, 0]);
	await t.close(markup, "names that try to be HTML");
	const none = await ready(t, nonePage);

	t.ok("no request: a sentence says so", (await none.textContent("#lead")).startsWith("No request of "));
	await t.close(none, "no request");
});
