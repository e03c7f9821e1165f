# SPDX-License-Identifier: GPL-2.0-or-later
# splat FILE: prints where a kernel log complains, with what follows; exit status 1 if it does
# not.  It is sourced by the guest and by the host.

splat_re='WARNING: |BUG: |kernel BUG at|Oops|KASAN|UBSAN|general protection fault|Call Trace:'
splat_re="$splat_re|possible (circular|recursive|irq) locking|inconsistent lock state|suspicious RCU"
splat_re="$splat_re|INFO: (rcu|task|lockdep|trying to)|rcu_tasks.*stall|ODEBUG: |corruption|refcount_t"
splat_re="$splat_re|while atomic|sleeping function called|soft lockup"
splat_re="$splat_re|Kernel panic|double fault|leaked|unregister_ftrace|ftrace bug"
# Removes messages that are no complaints: messages of some CPU models about themselves, and the
# kernel's messages, with a stack, about allocations that fail on purpose.  The module requests that
# its own allocations fail silently, so such a message about them is a complaint.
splat_rest()	# file
{
	awk '/vmalloc error: .* failed, mode:|page allocation failure: order:/ { held = 1; ours = 0; text = "" }
	     held {
		text = text $0 "\n"
		ours = ours || /\[ldb\]/
		if (/<\/TASK>/) { if (ours) printf "%s", text; held = 0 }
		next
	     }
	     !/data leaks possible|VM_FAULT_OOM leaked out to the #PF handler/
	     END { if (held) printf "%s", text }' "$1"
}

splat()	# file
{
	splat_rest "$1" | grep -nE -A 30 "$splat_re" | head -n 120 | grep .
}
