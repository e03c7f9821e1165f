// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Decides whether the runtime can be preloaded into a program that is about to be executed, without
 * changing what the program does.  In a program for another CPU the loader would print an error; a
 * sanitizer requires to be the first library; a loader other than glibc's would fail; and in a
 * set-user-ID program the runtime would do nothing.
 *
 * This may run in the child of a vfork(), so it uses only the stack and system calls.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime.h"
#include "exec.h"

#define HEADERS_MAX	16	/* headers of a program, which usually has 13 */
#define DYNAMIC_MAX	64	/* entries of the dynamic section that are searched */
#define INTERPRETER_MAX	128

static long read_at(int fd, void *buf, size_t size, uint64_t offset)
{
	return sys(SYS_pread64, fd, buf, size, offset);
}

static bool begins_with(const char *s, const char *prefix)
{
	return !memcmp(s, prefix, strlen(prefix));
}

static bool is_sanitizer(const char *library)
{
	return begins_with(library, "libasan.so") || begins_with(library, "libtsan.so") ||
	       begins_with(library, "libhwasan.so");
}

static bool is_glibc_loader(int fd, const Elf64_Phdr *ph)
{
	char path[sizeof(CPU_LOADER)] = "";

	return ph->p_filesz == sizeof(path) &&
	       read_at(fd, path, sizeof(path), ph->p_offset) == sizeof(path) &&
	       !path[sizeof(path) - 1] && raw_str_equal(path, CPU_LOADER);
}

/* Returns the offset in the file of what will be loaded at an address; 0: it is not in the file. */
static uint64_t offset_of(const Elf64_Phdr *ph, unsigned nr, uint64_t address)
{
	for (unsigned i = 0; i < nr; i++)
		if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr &&
		    address - ph[i].p_vaddr < ph[i].p_filesz)
			return address - ph[i].p_vaddr + ph[i].p_offset;
	return 0;
}

static bool needs_sanitizer(int fd, const Elf64_Phdr *ph, unsigned nr, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn d[DYNAMIC_MAX];
	uint64_t size = dynamic->p_filesz < sizeof(d) ? dynamic->p_filesz : sizeof(d), strings = 0;
	long n = read_at(fd, d, size, dynamic->p_offset) / (long)sizeof(d[0]);
	char library[24];

	for (long i = 0; i < n; i++)
		if (d[i].d_tag == DT_STRTAB)
			strings = offset_of(ph, nr, d[i].d_un.d_ptr);
	for (long i = 0; strings && i < n && d[i].d_tag != DT_NULL; i++) {
		memset(library, 0, sizeof(library));
		if (d[i].d_tag == DT_NEEDED &&
		    read_at(fd, library, sizeof(library) - 1, strings + d[i].d_un.d_val) > 0 &&
		    is_sanitizer(library))
			return true;
	}
	return false;
}

static bool elf_takes_runtime(int fd, const Elf64_Ehdr *e)
{
	const Elf64_Phdr *interpreter = NULL, *dynamic = NULL;
	Elf64_Phdr ph[HEADERS_MAX];
	long size = e->e_phnum * sizeof(ph[0]);

	if (e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_machine != CPU_ELF_MACHINE ||
	    e->e_phentsize != sizeof(ph[0]) || e->e_phnum > HEADERS_MAX ||
	    read_at(fd, ph, size, e->e_phoff) != size)
		return false;
	for (unsigned i = 0; i < e->e_phnum; i++) {
		if (ph[i].p_type == PT_INTERP)
			interpreter = &ph[i];
		else if (ph[i].p_type == PT_DYNAMIC)
			dynamic = &ph[i];
	}
	return interpreter && dynamic && is_glibc_loader(fd, interpreter) &&
	       !needs_sanitizer(fd, ph, e->e_phnum, dynamic);
}

/*
 * Finds INTERPRETER in a line "#!INTERPRETER ARGUMENT".  Scripts without such a line are run by the
 * shell, if at all.
 */
static void script_interpreter(char *line)
{
	char *from = line + 2, *to = line;

	if (line[0] != '#' || line[1] != '!') {
		raw_strcpy(line, "/bin/sh", INTERPRETER_MAX);
		return;
	}
	while (*from == ' ' || *from == '\t')
		from++;
	while (*from && *from != ' ' && *from != '\t' && *from != '\n')
		*to++ = *from++;
	*to = 0;
}

static bool takes_runtime(const char *path, bool is_script)
{
	union {
		Elf64_Ehdr elf;
		char line[INTERPRETER_MAX];
	} u;
	int fd = sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	bool takes = false, is_elf = false;
	struct stat st;
	long n;

	if (fd < 0)
		return false;
	memset(&u, 0, sizeof(u));
	if (!sys(SYS_fstat, fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & (S_ISUID | S_ISGID))) {
		n = read_at(fd, u.line, sizeof(u.line) - 1, 0);
		is_elf = n >= (long)sizeof(u.elf) && !memcmp(u.elf.e_ident, ELFMAG, SELFMAG);
		takes = is_elf ? elf_takes_runtime(fd, &u.elf) : n > 0 && !is_script;
	}
	sys(SYS_close, fd);
	if (!takes || is_elf)
		return takes;
	script_interpreter(u.line);
	return takes_runtime(u.line, true);
}

bool exec_takes_runtime(const char *path)
{
	return takes_runtime(path, false);
}

/* Searches for the name as execvp() does. */
bool exec_takes_runtime_in(const char *dirs, const char *name)
{
	char path[EXEC_PATH_MAX];
	size_t length = strlen(name);

	for (const char *c = name; *c; c++)
		if (*c == '/')
			return exec_takes_runtime(name);
	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t n = 0;

		while (dirs[n] && dirs[n] != ':')
			n++;
		if (n + length + 2 < sizeof(path)) {
			memcpy(path, dirs, n);
			path[n] = '/';
			memcpy(path + (n ? n + 1 : 0), name, length + 1);
			if (!sys(SYS_faccessat, AT_FDCWD, path, X_OK))
				return exec_takes_runtime(path);
		}
		if (!dirs[n])
			return false;
		dirs += n + 1;
	}
}
