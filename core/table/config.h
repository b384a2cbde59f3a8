/* SPDX-License-Identifier: Apache-2.0 */
/* config.h - every setting of every daemon as a member of one struct, read once at start.
 *
 * A setting is one row of config.def: CFG(db, pool_size, INT, "4", 1, 512, 0, "…") is the member cfg->db_pool_size, the flag
 * --db.pool_size=8, the variable FALAJ_DB_POOL_SIZE and the line "db.pool_size = 8" of the file. Earlier wins: flag,
 * environment, file, default. An unknown key is refused with the nearest known one; errors name file and line.
 * The file is --config PATH, --config=PATH or FALAJ_CONFIG; lines are `section.name = value`, `#` starts a comment line.
 * Types: INT and SIZE (k, m, g suffixes of 1024) and DURATION_MS (ms, s, m, h, d suffixes) are int64_t; BOOL is bool; STR is a
 * C string, never NULL ("" when unset); ENUM is an int, the index in its list.
 * Memory: strings live as long as the config. Errors: INVALID. Flags: RELOAD (config_reload may change it; no STR), SECRET
 * (never printed). */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "core/base/arena.h"
#include "core/base/err.h"

enum { CFG_RELOAD = 1, CFG_SECRET = 2 };
enum run_profile { PROFILE_DEV, PROFILE_PROD };
enum worker_programs { PROGRAMS_NONE, PROGRAMS_HOST };
enum approval_separation { SEPARATION_PEOPLE, SEPARATION_ACCOUNTS };

struct config {
#define CFG_T_INT int64_t
#define CFG_T_SIZE int64_t
#define CFG_T_DURATION_MS int64_t
#define CFG_T_BOOL bool
#define CFG_T_STR const char *
#define CFG(section, name, type, dflt, min, max, flags, doc) CFG_T_##type section##_##name;
#define CFG_ENUM(section, name, values, dflt, flags, doc) int section##_##name;
#include "core/table/config.def"
#undef CFG
#undef CFG_ENUM
    struct arena *arena;        /* holds the strings */
    bool *is_fixed;             /* by row: set by a flag or config_set; config_reload leaves it alone */
    const char *file;           /* the file that was read, or NULL */
};

/* Reads all sources. Flags that contain a dot, and --config, are taken out of argv (argc shrinks); all else is left to main. */
enum errc config_load(int *argc, char **argv, struct config **ret, struct err *e) MUST_CHECK;
/* Defaults only: for tests and tools. */
struct config *config_new_default(void);
/* One setting by key, as in the file but with the rank of a flag; for tests and `falaj dev`. */
enum errc config_set(struct config *c, const char *key, const char *value, struct err *e) MUST_CHECK;
/* Reads file and environment again; changes only CFG_RELOAD rows, and only if all of the file is good. */
enum errc config_reload(struct config *c, struct err *e) MUST_CHECK;
/* What a daemon does on SIGHUP: config_reload, the new level of the log, and a line that says how it went. */
void config_hangup(struct config *c);
void config_free(struct config *c);
void config_freep(struct config **c);
/* Every setting with type, default, range and doc. */
void config_help(FILE *out);
void config_print_markdown(FILE *out);
/* Present values in file form; secrets as ***. */
void config_print(const struct config *c, FILE *out);
