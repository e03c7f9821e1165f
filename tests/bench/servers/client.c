// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This is a load generator for memcached and redis on this machine.  It prints lines "NAME
 * VALUE", with times in microseconds.  With --stamps it also prints the processing times that
 * the server itself stamped (stamps.h) while this client measured.
 */
#include <argp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <x86intrin.h>
#include "client.h"
#include "stamps.h"

static struct options opt = {
	.port = 11211, .connections = 16, .seconds = 2, .warmup = 0.2,
	.nr_keys = 100000, .set_pct = 100, .value_min = 4, .value_max = 1024, .seed = 1,
};
static struct result result;

/* The server's counts, and the two clocks, when measuring began. */
static struct stamps_file *stamps;
static struct stamps_slot before, after;
static uint64_t tsc_begin, ns_begin;

static const struct argp_option arguments[] = {
	{ "redis", 'R', 0, 0, "Speak RESP; else memcached's text protocol", 0 },
	{ "port", 'p', "PORT", 0, "On the loopback interface (11211)", 0 },
	{ "connections", 'c', "N", 0, "At most one request under way on each (16)", 0 },
	{ "rate", 'r', "N", 0, "Requests a second, open loop; 0, the default: closed loop", 0 },
	{ "seconds", 's', "S", 0, "How long to measure (2); at most 600", 0 },
	{ "warmup", 'w', "S", 0, "Load before that, not measured (0.2)", 0 },
	{ "requests", 'n', "N", 0, "Stop after N requests", 0 },
	{ "keys", 'k', "N", 0, "Number of keys (100000)", 0 },
	{ "zipf", 'z', "S", 0, "Popularity of keys: Zipf with exponent S; else uniform", 0 },
	{ "set", 'S', "PERCENT", 0, "Share of SET (100); the others are GET", 0 },
	{ "values", 'v', "MIN-MAX", 0, "Bytes of a value, uniform (4-1024)", 0 },
	{ "seed", 'e', "N", 0, "Of the random numbers (1): same seed, same requests", 0 },
	{ "fill", 'f', 0, 0, "SET each key once and end", 0 },
	{ "stamps", 't', "FILE", 0, "Print the server's own processing times, too", 0 },
	{ 0 }
};

static double number(struct argp_state *state, const char *arg, double min, double max)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= min && v <= max))
		argp_error(state, "'%s' is not a number from %g to %g", arg, min, max);
	return v;
}

static void parse_values(struct argp_state *state, const char *arg)
{
	char junk;

	if (sscanf(arg, "%u-%u%c", &opt.value_min, &opt.value_max, &junk) != 2 ||
	    opt.value_min < 1 || opt.value_min > opt.value_max || opt.value_max > MAX_VALUE)
		argp_error(state, "'%s' is not MIN-MAX with 1 <= MIN <= MAX <= %d", arg, MAX_VALUE);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'R': opt.redis = true; break;
	case 'p': opt.port = (int)number(state, arg, 1, 65535); break;
	case 'c': opt.connections = (int)number(state, arg, 1, MAX_CONNECTIONS); break;
	case 'r': opt.rate = number(state, arg, 0, 1e7); break;
	case 's': opt.seconds = number(state, arg, 0.001, 600); break;
	case 'w': opt.warmup = number(state, arg, 0, 600); break;
	case 'n': opt.max_requests = (uint64_t)number(state, arg, 1, 1e12); break;
	case 'k': opt.nr_keys = (uint64_t)number(state, arg, 1, 1e8); break;
	case 'z': opt.zipf = number(state, arg, 0, 10); break;
	case 'S': opt.set_pct = (int)number(state, arg, 0, 100); break;
	case 'v': parse_values(state, arg); break;
	case 'e': opt.seed = (uint64_t)number(state, arg, 0, 1e15); break;
	case 'f': opt.fill = true; break;
	case 't': opt.stamps = arg; break;
	case ARGP_KEY_ARG: argp_error(state, "what is '%s'?", arg); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Adds up the histograms of all threads. */
static void stamps_sum(struct stamps_slot *sum)
{
	memset(sum, 0, sizeof(*sum));
	for (int t = 0; t < STAMPS_THREADS; t++) {
		for (unsigned int b = 0; b < HIST_BUCKETS; b++) {
			sum->done.count[b] += stamps->slot[t].done.count[b];
			sum->sent.count[b] += stamps->slot[t].sent.count[b];
		}
	}
}

static int stamps_map(const char *name)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) == (off_t)sizeof(*stamps))
		stamps = mmap(NULL, sizeof(*stamps), PROT_READ, MAP_SHARED, fd, 0);
	if (!stamps || stamps == MAP_FAILED) {
		fprintf(stderr, "client: %s: not the stamps of a server\n", name);
		return -1;
	}
	close(fd);
	return 0;
}

static void started(void)
{
	if (stamps)
		stamps_sum(&before);
	tsc_begin = __rdtsc();
	ns_begin = now_ns();
}

static void print_quantiles(const char *name, const struct hist *h, const struct hist *minus, double ns_per_unit)
{
	static const struct { const char *name; double q; } want[] = {
		{ "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 }, { "max", 1 },
	};
	uint64_t total = 0, seen = 0;
	size_t next = 0;

	for (unsigned int b = 0; b < HIST_BUCKETS; b++)
		total += h->count[b] - (minus ? minus->count[b] : 0);
	if (!total)
		return;
	for (unsigned int b = 0; b < HIST_BUCKETS; b++) {
		seen += h->count[b] - (minus ? minus->count[b] : 0);
		while (next < 4 && seen && (double)seen >= want[next].q * (double)total)
			printf("%s.%s %.3f\n", name, want[next++].name, hist_value(b) * ns_per_unit / 1000);
	}
	printf("%s.count %llu\n", name, (unsigned long long)total);
}

static void report(void)
{
	double ns_per_tick = (double)(now_ns() - ns_begin) / (double)(__rdtsc() - tsc_begin);

	printf("rate %.0f\n", (double)result.nr_done / result.seconds);
	printf("requests %llu\n", (unsigned long long)result.nr_done);
	printf("errors %llu\n", (unsigned long long)result.nr_errors);
	printf("misses %llu\n", (unsigned long long)result.nr_misses);
	printf("late %llu\n", (unsigned long long)result.nr_late);
	print_quantiles("latency", &result.latency, NULL, 1);
	if (!stamps)
		return;
	stamps_sum(&after);
	print_quantiles("done", &after.done, &before.done, ns_per_tick);
	print_quantiles("sent", &after.sent, &before.sent, ns_per_tick);
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		arguments, parse, NULL,
		"Sends SET and GET requests to memcached or redis and prints latencies from the "
		"time each request was due.", NULL, NULL, NULL
	};

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (opt.fill) {
		opt.warmup = 0;
		opt.rate = 0;
		opt.seconds = 600;
	}
	wire_init(&opt);
	if (opt.stamps && stamps_map(opt.stamps))
		return 1;
	/* Without this, a request is sent up to 50 us late. */
	prctl(PR_SET_TIMERSLACK, 1UL);
	if (drive(&opt, &result, started))
		return 1;
	report();
	return result.nr_errors != 0;
}
