/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - named failure points for the tests: FAULT("commit_lost") is false in production and costs one load.
 *
 * FALAJ_FAULTS="commit_lost:3,reply_lost:50%" (read once by fault_setup, which a release build refuses unless the profile is
 * not prod) fires the third time, or for half of all calls. */
#pragma once
#include <stdbool.h>

extern bool fault_any;      /* set by fault_setup; the only cost of an idle point */

void fault_setup(const char *spec);
bool fault_fires(const char *name);

#define FAULT(name) (__builtin_expect(fault_any, 0) && fault_fires(name))
