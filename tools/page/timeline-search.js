// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches by regular expressions, and sums up the matches. */
"use strict";

tl.search = (() => {
	let result = null;

	/* Compiles an expression.  Case is ignored unless the text contains a capital letter. */
	function compile(text) {
		return new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu");
	}

	/* Sums durations as ldb-report does, so that the numbers are the same. */
	function summary(values) {
		values.sort();
		let sum = 0;

		for (let i = 0; i < values.length; i++)
			sum += values[i];
		return { count: values.length, sum, min: values[0] || 0, max: values[values.length - 1] || 0,
			 p99: ldb.percentile(values, 99, 100) };
	}

	/*
	 * Calls that were running when the recording began or ended have no duration, and are
	 * counted separately.
	 */
	function spanGroups(re) {
		const s = tl.d.spans, nr = tl.callNames.length, counts = new Uint32Array(nr);
		const isMatch = Uint8Array.from(tl.callNames, (text, i) => (re.test(text) || re.test(tl.data.callOf(i).name) ? 1 : 0));
		const functionOf = (c) => tl.names.calls[2 * c], groups = new Map();
		const isCounted = (i) => isMatch[s.call[i]] && !(s.flags[i] & tl.F.TRUNCATED);
		let total = 0, nrOpen = 0;

		for (let i = 0; i < s.n; i++) {
			if (isCounted(i))
				counts[s.call[i]]++;
			else if (isMatch[s.call[i]])
				nrOpen++;
		}
		for (let c = 0; c < nr; c++) {
			if (!counts[c])
				continue;
			total += counts[c];
			const g = groups.get(functionOf(c)) || { name: tl.callNames[c], nr: 0 };

			g.nr += counts[c];
			groups.set(functionOf(c), g);
		}
		const all = new Float64Array(total);

		for (const g of groups.values()) {
			g.values = new Float64Array(g.nr);
			g.nr = 0;
		}
		for (let i = 0, at = 0; i < s.n; i++) {
			if (!isCounted(i))
				continue;
			const g = groups.get(functionOf(s.call[i])), duration = s.length[i] + s.extra[i];

			all[at++] = duration;
			g.values[g.nr++] = duration;
		}
		return { isMatch, nrOpen, all: summary(all), names: [...groups.values()].map((g) => ({
			name: g.name, ...summary(g.values) })).sort((a, b) => b.sum - a.sum) };
	}

	/* Returns all texts by which a row of the table `others` is found. */
	function otherText(i) {
		const o = tl.d.others, lock = o.lock[i] ? tl.data.lockOf(o.lock[i]).text : "";
		const who = [o.by[i], o.waker[i]];

		for (let k = 0; k < o.running[i]; k++)
			who.push(tl.d.running.context[o.running_at[i] + k]);
		return [tl.kinds[o.kind[i]].words, lock, o.kind[i] === tl.BLOCKED ? tl.about.states[o.state[i]] : "",
			...who.filter(Boolean).map((p) => tl.data.context(p).text)].join(" ");
	}

	function otherGroup(re) {
		const o = tl.d.others, known = new Map(), lengths = [];

		o.isMatch = new Uint8Array(o.n);
		for (let i = 0; i < o.n; i++) {
			const key = [o.kind[i], o.lock[i], o.by[i], o.waker[i], o.state[i], o.running[i] ?
				tl.d.running.context[o.running_at[i]] : -1].join();
			let yes = known.get(key);

			/*
			 * The key contains only the first task that ran, so rows with several tasks
			 * are tested each time.
			 */
			if (yes === undefined || o.running[i] > 1)
				known.set(key, yes = re.test(otherText(i)));
			o.isMatch[i] = yes;
			if (yes)
				lengths.push(o.length[i] + o.extra[i]);
		}
		return summary(Float64Array.from(lengths));
	}

	function runGroup(re) {
		const r = tl.d.runs, known = new Map(), lengths = [];

		r.isMatch = new Uint8Array(r.n);
		for (let i = 0; i < r.n; i++) {
			if (!known.has(r.context[i]))
				known.set(r.context[i], re.test(tl.data.context(r.context[i]).text));
			r.isMatch[i] = known.get(r.context[i]);
			if (r.isMatch[i])
				lengths.push(r.length[i]);
		}
		return summary(Float64Array.from(lengths));
	}

	function requestGroup(re) {
		const r = tl.d.requests, lengths = [];

		r.isMatch = new Uint8Array(r.n);
		for (let i = 0; i < r.n; i++) {
			const name = tl.names.strings[r.class[i]];

			r.isMatch[i] = re.test(`req ${tl.data.requestId(i)} ${name}`);
			if (r.isMatch[i])
				lengths.push(r.length[i]);
		}
		return summary(Float64Array.from(lengths));
	}

	/* Fades the tones of rows that do not match. */
	function fade() {
		const { others: o, runs: r, requests: q, parts: p } = tl.d, on = result && !result.error;
		const set = (track, match, tone) => {
			for (let i = 0; i < track.n; i++)
				track.tone[i] = tone(tl.data.refOf(track, i), on && !match(tl.data.refOf(track, i)));
		};

		for (const t of tl.threads) {
			for (const track of [...t.waits, ...t.off, ...t.events, ...t.holds])
				set(track, (i) => o.isMatch[i], (i, f) => tl.paint.kindTone(o.kind[i], f));
			for (const track of t.requests)
				set(track, (i) => q.isMatch[p.request[i]], (i, f) => tl.paint.kindTone(tl.REQUEST, f));
		}
		for (const { track } of tl.cpus)
			set(track, (i) => r.isMatch[i], (i, f) =>
				tl.paint.runTone(tl.data.threadOfContext(r.context[i], r.start[i]) >= 0, f));
		tl.views.eachSlot((slot) => {
			set(slot.track, (i) => q.isMatch[i], (i, f) => tl.paint.kindTone(tl.REQUEST, f));
			for (const track of slot.parts)
				set(track, (i) => q.isMatch[p.request[i]], (i, f) =>
					tl.paint.kindTone(p.flags[i] & tl.F.QUEUE ? tl.QUEUE : tl.PART, f));
		});
	}

	/* Starts a search; "" ends it. */
	function run(text) {
		tl.state.query = text;
		result = null;
		if (text) {
			try {
				const re = compile(text);

				result = { spans: spanGroups(re), others: otherGroup(re), runs: runGroup(re),
					   requests: requestGroup(re) };
			} catch (e) {
				if (!(e instanceof SyntaxError))
					throw e;
				result = { error: e.message };
			}
		}
		tl.state.matches = result && !result.error ? result.spans.isMatch : null;
		fade();
		tl.paint.refresh(tl.state.matches);
		return result;
	}

	/*
	 * Returns the function or the row of `others` that matches and begins next after (or
	 * before) the selection, and the first one after the last.
	 */
	function next(direction) {
		if (!result || result.error)
			return null;
		const bar = tl.selectedBar(), range = tl.state;
		const from = bar ? bar.start : direction > 0 ? range.t0 - 1 : range.t1 + 1;

		return nextFrom(from, direction) || nextFrom(-direction * Infinity, direction);
	}

	function nextFrom(from, direction) {
		const found = { at: direction * Infinity, table: "", ref: -1 };
		const consider = (track, match) => {
			let i = tl.data.firstAfter(track, from);

			if (direction > 0) {
				while (i < track.n && (track.start[i] <= from || !match(i)))
					i++;
			} else {
				i = Math.min(i, track.n - 1);
				while (i >= 0 && (track.start[i] >= from || !match(i)))
					i--;
			}
			if (i < 0 || i >= track.n || (track.start[i] - found.at) * direction >= 0)
				return;
			Object.assign(found, { at: track.start[i], table: track.table, ref: tl.data.refOf(track, i) });
		};
		const s = tl.d.spans, o = tl.d.others;

		for (const t of tl.threads) {
			for (const track of t.functions)
				consider(track, (i) => result.spans.isMatch[s.call[track.base + i]]);
			for (const track of [...t.waits, ...t.off, ...t.events, ...t.holds])
				consider(track, (i) => o.isMatch[track.refs[i]]);
		}
		return found.ref < 0 ? null : { table: found.table, ref: found.ref };
	}

	return { run, next, get result() { return result; } };
})();
