// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs tests of pages in Debian's chromium, driven by playwright-core.
 *
 *	const { run } = require("./browser");
 *
 *	run(async (t) => {
 *		const page = await t.open("out.html", { hash: "...", width: 1600, height: 900 });
 *
 *		t.ok("name", condition, detail);
 *		t.equal("name", got, wanted);
 *		await t.close(page);	one result: page.problems is empty
 *	});
 *
 * It prints TAP.  A page is a file; requests for anything besides the page itself and data: are
 * refused.  These, errors and warnings on the console, and exceptions are in page.problems.
 */
"use strict";

const path = require("path");
const { pathToFileURL } = require("url");

let nr = 0, nrFailed = 0;

function diag(text) {
	for (const line of String(text).split("\n"))
		console.log("# " + line.slice(0, 1000));
}

function ok(name, condition, detail) {
	console.log(`${condition ? "ok" : "not ok"} ${++nr} - ${name}`);
	if (!condition) {
		nrFailed++;
		if (detail !== undefined)
			diag(typeof detail === "string" ? detail : JSON.stringify(detail));
	}
	return Boolean(condition);
}

function equal(name, got, wanted) {
	const same = JSON.stringify(got) === JSON.stringify(wanted);

	return ok(name, same, `got ${JSON.stringify(got)}, wanted ${JSON.stringify(wanted)}`);
}

function watch(page, url) {
	page.problems = [];
	page.on("console", (m) => {
		if (m.type() === "error" || m.type() === "warning")
			page.problems.push(`console ${m.type()}: ${m.text()}`);
	});
	page.on("pageerror", (e) => page.problems.push(`exception: ${e.stack || e}`));
	page.on("request", (r) => {
		if (r.url().split("#")[0] !== url && !r.url().startsWith("data:"))
			page.problems.push(`request: ${r.url().slice(0, 200)}`);
	});
}

async function launch() {
	const { chromium } = require("playwright-core");
	const args = ["--disable-gpu", "--force-color-profile=srgb", "--hide-scrollbars"];

	return chromium.launch({
		executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
		chromiumSandbox: process.getuid() !== 0,
		args,
	});
}

async function open(browser, file, o = {}) {
	const url = pathToFileURL(path.resolve(file)).href;
	const context = await browser.newContext({
		viewport: { width: o.width || 1600, height: o.height || 900 },
		colorScheme: o.dark ? "dark" : "light",
		reducedMotion: "reduce",
		deviceScaleFactor: o.scale || 1,
	});

	await context.route("**/*", (route) => {
		const asked = route.request().url();

		if (asked.split("#")[0] === url || asked.startsWith("data:"))
			route.continue();
		else
			route.abort();
	});
	const page = await context.newPage();

	page.setDefaultTimeout(o.timeout || 30000);
	watch(page, url);
	await page.goto(url + (o.hash ? "#" + o.hash : ""));
	return page;
}

async function close(page, name) {
	await page.waitForTimeout(50);
	ok(`${name || "page"}: no error, no warning, no request`, page.problems.length === 0,
	   page.problems.join("\n"));
	await page.context().close();
}

async function run(body) {
	let browser;

	try {
		browser = await launch();
		await body({
			ok, equal, diag, close, browser,
			open: (file, o) => open(browser, file, o),
		});
	} catch (e) {
		ok("the test ran to its end", false, e.stack || String(e));
	} finally {
		if (browser)
			await browser.close();
	}
	console.log(`1..${nr}`);
	process.exitCode = nrFailed ? 1 : 0;
}

/*
 * Works without TAP: calls body(browser), which may add to problems.  The first 20 problems are
 * printed to stderr; if there are any, the exit status is 1.
 */
async function examine(body, problems) {
	let browser;

	try {
		browser = await launch();
		await body(browser);
	} catch (e) {
		problems.push(e.stack || String(e));
	} finally {
		if (browser)
			await browser.close();
	}
	for (const p of problems.slice(0, 20))
		console.error(p);
	process.exitCode = problems.length ? 1 : 0;
}

/*
 * Does what examine() does, for one of ldb's pages: waits until it is ready, and calls body(page).
 */
async function measure(file, body) {
	const problems = [];

	await examine(async (browser) => {
		const page = await open(browser, file);

		await page.waitForFunction(() => document.documentElement.dataset.ready);
		await body(page);
		problems.push(...page.problems);
	}, problems);
}

module.exports = { run, measure, examine };
