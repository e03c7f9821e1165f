// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws folded stacks with d3-flame-graph, over file://, and reads back what is drawn:
 * node folded.js VENDOR-FOLDER FILE.
 *
 * It prints "frames<TAB>name<TAB>ns": how many frames have that name, and the sum of the times that
 * the graph shows for them.  If the width of a frame is not proportional to its time, the frame is
 * printed to stderr, and the exit status is 1.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { examine } = require("./browser");

const [vendor, file] = process.argv.slice(2);
const libraries = ["d3-dispatch", "d3-ease", "d3-array", "d3-color", "d3-interpolate", "d3-timer",
		   "d3-hierarchy", "d3-format", "d3-scale", "d3-selection", "d3-transition"];
const problems = [];

/* The last blank separates the stack from its number, as in any reader of the format. */
function tree(text) {
	const root = { name: "root", value: 0, children: [] };

	for (const line of text.split("\n").filter((l) => l)) {
		const blank = line.lastIndexOf(" ");
		const ns = Number(line.slice(blank + 1));
		let at = root;

		if (blank < 1 || !Number.isInteger(ns) || ns <= 0)
			problems.push(`no stack and number: ${line}`);
		root.value += ns;
		for (const name of line.slice(0, blank).split(";")) {
			let child = at.children.find((c) => c.name === name);

			if (!child) {
				child = { name, value: 0, children: [] };
				at.children.push(child);
			}
			child.value += ns;
			at = child;
		}
	}
	return root;
}

async function draw(page, root) {
	const html = path.resolve(`${file}.html`);
	const scripts = libraries.map((l) => `${l}.min.js`).concat("d3-flamegraph.umd.min.js");

	fs.writeFileSync(html, "<!DOCTYPE html><meta charset=utf-8><div id=chart></div>" +
		scripts.map((s) => `<script src="${pathToFileURL(path.join(path.resolve(vendor), s)).href}"></script>`).join(""));
	await page.goto(pathToFileURL(html).href);
	return page.evaluate((data) => {
		const chart = window.flamegraph.default().width(1500).minFrameSize(0).transitionDuration(0);

		d3.select("#chart").datum(data).call(chart);
		return [...document.querySelectorAll("#chart g.frame, #chart svg g[name]")].map((g) => ({
			name: g.__data__.data.name, value: g.__data__.value,
			width: Number(g.getAttribute("width") || g.querySelector("rect").getAttribute("width")),
		}));
	}, root);
}

function check(frames, root) {
	const rows = new Map();

	for (const f of frames) {
		const row = rows.get(f.name) || { nr: 0, ns: 0 };

		row.nr++;
		row.ns += f.value;
		rows.set(f.name, row);
		if (Math.abs(f.width - 1500 * f.value / root.value) > 0.01)
			problems.push(`${f.name}: ${f.width} wide for ${f.value} of ${root.value}`);
	}
	for (const [name, row] of rows)
		console.log([row.nr, name, row.ns].join("\t"));
	if (!frames.length)
		problems.push("nothing is drawn");
}

async function look(browser) {
	const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
	const root = tree(fs.readFileSync(file, "utf8"));

	page.on("pageerror", (e) => problems.push(`exception: ${e}`));
	page.on("console", (m) => m.type() === "error" && problems.push(`console: ${m.text()}`));
	check(await draw(page, root), root);
}

examine(look, problems);
