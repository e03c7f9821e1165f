// SPDX-License-Identifier: GPL-2.0-or-later
/* See report-shots.sh for what report-shots.js PAGE FOLDER does. */
"use strict";

const path = require("path");
const { run } = require("./browser");
const [file, folder] = process.argv.slice(2);

async function drag(page, from, to) {
	const [a, b] = await page.evaluate(([x, y]) => [report.heat.place(...x), report.heat.place(...y)], [from, to]);

	await page.mouse.move(...a);
	await page.mouse.down();
	await page.mouse.move(...b);
	await page.mouse.up();
	await page.mouse.move(5, 5);
}

run(async (t) => {
	const shots = [
		{ name: "overview", tab: "overview" },
		{ name: "functions", tab: "functions", choose: true },
		{ name: "distributions", tab: "distributions", height: 1080 },
		{ name: "flame-slow", tab: "flame", flame: "slow" },
		{ name: "locks-dark", tab: "locks", dark: true },
		{ name: "compared", tab: "diff" },
		{ name: "narrow", tab: "requests", width: 480 },
		{ name: "colour-blind", tab: "flame", palette: "safe", dark: true },
	];

	for (const shot of shots) {
		const page = await t.open(file, { width: shot.width || 1600, height: shot.height || 900, dark: shot.dark });

		await page.waitForSelector("html[data-ready]");
		await page.evaluate((s) => {
			if (s.palette)
				ldb.look.set("palette", s.palette);
			report.go(s.tab);
			if (s.flame)
				report.views.get("flame").flame.open(s.flame);
		}, shot);
		if (shot.choose) {
			const [nr, rows] = await page.evaluate(() => [report.data.doc.edges.length - 1, report.heat.rows]);

			await drag(page, [Math.floor(nr * 0.1), Math.floor(rows * 0.45)], [Math.floor(nr * 0.9), rows - 1]);
		}
		await page.waitForTimeout(900);
		await page.screenshot({ path: path.join(folder, `report-${shot.name}.png`) });
		await t.close(page, shot.name);
	}
});
