/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - every setting of every daemon: the sources are applied from weak to strong over the defaults.
 *
 * A row is set by one function, config_put, whoever the source is, so that all of them accept the same text. A reload builds a
 * whole new struct first and then copies the reloadable words: a bad file changes nothing. */
#include "core/table/config_int.h"
#include "core/base/nearest.h"
#include "core/base/assert.h"
#include "core/base/log.h"
#include "core/base/str.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { ARENA_BYTES = 1 << 20, LINE_BYTES = 8192, STR_MAX = 4096 };

#define CFG(section, name, type, dflt, min, max, flags, doc) \
    { #section "." #name, CT_##type, offsetof(struct config, section##_##name), dflt, min, max, flags, doc, NULL },
#define CFG_ENUM(section, name, values, dflt, flags, doc) \
    { #section "." #name, CT_ENUM, offsetof(struct config, section##_##name), dflt, 0, 0, flags, doc, values },
const struct config_row config_rows[] = {
#include "core/table/config.def"
};
#undef CFG
#undef CFG_ENUM
const size_t config_nrows = sizeof config_rows / sizeof config_rows[0];

void config_env_name(const struct config_row *r, char out[CONFIG_ENV_MAX])
{
    size_t n = (size_t)snprintf(out, CONFIG_ENV_MAX, "FALAJ_%s", r->key);
    ASSERT(n < CONFIG_ENV_MAX);
    for (char *p = out; *p; p++)
        *p = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
}

static const struct config_row *find_row(struct str key, struct err *e)
{
    const struct config_row *best = NULL;
    size_t best_d = NEAREST_MAX;
    for (size_t i = 0; i < config_nrows; i++) {
        size_t d;
        if (str_eq_c(key, config_rows[i].key))
            return &config_rows[i];
        if ((d = nearest_distance(key, str_c(config_rows[i].key))) < best_d) {
            best_d = d;
            best = &config_rows[i];
        }
    }
    if (best && best_d <= 6)
        FAIL(e, INVALID, "there is no setting %.*s; did you mean %s?", (int)(key.len > 64 ? 64 : key.len), key.ptr, best->key);
    else
        FAIL(e, INVALID, "there is no setting %.*s", (int)(key.len > 64 ? 64 : key.len), key.ptr);
    return NULL;
}

/* A number with one of the type's suffixes. */
static bool scaled(struct str v, enum config_type type, int64_t *ret)
{
    static const struct { const char *suffix; enum config_type type; int64_t factor; } units[] = {
        { "ms", CT_DURATION_MS, 1 },       { "s", CT_DURATION_MS, 1000 },      { "m", CT_DURATION_MS, 60000 },
        { "h", CT_DURATION_MS, 3600000 },  { "d", CT_DURATION_MS, 86400000 },  { "k", CT_SIZE, 1 << 10 },
        { "m", CT_SIZE, 1 << 20 },         { "g", CT_SIZE, 1 << 30 },
    };
    int64_t factor = 1;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (units[i].type == type && str_ends(v, units[i].suffix)) {
            factor = units[i].factor;
            v.len -= strlen(units[i].suffix);
            break;
        }
    }
    int64_t n;
    return str_to_i64(v, INT64_MIN, INT64_MAX, &n) && !__builtin_mul_overflow(n, factor, ret);
}

static enum errc put_number(const struct config_row *r, struct str v, int64_t *dst, struct err *e)
{
    int64_t n;
    if (!scaled(v, r->type, &n))
        return FAIL(e, INVALID, "%s must be %s", r->key, config_type_name(r->type));
    if ((r->min || r->max) && (n < r->min || n > r->max))
        return FAIL(e, INVALID, "%s must be from %" PRId64 " to %" PRId64, r->key, r->min, r->max);
    *dst = n;
    return ERR_OK;
}

static enum errc put_enum(const struct config_row *r, struct str v, int *dst, struct err *e)
{
    struct str rest = str_c(r->values), head;
    for (int i = 0; rest.ptr; i++) {
        str_cut(rest, '|', &head, &rest);
        if (str_eq(head, v))
            return *dst = i, ERR_OK;
    }
    return FAIL(e, INVALID, "%s must be one of %s", r->key, r->values);
}

static enum errc put_str(struct config *c, const struct config_row *r, struct str v, const char **dst, struct err *e)
{
    int64_t max = r->max ? r->max : STR_MAX;
    if ((int64_t)v.len < r->min || (int64_t)v.len > max)
        return FAIL(e, INVALID, "%s must have %" PRId64 " to %" PRId64 " bytes", r->key, r->min, max);
    if (v.len && memchr(v.ptr, '\0', v.len))
        return FAIL(e, INVALID, "%s has a NUL byte", r->key);
    char *p = arena_try(c->arena, v.len + 1);
    if (!p)
        return FAIL(e, LIMIT, "the settings are too large");
    if (v.len)
        memcpy(p, v.ptr, v.len);
    *dst = p;
    return ERR_OK;
}

static enum errc config_put(struct config *c, const struct config_row *r, struct str v, struct err *e)
{
    char *at = (char *)c + r->offset;
    switch (r->type) {
    case CT_INT:
    case CT_SIZE:
    case CT_DURATION_MS:
        return put_number(r, v, (int64_t *)at, e);
    case CT_BOOL:
        return str_to_bool(v, (bool *)at) ? ERR_OK : FAIL(e, INVALID, "%s must be true or false", r->key);
    case CT_STR:
        return put_str(c, r, v, (const char **)at, e);
    case CT_ENUM:
        return put_enum(r, v, (int *)at, e);
    }
    return FAIL(e, INTERNAL, "setting %s has no type", r->key);
}

static enum errc file_line(struct config *c, char *line, struct err *e)
{
    struct str s = str_trim(str_n(line, strcspn(line, "\r\n"))), key, value;
    if (s.len == 0 || *s.ptr == '#')
        return ERR_OK;
    if (!str_cut(s, '=', &key, &value))
        return FAIL(e, INVALID, "expected section.name = value");
    const struct config_row *r = find_row(str_trim(key), e);
    return r ? config_put(c, r, str_trim(value), e) : ERR_INVALID;
}

/* Puts "path:line: " before the message. */
static enum errc at_line(struct err *e, enum errc rc, const char *path, int line)
{
    char msg[sizeof e->msg];
    if (!e)
        return rc;
    memcpy(msg, e->msg, sizeof msg);
    snprintf(e->msg, sizeof e->msg, "%.100s:%d: %.140s", path, line, msg);
    return rc;
}

static void file_closep(FILE **f)
{
    if (*f)
        fclose(*f);
}

static enum errc read_file(struct config *c, const char *path, struct err *e)
{
    __attribute__((cleanup(file_closep))) FILE *f = fopen(path, "re");
    char line[LINE_BYTES];
    if (!f) {
        int errnum = errno;
        FAIL(e, INVALID, "cannot open the settings file %.180s", path);
        return err_errno(e, errnum), ERR_INVALID;
    }
    for (int n = 1; fgets(line, sizeof line, f); n++) {
        size_t len = strlen(line);
        if (len + 1 == sizeof line && line[len - 1] != '\n')
            return FAIL(e, INVALID, "%.180s:%d: the line is too long", path, n);
        enum errc rc = file_line(c, line, e);
        if (rc)
            return at_line(e, rc, path, n);
    }
    if (ferror(f))
        return FAIL(e, INVALID, "cannot read the settings file %.180s", path);
    c->file = arena_strndup(c->arena, path, strlen(path));
    return ERR_OK;
}

static enum errc read_environment(struct config *c, struct err *e)
{
    char name[CONFIG_ENV_MAX];
    for (size_t i = 0; i < config_nrows; i++) {
        config_env_name(&config_rows[i], name);
        const char *v = getenv(name);
        enum errc rc = v ? config_put(c, &config_rows[i], str_c(v), e) : ERR_OK;
        if (rc)
            return err_note(e, "in the environment variable %s", name), rc;
    }
    return ERR_OK;
}

/* Takes the flags that are settings out of argv. dry: only looks for --config. */
static enum errc read_flags(struct config *c, int *argc, char **argv, const char **file, bool dry, struct err *e)
{
    int kept = 1;
    for (int i = 1; i < *argc; i++) {
        struct str arg = str_c(argv[i]), key, value;
        if (str_eq_c(arg, "--")) {
            while (i < *argc)
                argv[kept++] = argv[i++];
            break;
        }
        bool has_value = str_cut(arg, '=', &key, &value);
        bool is_next = str_eq_c(arg, "--config");        /* --config FILE, as two words */
        if (is_next && i + 1 == *argc)
            return FAIL(e, INVALID, "--config needs the path of a file");
        if (is_next || (has_value && str_eq_c(key, "--config"))) {
            *file = is_next ? argv[i + 1] : value.ptr;
            if (is_next && dry)
                argv[kept++] = argv[i];
            i += is_next;
        } else if (!str_starts(arg, "--") || str_find(key, '.') < 0) {
            argv[kept++] = argv[i];
            continue;
        } else if (!dry) {
            const struct config_row *r = find_row(str_n(key.ptr + 2, key.len - 2), e);
            if (!r)
                return ERR_INVALID;
            if (!has_value && r->type != CT_BOOL)
                return FAIL(e, INVALID, "write --%s=VALUE", r->key);
            TRY(config_put(c, r, has_value ? value : STR("true"), e));
            c->is_fixed[r - config_rows] = true;
        }
        if (dry)
            argv[kept++] = argv[i];
    }
    if (dry)
        return ERR_OK;
    for (int i = kept; i < *argc; i++)
        argv[i] = NULL;
    *argc = kept;
    return ERR_OK;
}

struct config *config_new_default(void)
{
    struct config *c = calloc(1, sizeof *c);
    ASSERT(c);
    c->arena = arena_new(ARENA_BYTES);
    c->is_fixed = ARENA_ARRAY(c->arena, bool, config_nrows);
    for (size_t i = 0; i < config_nrows; i++) {
        struct err e;
        const struct config_row *r = &config_rows[i];
        ASSERT(config_put(c, r, str_c(r->dflt), &e) == ERR_OK);
        ASSERT(!(r->type == CT_STR && (r->flags & CFG_RELOAD)));
    }
    return c;
}

enum errc config_load(int *argc, char **argv, struct config **ret, struct err *e)
{
    __attribute__((cleanup(config_freep))) struct config *c = config_new_default();
    const char *file = getenv("FALAJ_CONFIG");
    TRY(read_flags(c, argc, argv, &file, true, e));
    if (file && *file)
        TRY(read_file(c, file, e));
    TRY(read_environment(c, e));
    TRY(read_flags(c, argc, argv, &file, false, e));
    *ret = c;
    c = NULL;
    return ERR_OK;
}

enum errc config_set(struct config *c, const char *key, const char *value, struct err *e)
{
    const struct config_row *r = find_row(str_c(key), e);
    if (!r)
        return ERR_INVALID;
    TRY(config_put(c, r, str_c(value), e));
    c->is_fixed[r - config_rows] = true;
    return ERR_OK;
}

enum errc config_reload(struct config *c, struct err *e)
{
    __attribute__((cleanup(config_freep))) struct config *fresh = config_new_default();
    if (c->file)
        TRY(read_file(fresh, c->file, e));
    TRY(read_environment(fresh, e));
    for (size_t i = 0; i < config_nrows; i++) {
        const struct config_row *r = &config_rows[i];
        char *to = (char *)c + r->offset, *from = (char *)fresh + r->offset;
        if (!(r->flags & CFG_RELOAD) || c->is_fixed[i])
            continue;
        /* Other threads read these words: each is stored whole. */
        if (r->type == CT_BOOL)
            __atomic_store_n((bool *)to, *(bool *)from, __ATOMIC_RELAXED);
        else if (r->type == CT_ENUM)
            __atomic_store_n((int *)to, *(int *)from, __ATOMIC_RELAXED);
        else
            __atomic_store_n((int64_t *)to, *(int64_t *)from, __ATOMIC_RELAXED);
    }
    return ERR_OK;
}

void config_hangup(struct config *c)
{
    struct err e;
    if (config_reload(c, &e) != ERR_OK) {
        log_err(LOG_ERROR, "config.refused", &e);
        return;
    }
    log_level_set((enum log_level)c->log_level);
    log_event(LOG_INFO, "config.reloaded", "file", LOG_S(c->file ? c->file : ""), NULL);
}

void config_free(struct config *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    free(c);
}

void config_freep(struct config **c)
{
    config_free(*c);
    *c = NULL;
}
