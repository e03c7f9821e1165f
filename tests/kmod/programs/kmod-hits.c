// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests that page faults are recorded as often as they occur, and interrupts with begin and end,
 * nested or not, while their thread was the running task.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "dev.h"
#include "tap.h"

#define PAGES	300
#define SIZE	((size_t)PAGES * 4096)

static struct dev d;

/* Returns new memory without huge pages, of which no page is mapped yet. */
static char *fresh(void)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		bail_out("mmap");
	madvise(p, SIZE, MADV_NOHUGEPAGE);
	return p;
}

static __attribute__((noinline)) void touch(volatile char *p)
{
	for (int i = 0; i < PAGES; i++)
		p[i * 4096L + i] = 1;
}

static __attribute__((noinline)) int look(const volatile char *p)
{
	int sum = 0;

	for (int i = 0; i < PAGES; i++)
		sum += p[i * 4096L];
	return sum;
}

static bool is_fault_in(const struct event *e, const char *from)
{
	return e->rec.type == LDB_EV_FAULT && e->rec.tid == gettid_() &&
	       e->rec.arg - (uintptr_t)from < SIZE;
}

/*
 * Counts the recorded faults in the memory that have these flags.  Returns -1 if a page faulted
 * twice, or a fault has a wrong place in the program.
 */
static int count_faults(const struct events *e, const char *from, unsigned flags, uintptr_t pc)
{
	char seen[PAGES] = "";
	int nr = 0;

	for (size_t i = 0; i < e->nr; i++) {
		const struct event *v = &e->v[i];
		size_t page = (v->rec.arg - (uintptr_t)from) / 4096;

		if (!is_fault_in(v, from) || v->rec.flags != flags)
			continue;
		if (seen[page]++ || (pc && v->cont.tsc - pc > 200)) {
			event_print(v);
			return -1;
		}
		nr++;
	}
	return nr;
}

static int all_faults(const struct events *e, const char *from)
{
	int nr = 0;

	for (size_t i = 0; i < e->nr; i++)
		nr += is_fault_in(&e->v[i], from);
	return nr;
}

static bool is_sane(const struct event *e)
{
	bool sane = e->rec.tsc <= dev_now(&d) && e->rec.tid == gettid_() && e->cont.tsc &&
		    !(e->cont.tsc >> 47) && !(e->rec.arg >> 47);

	if (!sane)
		event_print(e);
	return sane;
}

static void test_faults(void)
{
	char *written, *looked, *filled;
	int zero = open("/dev/zero", O_RDONLY);
	struct events e;
	uint64_t begin;
	bool sane = true;

	dev_self(&d, NULL);
	ok(d.c.events == LDB_GROUP_ALL, "this kernel delivers all groups");
	begin = dev_now(&d);
	written = fresh();
	touch(written);
	touch(written);
	looked = fresh();
	look(looked);
	touch(looked);
	filled = fresh();
	ok(read(zero, filled, SIZE) == SIZE, "the kernel fills pages");
	close(zero);
	e = dev_events(&d);
	is_int(count_faults(&e, written, LDB_FAULT_F_WRITE, (uintptr_t)touch), PAGES,
	       "each page written is one fault, of the function that wrote");
	is_int(all_faults(&e, written), PAGES, "there are no other faults in these pages");
	is_int(count_faults(&e, looked, 0, (uintptr_t)look), PAGES, "each page read is one fault");
	is_int(count_faults(&e, looked, LDB_FAULT_F_WRITE | LDB_FAULT_F_PRESENT, (uintptr_t)touch),
	       PAGES, "each page that was read is one more fault when it is written");
	is_int(count_faults(&e, filled, LDB_FAULT_F_WRITE | LDB_FAULT_F_KERNEL, 0), PAGES,
	       "each page that the kernel fills is one fault");
	for (size_t i = 0; i < e.nr; i++)
		if (e.v[i].rec.type == LDB_EV_FAULT && e.v[i].rec.tsc >= begin)
			sane &= is_sane(&e.v[i]);
	ok(sane, "all faults are in time, of the program's code and memory");
	ok(!e.lost && !e.holes, "nothing was lost");
	events_free(&e);
	munmap(written, SIZE);
	munmap(looked, SIZE);
	munmap(filled, SIZE);
	dev_close(&d);
}

static size_t faults_of_anybody(const struct events *e, const char *from)
{
	size_t nr = 0;

	for (size_t i = 0; i < e->nr; i++)
		nr += e->v[i].rec.type == LDB_EV_FAULT && e->v[i].rec.arg - (uintptr_t)from < SIZE;
	return nr;
}

static sigjmp_buf after;

static void on_segv(int sig)
{
	siglongjmp(after, 1);
}

/*
 * A child is another process, so its faults do not count.  A fault that cannot be resolved does
 * count.
 */
static void test_others(void)
{
	char *shared, *none;
	struct events e;
	int status;
	pid_t child;

	dev_self(&d, NULL);
	shared = fresh();
	none = fresh();
	child = fork();
	if (!child) {
		touch(shared);
		_exit(0);
	}
	waitpid(child, &status, 0);
	signal(SIGSEGV, on_segv);
	mprotect(none, SIZE, PROT_NONE);
	if (!sigsetjmp(after, 1))
		*(volatile char *)(none + 4096) = 1;
	signal(SIGSEGV, SIG_DFL);
	e = dev_events(&d);
	is_int(faults_of_anybody(&e, shared), 0, "the faults of a child are not ours");
	is_int(all_faults(&e, none), 1, "a fault that ends in SIGSEGV is recorded once");
	events_free(&e);
	munmap(shared, SIZE);
	munmap(none, SIZE);
	dev_close(&d);
}

static void spin_ms(unsigned ms)
{
	uint64_t begin = dev_now(&d), hz = d.info.tsc_hz;

	while ((dev_now(&d) - begin) * 1000.0 / hz < ms)
		;
}

static bool is_irq(const struct event *e)
{
	return e->rec.type == LDB_EV_IRQ;
}

/*
 * Checks that of two interrupts on a CPU, one ends before the other begins, or one is inside the
 * other.
 */
static bool fit(const struct ldb_rec *a, const struct ldb_rec *b)
{
	if (a->tsc <= b->arg || b->tsc <= a->arg)
		return true;
	return (a->arg <= b->arg && b->tsc <= a->tsc) || (b->arg <= a->arg && a->tsc <= b->tsc);
}

/* Returns the number of interrupts, and prints what is wrong with them. */
static unsigned check_irqs(const struct events *e)
{
	unsigned nr = 0, bad = 0, kinds[16] = {};
	const struct event *last[256] = {};

	for (size_t i = 0; i < e->nr; i++) {
		const struct event *v = &e->v[i];
		unsigned kind = LDB_IRQ_KIND(v->rec.flags);
		bool good;

		if (!is_irq(v))
			continue;
		good = v->rec.arg && v->rec.arg <= v->rec.tsc &&
		       v->rec.tsc <= dev_now(&d) && kind >= LDB_IRQ_HARD &&
		       kind <= LDB_IRQ_LOCAL_TIMER && v->rec.tid == gettid_() &&
		       (!last[v->ring] || fit(&last[v->ring]->rec, &v->rec));
		if (!good && bad++ < 5)
			event_print(v);
		last[v->ring] = v;
		kinds[kind]++;
		nr++;
	}
	diag("%u of devices, %u soft, %u of the timer", kinds[LDB_IRQ_HARD], kinds[LDB_IRQ_SOFT],
	     kinds[LDB_IRQ_LOCAL_TIMER]);
	ok(!bad, "each has begin and end, its thread, and is apart from others or within one");
	return nr;
}

/*
 * Returns false if an interrupt was recorded while the thread slept: between its switch out and in
 * on that CPU.
 */
static bool is_on_cpu(const struct events *e)
{
	const struct event *out[256] = {};

	for (size_t i = 0; i < e->nr; i++) {
		const struct event *v = &e->v[i];
		bool is_switch = v->rec.type == LDB_EV_SWITCH || v->rec.type == LDB_EV_SWITCH_OUT;

		if (is_switch && v->rec.tid == gettid_())
			out[v->ring] = v;
		else if (is_switch && v->rec.arg2 == gettid_())
			out[v->ring] = NULL;
		if (is_irq(v) && v->rec.tid == gettid_() && out[v->ring]) {
			event_print(out[v->ring]);
			event_print(v);
			return false;
		}
	}
	return true;
}

static void test_irqs(void)
{
	struct events e;
	unsigned nr;

	dev_load("irq_min_ns=0");
	dev_self(&d, NULL);
	pin(0);
	for (int i = 0; i < 10; i++) {
		spin_ms(50);
		msleep(20);
	}
	e = dev_events(&d);
	nr = check_irqs(&e);
	/*
	 * In half a second on the CPU there are 50 ticks or more; 10 suffice, because a host may
	 * delay some.
	 */
	ok(nr >= 10, "interrupts while it ran (%u)", nr);
	ok(is_on_cpu(&e), "no interrupts while the thread was not on the CPU");
	events_free(&e);
	dev_close(&d);
}

/* All interrupts are too short for a record: 255 are counted, then one is written. */
static void test_threshold(void)
{
	const struct event *v = NULL;
	unsigned nr = 0;
	struct events e;

	dev_load("irq_min_ns=4000000000");
	dev_self(&d, NULL);
	for (int i = 0; i < 60 && !nr; i++) {
		spin_ms(500);
		e = dev_events(&d);
		for (size_t k = 0; k < e.nr; k++)
			if (is_irq(&e.v[k]) && !nr++)
				v = &e.v[k];
		if (!nr)
			events_free(&e);
	}
	is_int(v ? LDB_IRQ_NR_SHORT(v->rec.flags) : 0, 255,
	       "short ones are counted in one that is not");
	events_free(&e);
	dev_close(&d);
	dev_load("irq_min_ns=1000");
}

static void test_groups(void)
{
	struct ldb_create c = dev_default();
	char *p = fresh();
	struct events e;
	unsigned irqs = 0, others = 0;

	c.events = LDB_GROUP_IRQ;
	dev_load("irq_min_ns=0");
	dev_self(&d, &c);
	touch(p);
	spin_ms(300);
	e = dev_events(&d);
	for (size_t i = 0; i < e.nr; i++) {
		irqs += is_irq(&e.v[i]);
		others += !is_irq(&e.v[i]) && e.v[i].rec.type != LDB_EV_IRQ_NAME;
	}
	ok(irqs && !others, "interrupts alone (%u, and %u others)", irqs, others);
	events_free(&e);
	dev_close(&d);
	c = dev_default();
	c.events = LDB_GROUP_FIRST;
	dev_self(&d, &c);
	is_int(d.c.events, LDB_GROUP_FIRST, "the groups of the first modules");
	touch(p);
	spin_ms(300);
	e = dev_events(&d);
	for (others = 0; e.nr--;)
		others += e.v[e.nr].rec.type >= LDB_EV_FAULT && e.v[e.nr].rec.type <= LDB_EV_IRQ_NAME;
	is_int(others, 0, "come without page faults and interrupts");
	events_free(&e);
	dev_close(&d);
	munmap(p, SIZE);
	dev_load("irq_min_ns=1000");
}

static int console = -1;

static bool has_line(const char *name)
{
	FILE *f = fopen("/proc/interrupts", "r");
	bool found = false;
	char line[1024];

	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, name) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* Writes to the console from each CPU, because any of them may handle its interrupts. */
static void write_console(void)
{
	static const char line[] = "# a line for the interrupts of the serial port\n";

	for (int i = 0; i < 20; i++) {
		pin(i % nr_cpus());
		if (write(console, line, sizeof(line) - 1) < 0)
			break;
		spin_ms(5);
	}
}

static bool has_name(const struct events *e, uint32_t line, const char *name)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->v[i].rec.type == LDB_EV_IRQ_NAME && e->v[i].rec.tid == line &&
		    !strncmp((const char *)&e->v[i].rec.arg, name, strlen(name)))
			return true;
	return false;
}

static unsigned nr_devices(const struct events *e, bool *hidden)
{
	unsigned nr = 0;

	*hidden = true;
	for (size_t i = 0; i < e->nr; i++) {
		const struct ldb_rec *r = &e->v[i].rec;

		if (!is_irq(&e->v[i]) || LDB_IRQ_KIND(r->flags) != LDB_IRQ_HARD)
			continue;
		nr++;
		*hidden &= r->flags & LDB_IRQ_F_HIDDEN && !r->arg2;
	}
	return nr;
}

static void test_name(bool privileged)
{
	struct events e;
	unsigned nr;
	bool hidden;

	dev_self(&d, NULL);
	write_console();
	e = dev_events(&d);
	nr = nr_devices(&e, &hidden);
	if (privileged)
		ok(nr && !hidden && has_name(&e, 4, "ttyS0"), "a device's line has its name (%u times)", nr);
	else
		ok(nr && hidden && !has_name(&e, 4, "ttyS0"), "but not for everybody (%u times)", nr);
	events_free(&e);
	dev_close(&d);
}

/* This test must be the last one, because it gives up root's privileges. */
static void test_names(void)
{
	console = open("/dev/ttyS0", O_WRONLY | O_NOCTTY);
	if (console < 0 || !has_line("ttyS0")) {
		skip(2, "no serial port with an interrupt here");
		return;
	}
	dev_load("irq_min_ns=0");
	test_name(true);
	if (setuid(65534))
		bail_out("setuid");
	test_name(false);
}

int main(void)
{
	dev_load("force_tsc=1");
	test_faults();
	test_others();
	test_irqs();
	test_threshold();
	test_groups();
	test_names();
	return done();
}
