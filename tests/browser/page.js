// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares what page-sample.c wrote with what the page reads, and tests the numbers and colours of
 * tools/page/page.js.
 */
"use strict";

const { run } = require("./browser");

const MAX = 9007199254740991;
const HOSTILE = "</script><script>window.owned=1</script><!-- \" \\ \n\ufffd\u20ac";

run(async (t) => {
	const page = await t.open("sample.html");
	const { big, ...numbers } = await page.evaluate(async () => {
		const all = await ldb.columns("numbers"), rest = {};
		let wrong = all.odd.length === 100000 && all.even.length === 100000 ? 0 : -1;

		for (let i = 0; i < all.even.length; i++) {
			/* C multiplies unsigned numbers of 32 bits. */
			wrong += all.even[i] !== (Math.imul(i, 2654435761) >>> 0) % 1000003 ||
				 all.odd[i] !== i * 1000003 - all.even[i];
		}
		for (const [name, values] of Object.entries(all))
			if (name !== "odd" && name !== "even")
				rest[name] = Array.from(values);
		return { big: wrong, ...rest };
	});

	t.equal("columns", numbers, {
		none: [], plain: [0, 1, 255, 256, 65535, 16777216, 4294967295],
		negative: [-1, 0, 1, -128, 127, -2147483648, 2147483647],
		wide: [4294967296, MAX, 0, 4294967295, 2 ** 40], down: [-1, -4294967296, -MAX, 5, -(2 ** 40)],
		steps: [MAX, MAX - 1, 0, 1, -MAX, 1e12, 1e12 + 1], zeros: [0, 0, 0],
	});
	t.equal("long ones, every other value", big, 0);
	t.equal("a table is read once", await page.evaluate(() => document.getElementById("numbers").textContent), "");
	t.equal("strings, as they are", await page.evaluate(() => ldb.json("data")),
		{ hostile: HOSTILE, [HOSTILE]: "a key, too" });
	t.equal("the title, too", (await page.title()).replace(/\s+/g, " "), HOSTILE.replace(/\s+/g, " "));
	t.equal("no script of a name ran", await page.evaluate(() => window.owned), undefined);
	t.equal("durations are written as the tools do", await page.evaluate(() =>
		[0, 999, 1240, 999900, 12.34e6, 99.96e6, 123e9, -1500].map(ldb.ns)),
		["0 ns", "999 ns", "1.24 us", "1.00 ms", "12.3 ms", "100 ms", "123 s", "-1.50 us"]);
	t.equal("and exactly", await page.evaluate(() => ldb.exact(12345678).replace(/\u202f/g, " ")), "12 345 678 ns");
	t.equal("percentiles by nearest rank", await page.evaluate(() => {
		const values = Float64Array.from({ length: 200 }, (_, i) => i + 1);

		return [ldb.percentile(values, 99, 100), ldb.percentile(values, 1, 2), ldb.percentile([5], 99, 100)];
	}), [198, 100, 5]);
	t.equal("an unknown colour is an empty text", await page.evaluate(() => ["--c-wait", "--nothing"].map(ldb.look.color))
		.then(([a, b]) => [/^#[0-9a-f]{6}$/.test(a), b]), [true, ""]);
	/* Each palette has each colour, in a form that the canvas accepts. */
	t.equal("each palette has each colour", await page.evaluate(() => {
		const names = new Set(), bad = [];

		for (const rule of document.styleSheets[0].cssRules)
			for (const name of rule.style || [])
				if (/^--(c-|f\d|bg|fg|dim|line|panel|raised|accent|mark)/.test(name))
					names.add(name);
		for (const theme of ["light", "dark"])
			for (const palette of ["calm", "safe"]) {
				ldb.look.set("theme", theme);
				ldb.look.set("palette", palette);
				for (const name of names)
					if (!/^#[0-9a-f]{6}$/.test(ldb.look.color(name)))
						bad.push([theme, palette, name]);
			}
		return [names.size > 25, bad];
	}), [true, []]);
	await t.close(page, "the sample");
});
