# SPDX-License-Identifier: LGPL-2.1-or-later
# Libraries are installed below PREFIX in $(RELLIBDIR).  Under /usr Debian's loader searches a
# directory of the architecture ($(MULTIARCH)); with other prefixes there is none.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
RELLIBDIR := lib$(if $(filter /usr,$(PREFIX)),$(MULTIARCH:%=/%))
