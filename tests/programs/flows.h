/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Declares the functions that the program flows.cc and its libraries call a known number of times.
 */
#ifndef FLOWS_H
#define FLOWS_H

#ifdef __cplusplus
extern "C" {
#endif
void one_work(unsigned n);	/* a library that is linked */
void two_work(unsigned n);	/* a linked library that calls with -fno-plt */
unsigned long long spin(unsigned ticks);	/* of library one; returns how many it took */
#ifdef __cplusplus
}
#endif

#endif
