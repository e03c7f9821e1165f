// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Begins and ends the recording that a recorder requests: maps the session's memory, starts the
 * scanners, and sends the first reports to the recorder.  (raw thread)
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include "runtime.h"

int attach_begin(const struct ldb_msg_attach *a, int *fd)
{
	struct ldb_msg_attached ok = { .nr_threads = 0 };
	bool has_counters;
	const char *why;
	int ret;

	if (a->version != LDB_CONTROL_VERSION) {
		send_text(LDB_MSG_ERROR, "ldb-record and the runtime in the program are of "
			  "different versions", 0);
		return -1;
	}
	why = "there is no memory for the scanner";
	ret = scan_prepare();
	if (!ret)
		ret = session_map(*fd, a, &why);
	if (ret) {
		send_text(LDB_MSG_ERROR, why, ret);
		return -1;
	}
	if (session.device >= 0)
		*fd = -1;
	children_set(a->children, a->secret);
	exec_init_attached();
	tune_begin(a);
	command_forget();
	send_begin();
	unmap_find_gone();
	has_counters = schedstat_init();
	recording_begin();
	ret = scan_start(tune_is_paused());
	if (ret) {
		recording_end();
		session_unmap();
		send_text(LDB_MSG_ERROR, "the scanner thread cannot be started", ret);
		return -1;
	}
	flow_begin_child();
	ok.nr_threads = order_live_count(&nr_live);
	ok.nr_unobserved = send_count_unobserved();
	ok.tsc = session.attach_tsc;
	session_info()->unobserved_threads += ok.nr_unobserved;
	send_message(&ok, LDB_MSG_ATTACHED, sizeof(ok));
	send_ready(has_counters);
	return 0;
}

void attach_end(void)
{
	children_forget();
	order_session_set(&session_page.a.on, 0);
	scan_stop();
	recording_end();
	flow_end();
	/*
	 * gives threads that are writing a record some time; what they write later goes into
	 * scratch memory
	 */
	raw_sleep_ns(1000000);
	flow_unmap();
}

int attach_resume(int *fd)
{
	bool has_counters = schedstat_init();
	struct stat st;

	if (sys(SYS_fstat, *fd, &st) == 0 && S_ISCHR(st.st_mode)) {
		session.device = *fd;
		*fd = -1;
	}
	if (!tune_is_paused() && scan_resume())
		return -1;
	send_ready(has_counters);
	return 0;
}
