/* SPDX-License-Identifier: Apache-2.0 */
/* config_int.h - the rows of config.def as data, for config.c and config_print.c only. */
#pragma once
#include <stddef.h>
#include "core/table/config.h"

enum config_type { CT_INT, CT_SIZE, CT_DURATION_MS, CT_BOOL, CT_STR, CT_ENUM };

struct config_row {
    const char *key;            /* "db.pool_size" */
    enum config_type type;
    size_t offset;
    const char *dflt;
    int64_t min, max;           /* both 0: any */
    unsigned flags;
    const char *doc;
    const char *values;         /* CT_ENUM: "a|b|c" */
};

enum { CONFIG_ENV_MAX = 96 };

extern const struct config_row config_rows[];
extern const size_t config_nrows;

/* "FALAJ_DB_POOL_SIZE" */
void config_env_name(const struct config_row *r, char out[CONFIG_ENV_MAX]);
const char *config_type_name(enum config_type t);
