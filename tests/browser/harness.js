// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests that browser.js records errors and requests of pages. */
"use strict";

const { run } = require("./browser");

run(async (t) => {
	const expected = { network: /^request: http:/, throws: /^exception:/, console: /^console error: no/,
			   file: /^request: file:.*other\.html/ };
	const good = await t.open("good.html");

	t.equal("a page is shown", await good.textContent("p"), "good\n");
	await t.close(good, "a good page");
	for (const [name, pattern] of Object.entries(expected)) {
		const page = await t.open(`${name}.html`);

		await page.waitForTimeout(200);
		t.ok(`${name}: is recorded`, page.problems.some((p) => pattern.test(p)), page.problems);
		await page.context().close();
	}
});
