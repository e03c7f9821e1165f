# SPDX-License-Identifier: GPL-2.0-or-later
# The rooms of tools/, each above those that it includes headers of (tests/lint/layers.t);
# record/ is beside symbol/.  README.md says what is in them.
ROOMS := base arch cli trace symbol record facts analysis/attribution analysis/report analysis/tracks \
	analysis/partition analysis/timeline analysis/why analysis/compare analysis/whatif names render export page top
