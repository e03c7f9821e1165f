// SPDX-License-Identifier: GPL-2.0-or-later
/* See timeline-shots.sh for what timeline-shots.js FOLDER does. */
"use strict";

const fs = require("fs");
const path = require("path");
const { run } = require("./browser");
const folder = process.argv[2];

run(async (t) => {
	const shots = [
		{ name: "figure1", file: "figure1.html" },
		{ name: "figure1-dark", file: "figure1.html", dark: true, keys: ["f"] },
		{ name: "figure1-all", file: "figure1.html", keys: ["Escape", "Escape", "0", "g"] },
		{ name: "cpu", file: "figure1.html", keys: ["3"] },
		{ name: "requests", file: "busy.html", keys: ["2"] },
		{ name: "search", file: "busy.html", keys: ["0"], search: "work_3", palette: "safe" },
		{ name: "narrow", file: "figure1.html", width: 640, height: 720 },
	];

	for (const shot of shots) {
		const page = await t.open(shot.file, { width: shot.width || 1600, height: shot.height || 900, dark: shot.dark });
		const file = path.join(folder, `timeline-${shot.name}.png`);

		await page.waitForSelector("html[data-ready]");
		if (shot.palette)
			await page.click("#palette");
		for (const key of shot.keys || [])
			await page.keyboard.press(key);
		if (shot.search) {
			await page.fill("#search", shot.search);
			await page.waitForSelector("#sums");
		}
		await page.evaluate(() => document.activeElement.blur());
		await page.waitForTimeout(300);
		await page.screenshot({ path: file });
		t.ok(`${shot.name}: below 200 kB`, fs.statSync(file).size < 200000, fs.statSync(file).size);
		await t.close(page, shot.name);
	}
});
