// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the report page: the heat map on top, and below it the tables of the choice. */
"use strict";

(async () => {
	const el = ldb.el, doc = data.doc;
	const main = el("main"), views = new Map();
	let choice = null, mode = "requests", klass = -1, current = "overview";

	document.body.append(main);
	try {
		await data.read();
	} catch (e) {
		main.append(el("p", { class: "warn" }, "This page cannot be read here: " + e.message));
		throw e;
	}

	/* Columns of the tables */

	const approx = (row) => row.exact === false;
	const ns = (key, label, title, more) => ({ key, label, title, type: "ns", ...more });
	const number = (key, label, title, more) => ({ key, label, title, type: "number", ...more });
	const text = (key, label, title, more) => ({ key, label, title, type: "text", ...more });
	const percentiles = [
		ns("p50_ns", "p50", "half of the values are at most this", { approx }), ns("p99_ns", "p99", "", { approx }),
		ns("p999_ns", "p99.9", "", { approx }), ns("p9999_ns", "p99.99", "", { approx }),
		ns("max_ns", "max", "the greatest"), ns("mean_ns", "mean", "the average"), ns("total_ns", "total", "the sum"),
	];
	const functionColumns = [
		text("function", "function", "", { class: "name" }), text("caller", "called by", ""),
		text("file", "file", "of the call", { class: "file" }), number("line", "line", "of the call", { plain: true }),
		number("count", "count", "calls observed from begin to end"), ...percentiles,
		ns("resolution_ns", "\u00b1", "resolution: half of the durations are off by at most this"),
		ns("resolution_max_ns", "\u00b1 max", "no duration is off by more", { rare: true }),
		number("open", "open", "observed in part, in no other column"),
		{ key: "exact", label: "exact", type: "bool", rare: true, title: "percentiles are of all values" },
		text("func_file", "defined in", "", { rare: true }), number("func_line", "at line", "", { plain: true, rare: true }),
		text("module", "module", "", { rare: true }), text("symbol", "symbol", "the linker's name", { rare: true }),
	];
	const classColumns = [
		text("name", "class", "", { class: "name" }), number("count", "count", "complete requests"),
		number("incomplete", "incomplete", "no end was observed"),
		number("lost_handoffs", "lost hand-offs", "put into a queue and never taken out"), ...percentiles,
	];
	const requestColumns = [
		text("req", "request", "its id", { class: "mono" }), text("class", "class"), ns("latency_ns", "latency"),
		ns("start_ns", "begun", "since the start of the recording"),
		ns("lock_wait_ns", "waits for locks"), ns("queue_ns", "in queues"),
		text("top_function", "most time in", "", { class: "name" }), ns("top_function_ns", "there"),
		text("threads_text", "threads"),
	];

	/* Views */

	function view(id, label, node, show, draw) {
		views.set(id, { id, label, node, show, draw: draw || (() => {}) });
	}

	function card(title, ...children) {
		return el("section", { class: "card" }, el("h2", {}, title), ...children);
	}

	function facts(rows) {
		return el("dl", { class: "facts" }, rows.filter(Boolean).flatMap(([k, v, bad]) =>
			[el("dt", {}, k), el("dd", { class: bad ? "bad" : "" }, v)]));
	}

	const many = (n) => Number(n).toLocaleString("en").replace(/,/g, "\u202f");

	function recordingFacts() {
		const s = doc.summary, r = s.recording, meta = Object.fromEntries(r.meta.map((m) => [m.key, m.value]));

		return facts([
			["Command", meta.cmdline || "\u2013"], ["Recorded", ldb.ns(r.duration_ns) + (doc.is_part ? ", of which a part is in this page" : "")],
			["Started", r.realtime_ns ? new Date(r.realtime_ns / 1e6).toISOString().replace("T", " ").slice(0, 19) + " UTC" : "\u2013"],
			["Ended", meta.end || "not closed"], ["Host", meta.hostname || meta.host || ""],
			["Threads", many(s.threads.length) + (doc.thread ? `, only ${doc.thread} is in the functions` : "")],
			["Kernel events", s.kernel_events + (s.kernel_why ? ` (${s.kernel_why})` : "") +
				(s.kernel_err_ns ? `, \u00b1${ldb.ns(s.kernel_err_ns)}` : "")],
			["Made by", "ldb " + doc.version],
		].filter(([, v]) => v));
	}

	function qualityFacts() {
		const s = doc.summary, lost = s.lost.total;

		return facts([
			["Calls", `${many(s.observed_calls)} observed of ${many(s.calls)}` + (s.calls ? ` (${(100 * s.observed_calls / s.calls).toFixed(1)} %)` : "")],
			s.below_threshold ? ["Too short to be written", many(s.below_threshold)] : null,
			["Resolution", `\u00b1${ldb.ns(s.resolution_ns)} (median of the durations)`],
			["Observed to 95 %", s.observed_95pct_from_ns ? `what lasts about ${ldb.ns(s.observed_95pct_from_ns)} or longer` : "\u2013"],
			["Lost", lost ? Object.entries(s.lost).filter(([k, v]) => k !== "total" && v).map(([k, v]) => `${many(v)} records ${k}`).join(", ") : "nothing", lost],
			["Observation gaps", `${ldb.ns(s.observation_gap_ns)} in ${many(s.observation_gaps)} (the scanner did not run), ${ldb.ns(s.thread_observation_gap_ns)} in ${many(s.thread_observation_gaps)} (of one thread)`],
			["Unobserved threads", many(s.unobserved_threads), s.unobserved_threads],
			s.recording.damaged ? ["Damage", s.recording.damage, true] : null,
		]);
	}

	function pageFacts() {
		const left = [];

		if (doc.locks_left_out)
			left.push(`${many(doc.locks_left_out)} locks`);
		if (doc.sched_left_out)
			left.push(`${many(doc.sched_left_out)} threads of the run-queue table`);
		if (doc.not_followed)
			left.push(`what was done for ${many(doc.not_followed)} requests`);
		if (data.tables.flame.folded_ns)
			left.push(`frames of ${ldb.ns(data.tables.flame.folded_ns)} in all or less, in the flame graph (their time is their callers')`);
		return facts([
			["Invocations", doc.each_call ? `all ${many(doc.calls)}, one by one: every number is exact` :
				`${many(doc.calls)}, summed by function, call site and time: counts, sums, least and greatest are exact, percentiles of a choice are good to 3 % (\u2248)`],
			["Requests", doc.each_request ? "all, one by one" : "summed by class, time and latency"],
			["Time", `chosen in steps of ${ldb.ns(binWidth() * doc.time_step)}` + (doc.request_step !== doc.time_step ?
				`; what was done for requests, of ${ldb.ns(binWidth() * doc.request_step)}` : "")],
			["Left out", left.length ? left.join("; ") : "nothing"],
		]);
	}

	function binWidth() {
		return (doc.edges[doc.edges.length - 1] - doc.edges[0]) / (doc.edges.length - 1);
	}

	function threadsTable() {
		const t = makeTable({ id: "threads", sort: "observed_calls", columns: [
			text("name", "thread", "", { class: "name" }), number("tid", "tid", "", { plain: true }), number("observed_calls", "observed calls"),
			number("calls", "calls"), ns("cost_ns", "cost", "what polling has cost the thread, estimated"),
			ns("observation_gap_ns", "observation gaps", "unobserved, though the scanner ran"), number("scans", "scans", "", { rare: true }),
			number("invalid", "invalid", "stacks that changed while they were read", { rare: true }),
			ns("start_ns", "from"), ns("end_ns", "to"),
			{ key: "unobserved", label: "unobserved", type: "bool", rare: true, title: "never polled" },
		] });

		t.show(doc.summary.threads);
		return t.node;
	}

	function overview() {
		const top = el("div", { class: "grid" });
		const worst = el("div", { class: "grid" });
		const classes = makeTable({ id: "worst-classes", sort: "p99_ns", columns: [text("name", "requests", "", { class: "name" }),
			number("count", "count"), percentiles[0], percentiles[1], percentiles[2], percentiles[4]] });
		const slow = makeTable({ id: "worst-functions", sort: "p9999_ns", columns: [text("function", "function", "", { class: "name" }),
			number("count", "count"), percentiles[0], percentiles[1], percentiles[3], percentiles[4],
			ns("resolution_ns", "\u00b1", "resolution: half of the durations are off by at most this")] });
		const isTagged = data.tables.requests.first.length > 0;

		top.append(card("The recording", recordingFacts()), card("What was observed, what was lost", qualityFacts()),
			card("This page", pageFacts()));
		if (isTagged)
			worst.append(card("Requests, of what is chosen", classes.node));
		worst.append(card("Slowest functions, of what is chosen", slow.node));
		view("overview", "Overview", el("div", { class: "overview" }, top, worst, card("Threads", threadsTable())), (s) => {
			const list = data.functions(s, "function").filter((f) => f.count);

			slow.show(list.sort((a, b) => b.p9999_ns - a.p9999_ns).slice(0, 8));
			classes.show(named(data.classes(s)).slice(0, 9));
		});
	}

	function named(classes) {
		return classes.map((c) => ({ ...c, name: c.class === null ? "all requests" : c.class || "(no class)" }));
	}

	function requests() {
		if (!data.tables.requests.first.length)
			return;
		const classes = makeTable({ id: "classes", sort: "p99_ns", columns: classColumns });
		const list = makeTable({ id: "slowest", sort: "latency_ns", columns: [...requestColumns, {
			key: "show", label: "timeline", type: "text", sortable: false, make: (q) => el("code", { class: "mono",
				title: "a page with this request's timeline" }, `ldb-timeline --req ${q.req} -o req.html`) }] });
		const note = el("p", { class: "dim" });

		view("requests", "Requests", el("div", {}, card("Latency by class", classes.node),
			card("Slowest requests", note, list.node)), (s) => {
			const rows = data.slowest(s, 100);

			classes.show(named(data.classes(s)));
			list.show(rows.map((q) => ({ ...q, threads_text: (q.threads || []).map((t) => `${t.thread} ${t.tid}`).join(", ") })));
			note.textContent = doc.each_request ? `The ${rows.length} slowest of what is chosen; the causes of the ${doc.slowestIds.length} slowest of all are known.` :
				`Those of what is chosen that are among the ${doc.slowestIds.length} slowest of all.`;
		});
	}

	function functions() {
		let by = "callsite", last = null;
		const select = el("select", { id: "by", "aria-label": "one row for each", onchange: () => {
			by = select.value;
			show(last);
		} }, el("option", { value: "callsite" }, "by call site"), el("option", { value: "function" }, "by function"));
		const table = makeTable({ id: "functions", sort: "p9999_ns", columns: functionColumns, tools: [select],
			onpick: (row) => {
				if (typeof row.key !== "number")
					return;
				go("distributions");
				views.get("distributions").pick(row.key);
			} });

		const note = el("p", { class: "dim" });

		function show(s) {
			last = s;
			table.show(data.functions(s, by));
			note.textContent = table.rows.length || !s || s.mode === "time" ?
				"Of observed calls. A row opens its distribution; \u00b1 is the resolution of the durations." :
				"No call was observed that worked on one of these requests and no other. What ran meanwhile: All that ran then.";
		}
		view("functions", "Functions", card("Functions", note, table.node), show);
	}

	function distributions() {
		const d = makeDistributions();

		view("distributions", "Distributions", card("Distributions", d.node), d.show, d.draw);
		views.get("distributions").pick = d.pick;
	}

	function flames() {
		const f = makeFlame();

		view("flame", "Flame graphs", card("Latency flame graph", f.node), f.show, f.draw);
		views.get("flame").flame = f;
	}

	function locks() {
		if (!doc.locks.length)
			return;
		const flat = (l) => {
			const row = { ...l, where: l.name || l.lock };

			for (const op of ["waits", "holds"])
				for (const [k, v] of Object.entries(l[op]))
					row[op + "." + k] = v;
			return row;
		};
		const times = (op, label) => [
			number(op + ".count", label), ns(op + ".p50_ns", "p50"), ns(op + ".p99_ns", "p99"), ns(op + ".max_ns", "max"),
			ns(op + ".total_ns", "total"), ns(op + ".mean_ns", "mean", "", { rare: true }),
			ns(op + ".resolution_ns", "\u00b1", "resolution", { rare: true }),
		].map((c) => ({ ...c, of: op + ".count" }));
		const sites = el("div", { id: "lock-details" });
		let picked = null;
		const table = makeTable({ id: "locks", sort: "waits.total_ns", picked: (row) => row === picked, columns: [
			text("where", "lock", "its variable, or its address", { class: "name" }), text("kind", "kind"),
			text("lock", "address", "", { class: "mono", rare: true }),
			...times("waits", "waits"), number("waits.failed", "failed", "waits that ended without the lock", { rare: true }),
			...times("holds", "holds") ], onpick: (row) => {
			picked = row;
			table.draw();
			details(row);
		} });
		const siteTable = makeTable({ id: "lock-sites", sort: "total_ns", columns: [text("op", "what"),
			text("caller", "in", "", { class: "name" }), text("file", "file"), number("line", "line"), number("count", "count"),
			ns("p50_ns", "p50"), ns("p99_ns", "p99"), ns("max_ns", "max"), ns("mean_ns", "mean"), ns("total_ns", "total"),
			ns("resolution_ns", "\u00b1", "resolution"), number("failed", "failed")] });
		const owners = makeTable({ id: "lock-owners", sort: "wait_ns", columns: [text("thread", "holder", "", { class: "name" }),
			number("tid", "tid", "", { plain: true }), number("waits", "blocked", "waits that began while it held the lock"), ns("wait_ns", "for"),
			number("holds", "holds"), ns("hold_ns", "held"), number("wakes", "wakes", "sleeps that it ended")] });

		function details(row) {
			sites.replaceChildren(el("h3", {}, `${row.kind} ${row.where}: from where`), siteTable.node,
				el("h3", {}, "Holders"), owners.node);
			siteTable.show(row.sites);
			owners.show(row.holders);
		}
		const rows = doc.locks.map(flat);

		table.show(rows);
		if (rows.length) {
			picked = rows[0];
			table.draw();
			details(rows[0]);
		}
		view("locks", "Locks", card("Locks", el("p", { class: "dim" },
			"Of the whole recording. A row shows the call sites and the holders."), table.node, sites), () => {});
	}

	function scheduler() {
		const k = doc.sched;

		if (!k)
			return;
		const flat = (e) => ({ ...e, ...Object.fromEntries(["delays", "wakeups"].flatMap((w) =>
			Object.entries(e[w]).map(([key, v]) => [w + "." + key, v]))) });
		const times = (op, label) => [number(op + ".count", label), ns(op + ".p50_ns", "p50"), ns(op + ".p99_ns", "p99"),
			ns(op + ".p999_ns", "p99.9"), ns(op + ".max_ns", "max"), ns(op + ".total_ns", "total")];
		const threads = makeTable({ id: "sched", sort: "delays.total_ns", columns: [
			text("thread", "thread", "", { class: "name" }), number("tid", "tid", "", { plain: true }), ...times("delays", "waits for a CPU"),
			ns("on_cpu_ns", "on CPU"), ns("runnable_ns", "runnable"), ns("preempted_ns", "preempted"), ns("blocked_ns", "blocked"),
			ns("disk_ns", "disk", "", { rare: true }), ns("futex_ns", "futex", "", { rare: true }),
			number("voluntary", "slept", "", { rare: true }), number("involuntary", "preempted", "times", { rare: true }),
			number("migrations", "moved", "from CPU to CPU"), ...times("wakeups", "after a wake-up").map((c) => ({ ...c, rare: true })),
		] });
		const contexts = (id) => makeTable({ id, sort: "total_ns", columns: [text("who", "who", "", { class: "name" }),
			number("pid", "pid", "", { plain: true }), number("count", "count"), ns("total_ns", "total"), ns("max_ns", "max")] });
		const antagonists = contexts("antagonists"), wakers = contexts("wakers");
		const who = (p) => ({ ...p, who: p.name || p.thread || (p.kind ? `(${p.kind})` : "(unknown)") });

		threads.show([{ ...flat(k.all), thread: "all threads" }, ...k.threads.map(flat)]);
		antagonists.show(k.antagonists.map(who));
		wakers.show(k.wakers.map(who));
		view("cpu", "Run queue", el("div", {}, card("Waits for a CPU, by thread", el("p", { class: "dim" },
			`Of the whole recording; times between two kernel events, \u00b1${ldb.ns(k.resolution_ns)}.`), threads.node),
		el("div", { class: "grid" }, card("Running task meanwhile", antagonists.node),
			card("Who woke them, and how long they had slept", wakers.node))), () => {});
	}

	/* Shows rows of the other recording next to those of this recording. */
	function comparison() {
		const o = data.other;

		if (!o)
			return;
		const table = makeTable({ id: "diff", sort: "more", columns: [text("function", "function", "", { class: "name" }),
			text("caller", "called by"), text("place", "file"),
			number("count", "count"), number("count2", "other"), ns("p50_ns", "p50"), ns("p50_2", "other", "", { of: "count2" }),
			ns("p99_ns", "p99"), ns("p99_2", "other", "", { of: "count2" }), ns("p9999_ns", "p99.99"),
			ns("p9999_2", "other", "", { of: "count2" }), ns("max_ns", "max", "", { rare: true }),
			ns("max_2", "other", "", { of: "count2", rare: true }), ns("more", "p99.99, more by", "than in the other recording", { of: "both" }),
			ns("resolution_ns", "\u00b1", "resolution, here"),
			ns("resolution2", "\u00b1 other", "resolution, in the other", { of: "count2" })] });
		/*
		 * Calls at different lines are regarded as the same if they are the only ones
		 * between the two functions.
		 */
		const name = (f) => JSON.stringify([f.function, f.caller]);
		const place = (f) => JSON.stringify([f.function, f.caller, f.file, f.line]);
		const index = (rows, key) => {
			const map = new Map();

			for (const row of rows)
				map.set(key(row), [...(map.get(key(row)) || []), row]);
			return map;
		};
		const byPlace = index(o.functions, place), byName = index(o.functions, name);

		view("diff", "Comparison", card(`Functions, compared with ${o.title}`, table.node), (s) => {
			const mine = data.functions(s, "callsite"), used = new Set(), names = index(mine, name);
			const pair = (f, g) => ({ ...(f || g), place: (f || g).file + ((f || g).line ? ":" + (f || g).line : ""),
				...(f ? {} : { count: 0, p50_ns: null, p99_ns: null, p9999_ns: null, max_ns: null, resolution_ns: null }),
				count2: g ? g.count : 0, p50_2: g ? g.p50_ns : null, p99_2: g ? g.p99_ns : null,
				p9999_2: g ? g.p9999_ns : null, max_2: g ? g.max_ns : null, resolution2: g ? g.resolution_ns : null,
				more: (f ? f.p9999_ns : 0) - (g ? g.p9999_ns : 0) });
			const rows = mine.map((f) => {
				let g = (byPlace.get(place(f)) || []).find((x) => !used.has(x));

				if (!g && names.get(name(f)).length === 1 && (byName.get(name(f)) || []).length === 1)
					g = byName.get(name(f)).find((x) => !used.has(x));
				if (g)
					used.add(g);
				return pair(f, g);
			});

			table.show([...rows, ...o.functions.filter((g) => !used.has(g)).map((g) => pair(null, g))]);
		});
	}

	/* The frame: tabs, the heat map, the choice */

	const tabs = el("nav", { role: "tablist", "aria-label": "parts of the report" });
	const content = el("div", { id: "content", role: "tabpanel" });
	const bar = el("div", { class: "choice", id: "choice", "aria-live": "polite" });
	/* If there are many invocations, they are summed over steps of several bins. */
	const step = () => heat.ofRequests && mode === "requests" ? doc.request_step : doc.time_step;
	const heat = makeHeat((s) => choose(s), step);

	function link() {
		const parts = ["tab=" + current];

		if (choice)
			parts.push(`sel=${[choice.i, choice.j, choice.lo, choice.hi === Infinity ? "" : choice.hi].join(",")}`);
		if (klass >= 0)
			parts.push("class=" + klass);
		if (choice)
			parts.push("of=" + mode);
		try {
			history.replaceState(null, "", "#" + parts.join("&"));
		} catch {
			return;
		}
	}

	function go(id) {
		const v = views.get(id) || views.get("overview");

		current = v.id;
		for (const b of tabs.children) {
			b.setAttribute("aria-selected", b.dataset.id === v.id);
			b.tabIndex = b.dataset.id === v.id ? 0 : -1;
		}
		content.replaceChildren(v.node);
		show();
		link();
	}

	function active() {
		return choice && { ...choice, mode: heat.ofRequests ? mode : "time" };
	}

	function show() {
		views.get(current).show(active() || (klass >= 0 ? classChoice() : null));
	}

	/* Returns the choice of all times and latencies of a class. */
	function classChoice() {
		return { i: 0, j: doc.edges.length - 1, lo: 0, hi: Infinity, class: klass, is_full: true, mode: "requests" };
	}

	function drawBar() {
		if (!choice) {
			bar.replaceChildren(el("span", { class: "dim" }, heat.ofRequests ?
				"Drag over requests to see what was different for them; every table is computed for the choice." :
				"No requests were tagged: these are calls. Drag over a time to see what ran in it."));
			return;
		}
		const from = doc.edges[choice.i], to = doc.edges[choice.j + 1] - 1, n = data.count(choice);
		const latency = choice.is_full ? "" : `, latency ${ldb.ns(data.bucketFrom(choice.lo, doc.heat_bits))} ` +
			(choice.hi === Infinity ? "or more" : `to ${ldb.ns(data.bucketFrom(choice.hi + 1, doc.heat_bits))}`);
		const radio = (value, label, title) => el("button", { "aria-pressed": String(mode === value), "data-mode": value, title, onclick: () => {
			mode = value;
			choose(snapped(choice));
		} }, label);

		bar.replaceChildren(el("b", {}, `${ldb.ns(from)} to ${ldb.ns(to + 1)}${latency}`),
			heat.ofRequests ? el("span", { id: "chosen" }, `${many(n)} requests`) : "",
			heat.ofRequests ? el("span", { class: "segmented" },
				radio("requests", "What was done for them", "calls of threads that worked on exactly one of these requests"),
				radio("time", "All that ran then", "as ldb-report --from --to")) : "",
			el("code", { class: "mono", id: "window", title: "the same time in a terminal" }, `--from=${from}ns --to=${to}ns`),
			el("button", { onclick: () => choose(null) }, "Choose all"));
	}

	function snapped(s) {
		const nr = doc.edges.length - 1, wide = step();

		return s && { ...s, i: Math.floor(s.i / wide) * wide, j: Math.min((Math.floor(s.j / wide) + 1) * wide, nr) - 1 };
	}

	function choose(s) {
		choice = s;
		heat.set(s);
		drawBar();
		show();
		link();
	}

	function classSelect() {
		const select = el("select", { id: "class", "aria-label": "class of requests", onchange: () => {
			klass = Number(select.value);
			if (choice)
				choice.class = klass;
			heat.show(klass);
			choose(choice);
		} }, el("option", { value: -1 }, "all classes"), doc.classes.map((c, k) => el("option", { value: k }, c || "(no class)")));

		return doc.classes.length > 1 ? select : null;
	}

	function header() {
		const title = doc.title.length > 90 ? doc.title.slice(0, 90) + "\u2026" : doc.title;

		return el("header", {}, el("h1", { title: doc.title }, title), el("div", { class: "right" }, classSelect(), ldb.look.buttons()));
	}

	function restore() {
		const saved = Object.fromEntries(location.hash.slice(1).split("&").map((p) => p.split("=")));
		const sel = (saved.sel || "").split(","), nr = doc.edges.length - 1;

		mode = saved.of === "time" ? "time" : "requests";
		if (saved.class >= 0 && saved.class < doc.classes.length && document.getElementById("class"))
			document.getElementById("class").value = klass = Number(saved.class);
		heat.show(klass);
		if (sel.length === 4 && +sel[0] >= 0 && +sel[0] <= +sel[1] && +sel[1] < nr) {
			choice = { i: +sel[0], j: +sel[1], lo: +sel[2], hi: sel[3] === "" ? Infinity : +sel[3], class: klass };
			choice.is_full = choice.lo === 0 && choice.hi === Infinity;
			choice = snapped(choice);
			heat.set(choice);
		}
		drawBar();
		go(saved.tab || "overview");
	}

	overview();
	requests();
	functions();
	distributions();
	flames();
	locks();
	scheduler();
	comparison();
	for (const v of views.values())
		tabs.append(el("button", { role: "tab", "data-id": v.id, onclick: () => go(v.id) }, v.label));
	tabs.addEventListener("keydown", (e) => {
		const list = [...tabs.children], at = list.indexOf(document.activeElement);
		const next = list[(at + (e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? list.length - 1 : 0)) % list.length];

		if (at >= 0 && next !== list[at]) {
			next.focus();
			go(next.dataset.id);
		}
	});
	ldb.look.keys();
	main.append(header(), el("div", { class: "top" }, heat.node, bar), tabs, content);
	restore();
	ldb.look.changed(() => {
		heat.draw();
		views.get(current).draw();
	});
	let timer = 0;

	addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(() => {
			heat.draw();
			views.get(current).draw();
		}, 120);
	});
	/* For tests, and for users of the browser's console. */
	window.report = { data, heat, choose, go, views, get choice() { return active(); } };
	document.documentElement.dataset.ready = "1";
})();
