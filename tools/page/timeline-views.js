// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the lanes and rows of the views by thread, by request and by CPU, from the same tracks.
 *
 * A row shows a track, or (over, pick) only parts of threads' tracks: those during the bars of
 * another track, such as while a thread ran on a CPU or worked on a request.
 */
"use strict";

tl.views = (() => {
	const HEIGHT = { function: 19, request: 18, wait: 17, off: 15, event: 9, hold: 7, run: 19, part: 17 };
	const GAP = 14, TOP = 8, COLLAPSED = 9;
	const CLIPPED_DEPTH = 8, SLOTS_MAX = 64;
	const SCALES = [1.5, 1.25, 1];
	const collapsed = new Set();
	let scale = 1;

	function row(lane, type, track, more) {
		const h = lane.isCollapsed && type === "function" ? COLLAPSED : Math.round(HEIGHT[type] * scale);

		lane.rows.push({ type, track, y: lane.h, h, lane, ...more });
		lane.h += h + 1;
	}

	function newLane(key, label, note, thread) {
		return { key, label, note, thread, rows: [], h: 0, isCollapsed: collapsed.has(key) };
	}

	function finish(lanes) {
		let y = TOP;

		for (const lane of lanes) {
			lane.h = Math.max(lane.h, 18);
			lane.y = y;
			y += lane.h + GAP;
		}
		return { lanes, height: y };
	}

	function hasAny(tracks) {
		return tracks.some((t) => t && t.n);
	}

	function threadLane(t) {
		const note = t.unobserved ? "unobserved" : t.made ? `${t.seen} of ${t.made} calls observed` : "";
		const lane = newLane(`t${t.index}`, t.label, note, t.index);

		for (const track of t.requests)
			row(lane, "request", track);
		for (const track of t.waits)
			row(lane, "wait", track);
		for (const track of t.off)
			row(lane, "off", track);
		for (const track of t.events)
			row(lane, "event", track);
		for (const track of t.holds)
			row(lane, "hold", track);
		t.functions.forEach((track, depth) => {
			if (!lane.isCollapsed || depth < 1)
				row(lane, "function", track, { depth });
		});
		return lane;
	}

	/* The threads of the shown request come first. */
	function threads(focus) {
		const first = focus ? focus.threads : [];
		const order = tl.threads.map((t) => t.index);
		const rank = (i) => (first.includes(i) ? first.indexOf(i) : first.length);
		const work = (t) => hasAny(t.functions) || hasAny(t.requests) || hasAny(t.waits) ||
				    hasAny(t.off) || hasAny(t.events) || hasAny(t.holds);
		const busy = order.filter((i) => work(tl.threads[i]));

		/* Threads without functions and requests come last. */
		const idle = (i) => (hasAny(tl.threads[i].functions) || hasAny(tl.threads[i].requests) ? 0 : 1);

		busy.sort((a, b) => rank(a) - rank(b) || idle(a) - idle(b) || a - b);
		return finish(busy.map((i) => threadLane(tl.threads[i])));
	}

	/* Makes rows for the parts of threads' tracks during the bars of `over`. */
	function clippedRows(lane, over, threadOf, depth) {
		const pick = (get) => (ref) => {
			const i = threadOf(ref);

			return i < 0 ? null : get(tl.threads[i]) || null;
		};

		for (let k = 0; k < depth; k++)
			row(lane, "function", null, { depth: k, over, pick: pick((t) => t.functions[k]) });
	}

	function cpus() {
		const r = tl.d.runs;
		const threadOf = (ref) => tl.data.threadOfContext(r.context[ref], r.start[ref]);

		return finish(tl.cpus.map(({ cpu, track }) => {
			const lane = newLane(`c${cpu}`, `CPU ${cpu}`, "", -1);

			let depth = 0;

			lane.cpu = cpu;
			row(lane, "run", track);
			for (const i of track.refs) {
				const t = threadOf(i);

				if (t >= 0)
					depth = Math.max(depth, Math.min(tl.threads[t].functions.length, CLIPPED_DEPTH));
			}
			clippedRows(lane, track, threadOf, lane.isCollapsed ? 0 : depth);
			return lane;
		}));
	}

	/* Requests of a class share rows: each request takes the first row that is free. */
	let slots = null;

	function makeSlots() {
		const r = tl.d.requests, byClass = new Map();

		for (let i = 0; i < r.n; i++) {
			if (!byClass.has(r.class[i]))
				byClass.set(r.class[i], []);
			byClass.get(r.class[i]).push(i);
		}
		slots = [];
		for (const [name, rows] of byClass) {
			const tracks = tl.data.pack(rows, r.start, r.end, r.tone, "request", SLOTS_MAX);

			tracks.forEach((track, k) => slots.push(makeSlot(name, track, k, tracks)));
		}
		return slots;
	}

	function makeSlot(name, track, k, tracks) {
		const r = tl.d.requests, p = tl.d.parts, parts = [];
		let depth = 0;

		for (const i of track.refs)
			for (let a = r.first[i]; a < r.first[i + 1]; a++)
				parts.push(a);
		parts.sort((a, b) => p.start[a] - p.start[b]);
		const tone = { length: p.n };

		for (const a of parts)
			tone[a] = tl.paint.kindTone(p.flags[a] & tl.F.QUEUE ? tl.QUEUE : tl.PART, false);
		const packed = tl.data.pack(parts, p.start, p.end, tone, "part", 4);

		for (const t of packed)
			for (const a of t.refs)
				if (!(p.flags[a] & tl.F.QUEUE) && p.thread[a])
					depth = Math.max(depth, tl.threads[p.thread[a] - 1].functions.length);
		return { name: tl.names.strings[name] || "requests", track, k, nr: tracks.length,
			 nrOver: tracks.nrOver, parts: packed, depth: Math.min(depth, CLIPPED_DEPTH) };
	}

	function requests() {
		const p = tl.d.parts;
		const threadOf = (ref) => (p.flags[ref] & tl.F.QUEUE ? -1 : p.thread[ref] - 1);

		return finish((slots || makeSlots()).map((s) => {
			const over = s.k === s.nr - 1 && s.nrOver ? `${s.nrOver} more at the same time` : "";
			const label = s.nr > 1 ? `${s.name} ${s.k + 1}` : s.name;
			const lane = newLane(`r${s.name}/${s.k}`, label, over, -1);

			row(lane, "request", s.track);
			for (const parts of s.parts) {
				row(lane, "part", parts);
				const pick = (get) => (ref) => {
					const i = threadOf(ref);

					return i < 0 ? null : get(tl.threads[i]) || null;
				};

				row(lane, "wait", null, { over: parts, pick: pick((t) => t.waits[0]) });
				if (tl.about.has_sched)
					row(lane, "off", null, { over: parts, pick: pick((t) => t.off[0]) });
				if (tl.threads.some((t) => t.events.length))
					row(lane, "event", null, { over: parts, pick: pick((t) => t.events[0]) });
				clippedRows(lane, parts, threadOf, lane.isCollapsed ? 0 : s.depth);
			}
			return lane;
		}));
	}

	/* If there are few rows, they are drawn higher. */
	function build(name, focus, room) {
		for (scale of SCALES) {
			const layout = name === "cpu" ? cpus() : name === "request" ? requests() : threads(focus);

			if (layout.height <= room || scale === 1)
				return layout;
		}
		return null;
	}

	/* Returns the bar of a row at time t, or up to slack ns from it: { track, i, row }. */
	function find(r, t, slack) {
		if (!r.over)
			return nearest(r.track, t, slack, r);
		const around = nearest(r.over, t, slack, r);
		const track = around && r.pick(tl.data.refOf(r.over, around.i));

		return track ? nearest(track, t, slack, r) : null;
	}

	function nearest(track, t, slack, r) {
		let i = tl.data.firstAfter(track, t - slack), best = -1, least = Infinity;

		for (let k = 0; k < 64 && i < track.n && track.start[i] <= t + slack; i++, k++) {
			const away = Math.max(track.start[i] - t, t - track.end[i], 0);

			if (away < least || (away === least && best >= 0 &&
			    track.end[i] - track.start[i] > track.end[best] - track.start[best])) {
				least = away;
				best = i;
			}
		}
		return best < 0 ? null : { track, i: best, row: r };
	}

	/* Returns where a thread's row of a type is at time t in a layout; null: nowhere. */
	function place(layout, name, thread, t, type, depth) {
		for (const lane of layout.lanes) {
			if (name === "thread" && lane.thread !== thread)
				continue;
			const r = name === "thread" ? rowOf(lane, type, depth) : rowAt(lane, thread, t, type, depth);

			if (r)
				return r;
		}
		return null;
	}

	function rowOf(lane, type, depth) {
		let last = null;

		for (const r of lane.rows) {
			if (r.type === type && (depth === undefined || r.depth === depth))
				return r;
			last = r;
		}
		return lane.rows[0] || last;
	}

	/*
	 * In views by request and by CPU, finds the row whose bar belongs to the thread at time t.
	 */
	function rowAt(lane, thread, t, type, depth) {
		let around = null;

		for (const r of lane.rows) {
			if (r.type !== "run" && r.type !== "part")
				continue;
			const found = nearest(r.track, t, 0, r);

			if (!found)
				continue;
			const ref = tl.data.refOf(found.track, found.i);
			const whose = r.type === "run" ?
				tl.data.threadOfContext(tl.d.runs.context[ref], t) : tl.d.parts.thread[ref] - 1;

			if (whose === thread && !(r.type === "part" && tl.d.parts.flags[ref] & tl.F.QUEUE)) {
				around = r;
				break;
			}
		}
		if (!around)
			return null;
		return lane.rows.find((r) => r.over === around.track && r.type === type &&
			(depth === undefined || r.depth === depth)) || around;
	}

	function toggle(lane) {
		if (collapsed.has(lane.key))
			collapsed.delete(lane.key);
		else
			collapsed.add(lane.key);
	}

	function eachSlot(f) {
		(slots || []).forEach(f);
	}

	return { build, eachSlot, find, nearest, place, toggle };
})();
