/* SPDX-License-Identifier: Apache-2.0 */
/* approval_kinds.h - every act that needs more than one person, as a row with its executor (tenants/access/approval.h). */
#pragma once
#include "tenants/access/approval.h"

extern const struct approval_kind *const approval_kinds[];     /* NULL-ended */
