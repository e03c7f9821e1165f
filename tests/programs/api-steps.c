// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the instructions of each call of <ldb/ldb.h> in a program without the runtime: this
 * process executes a child of its own one instruction at a time.  Prints a line "FUNCTION STEPS"
 * for one call of each function.  The fractions come from the code around the calls.
 */
#define _GNU_SOURCE
#include <ldb/ldb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS		64	/* calls in a row, so that no call shares a load with other code */
#define TWICE(x)	x; x
#define MANY(x)		TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(x))))))

struct shared {
	/* which function of the list is called, counted from 1; 0: other code */
	volatile unsigned now;
};

static struct shared *shared;

#define LIST(CALL)							\
	CALL(nothing, (void)0)						\
	CALL(ldb_req_start, ldb_req_start(7, NULL))			\
	CALL(ldb_req_end, ldb_req_end(7))				\
	CALL(ldb_req_class, ldb_req_class(7, "GET"))			\
	CALL(ldb_req_note, ldb_req_note(7, "tenant", "acme"))		\
	CALL(ldb_req_note_u64, ldb_req_note_u64(7, "bytes", 4096))	\
	CALL(ldb_event, ldb_event("miss", 1))				\
	CALL(ldb_record_start, ldb_record_start())			\
	CALL(ldb_record_stop, ldb_record_stop())			\
	CALL(ldb_record_dump, ldb_record_dump("why"))

#define FUNCTION(name, call)						\
static __attribute__((noinline)) void steps_##name(void)		\
{									\
	MANY(call);							\
}
LIST(FUNCTION)

#define ENTRY(name, call)	{ #name, steps_##name },
static const struct {
	const char *name;
	void (*run)(void);
} list[] = { LIST(ENTRY) };
#define NR	(sizeof(list) / sizeof(list[0]))

static int child(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	for (unsigned i = 0; i < NR; i++) {
		shared->now = i + 1;
		list[i].run();
		shared->now = 0;
	}
	return 0;
}

int main(void)
{
	unsigned long steps[NR + 1] = { 0 };
	int status;
	pid_t pid;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	pid = fork();
	if (!pid)
		_exit(child());
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int sig = WSTOPSIG(status);

		steps[shared->now]++;
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, sig == SIGTRAP || sig == SIGSTOP ? 0L : (long)sig))
			return 1;
	}
	for (unsigned i = 1; i < NR; i++)
		printf("%s %.2f\n", list[i].name, ((double)steps[i + 1] - (double)steps[1]) / CALLS);
	return !WIFEXITED(status) || WEXITSTATUS(status);
}
