// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stores the recording in typed arrays.  A track is a sorted sequence of bars that do not overlap:
 * { start, end, tone, refs, table }.  tone selects the colour (timeline-paint.js).  A bar
 * represents a row of the table: refs[i], or base + i if there are no refs.
 */
"use strict";

const tl = {
	/*
	 * The kinds of segments, from kinds.c.  Their numbers are tl.REQUEST,
	 * tl.LOCK_WAIT, ...
	 */
	kinds: null,
	F: null,	/* flags: tl.F.TRUNCATED, ... */
	about: null, names: null,
};

tl.data = (() => {
	const MIP_STEPS = [16, 256, 4096];
	const HOLD_ROWS_MAX = 4, REQUEST_ROWS_MAX = 3, EVENT_ROWS_MAX = 2;

	function makeTrack(start, end, tone, refs, base, table) {
		return { start, end, tone, refs, base, table, n: start.length, mips: null };
	}

	/* Returns the row of the table that bar i represents. */
	function refOf(track, i) {
		return track.refs ? track.refs[i] : track.base + i;
	}

	/*
	 * Makes levels of detail: for each 16, 256 and 4096 bars, the time that they cover and the
	 * longest one.
	 */
	function mipsOf(track) {
		if (track.mips)
			return track.mips;
		const levels = [];
		let cover = null, longest = null, below = 1;

		for (const step of MIP_STEPS) {
			const nr = Math.floor(track.n / step);

			if (!nr)
				break;
			const c = new Float64Array(nr), l = new Uint32Array(nr), ratio = step / below;

			for (let b = 0; b < nr; b++) {
				let sum = 0, most = -1;

				for (let k = b * ratio; k < (b + 1) * ratio; k++) {
					const i = longest ? longest[k] : k;
					const length = track.end[i] - track.start[i];

					sum += cover ? cover[k] : length;
					if (length > most) {
						most = length;
						l[b] = i;
					}
				}
				c[b] = sum;
			}
			levels.push({ step, cover: c, longest: l });
			cover = c;
			longest = l;
			below = step;
		}
		return track.mips = levels;
	}

	/* Returns the first bar that ends after t. */
	function firstAfter(track, t) {
		const end = track.end;
		let a = 0, b = track.n;

		while (a < b) {
			const mid = (a + b) >> 1;

			if (end[mid] <= t)
				a = mid + 1;
			else
				b = mid;
		}
		return a;
	}

	/*
	 * Distributes rows of a table (given by start and end) over tracks: each goes into the
	 * first track that is free.  Rows for which there is none among max tracks are only
	 * counted, in nrOver.
	 */
	function pack(rows, start, end, tone, table, max) {
		const lanes = [];
		let nrOver = 0;

		for (const row of rows) {
			let lane = lanes.find((l) => l.until <= start[row]);

			if (!lane) {
				if (lanes.length === max) {
					nrOver++;
					continue;
				}
				lanes.push(lane = { until: -Infinity, rows: [] });
			}
			lane.rows.push(row);
			lane.until = Math.max(end[row], start[row]);
		}
		const tracks = lanes.map((l) => fromRows(l.rows, start, end, tone, table));

		tracks.nrOver = nrOver;
		return tracks;
	}

	function fromRows(rows, start, end, tone, table) {
		const n = rows.length, s = new Float64Array(n), e = new Float64Array(n);
		const t = new Uint32Array(n), refs = new Uint32Array(n);

		for (let i = 0; i < n; i++) {
			const row = rows[i];

			s[i] = start[row];
			e[i] = end[row];
			t[i] = tone[row];
			refs[i] = row;
		}
		return makeTrack(s, e, t, refs, 0, table);
	}

	function addEnds(table) {
		const n = table.start.length;

		table.n = n;
		table.end = new Float64Array(n);
		for (let i = 0; i < n; i++)
			table.end[i] = table.start[i] + table.length[i];
	}

	function byThread(column, nr) {
		const rows = Array.from({ length: nr }, () => []);

		for (let i = 0; i < column.length; i++)
			if (rows[column[i]])
				rows[column[i]].push(i);
		return rows;
	}

	/*
	 * Makes tracks of the invocations, one for each thread and depth, which are parts of the
	 * same arrays.
	 */
	function functionTracks(d) {
		const s = d.spans, tone = new Uint32Array(s.n);
		let at = 0;

		for (let i = 0; i < s.n; i++)
			tone[i] = s.call[i];
		s.trackOf = [];
		for (let i = 0; i < d.tracks.count.length; i++) {
			const n = d.tracks.count[i], thread = tl.threads[d.tracks.thread[i]];
			const track = makeTrack(s.start.subarray(at, at + n), s.end.subarray(at, at + n),
						tone.subarray(at, at + n), null, at, "span");

			track.thread = d.tracks.thread[i];
			track.depth = d.tracks.depth[i];
			thread.functions[track.depth] = track;
			s.trackOf.push(track);
			at += n;
		}
		for (const t of tl.threads)
			for (let k = 0; k < t.functions.length; k++)
				t.functions[k] = t.functions[k] || makeTrack(new Float64Array(0),
					new Float64Array(0), new Uint32Array(0), null, 0, "span");
	}

	function trackOfSpan(i) {
		const tracks = tl.d.spans.trackOf;
		let a = 0, b = tracks.length - 1;

		while (a < b) {
			const mid = (a + b + 1) >> 1;

			if (tracks[mid].base <= i)
				a = mid;
			else
				b = mid - 1;
		}
		return tracks[a];
	}

	/* Returns the type of row in which a kind of segment is drawn. */
	function rowOf(kind) {
		return tl.kinds[kind].row;
	}

	/*
	 * Makes tracks of waits, holds, times off the CPU, and events: interrupts, page faults and
	 * what else kinds.c has in the row "event".
	 */
	function otherTracks(d) {
		const o = d.others;

		/* Each row has its own tone, because a search dims individual rows. */
		o.tone = new Uint32Array(o.n);
		for (let i = 0; i < o.n; i++)
			o.tone[i] = tl.paint.kindTone(o.kind[i], false);
		byThread(o.thread, tl.threads.length).forEach((rows, thread) => {
			const t = tl.threads[thread];
			const inRow = (row, max) => pack(rows.filter((r) => rowOf(o.kind[r]) === row), o.start, o.end,
							 o.tone, "other", max);

			t.waits = inRow("wait", 2);
			t.off = inRow("off", 2);
			t.events = inRow("event", EVENT_ROWS_MAX);
			t.holds = inRow("hold", HOLD_ROWS_MAX);
		});
	}

	function requestTracks(d) {
		const r = d.requests, p = d.parts;

		r.tone = new Uint32Array(r.n);
		r.first = new Uint32Array(r.n + 1);
		p.request = new Uint32Array(p.n);
		p.tone = new Uint32Array(p.n);
		let at = 0;

		for (let i = 0; i < r.n; i++) {
			r.tone[i] = tl.paint.kindTone(tl.REQUEST, false);
			r.first[i] = at;
			while (at < p.n && p.seq[at] === r.seq[i]) {
				p.request[at] = i;
				p.tone[at] = tl.paint.kindTone(p.flags[at] & tl.F.QUEUE ? tl.QUEUE : tl.REQUEST, false);
				at++;
			}
		}
		r.first[r.n] = at;
		const rows = Array.from({ length: tl.threads.length }, () => []);

		for (let i = 0; i < p.n; i++)
			if (!(p.flags[i] & tl.F.QUEUE) && p.thread[i])
				rows[p.thread[i] - 1].push(i);
		rows.forEach((list, thread) => {
			list.sort((a, b) => p.start[a] - p.start[b]);
			tl.threads[thread].requests = pack(list, p.start, p.end, p.tone, "part",
							   REQUEST_ROWS_MAX);
		});
		r.slowest = slowest(r, 200);
	}

	/* Returns the nr slowest requests; complete ones come first. */
	function slowest(r, nr) {
		const rank = (i) => (r.flags[i] & tl.F.COMPLETE ? 1e17 : 0) + r.length[i];
		const ranks = Float64Array.from({ length: r.n }, (_, i) => rank(i)).sort();
		const least = ranks[Math.max(r.n - nr, 0)], list = [];

		for (let i = 0; i < r.n; i++)
			if (rank(i) >= least)
				list.push(i);
		return list.sort((a, b) => rank(b) - rank(a) || a - b).slice(0, nr);
	}

	/* Makes tracks that show which task ran on each CPU, and where each thread ran. */
	function runTracks(d) {
		const r = d.runs, byCpu = new Map();

		r.tone = new Uint32Array(r.n);
		for (let i = 0; i < r.n; i++) {
			const thread = threadOfContext(r.context[i], r.start[i]);

			r.tone[i] = tl.paint.runTone(thread >= 0, false);
			if (!byCpu.has(r.cpu[i]))
				byCpu.set(r.cpu[i], []);
			byCpu.get(r.cpu[i]).push(i);
		}
		tl.cpus = [...byCpu.keys()].sort((a, b) => a - b).map((cpu) => {
			const rows = byCpu.get(cpu).sort((a, b) => r.start[a] - r.start[b]);

			return { cpu, track: pack(rows, r.start, r.end, r.tone, "run", 1)[0] };
		});
		tl.threads.forEach((t) => { t.runs = []; });
		for (let i = 0; i < r.n; i++) {
			const thread = threadOfContext(r.context[i], r.start[i]);

			if (thread >= 0)
				tl.threads[thread].runs.push(i);
		}
		for (const t of tl.threads) {
			t.runs.sort((a, b) => r.start[a] - r.start[b]);
			t.runTrack = fromRows(t.runs, r.start, r.end, r.tone, "run");
		}
	}

	/*
	 * Returns the last thread with this tid that began at t or earlier, or else the first one;
	 * -1: no thread of the program.
	 */
	function threadOf(tid, t) {
		const list = tl.byTid.get(tid);

		if (!list)
			return -1;
		let best = list[0];

		for (const i of list)
			if (tl.threads[i].start <= t)
				best = i;
		return best;
	}

	function context(i) {
		const p = tl.names.contexts, at = 5 * i;

		return { kind: p[at], tid: p[at + 1], pid: p[at + 2], name: tl.names.strings[p[at + 3]],
			 text: tl.names.strings[p[at + 4]] };
	}

	function threadOfContext(i, t) {
		const p = tl.names.contexts, at = 5 * i;

		return p[at] === tl.names.context_task ? threadOf(p[at + 1], t) : -1;
	}

	function makeThreads() {
		tl.threads = tl.names.threads.map((t, i) => ({ ...t, index: i, functions: [], waits: [],
			off: [], events: [], holds: [], requests: [], label: t.name ? `${t.name} ${t.tid}` : `${t.tid}` }));
		tl.byTid = new Map();
		for (const t of tl.threads) {
			if (!tl.byTid.has(t.tid))
				tl.byTid.set(t.tid, []);
			tl.byTid.get(t.tid).push(t.index);
		}
		for (const list of tl.byTid.values())
			list.sort((a, b) => tl.threads[a].start - tl.threads[b].start);
	}

	/*
	 * Makes tracks of observation gaps by thread.  Thread -1: all threads, because the scanner
	 * did not run.
	 */
	function gapTracks(d) {
		const g = d.gaps, rows = new Map(), tone = new Uint32Array(g.n);

		for (let i = 0; i < g.n; i++) {
			if (!rows.has(g.thread[i] - 1))
				rows.set(g.thread[i] - 1, []);
			rows.get(g.thread[i] - 1).push(i);
		}
		tl.gaps = new Map();
		for (const [thread, list] of rows)
			tl.gaps.set(thread, fromRows(list.sort((a, b) => g.start[a] - g.start[b]), g.start, g.end,
						     tone, "gap"));
	}

	/* Sets tl.from and tl.to: from the first to the last bar, but within --from and --to. */
	function extent(d) {
		let from = Infinity, to = -Infinity;
		const look = (table) => {
			for (let i = 0; i < table.n; i++) {
				if (table.start[i] < from) from = table.start[i];
				if (table.end[i] > to) to = table.end[i];
			}
		};

		look(d.spans);
		look(d.others);
		look(d.requests);
		look(d.runs);
		if (from > to) {
			from = 0;
			to = tl.about.duration_ns || 1;
		}
		tl.from = tl.about.from_ns !== undefined ? Math.max(from, tl.about.from_ns) : from;
		tl.to = tl.about.to_ns !== undefined ? Math.min(to, tl.about.to_ns) : to;
		if (tl.to <= tl.from)
			tl.to = tl.from + 1;
	}

	function requestId(i) {
		const r = tl.d.requests;

		return String((BigInt(r.id_high[i]) << 32n) | BigInt(r.id_low[i]));
	}

	/*
	 * Returns the request with this id and start, or without a start the longest one with this
	 * id; -1: not in this page.
	 */
	function findRequest(id, start) {
		const r = tl.d.requests, big = BigInt(id);
		const high = Number(big >> 32n), low = Number(big & 0xffffffffn);
		let best = -1;

		for (let i = 0; i < r.n; i++) {
			if (r.id_low[i] !== low || r.id_high[i] !== high)
				continue;
			if (start === undefined ? best < 0 || r.length[i] > r.length[best] : r.start[i] === start)
				best = i;
		}
		return best;
	}

	/* Reads the kinds of segments; must be called first. */
	function readKinds() {
		tl.about = ldb.json("about");
		tl.kinds = tl.about.kinds;
		tl.kinds.forEach((kind, i) => { tl[kind.name.toUpperCase()] = i; });
		tl.PART = tl.kinds.length;	/* only a colour: a request's span on a thread */
	}

	async function load() {
		const tables = ["spans", "tracks", "others", "running", "runs", "wakeups", "migrations",
				"requests", "parts", "gaps"];
		const d = tl.d = {};

		tl.names = ldb.json("names");
		tl.F = tl.names.flags;
		await Promise.all(tables.map(async (name) => { d[name] = await ldb.columns(name); }));
		for (const name of ["spans", "others", "runs", "requests", "parts", "gaps"])
			addEnds(d[name]);
		d.wakeups.n = d.wakeups.at.length;
		d.migrations.n = d.migrations.at.length;
		makeThreads();
		tl.paint.makeTones();
		functionTracks(d);
		otherTracks(d);
		requestTracks(d);
		runTracks(d);
		gapTracks(d);
		extent(d);
		for (const t of tl.threads)
			t.functions.forEach(mipsOf);
	}

	/* Names */
	const string = (i) => tl.names.strings[i];

	function callOf(i) {
		const f = 4 * tl.names.calls[2 * i], s = 3 * tl.names.calls[2 * i + 1];

		return {
			name: string(tl.names.functions[f]), text: string(tl.names.functions[f + 3]),
			file: string(tl.names.functions[f + 1]), line: tl.names.functions[f + 2],
			site: siteOf(s / 3), function: f / 4,
		};
	}

	function siteOf(i) {
		const s = 3 * i;

		return { caller: string(tl.names.sites[s]), file: string(tl.names.sites[s + 1]),
			 line: tl.names.sites[s + 2] };
	}

	/* Returns "main() figure1.cc:118"; "": not known. */
	function siteText(site) {
		return [site.caller, placeText(site.file, site.line)].filter(Boolean).join(" ");
	}

	function placeText(file, line) {
		return file ? `${file.replace(/.*\//, "")}:${line}` : "";
	}

	function lockOf(i) {
		return { name: string(tl.names.locks[2 * i]), text: string(tl.names.locks[2 * i + 1]) };
	}

	return { load, readKinds, rowOf, refOf, mipsOf, firstAfter, pack, fromRows, trackOfSpan, threadOf, threadOfContext, context,
		 requestId, findRequest, callOf, siteOf, siteText, placeText, lockOf };
})();
