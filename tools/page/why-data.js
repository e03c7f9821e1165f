// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the data in the page of ldb-why.  A target is identified by its rank: 0 is the slowest.
 * Its amounts, biggest first, are rows first[i] to first[i + 1] of the table of amounts.
 */
"use strict";

const why = (() => {
	const doc = ldb.json("why"), instances = ldb.json("instances");
	const tables = {};

	async function read() {
		for (const id of ["targets", "amounts", "bins", "instance_segments"])
			tables[id] = await ldb.columns(id);
		const nr = tables.targets.amounts, first = new Uint32Array(nr.length + 1);

		for (let i = 0; i < nr.length; i++)
			first[i + 1] = first[i] + nr[i];
		tables.first = first;
		tables.rank = new Map(Array.from(nr, (n, i) => [id(i), i]).reverse());
	}

	/* Returns the id as a string: ids have 64 bits, more than JavaScript's numbers. */
	function id(i) {
		const t = tables.targets;

		return (BigInt(t.id_high[i]) << 32n | BigInt(t.id_low[i])).toString();
	}

	function amounts(i) {
		const a = tables.amounts, list = [];

		for (let k = tables.first[i]; k < tables.first[i + 1]; k++)
			list.push({ cause: a.cause[k], ns: a.ns[k], more: a.more[k] });
		return list;
	}

	function target(i) {
		const t = tables.targets;

		return { rank: i, req: id(i), number: t.number[i], class: doc.classes[t.class[i]].class, klass: t.class[i],
			start_ns: t.start[i], latency_ns: t.latency[i], deviation_ns: t.deviation[i], unknown_ns: t.unknown[i],
			coverage: t.coverage[i] / 1e6, ahead: t.ahead[i], resolution_ns: t.resolution[i], amounts: amounts(i),
			...(doc.chains[i] || { sentence: "", root: "", root_label: "", chain: null }) };
	}

	/* Returns the segments of a target, by start; null: they are not in the page. */
	function instance(i) {
		const number = instances.targets.indexOf(i), s = tables.instance_segments, list = [];

		if (number < 0)
			return null;
		for (let k = 0; k < s.instance.length; k++)
			if (s.instance[k] === number)
				list.push({ kind: instances.kinds[s.kind[k]].name, rank: s.kind[k], colour: instances.kinds[s.kind[k]].colour, name: instances.names[s.name[k]], thread: instances.names[s.thread[k]],
					tid: s.tid[k], start: s.start[k], end: s.end[k], resolution: s.resolution[k], depth: s.depth[k],
					level: s.level[k], blocks: s.blocks[k] === 1 });
		return list;
	}

	const many = (n) => Number(n).toLocaleString("en").replace(/,/g, "\u202f");
	const share = (v, whole) => whole ? (100 * v / whole).toFixed(1) + " %" : "\u2013";

	return { doc, tables, read, id, amounts, target, instance, many, share,
		get count() { return tables.targets.latency.length; } };
})();
