# SPDX-License-Identifier: GPL-2.0-or-later
# These are the directories of tools/, each after those whose headers it includes
# (tests/lint/layers.t); record/ is beside symbol/.  README.md describes them.
RECORD_ROOMS := $(addprefix record/,process session names inject launch kernel perf probes chain \
	filter requests metrics rows flight output run)
ROOMS := base arch cli trace symbol $(RECORD_ROOMS) facts analysis/attribution analysis/report analysis/flows analysis/tracks \
	analysis/partition analysis/timeline analysis/why analysis/compare analysis/whatif names render export page top
