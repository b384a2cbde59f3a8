/* SPDX-License-Identifier: Apache-2.0 */
/* child_int.h - exit statuses of a lease's child, for child.c and executor.c. */
#pragma once

enum { CHILD_DONE = 0, CHILD_LOST = 1, CHILD_STOPPED = 75 };
