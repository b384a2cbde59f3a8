/* SPDX-License-Identifier: Apache-2.0 */
/* oidc_int.h - how the two files of a login at a provider refuse: one message, the cause in the detail. */
#pragma once
#include "core/base/err.h"

enum errc oidc_refuse(struct err *e, const char *why);
