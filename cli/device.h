/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - falaj login on a browser: shows a code, waits until somebody has let this machine in, and gives the token.
 * Returns CLI_OK with *ret_token in c->arena, or an exit code after a message. */
#pragma once
#include "cli/command.h"

int device_login(struct cli *c, const char **ret_token);
