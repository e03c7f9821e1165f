// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program measures how fast a timeline's page is: node frames.js PAGE.html.  It prints "NAME
 * VALUE" lines: page-mb, ready-ms (from the start of loading until the page was drawn), spans, and
 * of the frames while zooming, panning and scrolling in all three views, median-ms, p99-ms,
 * worst-ms, frames.
 *
 * The time of a frame is the time of its script and, because the canvas paints later, the time of
 * reading a pixel back, which waits until the frame has been painted.
 */
"use strict";

const fs = require("fs");
const { measure } = require("./browser");

/* This function runs in the page. */
async function drive() {
	const times = [], next = () => new Promise((done) => requestAnimationFrame(done));
	const frame = async (change) => {
		change();
		await next();
		const began = performance.now();

		tl.draw.frame();
		tl.overview.draw();
		tl.draw.settle();
		times.push(performance.now() - began);
	};
	const steps = async (nr, change) => {
		for (let i = 0; i < nr; i++)
			await frame(() => change(i));
	};

	tl.draw.settle();
	for (const view of ["thread", "request", "cpu"]) {
		/* The frame that changes the view is not counted, because it lays out the lanes. */
		tl.setView(view);
		tl.fit();
		await next();
		const middle = tl.from + (tl.to - tl.from) * 0.37;

		/*
		 * Zooms from the whole trace to some microseconds and back; then zooms in a little,
		 * pans to the right and scrolls down.
		 */
		await steps(60, () => tl.app.zoom(0.8, middle));
		await steps(60, () => tl.app.zoom(1 / 0.8, middle));
		await steps(12, () => tl.app.zoom(0.8, middle));
		await steps(40, () => tl.app.pan(0.12));
		await steps(20, () => tl.app.scroll(40));
	}
	return times;
}

measure(process.argv[2], async (page) => {
	const ready = Number(await page.evaluate(() => document.documentElement.dataset.ready));
	const spans = await page.evaluate(() => tl.d.spans.n);
	const times = (await page.evaluate(drive)).sort((a, b) => a - b);
	const at = (part) => times[Math.min(Math.floor(times.length * part), times.length - 1)];

	console.log(`page-mb ${fs.statSync(process.argv[2]).size / 1e6}`);
	console.log(`ready-ms ${ready}`);
	console.log(`spans ${spans}`);
	console.log(`median-ms ${at(0.5).toFixed(2)}`);
	console.log(`p99-ms ${at(0.99).toFixed(2)}`);
	console.log(`worst-ms ${at(1).toFixed(2)}`);
	console.log(`frames ${times.length}`);
});
