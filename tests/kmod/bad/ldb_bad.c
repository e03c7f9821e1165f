// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * This module misbehaves in the way that its parameter says, so that harness.t can check that the
 * harness detects it.
 */
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>

static char *how = "";
module_param(how, charp, 0444);

static DEFINE_MUTEX(lock_a);
static DEFINE_MUTEX(lock_b);

static void deadlock_order(void)
{
	mutex_lock(&lock_a);
	mutex_lock(&lock_b);
	mutex_unlock(&lock_b);
	mutex_unlock(&lock_a);
	mutex_lock(&lock_b);
	mutex_lock(&lock_a);
	mutex_unlock(&lock_a);
	mutex_unlock(&lock_b);
}

static void use_after_free(void)
{
	char *p = kmalloc(64, GFP_KERNEL);

	kfree(p);
	if (p)
		pr_info("ldb_bad: %d\n", READ_ONCE(p[8]));
}

static unsigned int shared;

static int increment(void *unused)
{
	unsigned long end = jiffies + 3 * HZ;

	while (time_before(jiffies, end)) {
		shared++;
		barrier();
		cond_resched();
	}
	return 0;
}

/* Runs two threads, on two CPUs if there are two. */
static void race(void)
{
	kthread_run(increment, NULL, "ldb_bad");
	increment(NULL);
	msleep(500);
}

static int __init bad_init(void)
{
	if (!strcmp(how, "warn"))
		WARN_ON(1);
	else if (!strcmp(how, "oops"))
		WRITE_ONCE(*(int *)8, 1);
	else if (!strcmp(how, "lock"))
		deadlock_order();
	else if (!strcmp(how, "free"))
		use_after_free();
	else if (!strcmp(how, "race"))
		race();
	else if (!strcmp(how, "leak"))
		pr_info("ldb_bad: %d\n", !kmalloc(100, GFP_KERNEL));
	return 0;
}

static void __exit bad_exit(void)
{
}

module_init(bad_init);
module_exit(bad_exit);
MODULE_DESCRIPTION("misbehaves, for tests/kmod/harness.t");
MODULE_LICENSE("GPL");
