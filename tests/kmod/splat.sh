# SPDX-License-Identifier: GPL-2.0-or-later
# splat FILE: prints where a kernel log complains, with what follows; exit status 1
# if it does not.  Sourced by the guest and by the host.

splat_re='WARNING: |BUG: |kernel BUG at|Oops|KASAN|UBSAN|general protection fault|Call Trace:'
splat_re="$splat_re|possible (circular|recursive|irq) locking|inconsistent lock state|suspicious RCU"
splat_re="$splat_re|INFO: (rcu|task|lockdep|trying to)|rcu_tasks.*stall|ODEBUG: |corruption|refcount_t"
splat_re="$splat_re|while atomic|sleeping function called|soft lockup"
splat_re="$splat_re|Kernel panic|double fault|leaked|unregister_ftrace|ftrace bug"
# What some CPU models print about themselves.
splat_not='data leaks possible'

# Where allocations are made to fail the kernel says so of its own, with a stack: of the
# module's, which asks for silence, it must not.
splat_not_injected()	# file
{
	awk '/vmalloc error: .* failed, mode:|page allocation failure: order:/ { held = 1; ours = 0; text = "" }
	     held {
		text = text $0 "\n"
		ours = ours || /\[ldb\]/
		if (/<\/TASK>/) { if (ours) printf "%s", text; held = 0 }
		next
	     }
	     !/VM_FAULT_OOM leaked out to the #PF handler/
	     END { if (held) printf "%s", text }' "$1"
}

splat()	# file
{
	splat_not_injected "$1" | grep -E "$splat_re" | grep -vE "$splat_not" | head -n 1 | grep -q . || return 1
	splat_not_injected "$1" | grep -nE -A 30 "$splat_re" | grep -vE "$splat_not" | head -n 120
}
