/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what the program flows.cc and its libraries call a known number of times. */
#ifndef FLOWS_H
#define FLOWS_H

#ifdef __cplusplus
extern "C" {
#endif
void one_work(unsigned n);	/* a library that is linked */
void two_work(unsigned n);	/* ... that calls by -fno-plt */
void spin(unsigned ticks);	/* of library one */
#ifdef __cplusplus
}
#endif

#endif
