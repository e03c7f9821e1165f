/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records like the flight recorder of an aircraft: only the last seconds are retained, and are
 * stored as a trace when something has happened.
 */
#ifndef RECORD_FLIGHT_H
#define RECORD_FLIGHT_H

#include <stdbool.h>

struct recording;

/*
 * Something has happened: the seconds before it and those that follow become a trace.  why is
 * one line, which is copied.  Returns false if the recording has no flight recorder, or if a limit
 * of dumps was reached, which is counted; true if there will be a dump, perhaps one that something
 * else has triggered and that has this, too.
 */
bool flight_trigger(struct recording *r, const char *why);

#endif
