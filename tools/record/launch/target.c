// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Examines a program before it is started: whether it can be recorded, and which libraries must be
 * preloaded.
 */
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "arch/program.h"
#include "cli/error.h"
#include "cli/foreign.h"
#include "record/launch/target.h"

/* larger parts of a file are not read, because a sparse file may claim any size */
#define PART_MAX	(16 << 20)

/* Finds the program's file as execvp() would. */
static int find_program(const char *program, char *path, size_t size)
{
	const char *dirs = getenv("PATH");
	int error = ENOENT;

	if (strchr(program, '/')) {
		snprintf(path, size, "%s", program);
		return access(path, X_OK) ? errno : 0;
	}
	if (!dirs)
		dirs = "/bin:/usr/bin";
	while (*program) {
		size_t n = strcspn(dirs, ":");
		struct stat st;

		snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? dirs : ".", program);
		if (!stat(path, &st) && S_ISREG(st.st_mode)) {
			if (!access(path, X_OK))
				return 0;
			error = errno;
		}
		if (!dirs[n])
			break;
		dirs += n + 1;
	}
	return error;
}

struct elf_facts {
	bool is_elf, is_native, has_interpreter, has_records, compiled;
	char sanitizer[64];
};

static bool is_sanitizer(const char *library)
{
	return !strncmp(library, "libasan.so", 10) || !strncmp(library, "libtsan.so", 10) ||
	       !strncmp(library, "libhwasan.so", 12);
}

/* Reads ldb's notes, see ldb/abi.h: 1 means instrumented functions, 3 that the plugin was used. */
static void read_notes(Elf *elf, const GElf_Phdr *ph, struct elf_facts *f)
{
	Elf_Data *d = elf_getdata_rawchunk(elf, ph->p_offset, ph->p_filesz,
					   ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	size_t offset = 0, name, desc;
	GElf_Nhdr note;

	while (d && (offset = gelf_getnote(d, offset, &note, &name, &desc))) {
		if (note.n_namesz != 4 || memcmp((char *)d->d_buf + name, "LDB", 4))
			continue;
		f->has_records |= note.n_type == 1;
		f->compiled |= note.n_type == 3;
	}
}

static void read_needed(Elf *elf, const GElf_Phdr *ph, struct elf_facts *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh, strings;

	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *d;
		GElf_Dyn dyn;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC ||
		    sh.sh_offset != ph->p_offset || sh.sh_size > PART_MAX ||
		    !gelf_getshdr(elf_getscn(elf, sh.sh_link), &strings) || strings.sh_size > PART_MAX)
			continue;
		d = elf_getdata(scn, NULL);
		for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
			const char *library;

			if (dyn.d_tag != DT_NEEDED)
				continue;
			library = elf_strptr(elf, sh.sh_link, dyn.d_un.d_val);
			if (library && is_sanitizer(library) && !f->sanitizer[0])
				snprintf(f->sanitizer, sizeof(f->sanitizer), "%s", library);
		}
	}
}

static void read_segments(Elf *elf, struct elf_facts *f)
{
	GElf_Phdr ph;
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr && gelf_getphdr(elf, i, &ph); i++) {
		if (ph.p_type == PT_INTERP)
			f->has_interpreter = true;
		else if (ph.p_filesz > PART_MAX)
			continue;
		else if (ph.p_type == PT_DYNAMIC)
			read_needed(elf, &ph, f);
		else if (ph.p_type == PT_NOTE)
			read_notes(elf, &ph, f);
	}
}

/* Reads the ELF headers, and closes fd. */
static void read_elf(int fd, struct elf_facts *f)
{
	GElf_Ehdr header;
	Elf *elf;

	memset(f, 0, sizeof(*f));
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header)) {
		f->is_elf = true;
		f->is_native = header.e_ident[EI_CLASS] == ELFCLASS64 &&
			       header.e_machine == PROGRAM_MACHINE;
		read_segments(elf, f);
	}
	elf_end(elf);
	close(fd);
}

/*
 * Returns true if the program gains privileges when it is executed: then the loader ignores
 * LD_PRELOAD.
 */
static bool gains_rights(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if ((st.st_mode & S_ISUID) && st.st_uid != geteuid())
		return true;
	if ((st.st_mode & S_ISGID) && st.st_gid != getegid())
		return true;
	return geteuid() && getxattr(path, "security.capability", NULL, 0) > 0;
}

static bool is_switcher(const char *path)
{
	static const char *const names[] = { "sudo", "su", "doas", "pkexec", "runuser", NULL };

	for (int i = 0; names[i]; i++)
		if (!strcmp(basename(path), names[i]))
			return true;
	return false;
}

/* Returns true if the runtime can be preloaded into the program.  Otherwise prints why not. */
static bool can_preload(const char *program, const struct target *t)
{
	if (is_switcher(t->path)) {
		cli_error("%s drops the environment, so what it starts cannot be recorded: start ldb-record itself under %s",
			  program, program);
		return false;
	}
	if (gains_rights(t->path)) {
		cli_error("%s is set-user-ID or has capabilities, so the loader refuses the runtime: run it as its owner, or link the runtime (pkg-config ldbtrace) and use -p",
			  program);
		return false;
	}
	return true;
}

bool target_examine(const char *program, bool kernel_only, struct target *t)
{
	struct elf_facts f;
	struct stat st;
	int error = find_program(program, t->path, sizeof(t->path));

	if (!error && !stat(t->path, &st) && S_ISDIR(st.st_mode))
		error = EISDIR;
	if (error) {
		cli_error("cannot run %s: %s", program, strerror(error));
		return false;
	}
	if (kernel_only)
		return true;
	if (!can_preload(program, t))
		return false;
	read_elf(foreign_open(t->path), &f);
	t->kind = f.is_elf ? TARGET_DYNAMIC : TARGET_SCRIPT;
	t->has_records = f.has_records;
	t->lost_records = f.compiled && !f.has_records;
	memcpy(t->sanitizer, f.sanitizer, sizeof(t->sanitizer));
	if (f.is_elf && !f.is_native) {
		cli_error("%s is not a 64-bit " PROGRAM_MACHINE_NAME " program: it cannot be recorded", program);
		return false;
	}
	if (f.is_elf && !f.has_interpreter) {
		cli_error("%s is a static executable, these run but cannot be recorded: link it without -static",
			  program);
		return false;
	}
	return true;
}
