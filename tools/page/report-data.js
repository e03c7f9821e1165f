// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Computes the tables of the page from its data, for the selection.
 *
 * A choice is { i, j, lo, hi, class, mode }: bins i to j, buckets of latency lo to hi, a class (-1:
 * all), and a mode: "time" (all calls in these bins) or "requests" (only the calls for the chosen
 * requests).  Each row of a table has first and last; a choice contains the row if j >= first and i
 * < last, which selects the same rows as --from and --to.  Sums, counts, least and greatest values
 * are exact; rows with values of which only the bucket is known are marked by exact: false.
 */
"use strict";

const data = (() => {
	const doc = ldb.json("report"), other = ldb.json("other");
	const tables = { other: null };

	/*
	 * There are `1 << bits` buckets for each power of two, as in bins_bucket(); values are
	 * up to 2^53.
	 */
	function bucketOf(value, bits) {
		const limit = 2 << bits;
		let octave = 0;

		if (value < limit / 2)
			return value;
		for (octave = 1; value >= limit; octave++)
			value = Math.floor(value / 2);
		return octave * (limit / 2) + value - limit / 2;
	}

	/* Returns the least value of a bucket. */
	function bucketFrom(bucket, bits) {
		const nr = 1 << bits, octave = Math.floor(bucket / nr), sub = bucket % nr;

		return octave ? (nr + sub) * 2 ** (octave - 1) : sub;
	}

	function bucketMiddle(bucket, bits) {
		const from = bucketFrom(bucket, bits), width = bucketFrom(bucket + 1, bits) - from;

		return from + Math.floor((width - 1) / 2);
	}

	/*
	 * Stores in the table where the values of each row begin, and the index of its extremes;
	 * -1: the row is a single value, its sum.
	 */
	function offsets(table, values) {
		const nr = table.count.length, at = new Uint32Array(nr + 1), extreme = new Int32Array(nr);
		let v = 0, e = 0;

		for (let i = 0; i < nr; i++) {
			at[i] = v;
			extreme[i] = -1;
			if (table.count[i] > 1) {
				extreme[i] = e;
				v += values.nr[e++];
			}
		}
		at[nr] = v;
		table.at = at;
		table.extreme = extreme;
		table.values = values;
	}

	async function read() {
		const [requests, requestValues, calls, callValues, requestCalls, requestCallValues, nodes, cells,
			requestCells, slowest, otherNodes, otherCells, otherRequestCells] = await Promise.all(["requests", "requests_values",
			"calls", "calls_values", "request_calls", "request_calls_values", "flame_nodes",
			"flame_cells", "flame_request_cells", "slowest", "other_nodes", "other_cells", "other_request_cells"].map(ldb.columns));

		Object.assign(tables, { requests, calls, requestCalls, slowest });
		if (requestValues)
			offsets(requests, requestValues);
		if (callValues)
			offsets(calls, callValues);
		if (requestCallValues)
			offsets(requestCalls, requestCallValues);
		tables.flame = { ...ldb.json("flame_names"), nodes, cells, requestCells };
		if (otherNodes)
			tables.other = { ...ldb.json("other_names"), nodes: otherNodes, cells: otherCells, requestCells: otherRequestCells };
		requests.bucket = requests.bucket ||
			requests.latency.map((v) => bucketOf(Math.max(v, 0), doc.heat_bits));
		requests.total = requests.latency || requests.sum;
		requests.classOf = doc.each_request ? requests.class : requests.class_number;
		doc.slowestIds = Array.from(slowest.id_low, (low, i) => id(low, slowest.id_high[i]));
	}

	function id(low, high) {
		return String((BigInt(high) << 32n) + BigInt(low));
	}

	function inBins(first, last, s) {
		return first <= s.j && last > s.i;
	}

	/*
	 * Bins of these tables may be wider than those of the heat map, so a choice is extended to
	 * whole wide bins.
	 */
	function inSteps(first, last, s, step) {
		return first <= Math.floor(s.j / step) && last > Math.floor(s.i / step);
	}

	function inHeat(s, klass, bucket) {
		return (s.class < 0 || klass === s.class) && bucket >= s.lo && bucket <= s.hi;
	}

	/*
	 * Returns for each row of requests whether it is selected; incomplete requests, which have
	 * no latency, are not.
	 */
	function chosenRequests(s) {
		const r = tables.requests, chosen = new Uint8Array(r.first.length);

		for (let k = 0; k < chosen.length; k++)
			chosen[k] = (!s || (inBins(r.first[k], r.last[k], s) &&
				inHeat(s, r.classOf[k], r.bucket[k]))) && (!r.state || r.state[k] & 1) ? 1 : 0;
		return chosen;
	}

	/* A distribution of exact values, and of values of which only the bucket is known. */
	class Distribution {
		constructor() {
			this.count = this.open = this.sum = this.max = this.resolutionMax = 0;
			this.min = Infinity;
			this.values = [];
			this.resolutions = [];
			this.buckets = null;
		}

		add(value, resolution) {
			this.count++;
			this.sum += value;
			this.min = Math.min(this.min, value);
			this.max = Math.max(this.max, value);
			this.resolutionMax = Math.max(this.resolutionMax, resolution);
			this.values.push(value);
			this.resolutions.push(resolution);
		}

		addRow(t, k) {
			const e = t.extreme[k];

			this.open += t.open[k];
			if (!t.count[k])
				return;
			this.count += t.count[k];
			this.sum += t.sum[k];
			this.resolutions = null;
			this.resolutionMax = Math.max(this.resolutionMax, t.values.resolution[k]);
			this.min = Math.min(this.min, e < 0 ? t.sum[k] : t.values.min[e]);
			this.max = Math.max(this.max, e < 0 ? t.sum[k] : t.values.max[e]);
			if (e < 0) {
				this.values.push(t.sum[k]);
				return;
			}
			this.buckets = this.buckets || new Map();
			for (let v = t.at[k]; v < t.at[k + 1]; v++) {
				const b = t.values.bucket[v];

				this.buckets.set(b, (this.buckets.get(b) || 0) + t.values.times[v]);
			}
		}

		/* Returns pairs of a value and its count, in ascending order. */
		get points() {
			if (this.sorted)
				return this.sorted;
			const points = Array.from(Float64Array.from(this.values).sort(), (v) => [v, 1]);

			for (const [b, nr] of this.buckets || [])
				points.push([Math.min(Math.max(bucketMiddle(b, doc.value_bits), this.min), this.max), nr]);
			if (this.buckets)
				points.sort((x, y) => x[0] - y[0]);
			return this.sorted = points;
		}

		percentile(num, den) {
			const rank = Math.max(Math.ceil(this.count * num / den), 1);
			let seen = 0;

			if (!this.count)
				return 0;
			if (rank >= this.count)
				return this.max;
			if (!this.buckets)
				return this.points[rank - 1][0];
			for (const [value, nr] of this.points)
				if ((seen += nr) >= rank)
					return value;
			return this.max;
		}

		get mean() {
			const sum = this.sum + Math.floor(this.count / 2);

			/*
			 * Only the division of a multiple is exact; other quotients of large
			 * numbers would be rounded.
			 */
			return this.count ? (sum - sum % this.count) / this.count : 0;
		}

		/* Returns the median resolution of the invocations; null: not known. */
		get resolution() {
			return this.resolutions ? ldb.percentile(this.resolutions.sort((x, y) => x - y), 1, 2) : null;
		}

		get isExact() {
			return !this.buckets;
		}

		numbers() {
			return {
				count: this.count, p50_ns: this.percentile(1, 2), p99_ns: this.percentile(99, 100),
				p999_ns: this.percentile(999, 1000), p9999_ns: this.percentile(9999, 10000),
				max_ns: this.max, min_ns: this.count ? this.min : 0, mean_ns: this.mean,
				total_ns: this.sum, exact: this.isExact,
			};
		}
	}

	/* Returns the distributions of the chosen calls, by key(row of the function table). */
	function distributions(s, key) {
		const byRequest = s && s.mode === "requests";
		const t = byRequest && !doc.each_call ? tables.requestCalls : tables.calls;
		const keys = doc.functions.map(key), found = new Map();
		const timeStep = doc.each_call ? 1 : doc.time_step, requestStep = doc.each_call ? 1 : doc.request_step;
		const chosen = byRequest && doc.each_call && doc.each_request ? chosenRequests(s) : null;

		for (let k = 0; k < t.key.length; k++) {
			if (chosen ? !t.request[k] || !chosen[t.request[k] - 1] :
			    byRequest ? !t.class[k] || !inSteps(t.from[k], t.to[k], s, requestStep) || !inHeat(s, t.class[k] - 1, t.bucket[k]) :
			    s && !inSteps(t.first[k], t.last[k], s, timeStep))
				continue;
			const name = keys[t.key[k]];
			let d = found.get(name);

			if (!d)
				found.set(name, d = new Distribution());
			if (!doc.each_call)
				d.addRow(t, k);
			else if (t.open[k])
				d.open++;
			else
				d.add(t.sum[k], t.resolution[k]);
		}
		return found;
	}

	function functionKey(row) {
		return JSON.stringify([row.function, row.symbol, row.func_file, row.func_line, row.module]);
	}

	/* Returns the function table for a choice; null: for all calls, as in ldb-report. */
	function functions(s, by) {
		const isSite = by === "callsite";

		if (!s && isSite)
			return doc.functions.map((row, k) => ({ ...row, key: k }));
		const found = distributions(s, isSite ? (row, k) => k : functionKey);
		const names = new Map();

		doc.functions.forEach((row, k) => {
			const name = isSite ? k : functionKey(row);

			if (!names.has(name))
				names.set(name, row);
		});
		return Array.from(found, ([name, d]) => {
			const row = names.get(name), place = isSite ? {} :
				{ caller: "", file: row.func_file, line: row.func_line };

			return { ...row, ...place, ...d.numbers(), resolution_ns: d.resolution,
				resolution_max_ns: d.resolutionMax, open: d.open, key: name };
		});
	}

	/* Returns the distributions of the latencies by class; that of all classes is at -1. */
	function latencies(s) {
		const r = tables.requests, found = new Map([[-1, new Distribution()]]);
		const chosen = chosenRequests(s);

		for (let k = 0; k < chosen.length; k++) {
			const c = r.classOf[k];

			if (s && !(inBins(r.first[k], r.last[k], s) && (s.class < 0 || c === s.class)))
				continue;
			if (!found.has(c))
				found.set(c, new Distribution());
			for (const d of [found.get(-1), found.get(c)]) {
				if (!doc.each_request) {
					if (!s || inHeat(s, c, r.bucket[k]))
						d.addRow(r, k);
				} else if (chosen[k]) {
					d.add(r.latency[k], 0);
					d.lost = (d.lost || 0) + (r.state[k] >> 1 & 1);
				} else if (!(r.state[k] & 1)) {
					d.open++;
				}
			}
		}
		return found;
	}

	/* Returns the table of classes, as in ldb-report --requests. */
	function classes(s) {
		if (!s)
			return doc.requests.map((c) => ({ ...c, slowest: undefined }));
		return Array.from(latencies(s), ([c, d]) => ({
			class: c < 0 ? null : doc.classes[c], ...d.numbers(),
			/*
			 * Incomplete requests have no latency, so a choice of latencies contains
			 * none.
			 */
			incomplete: s.is_full ? d.open : null,
			lost_handoffs: s.is_full && d.lost !== undefined ? d.lost : null,
		}));
	}

	/* Returns the slowest chosen requests, with their causes if these are known. */
	function slowest(s, nr) {
		const r = tables.requests, known = new Map();

		for (const [k, q] of ((doc.requests[0] || {}).slowest || []).entries())
			known.set(doc.slowestIds[k] + " " + q.start_ns, { ...q, req: doc.slowestIds[k] });
		if (!doc.each_request)
			return [...known.values()].filter((q) => !s || (q.start_ns >= doc.edges[s.i] &&
				q.start_ns < doc.edges[s.j + 1] &&
				inHeat(s, doc.classes.indexOf(q.class), bucketOf(q.latency_ns, doc.heat_bits)))).slice(0, nr);
		const chosen = chosenRequests(s), numbers = [];

		for (let k = 0; k < chosen.length; k++)
			if (chosen[k])
				numbers.push(k);
		numbers.sort((x, y) => r.latency[y] - r.latency[x] || r.start[x] - r.start[y]);
		return numbers.slice(0, nr).map((k) => {
			const req = id(r.id_low[k], r.id_high[k]);

			return known.get(req + " " + r.start[k]) || {
				req, class: doc.classes[r.class[k]], start_ns: r.start[k],
				end_ns: r.start[k] + r.latency[k], latency_ns: r.latency[k],
			};
		});
	}

	/* Returns the number of chosen requests. */
	function count(s) {
		const r = tables.requests, chosen = chosenRequests(s);

		return chosen.reduce((sum, is, k) => sum + (is ? (r.count ? r.count[k] : 1) : 0), 0);
	}

	/* Returns self time by node. */
	function flame(s) {
		const f = tables.flame, byRequest = s && s.mode === "requests", c = byRequest ? f.requestCells : f.cells;
		const self = new Float64Array(f.nodes.parent.length);

		for (let k = 0; k < c.node.length; k++)
			if (!s || (byRequest ? inSteps(c.from[k], c.to[k], s, doc.request_step) && inHeat(s, c.class[k] - 1, c.bucket[k]) :
			    c.first[k] >= Math.floor(s.i / doc.time_step) && c.first[k] <= Math.floor(s.j / doc.time_step)))
				self[c.node[k]] += c.sum[k];
		return self;
	}

	/* Returns self time by node for the other trace, or for its requests only. */
	function otherFlame(ofRequests) {
		const f = tables.other, c = ofRequests ? f.requestCells : f.cells, self = new Float64Array(f.nodes.parent.length);

		for (let k = 0; k < c.node.length; k++)
			self[c.node[k]] += c.sum[k];
		return self;
	}

	/*
	 * Returns the number of requests by bin and bucket; if there are no requests, that of
	 * invocations.
	 */
	function heat(klass) {
		const r = tables.requests, nr = doc.edges.length - 1, cells = new Map();
		let lo = Infinity, hi = -1, max = 0;
		const put = (first, bucket, times) => {
			if (first >= nr)
				return;
			const key = bucket * nr + first, sum = (cells.get(key) || 0) + times;

			cells.set(key, sum);
			lo = Math.min(lo, bucket);
			hi = Math.max(hi, bucket);
			max = Math.max(max, sum);
		};

		for (let k = 0; k < r.first.length; k++)
			if ((klass < 0 || r.classOf[k] === klass) && (!r.state || r.state[k] & 1) &&
			    (!r.count || r.count[k]))
				put(r.first[k], r.bucket[k], r.count ? r.count[k] : 1);
		const ofRequests = r.first.length > 0, wide = ofRequests || doc.each_call ? 1 : doc.time_step;

		if (!ofRequests)
			eachDuration((first, value, times) => put(first * wide, bucketOf(value, doc.heat_bits), times));
		return { nr, lo, hi, max, cells, ofRequests, wide };
	}

	function eachDuration(put) {
		const t = tables.calls;

		for (let k = 0; k < t.key.length; k++) {
			if (doc.each_call ? !t.open[k] : t.count[k] === 1)
				put(t.first[k], t.sum[k], 1);
			else if (!doc.each_call)
				for (let v = t.at[k]; v < t.at[k + 1]; v++)
					put(t.first[k], bucketMiddle(t.values.bucket[v], doc.value_bits), t.values.times[v]);
		}
	}

	return { doc, other, tables, read, bucketOf, bucketFrom, distributions, functionKey, functions,
		latencies, classes, slowest, count, flame, otherFlame, heat };
})();
