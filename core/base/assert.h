/* SPDX-License-Identifier: Apache-2.0 */
/* assert.h - ASSERT for bugs, in every build: prints where, then aborts. Input is never a bug: use FAIL for it. */
#pragma once

_Noreturn void assert_failed(const char *what, const char *file, int line);

#define ASSERT(cond) ((cond) ? (void)0 : assert_failed(#cond, __FILE__, __LINE__))
