// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This program replaces libFuzzer: it passes each file, and each file of each folder, to the
 * target.
 *
 *	replay-TARGET FILE|FOLDER...
 *
 * It prints the number of files.  A failed check ends the program.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include "fuzz.h"

static unsigned nr_replayed;

static void replay_file(const char *path)
{
	uint8_t *data = NULL;
	size_t size = 0;
	struct stat st;
	FILE *f = fopen(path, "rb");

	if (f && !fstat(fileno(f), &st)) {
		data = malloc(st.st_size + 1);
		size = data ? fread(data, 1, st.st_size, f) : 0;
	}
	if (!data || (off_t)size != st.st_size) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		exit(1);
	}
	fclose(f);
	fprintf(stderr, "replay: %s\n", path);
	/*
	 * The buffer has exactly the input's size, so that a memory checker detects reads behind
	 * it.
	 */
	data = realloc(data, size ? size : 1);
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	nr_replayed++;
}

static void replay_folder(const char *path)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < nr; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			replay_file(file);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	struct stat st;

	for (int i = 1; i < argc; i++) {
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			replay_folder(argv[i]);
		else
			replay_file(argv[i]);
	}
	printf("%u replayed\n", nr_replayed);
	return 0;
}
