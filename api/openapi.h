/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.h - prints the contract from the route tables: OpenAPI 3.1.0. The people's routes only; worker routes are internal. */
#pragma once
#include "core/base/str.h"

void openapi_print(struct buf *out);
void errors_print_markdown(struct buf *out);        /* docs/gen/errors.md */
