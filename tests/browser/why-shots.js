// SPDX-License-Identifier: GPL-2.0-or-later
/* See why-shots.sh for what why-shots.js PAGE FOLDER does. */
"use strict";

const path = require("path");
const { run } = require("./browser");
const [file, folder] = process.argv.slice(2);

run(async (t) => {
	const shots = [
		{ name: "top" },
		{ name: "request", to: "#card-request" },
		{ name: "boxes-dark", to: "#card-boxes", dark: true },
		{ name: "blame", to: "#card-blame" },
		{ name: "narrow", width: 480 },
		{ name: "colour-blind", palette: "safe", to: "#card-balloons", dark: true },
	];

	for (const shot of shots) {
		const page = await t.open(file, { width: shot.width || 1500, height: shot.height || 940, dark: shot.dark });

		await page.waitForSelector("html[data-ready]");
		await page.evaluate((s) => {
			if (s.palette)
				ldb.look.set("palette", s.palette);
			if (s.to)
				document.querySelector(s.to).scrollIntoView();
		}, shot);
		await page.waitForTimeout(500);
		await page.screenshot({ path: path.join(folder, `why-${shot.name}.png`) });
		await t.close(page, shot.name);
	}
});
