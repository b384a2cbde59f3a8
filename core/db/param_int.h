/* SPDX-License-Identifier: Apache-2.0 */
/* param_int.h - arguments to libpq's binary parameters; only for core/db.
 *
 * The formats are those of PostgreSQL's send/recv functions: integers and floats in network order, times as microseconds since
 * 2000-01-01, jsonb as version byte 1 and text, arrays as {ndim, has_null, element oid, {size, lower bound}, {length, bytes}…}. */
#pragma once
#include "core/base/str.h"
#include "core/db/arg.h"
#include "core/db/stmt.h"

enum { DB_PARAMS_MAX = 64, DB_PARAM_BYTES_MAX = 64 << 20 };
#define PG_EPOCH_US 946684800000000LL       /* 2000-01-01 in Unix microseconds */

struct params {
    int n;
    const char *values[DB_PARAMS_MAX];
    int lengths[DB_PARAMS_MAX];
    int formats[DB_PARAMS_MAX];
    char fixed[DB_PARAMS_MAX][16];          /* scalars */
};

/* The oid of a letter; 0: no such letter. */
unsigned param_oid(char letter);
/* scratch holds arrays and jsonb; it must live until the parameters are sent. false: the values are larger than the limit. */
bool params_encode(struct params *p, const struct stmt *st, const struct arg *args, int nargs, struct buf *scratch);
