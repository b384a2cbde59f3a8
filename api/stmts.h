/* SPDX-License-Identifier: Apache-2.0 */
/* stmts.h - what falaj-api asks of the database, as lists that its pools check at the start (core/db/pool.h). */
#pragma once
#include "core/db/stmt.h"

/* Of the login of people's routes, and of machines'. NULL at the end. */
extern const struct stmt *const *const api_stmts[];
extern const struct stmt *const *const api_node_stmts[];
