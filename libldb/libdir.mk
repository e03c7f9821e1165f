# SPDX-License-Identifier: LGPL-2.1-or-later
# Where libraries go, below PREFIX: $(RELLIBDIR).  Debian's loader searches a folder of
# the architecture's ($(MULTIARCH)) under /usr; elsewhere there is none of that kind.
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
RELLIBDIR := lib$(if $(filter /usr,$(PREFIX)),$(MULTIARCH:%=/%))
