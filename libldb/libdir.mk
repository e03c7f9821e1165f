# SPDX-License-Identifier: LGPL-2.1-or-later
# Libraries are installed below PREFIX in $(RELLIBDIR).  Debian's loader searches a folder of
# the architecture's ($(MULTIARCH)) under /usr; elsewhere there is no such folder.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
RELLIBDIR := lib$(if $(filter /usr,$(PREFIX)),$(MULTIARCH:%=/%))
