/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Uses /dev/ldb without libldb, for the tests of the module.
 *
 * The environment variable LDB_KO names the module to load; without it, the module must be loaded
 * already.
 */
#ifndef DEV_H
#define DEV_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/ldb.h>

struct dev {
	int fd;
	struct ldb_create c;
	struct ldb_info info;	/* a copy of the info page */
	char *base;
	char *kernel_rings;	/* LDB_CREATE_F_SPLIT */
};

/* A record with its second slot, if there is one, and the ring it was in. */
struct event {
	struct ldb_rec rec, cont;
	unsigned ring;
	uint64_t idx;
};

struct events {
	struct event *v;
	size_t nr;
	uint64_t lost;		/* slots that were overwritten */
	uint64_t holes;		/* slots that were reserved, but not committed */
};

/*
 * Loads the module.  If it is not available, skips all tests or bails out.  dev_load() permits
 * every user to use it, without limits of the session rate and of locked memory.
 */
void dev_load(const char *params);
void dev_load_strict(const char *params);	/* dev_load_strict() keeps the default limits */
int dev_unload(void);	/* 0 or -errno */

/*
 * dev_default() describes a small session with all groups for JOIN.  dev_clock is its clock, if it
 * is not 0.
 */
extern unsigned dev_clock;
struct ldb_create dev_default(void);

/* dev_open() and dev_map() return 0 or -errno. */
int dev_open(struct dev *d, const struct ldb_create *c);
int dev_map(struct dev *d);
void dev_close(struct dev *d);
/* Calls dev_open(), dev_map() and JOIN: bails out if one fails. */
void dev_self(struct dev *d, const struct ldb_create *c);

int dev_ioctl(int fd, unsigned long cmd, void *arg);	/* returns the result or -errno */
int dev_reg(struct dev *d, unsigned tid, unsigned slot, uint64_t tls);
struct ldb_page *dev_page(const struct dev *d, unsigned slot);
struct ldb_ring_hdr *dev_ring(const struct dev *d, unsigned cpu);
struct ldb_session_stats dev_stats(const struct dev *d);

/*
 * Returns the events in the rings of the kernel's events, in order of time.  events_free() frees
 * them.
 */
struct events dev_events(const struct dev *d);
void events_free(struct events *e);
const char *event_name(unsigned type);
void event_print(const struct event *e);

unsigned gettid_(void);
uint64_t dev_now(const struct dev *d);	/* the session's clock */
void pin(unsigned cpu);
unsigned nr_cpus(void);
void msleep(unsigned ms);

#endif
