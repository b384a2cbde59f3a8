/* SPDX-License-Identifier: Apache-2.0 */
/* box_enter.h - one more process in a program's box, for somebody who looks inside.
 *
 * The watcher starts a helper (box_enter), which is this program anew: nothing of the lease is in its memory. It enters all the
 * namespaces of the program's first process, by the power that the watcher's account has over what bwrap made for it, and starts
 * there what is asked for: as the program's account, without capabilities, under the same filter of system calls, in the
 * lease's control group, with the program's environment. The helper can be neither traced nor looked into from the box.
 * It speaks with the agent over a socket of its own (frames, with descriptors): ASK (JSON: inside_ask) -> INSIDE with standard
 * input, output and error (a terminal: one for all three; forward: the one connection), or FAILED (why); then ENDED (JSON:
 * inside_end). When the agent closes the socket, what was started is hung up, and killed a moment later.
 * What it left running goes on as the program's own does, and ends with the box. Its memory and processes are the lease's. */
#pragma once
#include "workers/lease/box.h"

enum { BOX_VISITORS_MAX = 8 };

struct box_visitors { pid_t pids[BOX_VISITORS_MAX]; };

/* In the watcher, while the program runs: a helper that has the agent's socket. env, nenv, workdir: the program's.
 * Errors: LIMIT (so many are inside), IO. */
MUST_CHECK enum errc box_enter(struct box_visitors *v, const struct box *b, const struct box_program *p, int socket,
                               struct err *e);
/* Buries helpers that have ended. */
void box_visitors_look(struct box_visitors *v);
/* main of `falaj-worker --enter-box [net]`: the helper; net: the box has a network of its own. */
_Noreturn void box_enter_main(bool enters_net);
