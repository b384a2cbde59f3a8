/* SPDX-License-Identifier: Apache-2.0 */
/* engines.h - which engines for models outside our own operations this machine has: what the operator names
 * (worker.onnxruntime), opened for trial. Machines register it (node.engines), so jobs whose models need one go to no other.
 *
 * The trial is a process of its own, with the bound below: a library that hangs, dies or starts threads does so there, and the
 * agent never has its memory. What it finds is told once (worker.engines). Calls fork: before any thread. */
#pragma once
#include "core/table/config.h"

enum { ENGINES_TEXT = 256, ENGINES_TRIAL_MS = 20000 };

/* One more behind them, as a name with a version; left away where there is no room. */
void engines_add(char list[ENGINES_TEXT], const char *engine);
/* ret: "onnxruntime 1.30.0", or "" where none is named or it does not open. */
void engines_here(const struct config *cfg, char ret[ENGINES_TEXT]);
