# SPDX-License-Identifier: GPL-2.0-or-later
# This file is sourced by kmod/guest/wakers-*.t, after guest.sh: what lib/wakers.sh needs there.
#
# An emulator is slow, so all ways are in one recording, of few requests.  With the usual budget the
# scanner would poll so seldom that threads which live for some milliseconds are not registered.
record_options="--kernel module --budget=100%"
# Without this the recorder would sometimes preempt the program.
record_under="taskset -c 1"
why_tries=1
wakers_program=why-wakers
# For each way of waiting six requests are due, and two in the clean run.
export WHY_DUE_EVERY=5
wakers_requests=390
wakers_clean_requests=130
why_options="--slowest 78"
. "$TOP/tests/lib/wakers.sh"
