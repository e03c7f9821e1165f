// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sends what a hostile or broken recorder may send to the runtime: messages, descriptors,
 * memory.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime-recorder.h"

enum {				/* descriptors that a message may carry: u8, modulo */
	FD_SEALED,
	FD_UNSEALED,
	FD_SEALED_HALF,
	FD_READ_ONLY,
	FD_WRITE_SEALED,
	FD_HUGE,
	FD_DEVICE,
	FD_REFUSING_DEVICE,
	FD_NULL,
	FD_PIPE,
	FD_FOLDER,
	FD_SOCKET,
	NR_FDS
};

struct recorder_files r = { .session = -1 };

static void lay_out(struct ldb_info *i, unsigned shape)
{
	uint32_t nr_cpus = 1 + (shape & 1), nr_scanners = 1 + (shape >> 1 & 3);
	uint64_t stride = LDB_RING_HDR_SIZE + 4096;

	*i = (struct ldb_info){
		.magic = LDB_INFO_MAGIC, .abi = LDB_SESSION_ABI, .nr_cpus = nr_cpus,
		.nr_scanners = nr_scanners, .nr_rings = nr_cpus + nr_scanners,
		.ring_order = 4 + (shape >> 5 & 3), .scan_ring_order = 4 + (shape >> 5 & 3),
		.max_threads = 1 + (shape >> 3 & 3), .tsc_hz = 1000000000,
		.clock_id = shape & 0x80 ? LDB_CLOCK_TSC : LDB_CLOCK_MONO,
		.pages_off = LDB_PAGE_SIZE, .page_stride = LDB_PAGE_SIZE,
		.stack_stride = sizeof(struct ldb_stack), .ring_stride = stride,
		.scan_ring_stride = stride,
	};
	i->stacks_off = i->pages_off + i->max_threads * LDB_PAGE_SIZE;
	i->rings_off = i->stacks_off + i->max_threads * i->stack_stride;
	i->scan_rings_off = i->rings_off + nr_cpus * stride;
	i->total_size = i->scan_rings_off + nr_scanners * stride;
}

static int memory_file(const struct ldb_info *i, uint64_t size, unsigned seals)
{
	int fd = memfd_create("ldb", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	size = size < FILE_MAX ? size : FILE_MAX;
	if (fd < 0 || ftruncate(fd, size) || (size && pwrite(fd, i, size < sizeof(*i) ? size : sizeof(*i), 0) < 0))
		broken("cannot make a file in memory");
	if (seals)
		fcntl(fd, F_ADD_SEALS, seals);
	return fd;
}

static int other_file(unsigned kind)
{
	if (kind == FD_PIPE)
		return r.pipe[0];
	if (kind == FD_FOLDER)
		return r.folder;
	if (kind == FD_SOCKET)
		return machine.recorder;
	return r.null;
}

/* Returns a new file for the session's memory, which is also r.session, or another descriptor. */
static int session_file(unsigned kind, uint64_t size)
{
	unsigned seals = F_SEAL_SHRINK | F_SEAL_GROW;
	struct stat st;
	char path[32];
	int fd;

	if (kind >= FD_NULL)
		return other_file(kind);
	if (r.session >= 0)
		close(r.session);
	machine.device = 0;
	if (kind == FD_HUGE) {
		r.session = memfd_create("ldb", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB);
		if (r.session < 0)
			return r.null;
		if (!ftruncate(r.session, FILE_MAX))
			fcntl(r.session, F_ADD_SEALS, seals);
		return r.session;
	}
	if (kind == FD_SEALED_HALF)
		seals = F_SEAL_SHRINK;
	if (kind == FD_WRITE_SEALED)
		seals |= F_SEAL_WRITE;
	if (kind == FD_UNSEALED || kind >= FD_DEVICE)
		seals = 0;
	r.session = memory_file(&r.info, size, seals);
	machine.refuses = kind == FD_REFUSING_DEVICE;
	machine.device = kind >= FD_DEVICE && !fstat(r.session, &st) ? st.st_ino : 0;
	if (kind == FD_READ_ONLY) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", r.session);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		close(r.session);
		r.session = fd;
	}
	return r.session;
}

void send_any_message(const void *m, size_t size, int fd, unsigned nr_fds)
{
	int many[16];
	union {
		struct cmsghdr h;
		char space[CMSG_SPACE(sizeof(many))];
	} c = { .h = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS } };
	struct iovec iov = { (void *)m, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	nr_fds = fd < 0 ? 0 : nr_fds % 17;
	for (unsigned i = 0; i < nr_fds; i++)
		many[i] = i ? r.null : fd;
	if (nr_fds) {
		memcpy(CMSG_DATA(&c.h), many, nr_fds * sizeof(int));
		c.h.cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		msg.msg_control = &c;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
	}
	if (machine.recorder >= 0)
		sendmsg(machine.recorder, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/*
 * Takes: u8 shape of the session, u8 kind of file, u8 number of descriptors, u8 size of the message
 * (right if less than 0xe0), u8: how many words are changed, of struct ldb_info (bits 0-2) and of
 * the message (bits 3-5); for each of these words: u8 which, number; number: by how many bytes the
 * file is too small.
 */
void send_session(uint32_t type)
{
	struct ldb_msg_attach m = {
		.m = { type, sizeof(m) }, .version = LDB_CONTROL_VERSION, .mutex_level = 1,
		.budget_ppm = 100000, .nr_scanners = 1, .scanner_cpu = -1, .name = "recorder",
	};
	unsigned shape = take8(&in), kind = take8(&in) % NR_FDS, nr_fds = take8(&in), size = take8(&in);
	unsigned nr = take8(&in), word;
	struct ldb_info plain;
	uint64_t less;
	int fd;

	lay_out(&r.info, shape);
	for (unsigned i = 0; i < nr % 8; i++) {
		word = take8(&in);
		if (word < 10)
			memcpy((char *)&r.info + word * 4, &(uint32_t){ take_number(&in) }, 4);
		else
			((uint64_t *)&r.info)[word % 20] = take_number(&in) << (word & 0x80 ? 12 : 0);
	}
	for (unsigned i = 0; i < nr / 8 % 8; i++) {
		word = take8(&in) % (sizeof(m) / 4);
		((uint32_t *)&m)[word] = take_number(&in);
	}
	if (nr & 0x40)
		memset(m.name, 'x', sizeof(m.name));
	m.m.type = type;
	less = take_number(&in);
	/* This is the size that the layout really needs, whatever total_size says. */
	lay_out(&plain, shape);
	fd = session_file(kind, plain.total_size > less ? plain.total_size - less : 0);
	send_any_message(&m, size < 0xe0 ? sizeof(m) : size - 0xe0 + (size & 1 ? sizeof(m) - 16 : 0), fd, nr_fds ^ 1);
}

void send_any(void)
{
	unsigned type = take8(&in), size = take8(&in), nr_fds = take8(&in);
	char m[2048] = { 0 };

	memcpy(m, &(struct ldb_msg){ type % 20, size }, sizeof(struct ldb_msg));
	send_any_message(m, type & 0x80 ? size * 8 : size, r.null, nr_fds);
}

/* Changes one word of the session's memory, as a recorder can at any time. */
void write_memory(void)
{
	unsigned where = take8(&in), word = take8(&in);
	uint64_t v = take_number(&in), at = 0;

	if (where % 4 == 1)
		at = r.info.pages_off + (where >> 4) % 4 * LDB_PAGE_SIZE;
	else if (where % 4 == 2)
		at = r.info.stacks_off + (where >> 4) % 4 * sizeof(struct ldb_stack);
	else if (where % 4 == 3)
		at = r.info.rings_off + (where >> 4) % 4 * (LDB_RING_HDR_SIZE + 4096);
	if (r.session >= 0 && at < FILE_MAX)
		pwrite(r.session, &v, sizeof(v), at + word * 8);
}

void machine_session_event(void)
{
	uint64_t v = r.event >> 4;

	if (r.session < 0)
		return;
	/* The size of the module's memory never changes. */
	if (r.event & 1 && !machine.device)
		ftruncate(r.session, v * 4096);
	if (r.event & 2)
		fcntl(r.session, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
	if (r.event & 4)
		pwrite(r.session, &(uint64_t){ ~v }, 8, v * 8);
	if (r.event & 8)
		fallocate(r.session, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
}

void hang_up_recorder(void)
{
	if (machine.recorder >= 0)
		close(machine.recorder);
	machine.recorder = -1;
}
