/* SPDX-License-Identifier: Apache-2.0 */
/* plan_told.h - how long jobs waited for their machine, as spans of their traces (core/http/otlp.h). */
#pragma once
#include "core/base/work.h"
#include "scheduler/plan_check.h"

/* Once the plan's transaction has committed. lines: those that became attempts. With no collector it does nothing. */
void plan_told(struct work *w, const struct snapshot *s, const struct plan_line *lines, size_t n);
