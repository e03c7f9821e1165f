// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program reads the data of a page with the page's own reader: node columns.js PAGE TABLE
 * COLUMN... It prints a line for each row, with tabs between the columns; a COLUMN may be a sum:
 * "length+extra".
 *
 * It runs only the first script of the page, because the others would consume the data.
 */
"use strict";

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { examine } = require("./browser");

const [file, table, ...wanted] = process.argv.slice(2);

async function read(browser) {
	const html = fs.readFileSync(file, "utf8");
	const data = html.match(/<script type="application\/[^]*?<\/script>/g) || [];
	const script = html.match(/<script nonce[^]*?<\/script>/)[0];
	const reduced = path.resolve(`${file}.data.html`);
	const page = await browser.newPage();

	fs.writeFileSync(reduced, `<!DOCTYPE html><meta charset=utf-8><body>${data.join("")}${script}`);
	await page.goto(pathToFileURL(reduced).href);
	return page.evaluate(async ([name, columns]) => {
		const t = await ldb.columns(name);
		const value = (sum, i) => sum.split("+").reduce((v, c) => v + t[c][i], 0);

		return Array.from(t[columns[0].split("+")[0]], (_, i) => columns.map((c) => value(c, i)).join("\t"));
	}, [table, wanted]);
}

examine(async (browser) => console.log((await read(browser)).join("\n")), []);
