// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls io_uring's functions in permitted ways in which libldb's wrappers must do no harm:
 *
 *	uring-edges size	calls an io_uring_enter() of another library, which has six
 *				arguments, as the manual page's has, and prints the sixth
 *	uring-edges exit	(with -DLIBURING) io_uring_queue_exit() of a ring that was never
 *				made, and of three that have the same descriptor; prints OK
 */
#include <stdio.h>
#include <string.h>
#ifdef LIBURING
#include <liburing.h>

static int exits(void)
{
	struct io_uring never = { .ring_fd = -1 }, ring;
	struct io_uring_cqe *cqe;

	io_uring_queue_exit(&never);
	for (int i = 0; i < 3; i++) {
		if (io_uring_queue_init(8, &ring, 0))
			return 1;
		io_uring_prep_nop(io_uring_get_sqe(&ring));
		if (io_uring_submit_and_wait(&ring, 1) != 1 || io_uring_peek_cqe(&ring, &cqe))
			return 1;
		io_uring_cqe_seen(&ring, cqe);
		io_uring_queue_exit(&ring);
	}
	puts("OK");
	return 0;
}
#else
int io_uring_enter(unsigned fd, unsigned submit, unsigned nr, unsigned flags, void *arg, size_t size);
#endif

int main(int argc, char **argv)
{
#ifdef LIBURING
	return argc > 1 && !strcmp(argv[1], "exit") ? exits() : 2;
#else
	if (argc < 2 || strcmp(argv[1], "size"))
		return 2;
	printf("%d\n", io_uring_enter(0, 0, 0, 0, NULL, 24));
	return 0;
#endif
}
