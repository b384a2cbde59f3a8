/* SPDX-License-Identifier: Apache-2.0 */
/* inside.h - a session in a running program's box, from this end (core/wire/inside_wire.h). */
#pragma once
#include "cli/command.h"

struct ws_link;

/* Asks for it, and opens its stream. body: JSON (inside_ask). CLI_OK, or an exit code after a message. */
int inside_dial(struct cli *c, const char *job, struct str body, struct ws_link **ret);
/* Moves bytes between the stream and descriptors until it ends: in -> it, it -> out and err. winch: a terminal whose size is told
 * when it changes, else -1. Returns the command's status, or an exit code after a message. */
int inside_talk(struct cli *c, struct ws_link *l, int in, int out, int err, int terminal);
