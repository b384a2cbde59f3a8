/* SPDX-License-Identifier: Apache-2.0 */
/* rank_bytes.h - the program falaj-rank (workers/rank/rank.c), carried in this one, so that it comes into any box without a file
 * that a machine would have to have. */
#pragma once
#include "core/base/str.h"

struct str rank_bytes(void);
