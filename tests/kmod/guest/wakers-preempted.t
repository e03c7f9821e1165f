# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests that wait, in thirteen ways, for a thread which is itself preempted: the module's
# events must lead to that thread, to the function or system call that it executed, and to why it
# was late.
# Timed: judged requests must be slow because of the planted cause, not because of other load.
. "$(dirname "$0")/../../lib/guest.sh"
. "$TOP/tests/lib/wakers-guest.sh"

load
judge_all_wakers preempted produce
judge_sums
check "the module unloads" "rmmod ldb"
finish
