// SPDX-License-Identifier: GPL-2.0-or-later
/* Implements the device of ldb.ko.  uapi/linux/ldb.h and Documentation/ldb.4 say what it does. */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include "ldb_internal.h"

static unsigned short mode = 0660;
module_param(mode, ushort, 0444);
MODULE_PARM_DESC(mode, "permissions of /dev/ldb, until udev changes them (0660)");

static void init_file(struct ldb_file *f)
{
	mutex_init(&f->pausing);
	mutex_init(&f->lock);
}

/*
 * Takes the locks (all but ldb_session.settings) in the order of ldb_internal.h, so that lockdep
 * reports any other order at once.
 */
static void __init teach_lockdep(void)
{
	static struct ldb_file f __initdata;

	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return;
	init_file(&f);
	mutex_lock(&f.pausing);
	mutex_lock(&f.lock);
	mutex_lock(&ldb_arm_mutex);
	mutex_lock(&ldb_sessions_mutex);
	raw_spin_lock_irq(&ldb_threads_lock);
	raw_spin_unlock_irq(&ldb_threads_lock);
	mutex_unlock(&ldb_sessions_mutex);
	mutex_unlock(&ldb_arm_mutex);
	mutex_unlock(&f.lock);
	mutex_unlock(&f.pausing);
}

static int ldb_open(struct inode *inode, struct file *file)
{
	struct ldb_file *f = kzalloc(sizeof(*f), GFP_KERNEL_ACCOUNT);

	if (!f)
		return -ENOMEM;
	init_file(f);
	file->private_data = f;
	return nonseekable_open(inode, file);
}

static int ldb_release(struct inode *inode, struct file *file)
{
	struct ldb_file *f = file->private_data;

	if (f->s)
		ldb_session_release(f->s);
	kfree(f);
	return 0;
}

/* Reads an argument of REG or UNREG: the latter has only a tid. */
static int get_reg(unsigned int cmd, struct ldb_reg *reg, const void __user *arg)
{
	size_t size = cmd == LDB_IOC_REG ? sizeof(*reg) : sizeof(reg->tid);

	return copy_from_user(reg, arg, size) ? -EFAULT : 0;
}

/* The ioctls of the program, made by any of its threads. */
static long program_ioctl(struct ldb_session *s, unsigned int cmd, struct ldb_reg *reg)
{
	if (!s->mm)
		return -ENXIO;
	if (current->mm != s->mm || current->signal != s->signal)
		return -EPERM;
	if (READ_ONCE(s->dead))
		return -ENXIO;
	if (cmd == LDB_IOC_REG)
		return ldb_thread_register(s, reg);
	return ldb_thread_unregister(s, reg->tid);
}

/*
 * These ioctls of the recorder do not take f->lock, so that the recorder does not wait for ioctls
 * of the program on the same file.
 */
static long recorder_ioctl(struct ldb_session *s, unsigned int cmd, void __user *arg)
{
	struct ldb_clock_sample sample;
	struct ldb_session_stats stats;

	if (!s)
		return -ENXIO;
	if (cmd == LDB_IOC_CALLS)
		return ldb_session_calls(s, arg);
	if (cmd == LDB_IOC_CHAINS)
		return ldb_session_chains(s, arg);
	if (cmd == LDB_IOC_CLOCK) {
		ldb_clock_measure(s->clock, &sample);
		return copy_to_user(arg, &sample, sizeof(sample)) ? -EFAULT : 0;
	}
	ldb_session_stats(s, &stats);
	return copy_to_user(arg, &stats, sizeof(stats)) ? -EFAULT : 0;
}

/*
 * Probes are registered without f->lock, because this may take seconds, and meanwhile new threads
 * of the program must be able to register.
 */
static long pause_ioctl(struct ldb_file *f, unsigned long arg)
{
	struct ldb_session *s = ldb_order_session(&f->s);	/* see ldb_ioctl() */
	long rc;

	if (!s)
		return -ENXIO;
	if (arg > 1)
		return -EINVAL;
	if (mutex_lock_interruptible(&f->pausing))
		return -ERESTARTSYS;
	rc = ldb_session_pause(s, arg);
	/* The lock is needed because a JOIN in progress may bind the session, or fail. */
	if (rc >= 0 && !arg && !mutex_lock_killable(&f->lock)) {
		ldb_session_introduce(s);
		mutex_unlock(&f->lock);
	}
	mutex_unlock(&f->pausing);
	return rc;
}

static long locked_ioctl(struct ldb_file *f, unsigned int cmd, void __user *arg,
			 struct ldb_reg *reg)
{
	if (cmd == LDB_IOC_CREATE)
		return ldb_session_create(f, arg);
	if (!f->s)
		return -ENXIO;
	if (cmd == LDB_IOC_JOIN)
		return ldb_session_join(f->s);
	return program_ioctl(f->s, cmd, reg);
}

static long ldb_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct ldb_file *f = file->private_data;
	void __user *user = (void __user *)arg;
	struct ldb_reg reg = {};
	long rc;

	switch (cmd) {
	case LDB_IOC_ABI:
		return LDB_DEVICE_ABI;
	case LDB_IOC_CLOCK:
	case LDB_IOC_STATS:
	case LDB_IOC_CALLS:
	case LDB_IOC_CHAINS:
		/* This and other loads of f->s pair with the release in ldb_session_create(). */
		return recorder_ioctl(ldb_order_session(&f->s), cmd, user);
	case LDB_IOC_REG:
	case LDB_IOC_UNREG:
		/* The lock is not held, because an access to user memory may never return. */
		rc = get_reg(cmd, &reg, user);
		if (rc)
			return rc;
		break;
	case LDB_IOC_CREATE:
	case LDB_IOC_JOIN:
		break;
	case LDB_IOC_PAUSE:
		return pause_ioctl(f, arg);
	default:
		return -ENOTTY;
	}
	if (mutex_lock_interruptible(&f->lock))
		return -ERESTARTSYS;
	rc = locked_ioctl(f, cmd, user, &reg);
	mutex_unlock(&f->lock);
	return rc;
}

static int ldb_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ldb_file *f = file->private_data;
	struct ldb_session *s;

	/* f->lock is not taken here, because it must be taken before the lock of the mm. */
	s = ldb_order_session(&f->s);
	return s ? ldb_memory_mmap(s, vma) : -ENXIO;
}

static __poll_t ldb_poll(struct file *file, struct poll_table_struct *wait)
{
	struct ldb_file *f = file->private_data;
	struct ldb_session *s = ldb_order_session(&f->s);	/* see ldb_ioctl() */
	__poll_t mask = 0;

	if (!s)
		return EPOLLERR;
	poll_wait(file, &s->wait, wait);
	if (test_and_clear_bit(0, &s->ready))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(s->dead))
		mask |= EPOLLHUP;
	return mask;
}

static const struct file_operations fops = {
	.owner		= THIS_MODULE,
	.open		= ldb_open,
	.release	= ldb_release,
	.unlocked_ioctl	= ldb_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= ldb_mmap,
	.poll		= ldb_poll,
};

static struct miscdevice device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "ldb",
	.fops	= &fops,
};

static int __init ldb_init(void)
{
	int rc;

	teach_lockdep();
	ldb_wq = alloc_workqueue("ldb", WQ_UNBOUND, 0);
	if (!ldb_wq)
		return -ENOMEM;
	rc = ldb_threads_init();
	if (rc)
		goto err_wq;
	rc = ldb_probes_init();
	if (rc)
		goto err_threads;
	ldb_futex_init();
	device.mode = mode & 0666;
	rc = misc_register(&device);
	if (rc)
		goto err_futex;
	return 0;

err_futex:
	ldb_futex_exit();
err_threads:
	ldb_threads_exit();
err_wq:
	destroy_workqueue(ldb_wq);
	return rc;
}

/* No file is open and nothing is mapped; deferred work may be in progress. */
static void __exit ldb_exit(void)
{
	misc_deregister(&device);
	ldb_probes_exit();
	ldb_futex_exit();
	/* After this no probe is running, whichever mechanism protects the tracepoints. */
	tracepoint_synchronize_unregister();
	rcu_barrier();		/* queue_rcu_work() */
	destroy_workqueue(ldb_wq);
	ldb_threads_exit();
	ldb_limits_exit();
}

module_init(ldb_init);
module_exit(ldb_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("ldb: per-thread pages and kernel events for latency profiling");
MODULE_VERSION(LDB_VERSION);
