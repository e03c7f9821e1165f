// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds out whether a function was called by the kernel, as a signal's handler: then it returns to
 * the C library's code that makes the system call rt_sigreturn.  This code is read from the
 * module's file, if that still exists.
 */
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "oracle.h"

#define PHDRS_MAX	32

/* mov $15, %rax; syscall */
static const unsigned char code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

/* addr is an address of the ELF file. */
static bool has_code(int fd, uint64_t addr)
{
	unsigned char found[sizeof(code)];
	Elf64_Phdr phdr[PHDRS_MAX];
	Elf64_Ehdr e;

	if (pread(fd, &e, sizeof(e), 0) != sizeof(e) || memcmp(e.e_ident, ELFMAG, SELFMAG) ||
	    e.e_phentsize != sizeof(*phdr) || e.e_phnum > PHDRS_MAX ||
	    pread(fd, phdr, e.e_phnum * sizeof(*phdr), e.e_phoff) != (ssize_t)(e.e_phnum * sizeof(*phdr)))
		return false;
	for (unsigned i = 0; i < e.e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && addr >= phdr[i].p_vaddr &&
		    addr - phdr[i].p_vaddr < phdr[i].p_filesz)
			return pread(fd, found, sizeof(found), phdr[i].p_offset + addr - phdr[i].p_vaddr) ==
			       sizeof(found) && !memcmp(found, code, sizeof(code));
	return false;
}

static bool look(const struct ldb_row_module *m, uint64_t ret)
{
	int fd = open(m->path, O_RDONLY | O_CLOEXEC);
	bool found = fd >= 0 && has_code(fd, ret - m->bias);

	if (fd >= 0)
		close(fd);
	return found;
}

bool oracle_is_handler(struct oracle *o, uint64_t ret)
{
	struct cursor *c;
	struct reader_rows in;

	if (ret == o->sigreturn)
		return true;
	c = reader_cursor(o->r, LDB_BLK_MODULE, NULL);
	while (c && ret != o->sigreturn && cursor_next(c, &in) > 0)
		for (size_t i = 0; i < in.nr; i++)
			if (ret >= in.module[i].start && ret < in.module[i].end && look(&in.module[i], ret))
				o->sigreturn = ret;
	cursor_close(c);
	return ret == o->sigreturn;
}
