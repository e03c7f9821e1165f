// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws tracks as rows of pixels.  A row of the picture is a single row of pixels, repeated.  So
 * its cost depends on the number of visible bars, or, if many bars share a pixel, on the levels of
 * detail.  Bars that are narrower than a pixel are merged: the pixel has the colour of the longest
 * one, and the colour is stronger if the bars cover more of the pixel.
 *
 * A tone is the number of a colour: first one for each call site and function, then two (plain,
 * faded) for each kind of segment, then those of tasks.
 */
"use strict";

tl.paint = (() => {
	const NR_FUNCTION_COLORS = 10;
	let nrCalls = 0, kindBase = 0, runBase = 0;
	let colors = new Uint32Array(0), edges = new Uint32Array(0);
	let background = 0, isWaiting = false;

	function parse(hex) {
		const v = parseInt(hex.slice(1), 16);

		return [v >> 16 & 255, v >> 8 & 255, v & 255];
	}

	/* Returns a pixel in the byte order of ImageData on little-endian machines. */
	function pixel([r, g, b]) {
		return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
	}

	function mix(a, b, part) {
		const r = (a & 255) * part + (b & 255) * (1 - part);
		const g = (a >> 8 & 255) * part + (b >> 8 & 255) * (1 - part);
		const bl = (a >> 16 & 255) * part + (b >> 16 & 255) * (1 - part);

		return (255 << 24 | bl << 16 | g << 8 | r) >>> 0;
	}

	/* The same name has the same colour on each page. */
	function hash(name) {
		let h = 2166136261;

		for (let i = 0; i < name.length; i++)
			h = Math.imul(h ^ name.charCodeAt(i), 16777619);
		return (h ^ h >>> 15) >>> 0;
	}

	function makeTones() {
		nrCalls = tl.names.calls.length / 2;
		kindBase = nrCalls;
		runBase = kindBase + 2 * kindColors().length;
		colors = new Uint32Array(runBase + 4);
		edges = new Uint32Array(runBase + 4);
	}

	function kindTone(kind, isFaded) {
		return kindBase + 2 * kind + (isFaded ? 1 : 0);
	}

	function runTone(isOwn, isFaded) {
		return runBase + 2 * (isOwn ? 1 : 0) + (isFaded ? 1 : 0);
	}

	const kindColors = () => [...tl.kinds.map((kind) => `--c-${kind.colour}`), "--c-part"];

	/*
	 * Called after a change of colours or of matches.  `matches` is null, or has a number for
	 * each call; 0: faded.
	 */
	function refresh(matches) {
		const read = (name) => pixel(parse(ldb.look.color(name)));
		const functions = [];
		const set = (tone, color) => {
			colors[tone] = color;
			edges[tone] = mix(color, background, 0.62);
		};
		const pair = (tone, color) => {
			set(tone, color);
			set(tone + 1, mix(color, background, 0.22));
		};

		background = read("--bg");
		for (let i = 0; i < NR_FUNCTION_COLORS; i++)
			functions.push(read(`--f${i}`));
		for (let i = 0; i < nrCalls; i++) {
			const color = functions[hash(tl.data.callOf(i).name) % NR_FUNCTION_COLORS];

			set(i, matches && !matches[i] ? mix(color, background, 0.22) : color);
		}
		kindColors().forEach((name, kind) => pair(kindBase + 2 * kind, read(name)));
		pair(runBase, read("--c-other"));
		pair(runBase + 2, read("--c-run"));
	}

	let px = -1, cover = 0, most = 0, tone = 0;

	function flush(out) {
		if (px >= 0) {
			const floor = isWaiting ? 0.6 : 0.3;
			const part = cover > 1 ? 1 : cover;

			out[px] = mix(colors[tone], out[px], floor + (1 - floor) * part);
		}
		px = -1;
		cover = most = 0;
	}

	function gather(out, x, width, length, t) {
		if (x !== px) {
			flush(out);
			px = x;
		}
		cover += width;
		if (length >= most) {
			most = length;
			tone = t;
		}
	}

	/*
	 * Draws the bars of a track into out[xa .. xb).  view is { t0, scale }, with scale in
	 * pixels per ns.  strong: bars narrower than a pixel are more visible (for all rows but
	 * those of functions).  Wide bars are added to labels.
	 */
	function line(track, view, xa, xb, out, strong, labels) {
		const { start, end, tone: tones, n } = track, { t0, scale } = view;
		const limit = t0 + xb / scale, levels = n >= 64 ? tl.data.mipsOf(track) : [];
		let i = tl.data.firstAfter(track, t0 + xa / scale);

		isWaiting = strong;
		next: while (i < n && start[i] < limit) {
			const s = start[i];

			if ((i & 15) === 0) {
				for (let k = levels.length - 1; k >= 0; k--) {
					const { step, cover: covers, longest } = levels[k];

					if (i % step || i + step > n || (end[i + step - 1] - s) * scale >= 1)
						continue;
					const j = longest[i / step];

					gather(out, clamp(Math.floor((s - t0) * scale), xa, xb - 1),
					       covers[i / step] * scale, end[j] - start[j], tones[j]);
					i += step;
					continue next;
				}
			}
			const width = (end[i] - s) * scale;

			if (width < 1) {
				gather(out, clamp(Math.floor((s - t0) * scale), xa, xb - 1), width,
				       end[i] - s, tones[i]);
			} else {
				flush(out);
				wide(track, i, view, xa, xb, out, labels);
			}
			i++;
		}
		flush(out);
	}

	function clamp(v, a, b) {
		return v < a ? a : v > b ? b : v;
	}

	function wide(track, i, view, xa, xb, out, labels) {
		const left = Math.round((track.start[i] - view.t0) * view.scale);
		const right = Math.max(Math.round((track.end[i] - view.t0) * view.scale), left + 1);
		const a = clamp(left, xa, xb), b = clamp(right, xa, xb);
		const t = track.tone[i];

		if (b <= a)
			return;
		out.fill(colors[t], a, b);
		/* An edge in a paler colour separates adjacent bars of the same colour. */
		if (right - left >= 3 && right === b)
			out[b - 1] = edges[t];
		if (labels && b - a >= 24)
			labels.push(track, i, a, b);
	}

	return {
		makeTones, kindTone, runTone, refresh, line,
		get background() { return background; },
	};
})();
