/* SPDX-License-Identifier: Apache-2.0 */
/* api_rate.h - a memory of the few tenants whose limit of calls in a minute is their own (quota api_rate_per_minute), for the rate phase, which
 * may not wait. Refreshed by falaj-api's housekeeping, so a change holds within ten seconds. Any thread reads. */
#pragma once
#include "core/base/work.h"

struct stmt;
struct db_pool;
struct api_rates;

struct api_rates *api_rates_new(void);
void api_rates_free(struct api_rates *r);
enum errc api_rates_refresh(struct api_rates *r, struct db_pool *pool, struct arena *a, struct err *e) MUST_CHECK;
/* 0: none of its own. r NULL: nobody has one. */
int64_t api_rates_of(struct api_rates *r, struct uuid tenant_id);

extern const struct stmt *const api_rate_stmts[];
