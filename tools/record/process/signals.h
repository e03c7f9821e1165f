/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Receives signals: those by which the user stops the recording, SIGCHLD, and added ones. */
#ifndef RECORD_PROCESS_SIGNALS_H
#define RECORD_PROCESS_SIGNALS_H

/* Adds a signal to those that the descriptor delivers.  Must be called before signals_open(). */
void signals_add(int signal);
/*
 * Returns a signalfd, or -1.  The signals are blocked, and a few others are ignored;
 * signals_child() restores mask and dispositions in a child.
 */
int signals_open(void);
void signals_child(void);
/* Returns the next signal; 0: none is pending. */
int signals_next(int fd);

#endif
