// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests of the timeline's page share this file. */
"use strict";

const fs = require("fs");

const json = (file) => JSON.parse(fs.readFileSync(file, "utf8"));
const digits = (text) => Number(text.replace(/[^0-9-]/g, ""));

/* Returns the contents of the panel, as a map from its terms. */
const details = (page) => page.evaluate(() => {
	const facts = { name: document.getElementById("selected-name").textContent,
			kind: document.querySelector("#panel .kind").textContent };

	for (const dt of document.querySelectorAll("#panel dt"))
		facts[dt.textContent] = dt.nextElementSibling.textContent;
	return facts;
});

const exact = (text) => digits(/^[^n]*/.exec(text)[0]);
const range = (page) => page.evaluate(() => tl.state.t1 - tl.state.t0);

/*
 * Waits until the requested frames have been drawn: the browser calls back in the order of the
 * requests.
 */
const settled = (page) => page.evaluate(() => new Promise((done) =>
	requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));

async function ready(page) {
	await page.waitForFunction(() => document.documentElement.dataset.ready);
	await settled(page);
	return page;
}

async function find(page, text) {
	await page.fill("#search", text);
	await page.waitForFunction((q) => tl.state.query === q, text);
}

module.exports = { json, digits, details, exact, range, settled, ready, find };
