// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The oracle must accept a possible recording, and reject each of these changes to it for the right
 * reason.  It must accept a missing row that a recorded loss explains, and nothing more.
 */
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "mutants.h"
#include "tap.h"

typedef void change_fn(struct sample *s);

#define CHANGE(name, ...)	static void name(struct sample *s) { __VA_ARGS__ }

/* Calls */
CHANGE(outlives_caller, s->func[F_INNER2].end_max = 7000;)
CHANGE(before_caller, s->func[F_INNER].start_max = 2900; s->func[F_INNER].start_unc = 10;)
CHANGE(call_twice, sample_add(s, func, s->func[F_INNER2]); s->thread[2].seen++;)
CHANGE(caller_missing, sample_drop(s, func, F_OUTER); s->thread[2].seen--;)
CHANGE(main_missing, sample_drop(s, func, F_MAIN); s->thread[2].seen--;)
CHANGE(call_backwards, s->func[F_LEAF].start_max = 2100;)
CHANGE(calls_overlap, s->func[F_INNER2].start_max = 3900;)
CHANGE(gens_swapped, s->func[F_INNER].gen = GEN(5); s->func[F_INNER2].gen = GEN(4);)
CHANGE(wrong_caller, s->func[F_INNER].parent_gen = GEN(1);)
CHANGE(wrong_depth, s->func[F_INNER].depth = s->func[F_INNER2].depth = 4;)
CHANGE(depth_alone, s->func[F_LEAF].parent_gen = 0;)
CHANGE(younger_caller, s->func[F_LEAF].parent_gen = GEN(9);)
CHANGE(call_before_birth, s->func[F_SECOND].start_max = 990; s->func[F_SECOND].start_unc = 5;)
CHANGE(call_after_death, s->func[F_SECOND].end_max = 90001;)
CHANGE(call_after_end, s->func[F_MAIN].end_max = 100001;)
CHANGE(call_before_begin, s->func[F_MAIN].start_unc = 151;)
CHANGE(call_of_nobody, s->func[F_LEAF].tid = 12;)
CHANGE(old_has_start, s->func[F_MAIN].flags |= LDB_FUNC_F_FROM_START;)
CHANGE(open_in_dead, s->func[F_SECOND].flags = LDB_FUNC_F_OPEN;)
CHANGE(seen_too_many, s->thread[2].seen++;)
CHANGE(seen_too_few, s->thread[2].seen--;)
CHANGE(seen_not_made, s->thread[1].made = 0;)
CHANGE(call_too_early, s->lock[L_HOLD].gen = GEN(4);)
CHANGE(call_too_late, s->func[F_SECOND].start_max = 7200;)
CHANGE(gap_backwards, s->gap[0].end = 49000;)

/* Calls between components */
CHANGE(flow_unknown, s->flow[2].api = 9;)
CHANGE(flow_nobody, s->flow[2].tid = 99;)
CHANGE(flow_api_twice, s->flow_api[1].id = 1;)
CHANGE(flow_timed_more, s->flow[2].timed = 10;)
CHANGE(flow_timed_never, s->flow[3].timed = 4;)
CHANGE(flow_sum_small, s->flow[1].sum = 450;)
CHANGE(flow_sum_big, s->flow[1].sum = 1100;)
CHANGE(flow_shrinks, s->flow[0].calls = s->flow[0].timed = 3; s->flow[0].sum = 1200;)
CHANGE(flow_length, s->flow_hist[0].bucket = LDB_FLOW_BUCKETS;)
CHANGE(flow_late, s->flow_call[2].end = 100100;)
CHANGE(flow_short, s->flow_call[0].end = 1350;)
CHANGE(flow_many, sample_drop(s, flow, 1);)
CHANGE(flow_overlaps, s->flow_call[0].end = 1800;)
CHANGE(flow_before_birth, s->flow_call[2].tid = SECOND; s->flow_call[2].start = 500; s->flow_call[2].end = 900;)
CHANGE(flow_left, flow_short(s); s->flow_call[0].flags = LDB_FLOW_CALL_F_LEFT;)
CHANGE(flow_switched, flow_overlaps(s); s->flow_api[2].name = "swapcontext";)

/* Locks */
CHANGE(holds_overlap, s->lock[L_AFTER].begin = 6400; s->lock[L_WAIT].begin = 6200; s->lock[L_WAIT].end = 6400;)
CHANGE(wait_ends_early, s->lock[L_HOLD].begin = 5000; s->lock[L_WAIT].begin = 5100; s->lock[L_WAIT].end = 6000;)
CHANGE(release_in_hold, s->lock[L_POINT].begin = s->lock[L_POINT].end = 7600;)
CHANGE(reader_and_writer, s->lock[L_WRITE].begin = 30900;)
CHANGE(writer_and_reader, s->lock[L_WRITE].begin = 29000; s->lock[L_WRITE].end = 30600;)
CHANGE(waits_cross, s->lock[L_COND].begin = 7000; s->lock[L_COND].end = 7200;)
CHANGE(waits_for_own, sample_add(s, lock, s->lock[L_WAIT]); s->lock[L_JOIN + 1].tid = FIRST;
       s->lock[L_JOIN + 1].gen = GEN(5);
       s->lock[L_JOIN + 1].owner = SECOND;)
CHANGE(waits_for_itself, s->lock[L_WAIT].owner = SECOND;)
CHANGE(timeout_woken, s->lock[L_WAIT].flags = LDB_LOCK_COND | LDB_LOCK_F_FAILED;)
CHANGE(holder_unborn, s->lock[L_POINT] = s->lock[L_WAIT]; s->lock[L_POINT].owner = SECOND;
       s->lock[L_POINT].tid = FIRST; s->lock[L_POINT].lock = 0x500; s->lock[L_POINT].begin = 200;
       s->lock[L_POINT].end = 900;)
static void holder_dead(struct sample *s)
{
	s->lock[L_POINT].begin = s->lock[L_POINT].end = 91000;
	sample_add(s, lock, s->lock[L_WAIT]);
	s->lock[L_JOIN + 1].tid = FIRST;
	s->lock[L_JOIN + 1].gen = GEN(5);
	s->lock[L_JOIN + 1].owner = SECOND;
	s->lock[L_JOIN + 1].begin = 96000;
	s->lock[L_JOIN + 1].end = 97000;
}
CHANGE(joined_early, s->lock[L_JOIN].end = 89000;)
CHANGE(lock_backwards, s->lock[L_HOLD].end = 5900;)
CHANGE(unstamped_lasts, s->lock[L_POINT].begin = 8900;)
CHANGE(lock_gen_back, s->lock[L_HOLD].gen = GEN(9);)
CHANGE(hold_of_condition, s->lock[L_COND].op = LDB_LOCK_OP_HOLD;)
CHANGE(lock_of_nobody, s->lock[L_COND].tid = 12;)
CHANGE(lock_after_death, s->lock[L_COND].end = 90500;)
CHANGE(lock_too_short, s->lock[L_WRITE].end = 32050;)
CHANGE(lock_twice, sample_add(s, lock, s->lock[L_COND]);)
CHANGE(no_such_lock, s->lock[L_COND].flags = 99;)

/* Requests */
CHANGE(end_alone, sample_drop(s, req, R_TAKEN); sample_drop(s, req, R_START); sample_drop(s, req, R_START);)
CHANGE(ends_twice, sample_add(s, req, s->req[R_END]); s->req[R_END + 1].tick++;)
CHANGE(starts_twice, s->req[R_BLOCK].op = LDB_REQ_OP_START;)
CHANGE(arrived_in_vain, sample_drop(s, req, R_ARRIVED_START);)
CHANGE(age_negative, s->req[R_ARRIVED].site = -1ULL;)
CHANGE(request_before_birth, s->req[R_TAKEN].tick = 800;)
CHANGE(request_after_end, s->req[R_END].tick = 100001;)
CHANGE(no_such_op, s->req[R_END].op = 5;)
/* The writer makes the request table from the rows in the order in which they are added. */
CHANGE(table_differs, struct ldb_row_req end = s->req[R_END]; s->req[R_END] = s->req[R_TAKEN];
       s->req[R_TAKEN] = end; s->flush_req = R_END;)

/* Threads */
CHANGE(two_instances, sample_add(s, thread, s->thread[1]); s->thread[3].start = 60000;)
CHANGE(instance_backwards, s->thread[1].end = 900;)
CHANGE(made_by_nobody, s->thread[1].creator = 12;)
CHANGE(exit_after_end, s->thread[1].end = 100001; s->lock[L_JOIN].end = 100000;)
CHANGE(switch_missing, sample_drop(s, sched, S_SLEEP);)
CHANGE(came_missing, sample_drop(s, sched, S_SECOND);)
CHANGE(switches_swapped, int64_t t = s->sched[S_SECOND].tick; s->sched[S_SECOND].tick = s->sched[S_SLEEP].tick;
       s->sched[S_SLEEP].tick = t;)
CHANGE(two_cpus, s->sched[S_PREEMPT].tick = 10050;)
CHANGE(not_woken, sample_drop(s, sched, S_WAKING2); sample_drop(s, sched, S_WAKING2);)
CHANGE(no_waking, sample_drop(s, sched, S_WAKING2);)
CHANGE(woken_twice, sample_add(s, sched, s->sched[S_WAKING2]); s->sched[S_DEAD + 1].tick = 21050;)
CHANGE(dead_woken, s->sched[S_WAKING2].tick = 93000; s->sched[S_WAKEUP2].tick = 93100; s->nr_sched--;
       s->sched[S_AGAIN] = s->sched[S_DEAD]; s->sched[S_AGAIN].tick = 92000;
       s->sched[S_BACK].flags = LDB_SCHED_F_TID | LDB_SCHED_F_OTHER | LDB_STATE_DEAD;
       sample_drop(s, sched, S_AGAIN); sample_drop(s, sched, S_AGAIN);)
CHANGE(dead_runs, s->sched[S_BACK].flags = LDB_SCHED_F_TID | LDB_SCHED_F_OTHER | LDB_STATE_DEAD;
       sample_drop(s, sched, S_WAKING2); sample_drop(s, sched, S_WAKING2);)
CHANGE(moved_running, s->sched[S_MOVE].tick = 9000;)
CHANGE(moved_from_elsewhere, s->sched[S_MOVE].addr = 0;)
CHANGE(comes_elsewhere, s->sched[S_MOVE].value = 1;)
CHANGE(waker_elsewhere, s->sched[S_WAKING].cpu = 1;)
CHANGE(born_twice, sample_add(s, sched, s->sched[S_FORK]); s->sched[S_DEAD + 1].tick = 5000;)
CHANGE(stays_on_cpu, sample_drop(s, sched, S_BACK);)
CHANGE(exits_twice, sample_add(s, sched, s->sched[S_EXIT]); s->sched[S_DEAD + 1].tick = 91500;)
CHANGE(registered_after_exit, s->sched[S_EXIT].tick = 89500;)
CHANGE(fault_asleep, s->fault[0].tid = SECOND; s->fault[0].tick = 11000;)
CHANGE(request_asleep, s->req[R_TAKEN].tick = 12500;)
CHANGE(irq_of_another, s->irq[0].tid = SECOND;)
CHANGE(irq_before_it_came, s->irq[0].start = 12000; s->irq[0].end = 13100; s->irq[0].tid = SECOND;)
CHANGE(no_such_cpu, s->sched[S_FUTEX].cpu = 2;)
CHANGE(to_itself, s->sched[S_BACK].other = SECOND;)
CHANGE(observed_running, s->sched[S_SECOND].op = LDB_SCHED_OP_RUNNING;)

/* The recording */
CHANGE(no_end, s->meta[META_END].key = "warning";)
CHANGE(clock_back, s->clock[1].raw_ns = 400;)
CHANGE(no_threads, s->nr_thread = 0;)
CHANGE(cut, s->is_cut = true;)

static const struct {
	const char *rule;
	const char *name;
	change_fn *change;
} mutants[] = {
#define M(rule, change)	{ rule, #change, change }
	M("overlaps one before", outlives_caller), M("starts before its caller", before_caller),
	M("twice", call_twice), M("parent missing", caller_missing), M("parent missing", main_missing),
	M("ends before it starts", call_backwards), M("overlaps one before", calls_overlap),
	M("starts before its caller", gens_swapped), M("parent missing", wrong_caller), M("depth", wrong_depth),
	M("depth without parent", depth_alone), M("younger than its callee", younger_caller),
	M("before its thread", call_before_birth), M("after its thread", call_after_death),
	M("after the recording", call_after_end), M("before the recording", call_before_begin),
	M("thread unknown", call_of_nobody), M("start of what ran before", old_has_start),
	M("open in a dead thread", open_in_dead), M("rows and counter differ", seen_too_many),
	M("rows and counter differ", seen_too_few), M("observed and not made", seen_not_made),
	M("gap", gap_backwards), M("observed before it began", call_too_early),
	M("observed to begin too late", call_too_late),

	M("held by two", holds_overlap), M("got while held", wait_ends_early), M("held by two", release_in_hold),
	M("held by a reader", reader_and_writer), M("held by two", writer_and_reader),
	M("two waits cross", waits_cross), M("waits for what it has", waits_for_own),
	M("failed, and was ended by somebody", timeout_woken),
	M("flow of an unknown function", flow_unknown), M("flow of no thread", flow_nobody),
	M("function twice", flow_api_twice), M("timed more than called", flow_timed_more),
	M("timed what is not timed", flow_timed_never), M("sum out of its bounds", flow_sum_small),
	M("sum out of its bounds", flow_sum_big), M("sum shrinks", flow_shrinks), M("no such length", flow_length),
	M("call outside of the recording", flow_late), M("call below the threshold", flow_short),
	M("more long calls than calls", flow_many), M("calls overlap", flow_overlaps),
	M("call outside of its thread", flow_before_birth),
	M("waits for itself", waits_for_itself), M("holder not born", holder_unborn),
	M("holder was dead", holder_dead), M("joined before it ended", joined_early),
	M("ends before it begins", lock_backwards), M("ends before it begins", unstamped_lasts),
	M("generation goes back", lock_gen_back), M("hold", hold_of_condition),
	M("thread unknown", lock_of_nobody), M("outside of its instance", lock_after_death),
	M("below the threshold", lock_too_short), M("reported twice", lock_twice), M("row", no_such_lock),

	M("end without start", end_alone), M("end without start", ends_twice),
	M("started twice", starts_twice), M("arrived and not started", arrived_in_vain), M("age", age_negative),
	M("before its thread", request_before_birth), M("outside of the recording", request_after_end),
	M("row", no_such_op), M("table and rows differ", table_differs),

	M("two instances at once", two_instances), M("thread row", instance_backwards),
		M("made by nobody", made_by_nobody),
	M("exit after the end", exit_after_end), M("moved", switch_missing), M("leaves and was not there", came_missing),
	M("leaves and was not there", switches_swapped), M("on two CPUs", two_cpus), M("runs and was not woken", not_woken),
	M("wake-up without waking", no_waking), M("woken twice", woken_twice), M("wakes nobody", dead_woken),
	M("runs and is dead", dead_runs), M("moved", moved_running),
	M("moved from elsewhere", moved_from_elsewhere), M("woken elsewhere", comes_elsewhere),
	M("came unseen", waker_elsewhere), M("born and was there", born_twice), M("not who came", stays_on_cpu), M("exits twice", exits_twice),
	M("registered after its exit", registered_after_exit), M("does something off the CPU", fault_asleep),
	M("does something off the CPU", request_asleep), M("interrupts somebody else", irq_of_another),
	M("interrupts somebody else", irq_before_it_came), M("no such CPU", no_such_cpu),
	M("to itself", to_itself), M("of the wrong kind", observed_running),

	M("no end", no_end), M("clock goes back", clock_back), M("thread unknown", no_threads), M("damaged", cut),
};

static struct sample sample;

static int64_t judge(change_fn *change, bool may_be_cut, char *rule, size_t size, FILE *out)
{
	struct oracle_options options = { .may_be_cut = may_be_cut, .out = out };

	sample_good(&sample);
	if (change)
		change(&sample);
	return sample_judge(&sample, &options, rule, size);
}

static void test_mutants(void)
{
	for (size_t i = 0; i < sizeof(mutants) / sizeof(mutants[0]); i++) {
		char rule[64] = "";
		int64_t nr = judge(mutants[i].change, false, rule, sizeof(rule), NULL);

		if (ok(nr > 0 && !strcmp(rule, mutants[i].rule), "%s: %s", mutants[i].name, mutants[i].rule))
			continue;
		diag("%lld violations, the first: %s", (long long)nr, rule);
		judge(mutants[i].change, false, rule, sizeof(rule), stdout);
	}
}

/* These changes are permitted by the format */

CHANGE(attached, s->meta[META_ATTACHED].value = "pid"; end_alone(s);)
CHANGE(attached_twice, attached(s); size_t last = s->nr_req - 1; sample_add(s, req, s->req[last]);
       s->req[last + 1].tick++;)
CHANGE(lost_parent, caller_missing(s); sample_add(s, lost, { .tick = 100, .count = 3, .what = 1 });)
CHANGE(lost_switch, came_missing(s); sample_add(s, lost, { .tick = 100, .count = 2, .what = 6 });)
CHANGE(lost_too_few, for (int i = 0; i < 12; i++) { sample_add(s, req, s->req[R_END]); }
       sample_add(s, lost, { .tick = 100, .count = 4, .what = 1 });)
CHANGE(unobserved_only, call_of_nobody(s); s->func[F_LEAF].parent_gen = s->func[F_LEAF].depth = 0;
       s->thread[2].seen--; sample_add(s, meta, { "warning", "1 thread was unobserved" });)
CHANGE(no_wakeups, for (size_t i = 0; i < s->nr_sched;)
	if (s->sched[i].op == LDB_SCHED_OP_WAKING || s->sched[i].op == LDB_SCHED_OP_WAKEUP ||
	    s->sched[i].op == LDB_SCHED_OP_MIGRATE)
		sample_drop(s, sched, i);
	else
		i++;)
CHANGE(deaf, came_missing(s); s->meta[META_KERNEL].value = "perf"; s->sched[S_SECOND].tick = 10000;
       sample_add(s, sched, { .op = LDB_SCHED_OP_RUNNING, .cpu = 1, .tick = 50, .other = 5 });
       sample_add(s, meta, { "kernel_err_ns", "1" }); sample_add(s, meta, { "kernel_deaf", "1" });)
CHANGE(deaf_elsewhere, deaf(s); s->meta[s->nr_meta - 1].value = "0";)
CHANGE(failed_wait, waits_for_own(s); s->lock[L_JOIN + 1].flags |= LDB_LOCK_F_FAILED;)
CHANGE(nested_wait, waits_cross(s); s->lock[L_COND].begin = 6600; s->lock[L_COND].end = 6900;)
CHANGE(abandoned, sample_add(s, lock, s->lock[L_WAIT]); s->lock[L_JOIN + 1].tid = FIRST;
       s->lock[L_JOIN + 1].gen = GEN(5);
       s->lock[L_JOIN + 1].owner = SECOND; s->lock[L_JOIN + 1].begin = 96000;
       s->lock[L_JOIN + 1].end = 97000;)
CHANGE(stamped_early, s->lock[L_AFTER].begin = 6700; s->lock[L_WAIT].end = 6700;)
CHANGE(monotonic, stamped_early(s); s->clock_id = LDB_CLOCK_MONO;)
CHANGE(early_waking, s->sched[S_WAKING].tick = 10050;)
/* The waker spins for the run queue's lock; meanwhile the thread is preempted and runs again. */
CHANGE(preempted_waking,
       sample_add(s, sched, { .op = LDB_SCHED_OP_WAKING, .flags = LDB_SCHED_F_HARDIRQ | LDB_SCHED_F_OTHER,
			      .cpu = 1, .tick = 16000, .other = SECOND });
       sample_add(s, sched, { .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_TID | LDB_SCHED_F_PREEMPT,
			      .tick = 16100, .tid = SECOND, .other = 5 });
       sample_add(s, sched, { .op = LDB_SCHED_OP_SWITCH, .flags = LDB_SCHED_F_OTHER, .tick = 16200, .tid = 5,
			      .other = SECOND });
       sample_add(s, sched, { .op = LDB_SCHED_OP_WAKEUP, .flags = LDB_SCHED_F_TID | LDB_SCHED_F_OTHER, .cpu = 1,
			      .tick = 16300, .tid = SECOND, .other = SECOND });)
CHANGE(woken_awake, preempted_waking(s); sample_drop(s, sched, S_DEAD + 1);)
CHANGE(perf_error, s->meta[META_KERNEL].value = "perf"; sample_add(s, meta, { "kernel_err_ns", "60" });
       s->req[R_TAKEN].tick = 12950;)
CHANGE(perf_error_more, perf_error(s); s->req[R_TAKEN].tick = 12930;)
CHANGE(signal_between, gens_swapped(s); s->func[F_INNER2].start_unc = 2500;)
/* The address to which handlers in this process return. */
static uint64_t handler_ret;

static void note_return(int sig)
{
	handler_ret = (uintptr_t)__builtin_return_address(0);
}

/* The two invocations are too far apart for one signal. */
static void handler_between(struct sample *s)
{
	Dl_info at;

	signal(SIGUSR1, note_return);
	raise(SIGUSR1);
	if (!dladdr((void *)(uintptr_t)handler_ret, &at))
		bail_out("no module");
	gens_swapped(s);
	s->func[F_INNER].ret = handler_ret;
	sample_add(s, module, { .start = (uintptr_t)at.dli_fbase, .end = handler_ret + 4096, .end_tick = INT64_MAX,
				.bias = (uintptr_t)at.dli_fbase, .build_id = "", .path = at.dli_fname });
}
CHANGE(other_between, handler_between(s); s->func[F_INNER].ret += 16;)
CHANGE(out_of_place, struct ldb_row_func f = s->func[F_LEAF]; s->func[F_LEAF] = s->func[F_OUTER];
       s->func[F_OUTER] = f;)
CHANGE(nothing, s->is_cut = false;)

static void test_permitted(void)
{
	static const struct {
		bool good;
		const char *name;
		change_fn *change;
	} cases[] = {
		{ true, "the recording can have been", nothing },
		{ true, "rows may be out of place", out_of_place },
		{ true, "a signal between an invocation's number and its link", signal_between },
		{ true, "more signals between them", handler_between },
		{ false, "a call between them that is not a handler's", other_between },
		{ true, "attached: a request whose first row is its end", attached },
		{ false, "attached: a request that ends twice", attached_twice },
		{ true, "a caller that may have been lost", lost_parent },
		{ true, "a switch that may have been lost", lost_switch },
		{ false, "no more is missing than was lost", lost_too_few },
		{ true, "a thread that was not observed", unobserved_only },
		{ true, "a source without wake-ups", no_wakeups },
		{ true, "a CPU on which the kernel was deaf", deaf },
		{ false, "a CPU on which the kernel was not deaf", deaf_elsewhere },
		{ true, "a failed wait for a lock that the thread has", failed_wait },
		{ true, "a wait in a wait", nested_wait },
		{ true, "a lock that its holder left behind", abandoned },
		{ true, "a stamp that did not wait for its lock", stamped_early },
		{ false, "a stamp of CLOCK_MONOTONIC that is too early", monotonic },
		{ true, "woken before it slept", early_waking },
		{ true, "preempted between being woken and waking up", preempted_waking },
		{ false, "preempted and woken up, without being woken", woken_awake },
		{ true, "a library call that was left may be short", flow_left },
		{ true, "library calls of a thread that switches stacks may overlap", flow_switched },
		{ true, "times that differ by no more than their error", perf_error },
		{ false, "times that differ by more than their error", perf_error_more },
	};
	char rule[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t nr = judge(cases[i].change, false, rule, sizeof(rule), NULL);

		if (ok(cases[i].good ? !nr : nr > 0, "%s", cases[i].name))
			continue;
		judge(cases[i].change, false, rule, sizeof(rule), stdout);
	}
	ok(!judge(cut, true, rule, sizeof(rule), NULL), "a recorder that was killed, where that is said");
}

static void test_damage(void)
{
	struct oracle_options options = { 0 };
	char byte, rule[64];
	FILE *f;

	judge(NULL, false, rule, sizeof(rule), NULL);
	f = fopen(sample_file(), "r+");
	fseek(f, 400, SEEK_SET);
	byte = fgetc(f);
	fseek(f, 400, SEEK_SET);
	fputc(byte ^ 1, f);
	fclose(f);
	ok(oracle_first(sample_file(), &options, rule, sizeof(rule)) > 0 && !strcmp(rule, "damaged"),
	   "a flipped bit");
	ok(!truncate(sample_file(), 0) && oracle_check(sample_file(), &options) < 0, "an empty file is none");
}

int main(void)
{
	test_permitted();
	test_mutants();
	test_damage();
	sample_end();
	return done();
}
