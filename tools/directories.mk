# SPDX-License-Identifier: GPL-2.0-or-later
# These are the directories of tools/, each after those that it needs (tests/lint/layers.t and
# circles.t); of those after record/, only top needs one of record/.  README.md describes them.
DIRECTORIES := base arch cli trace symbol \
	record/process record/session record/names record/inject record/launch record/kernel record/perf \
	record/probes record/chain record/filter record/requests record/metrics record/rows record/flight \
	record/output record/run \
	facts analysis/attribution analysis/report analysis/flows analysis/tracks \
	analysis/partition analysis/timeline analysis/why analysis/compare analysis/whatif names render export page top
