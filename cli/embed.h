/* SPDX-License-Identifier: Apache-2.0 */
/* embed.h - files that are part of the program. */
#pragma once
#include "core/base/str.h"

struct str embed_roles_sql(void);
struct str embed_superuser_sql(void);
struct str embed_digits_csv(void);
