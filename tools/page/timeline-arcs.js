// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds the ends of arcs, as times and rows of the layout: from waits to holders, from wakers to
 * woken threads, and from a thread to the one that it hands a request to.
 */
"use strict";

tl.arcs = (() => {
	const HOLDS_MAX = 40, WIDE = 4;

	function at(thread, t, type, depth) {
		return { t, row: thread < 0 ? null :
			tl.views.place(tl.layout, tl.state.view, thread, t, type, depth) };
	}

	/* Finds the thread's hold of a lock that lasted longest during [from, to]; -1: none. */
	function holdOf(thread, lock, from, to) {
		const o = tl.d.others;
		let best = -1, most = 0;

		if (thread < 0)
			return -1;
		for (const track of tl.threads[thread].holds) {
			for (let i = tl.data.firstAfter(track, from); i < track.n && track.start[i] < to; i++) {
				const ref = tl.data.refOf(track, i);
				const both = Math.min(track.end[i], to) - Math.max(track.start[i], from);

				if (sameLock(o.lock[ref], lock) && both > most) {
					most = both;
					best = ref;
				}
			}
		}
		return best;
	}

	/*
	 * Returns true if both texts mean the same lock.  One of them may contain its name and the
	 * other only its address.
	 */
	function sameLock(a, b) {
		return a === b || tl.data.lockOf(a).name === tl.data.lockOf(b).name;
	}

	/*
	 * Finds the hold for whose end a wait waited: the owner's, or else the longest one during
	 * the wait.
	 */
	function holderOf(ref) {
		const o = tl.d.others, from = o.start[ref], to = o.end[ref];
		const own = o.owner[ref] ? holdOf(o.owner[ref] - 1, o.lock[ref], from, to) : -1;

		if (own >= 0)
			return own;
		let best = -1, most = 0;

		for (const t of tl.threads) {
			const hold = t.index === o.thread[ref] ? -1 : holdOf(t.index, o.lock[ref], from, to);

			if (hold < 0)
				continue;
			const both = Math.min(o.end[hold], to) - Math.max(o.start[hold], from);

			if (both > most) {
				most = both;
				best = hold;
			}
		}
		return best;
	}

	/* Finds up to HOLDS_MAX waits of other threads for the lock during the hold. */
	function waitersOf(ref) {
		const o = tl.d.others, list = [];

		for (const t of tl.threads) {
			if (t.index === o.thread[ref])
				continue;
			for (const track of t.waits) {
				let i = tl.data.firstAfter(track, o.start[ref]);

				for (; i < track.n && track.start[i] < o.end[ref] && list.length < HOLDS_MAX; i++) {
					const wait = tl.data.refOf(track, i);

					if (sameLock(o.lock[wait], o.lock[ref]))
						list.push(wait);
				}
			}
		}
		return list;
	}

	/* Makes an arc from the wait to the holder, and one back at the release of the lock. */
	function waitArcs(wait, hold) {
		const o = tl.d.others, type = tl.data.rowOf(o.kind[wait]);
		const both = Math.max(o.start[wait], o.start[hold]);

		return [{ from: at(o.thread[wait], o.start[wait], type), to: at(o.thread[hold], both, "hold"),
			  color: "c-wait" },
			{ from: at(o.thread[hold], o.end[hold], "hold"), to: at(o.thread[wait], o.end[wait], type),
			  color: "c-hold" }];
	}

	/* Makes an arc to an owner of the lock whose hold was not recorded. */
	function ownerArc(ref) {
		const o = tl.d.others, t = o.start[ref];

		return o.owner[ref] ? [{ from: at(o.thread[ref], t, tl.data.rowOf(o.kind[ref])),
					 to: at(o.owner[ref] - 1, t, "function", 0), color: "c-wait" }] : [];
	}

	function wakerArc(ref) {
		const o = tl.d.others, p = o.waker[ref];
		const thread = p ? tl.data.threadOfContext(p, o.end[ref]) : -1;

		if (thread < 0)
			return [];
		return [{ from: at(thread, o.end[ref], "function", 0), color: "accent",
			  to: at(o.thread[ref], o.end[ref], tl.data.rowOf(o.kind[ref])) }];
	}

	function handoffArc(part) {
		const p = tl.d.parts, to = p.to_thread[part] - 1;

		if (!(p.flags[part] & tl.F.QUEUE) || to < 0 || !p.thread[part])
			return [];
		return [{ from: at(p.thread[part] - 1, p.start[part], tl.state.view === "request" ? "part" : "request"),
			  to: at(to, p.end[part], tl.state.view === "request" ? "part" : "request"),
			  color: "c-queue" }];
	}

	function ofSelection() {
		const s = tl.state.selected;

		if (!s)
			return [];
		if (s.table === "part")
			return handoffArc(s.ref);
		if (s.table !== "other")
			return [];
		const o = tl.d.others;

		if (o.kind[s.ref] === tl.LOCK_HOLD)
			return waitersOf(s.ref).flatMap((w) => waitArcs(w, s.ref));
		const hold = o.kind[s.ref] === tl.LOCK_WAIT || o.kind[s.ref] === tl.FUTEX_WAIT ?
			holderOf(s.ref) : -1;

		return (hold >= 0 ? waitArcs(s.ref, hold) : ownerArc(s.ref)).concat(wakerArc(s.ref));
	}

	/*
	 * Returns the arcs of the shown request: of its handoffs, and of all its chains, from each
	 * blocked thread to its blocker, and back at the end of the delay.  If the delay is too
	 * short for two arcs, there is one.
	 */
	function ofFocus() {
		const list = [], explanation = tl.focus && tl.focus.explanation, N = 5;
		const wide = WIDE * (tl.state.t1 - tl.state.t0) / tl.draw.width;

		if (!tl.focus)
			return list;
		for (let i = 0; explanation && i < explanation.edges.length; i += N) {
			const [thread, by, start, end, flags] = explanation.edges.slice(i, i + N);
			const from = flags & tl.F.EDGE_WAIT ? "wait" : "off";
			const to = flags & tl.F.EDGE_HELD ? "hold" : "function";
			const depth = flags & tl.F.EDGE_HELD ? undefined : 0;

			if (thread < 0 || by < 0 || thread === by)
				continue;
			list.push({ from: at(thread, start, from), to: at(by, start, to, depth), color: "mark" });
			if (end - start > wide)
				list.push({ from: at(by, end, to, depth), to: at(thread, end, from), color: "c-hold" });
		}
		for (const part of tl.focus.parts)
			list.push(...handoffArc(part));
		return list;
	}

	/*
	 * Returns the range of positions of the values in [t0, t1); order has the rows of the
	 * column, sorted by value.
	 */
	function range(column, order) {
		const { t0, t1 } = tl.state, value = (i) => column[order[i]];
		const find = (t) => {
			let a = 0, b = order.length;

			while (a < b) {
				const mid = (a + b) >> 1;

				if (value(mid) < t)
					a = mid + 1;
				else
					b = mid;
			}
			return a;
		};

		return [find(t0), find(t1)];
	}

	function order(column) {
		return Uint32Array.from({ length: column.length }, (_, i) => i)
			.sort((a, b) => column[a] - column[b]);
	}

	let byTime = null;

	function index() {
		const o = tl.d.others, p = tl.d.parts;
		const waits = order(o.start).filter((i) => o.kind[i] === tl.LOCK_WAIT);
		const queues = order(p.end).filter((i) => p.flags[i] & tl.F.QUEUE && p.to_thread[i]);

		byTime = { wakeups: order(tl.d.wakeups.at), migrations: order(tl.d.migrations.at), waits,
			   queues };
	}

	/*
	 * Returns true if the thread works on the shown request, or blocks it, at time t; also if
	 * no request is shown.
	 */
	function isBright(thread, t) {
		return !tl.focus || (tl.focus.bright.get(thread) || []).some(([s, e]) => s <= t && t <= e);
	}

	/*
	 * Returns the arcs of wakeups, handoffs and waits for locks in view, without the kinds of
	 * which there are more than max.
	 */
	function inView(max) {
		const { wakeups: w, others: o, parts: p } = tl.d, list = [];
		const wide = WIDE * (tl.state.t1 - tl.state.t0) / tl.draw.width;

		if (!byTime)
			index();
		let [a, b] = range(w.at, byTime.wakeups);

		for (; a < b && b - a <= max; a++) {
			const i = byTime.wakeups[a], t = w.at[i];
			const thread = tl.data.threadOfContext(w.waker[i], t);

			if (thread >= 0 && isBright(w.thread[i], t))
				list.push({ from: at(thread, t, "function", 0), to: at(w.thread[i], t, "off"),
					    color: "accent" });
		}
		[a, b] = range(p.end, byTime.queues);
		for (; a < b && b - a <= max; a++)
			if (isBright(p.to_thread[byTime.queues[a]] - 1, p.end[byTime.queues[a]]))
				list.push(...handoffArc(byTime.queues[a]));
		[a, b] = range(o.start, byTime.waits);
		for (; a < b && b - a <= max; a++) {
			const i = byTime.waits[a];
			const hold = o.end[i] - o.start[i] > wide && isBright(o.thread[i], o.start[i]) ? holderOf(i) : -1;

			if (hold >= 0)
				list.push(waitArcs(i, hold)[0]);
		}
		return list;
	}

	/* Returns where threads changed their CPU; nothing if there are more than max of these. */
	function migrations(max) {
		const m = tl.d.migrations;

		if (!byTime)
			index();
		const [a, b] = range(m.at, byTime.migrations);

		if (b - a > max)
			return [];
		return Array.from(byTime.migrations.subarray(a, b), (i) => ({
			at: m.at[i], i,
			row: tl.views.place(tl.layout, tl.state.view, m.thread[i], m.at[i], "off"),
		}));
	}

	return { holderOf, waitersOf, ofSelection, ofFocus, inView, migrations };
})();
