# SPDX-License-Identifier: GPL-2.0-or-later
# Tests requests behind others: in a queue, and in a batch that one thread started at once.
# Timed: the judged causes are those that the scanner had to observe.
. "$(dirname "$0")/../lib/engine.sh"
. "$TOP/tests/lib/why.sh"
need_build
build_why why-queues

record_cause queue ./why-queues queue
judge queue cause=head_of_line anomaly=overlap label=scan
check_seen queue-plant "queue: one request was ahead" queue-plant.judged 'all(.[]; .ahead == 1)'
record_cause batch ./why-queues batch
judge batch cause=head_of_line anomaly=overlap label=scan
check_seen batch-plant "batch: those before it in the batch were ahead" batch-plant.judged 'all(.[]; .ahead >= 1 and .ahead <= 7)'

judge_not "there is no such class" queue-plant cause=head_of_line label=put
judge_sums
judge_coverage
finish
