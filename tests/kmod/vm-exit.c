// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * vm-exit VALUE: ends the guest through QEMU's isa-debug-exit device, as the last action of
 * its init.  Powering off would need ACPI.  QEMU's own exit status is then VALUE * 2 + 1.  It is
 * linked statically, because it must run when nothing else works.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/io.h>
#include <termios.h>

int main(int argc, char **argv)
{
	static const char *const ttys[] = { "/dev/ttyS0", "/dev/ttyS1" };
	int value = argc > 1 ? atoi(argv[1]) : 0;
	unsigned int i;

	/* The output must be sent before the guest ends. */
	for (i = 0; i < sizeof(ttys) / sizeof(ttys[0]); i++) {
		int fd = open(ttys[i], O_WRONLY | O_NOCTTY);

		if (fd >= 0)
			tcdrain(fd);
	}
	if (ioperm(0xf4, 1, 1))
		return 1;
	outb(value, 0xf4);
	return 0;
}
