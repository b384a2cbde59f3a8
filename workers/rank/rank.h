/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h - what falaj-rank and who puts it into a box must agree on; see rank.c. Includes nothing: the program is static. */
#pragma once

enum { RANK_PORT = 29499, RANK_COMMAND_MAX = 128 << 10, RANK_COMMANDS_MAX = 64, RANK_WAIT_S = 60 };
#define RANK_SERVE "--serve"
