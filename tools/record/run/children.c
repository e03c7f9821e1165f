// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles connections of children; see children.h. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/array.h"
#include "record/process/image.h"
#include "record/process/proc.h"
#include "record/process/select.h"
#include "record/run/recording.h"

/* a process that has connected must send its first message within this time */
#define SAY_NS		1000000000LL
/* a forked process that ends or executes another program within this time is not recorded */
#define GRACE_NS	3000000LL
#define ALIVE_MAX	32		/* recorders that may run at the same time */
/* recorders that may be started at once, and then in each second */
#define STARTS_MAX	32.0
#define STARTS_HZ	20.0
#define SERVE_TRIES	10
/*
 * greatest number of connections from other users that have not proved that they belong to the
 * recording
 */
#define STRANGERS_MAX	(CHILDREN_PENDING / 2)
/* If there are more than STRANGERS_FEW of them, they must send the first message in this time. */
#define STRANGERS_FEW	8
#define STRANGER_NS	20000000LL

void children_begin(struct recording *r)
{
	struct children *c = &r->children;
	struct epoll_event e = { .events = EPOLLIN };
	uint64_t random[2];

	c->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll >= 0)
		epoll_ctl(c->epoll, EPOLL_CTL_ADD, r->listen_fd, &e);
	c->starts = STARTS_MAX;
	if (!r->o->children || r->o->child || c->epoll < 0 ||
	    getrandom(random, sizeof(random), 0) != sizeof(random))
		return;
	snprintf(c->secret, sizeof(c->secret), "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	c->on = true;
}

static void forget(struct children *c, struct child_pending *p)
{
	if (p->sock >= 0)
		close(p->sock);
	*p = c->pending[--c->nr_pending];
}

static bool has_hung_up(int sock)
{
	struct pollfd p = { .fd = sock };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

static bool is_foreign(const struct child_pending *p)
{
	return p->uid != geteuid() && p->uid != getuid();
}

static unsigned count_strangers(const struct children *c)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < c->nr_pending; i++)
		nr += !c->pending[i].has_said && is_foreign(&c->pending[i]);
	return nr;
}

/*
 * Returns true if this connection may wait for its first message.  Any process on this machine may
 * connect.  Processes of other users must not be able to prolong the recording, or to take all
 * places.  A child that has changed its user proves by the secret that it belongs to the recording.
 */
static bool may_wait(const struct recording *r, const struct child_pending *p)
{
	const struct children *c = &r->children;

	if (c->is_over && r->phase != PHASE_PROGRAM)
		return false;
	return !is_foreign(p) || (c->on && count_strangers(c) < STRANGERS_MAX);
}

static void accept_all(struct recording *r)
{
	struct children *c = &r->children;
	struct epoll_event e = { .events = EPOLLIN };
	struct child_pending p = { .since_ns = clock_mono_ns() };

	while (c->nr_pending < CHILDREN_PENDING &&
	       (p.sock = accept4(r->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		if (!control_peer(p.sock, &p.pid, &p.uid)) {
			close(p.sock);
			continue;
		}
		/*
		 * The recorded process connects again after a short absence, perhaps with another
		 * user id.
		 */
		if (r->phase == PHASE_AWAY && r->sock < 0 && p.pid == r->pid) {
			r->sock = p.sock;
			continue;
		}
		if (!may_wait(r, &p)) {
			close(p.sock);
			continue;
		}
		epoll_ctl(c->epoll, EPOLL_CTL_ADD, p.sock, &e);
		c->pending[c->nr_pending++] = p;
	}
}

static void count_plain(struct children *c, const char *name)
{
	unsigned i = 0;

	while (i < c->nr_plain && strncmp(c->plain[i].name, name, sizeof(c->plain[i].name)))
		i++;
	if (i == CHILDREN_NAMES) {
		c->nr_plain_other++;
		return;
	}
	if (i == c->nr_plain)
		snprintf(c->plain[c->nr_plain++].name, sizeof(c->plain[0].name), "%s", name);
	c->plain[i].nr++;
}

static bool is_known(const struct children *c, pid_t pid)
{
	for (size_t i = 0; i < c->nr_known; i++)
		if (c->known[i] == pid)
			return true;
	return false;
}

static void know(struct children *c, pid_t pid)
{
	array_push(c->known, c->nr_known, c->room_known, pid);
}

/* Returns true if this is the first instrumented program, which this recorder records itself. */
static bool is_first(const struct recording *r, const struct child_pending *p)
{
	return r->phase == PHASE_PROGRAM && r->sock < 0 && (!is_foreign(p) || p->has_said);
}

static void take_first(struct recording *r, struct child_pending *p)
{
	struct children *c = &r->children;

	epoll_ctl(c->epoll, EPOLL_CTL_DEL, p->sock, NULL);
	r->sock = p->sock;
	r->pid = p->pid;
	p->sock = -1;
	forget(c, p);
	recording_enter(r, PHASE_HELLO);
}

/* Handles the first message of a child.  Returns true if the connection is still pending. */
static bool on_child(struct recording *r, struct child_pending *p, const struct ldb_msg_child *m)
{
	struct children *c = &r->children;

	if (!c->on || strncmp(m->secret, c->secret, sizeof(c->secret))) {
		forget(c, p);
		return false;
	}
	/*
	 * A process that changes its user or executes another program connects again, and is
	 * counted only once.
	 */
	c->nr_heard += m->how == LDB_CHILD_FORKED && m->parent == r->pid && !is_known(c, p->pid);
	know(c, p->pid);
	if (m->how == LDB_CHILD_PLAIN) {
		count_plain(c, m->name);
		forget(c, p);
		return false;
	}
	p->has_said = true;
	p->said = *m;
	/* Further messages of the connection are for the process's own recorder. */
	epoll_ctl(c->epoll, EPOLL_CTL_DEL, p->sock, NULL);
	return true;
}

static int64_t time_to_say(const struct children *c, const struct child_pending *p)
{
	return is_foreign(p) && count_strangers(c) > STRANGERS_FEW ? STRANGER_NS : SAY_NS;
}

static bool comes_back(const struct recording *r, const struct child_pending *p,
		       const union control_message *m)
{
	return p->pid == r->pid && m->m.type == LDB_MSG_HELLO && m->hello.resumes;
}

/*
 * Takes the new connection of the recorded process, which announced that it leaves, and then
 * connected again.  If both messages arrive at once, the announcement must be handled first.
 */
static void take_back(struct recording *r, struct child_pending *p, const union control_message *m)
{
	if (r->phase != PHASE_AWAY && r->sock >= 0)
		messages_receive(r);
	if (r->phase == PHASE_AWAY && r->sock < 0) {
		epoll_ctl(r->children.epoll, EPOLL_CTL_DEL, p->sock, NULL);
		r->sock = p->sock;
		p->sock = -1;
		messages_handle(r, m);
	}
	forget(&r->children, p);
}

/* Receives from a pending connection.  Returns true if it is still pending. */
static bool hear(struct recording *r, struct child_pending *p)
{
	union control_message m;
	int rc = control_receive(p->sock, &m);

	if (!rc && clock_mono_ns() - p->since_ns < time_to_say(&r->children, p))
		return true;
	if (rc == 1 && m.m.type == LDB_MSG_CHILD)
		return on_child(r, p, &m.child);
	if (rc == 1 && comes_back(r, p, &m)) {
		take_back(r, p, &m);
		return false;
	}
	/* If children are not recorded, the first message is HELLO. */
	if (rc && rc != -ECONNRESET && is_first(r, p)) {
		take_first(r, p);
		if (rc == 1)
			messages_handle(r, &m);
		else
			messages_invalid(r);
		return false;
	}
	forget(&r->children, p);
	return false;
}

static bool may_start(struct recording *r)
{
	struct children *c = &r->children;
	int64_t now = clock_mono_ns();

	c->starts += (now - c->starts_ns) / 1e9 * STARTS_HZ;
	c->starts_ns = now;
	if (c->starts > STARTS_MAX)
		c->starts = STARTS_MAX;
	return !c->is_over && c->nr_alive < ALIVE_MAX && c->starts >= 1;
}

static void decide(struct recording *r, struct child_pending *p)
{
	struct children *c = &r->children;

	if (has_hung_up(p->sock)) {
		/*
		 * If the process still runs, it has executed another program or changed its user,
		 * and will connect again.
		 */
		c->nr_short += !c->is_over && !proc_runs(p->pid);
	} else if (is_first(r, p)) {
		take_first(r, p);
		return;
	} else if (c->is_over) {
		/* A process that begins after the end of the recording is not missing in it. */
	} else if (!may_start(r)) {
		c->nr_refused++;
	} else if (children_start(r, p->pid, p->sock)) {
		c->starts--;
	} else {
		c->nr_failed++;
	}
	forget(c, p);
}

static bool is_due(const struct child_pending *p)
{
	return p->said.how == LDB_CHILD_STARTED || clock_mono_ns() - p->since_ns >= GRACE_NS;
}

void children_serve(struct recording *r)
{
	struct children *c = &r->children;

	/*
	 * Handling a message may end the recording, which calls this function again for the
	 * remaining connections.
	 */
	if (c->epoll < 0 || r->listen_fd < 0 || c->is_serving)
		return;
	c->is_serving = true;
	accept_all(r);
	/*
	 * The loop goes backward, because the last entry is moved into the place of a closed one.
	 */
	for (unsigned i = c->nr_pending; i-- > 0;) {
		struct child_pending *p = &c->pending[i];

		if ((p->has_said || hear(r, p)) && p->has_said && is_due(p))
			decide(r, p);
	}
	c->is_serving = false;
	if (r->o->duration_ns && r->run_since_ns && !c->is_over &&
	    clock_mono_ns() - r->run_since_ns >= (int64_t)r->o->duration_ns)
		children_stop(r);
}

void children_serve_all(struct recording *r)
{
	children_serve(r);
	for (unsigned i = 0; i < SERVE_TRIES && r->children.nr_pending; i++) {
		poll(NULL, 0, 1);
		children_serve(r);
	}
}

bool children_has_new(const struct recording *r, pid_t pid)
{
	const struct children *c = &r->children;

	for (unsigned i = 0; i < c->nr_pending; i++)
		if (c->pending[i].pid == pid)
			return true;
	for (size_t i = 0; i < c->nr; i++)
		if (c->list[i].pid == pid)
			return true;
	return false;
}

int children_timeout(const struct recording *r)
{
	const struct children *c = &r->children;

	if (c->nr_pending || c->idle_ns)
		return 1;
	return r->o->duration_ns && c->nr_alive ? 100 : -1;
}

/*
 * Searches for processes that have the environment of this recording but have not connected yet.
 * The recorder waits for these, because the process that forked them may have ended at once.
 */

#define SCAN_NS		20000000LL
#define IDLE_NS		300000000LL	/* how long the recorder waits for such a process */

static bool carries(pid_t pid, const char *name)
{
	char text[65536];
	FILE *f = proc_open(pid, 0, "environ");
	size_t n = f ? fread(text, 1, sizeof(text), f) : 0;

	if (f)
		fclose(f);
	return memmem(text, n, name, strlen(name));
}

static bool is_one_missing(const struct recording *r)
{
	const struct children *c = &r->children;
	bool missing = false;
	pid_t *pids = NULL;
	size_t nr = proc_list(&pids);

	for (size_t i = 0; i < nr && !missing; i++)
		missing = pids[i] != r->pid && pids[i] != r->launch.pid && !is_known(c, pids[i]) &&
			  carries(pids[i], r->name) && proc_runs(pids[i]);
	free(pids);
	return missing;
}

static bool is_one_waiting(const struct children *c)
{
	for (unsigned i = 0; i < c->nr_pending; i++)
		if (c->pending[i].has_said)
			return true;
	return false;
}

bool children_go_on(struct recording *r)
{
	struct children *c = &r->children;
	int64_t now = clock_mono_ns();

	if (!c->on)
		return false;
	children_serve(r);
	if (c->nr_alive || c->is_over || is_one_waiting(c)) {
		c->idle_ns = 0;
		return c->nr_alive || !c->is_over;
	}
	if (!c->idle_ns)
		c->idle_ns = now;
	if (now - c->idle_ns > IDLE_NS)
		return false;
	if (now - c->scanned_ns >= SCAN_NS) {
		c->scanned_ns = now;
		if (!is_one_missing(r))
			return false;
	}
	return true;
}

/* Attaching to children that are already running */

static bool is_recordable(pid_t pid)
{
	struct image image;

	image_read(pid, &image);
	return image.records && image.copy.magic == LDB_DOOR_MAGIC && image.copy.version == LDB_CONTROL_VERSION;
}

/*
 * Returns true if the user has named this process.  The pid may belong to another process by now,
 * into which the runtime must not be loaded.
 */
static bool is_wanted(const struct recording *r, pid_t pid)
{
	for (size_t i = 0; i < r->o->nr_more; i++)
		if (pid == r->o->more[i])
			return select_has(pid, r->o->of_name, r->o->of_cgroup);
	return false;
}

static bool descends(const struct recording *r, pid_t pid)
{
	for (unsigned i = 0; pid > 1 && i < 64; i++) {
		pid = proc_parent(pid);
		if (pid == r->pid || is_wanted(r, pid))
			return true;
	}
	return false;
}

void children_attach(struct recording *r)
{
	struct children *c = &r->children;
	char name[16];
	pid_t *pids;
	size_t nr;

	if (!c->on)
		return;
	nr = proc_list(&pids);
	for (size_t i = 0; i < nr; i++) {
		bool is_own = is_wanted(r, pids[i]);

		if (pids[i] == r->pid || !(is_own || descends(r, pids[i])))
			continue;
		know(c, pids[i]);
		/*
		 * The runtime is loaded into processes that the user has named, if they do not have
		 * it.
		 */
		if (!is_own && !is_recordable(pids[i])) {
			proc_line(pids[i], 0, "comm", name, sizeof(name));
			count_plain(c, name);
		} else if (!may_start(r)) {
			c->nr_refused++;
		} else if (children_start(r, pids[i], -1)) {
			c->starts--;
		} else {
			c->nr_failed++;
		}
	}
	free(pids);
}

void children_stop(struct recording *r)
{
	struct children *c = &r->children;

	c->is_over = true;
	while (c->nr_pending)
		forget(c, &c->pending[0]);
	for (size_t i = 0; i < c->nr; i++)
		if (c->list[i].recorder)
			kill(c->list[i].recorder, SIGTERM);
}
