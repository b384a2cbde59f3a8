/* SPDX-License-Identifier: Apache-2.0 */
/* schema.h - the one description of a C struct, from which rows, JSON, queries and the OpenAPI document are made.
 *
 *     struct job { struct uuid job_id; struct str name; int state; int64_t gpus; bool has_seed; int64_t seed; struct slice tags; };
 *     SCHEMA_OF(job, "A job and its state",
 *       FIELD_ID(job, job_id, "job", F_ALWAYS, .doc = "The job"),
 *       FIELD(job, name, F_REQ, .min = 1, .max = 128, .check = check_name, .doc = "Name shown in lists"),
 *       FIELD_ENUM(job, state, F_NOIN, job_state_names, .doc = "Where the job is in its life"),
 *       FIELD(job, gpus, 0, .max = 64, .dflt = "0", .doc = "GPUs wanted on one node"),
 *       FIELD_OPT(job, seed, 0, .doc = "Seed; has_seed tells whether one was given"),
 *       FIELD_STRS(job, tags, F_NOCOL, .max = 16, .doc = "Free labels"));
 *
 * defines `static const struct schema job_schema` (SCHEMA_EXTERN the same without static). The C type of the member picks FT_*
 * through _Generic; a member of any other type does not compile. Enum members are declared `int`.
 * Flags: a field is a column (F_COL), is printed (F_OUT) and is read from a JSON body unless F_NOCOL, F_NOOUT, F_NOIN say
 * otherwise. F_SECRET is F_NOOUT for ever. F_PATH and F_QUERY fields come from the URL, never from the body, and are neither
 * columns nor printed. F_COL and F_OUT are computed by the macros: test them, do not write them.
 * Absent values: str, json, bytes with ptr NULL; nil uuid; time 0; FIELD_OPT with has_x false; a FIELD_SUB whose bytes are all
 * zero; with F_NOEMPTY an empty list. They are left out of JSON (null with F_NULLOUT) and are NULL in SQL. Numbers, bools, enums and
 * other lists are never absent.
 * Limits: .min/.max are the value range of numbers, characters of strings, bytes of JSON and bytes, items of lists. A max below
 * min (as max unset) and both 0 mean the type's default: str 1024, json 65536, bytes 1 MiB, list 1000, numbers unbounded.
 * Memory: what readers make lives in the arena they are given; schemas are constants. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/base/arena.h"
#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/id.h"
#include "core/base/str.h"

enum ftype { FT_BOOL, FT_I32, FT_I64, FT_F64, FT_STR, FT_UUID, FT_TIME, FT_ENUM, FT_JSON, FT_BYTES, FT_SUB, FT_LIST };

/* A list is a struct slice (core/base/str.h): items are structs of the sub schema, or struct str, struct uuid, double, int64_t, int
 * (enum), by .item */

enum field_flag {
    F_REQ = 1 << 0,      /* required in input */
    F_PATH = 1 << 1,     /* from a {capture} of the route */
    F_QUERY = 1 << 2,    /* from the query string */
    F_NULLOUT = 1 << 3,  /* absent is printed as null instead of left out */
    F_SECRET = 1 << 4,   /* never printed, never logged */
    F_NOCOL = 1 << 5,    /* no column of that name */
    F_NOOUT = 1 << 6,    /* not printed */
    F_NOIN = 1 << 7,     /* not read from a body: an unknown member there */
    F_COL = 1 << 8,      /* has a column of that name (computed) */
    F_OUT = 1 << 9,      /* is printed (computed) */
    F_NOEMPTY = 1 << 10, /* a list: left out when it is empty */
    F_MORE = 1 << 11,    /* seldom set: forms fold it away */
    F_DERIVED = 1 << 12, /* the API puts the value in itself, whatever a request says: no form, flag or example offers it */
    F_SEARCH = 1 << 14,  /* of a query: looks through texts, as `q` always does, so the call is heavy (api/lane.h) */
    F_LATE = 1 << 15,    /* a member that readers of the release before do not know: not printed while it has its default,
                            which must be what they do without it. Goes when no such reader is left (docs/howto/upgrade.md) */
    F_ALWAYS = 1 << 13,  /* never absent in an answer: required in its schema, as F_REQ is */
};

struct schema;

struct field {
    const char *name;               /* of the member, the column, the JSON member, the parameter */
    enum ftype type;
    unsigned flags;
    size_t offset;
    size_t size;                    /* of the member */
    size_t has;                     /* FIELD_OPT: 1 + offset of `bool has_x`; 0: none */
    int64_t min, max;
    int64_t item_min, item_max;     /* FT_LIST of whole numbers: range of each; both 0: unbounded */
    double real_min, real_max;      /* FT_F64 whose range has no whole limits, instead of min and max; both 0: none */
    bool is_above;                  /* real_min itself is refused */
    const char *const *names;       /* FT_ENUM: NULL-ended, the value is the index, stored as text in SQL */
    const char *prefix;             /* FT_UUID: "job" for job_<32 hex digits>; NULL: plain UUID */
    const char *pattern_doc;        /* regular expression for the documents only */
    bool (*check)(struct str, const char **why);   /* FT_STR: syntax; why completes "must …" */
    const struct schema *sub;       /* FT_SUB, and FT_LIST of FT_SUB */
    enum ftype item;                /* FT_LIST: FT_SUB, FT_STR, FT_UUID, FT_F64, FT_I64, FT_ENUM */
    const char *dflt;               /* text of the value when the input lacks it (as in a query string) */
    const struct variants *by;      /* FT_JSON whose form depends on another member: its schemas, for the documents */
    bool is_numbers;                /* FT_JSON that is an object of numbers, for the documents */
    const char *doc;
    const char *example;
};

/* What a JSON member holds, by the value of the enum member `of` beside it. */
struct variants {
    const char *of;
    const struct variant { const char *value; const struct schema *schema; } *list;     /* schema NULL: that value is refused */
    size_t n;
};

struct schema {
    const char *name;
    size_t size;
    const struct field *fields;
    size_t nfields;
    const char *doc;
};

#define FT_OF(m)                                                                                                            \
    _Generic((m), bool: FT_BOOL, int32_t: FT_I32, int64_t: FT_I64, double: FT_F64, struct str: FT_STR, struct uuid: FT_UUID, \
             struct timestamp: FT_TIME, struct json: FT_JSON, struct bytes: FT_BYTES)
#define FIELD_FLAGS(fl)                                                        \
    (((fl) & ~(unsigned)(F_COL | F_OUT)) |                                     \
     (((fl) & (F_NOCOL | F_PATH | F_QUERY)) ? 0u : (unsigned)F_COL) |          \
     (((fl) & (F_NOOUT | F_SECRET | F_PATH | F_QUERY)) ? 0u : (unsigned)F_OUT))
#define FIELD_(T, m, nm, ft, fl, ...)                                                                            \
    { .name = (nm), .type = (ft), .flags = FIELD_FLAGS(fl), .offset = offsetof(struct T, m),                     \
      .size = sizeof(((struct T *)0)->m), ##__VA_ARGS__ }
#define FIELD_SLICE_(T, m) _Generic(((struct T *)0)->m, struct slice: FT_LIST)

#define FIELD(T, m, fl, ...) FIELD_(T, m, #m, FT_OF(((struct T *)0)->m), fl, ##__VA_ARGS__)
/* The same with another outside name than the member's: FIELD_AS(T, cls, "class", …) */
#define FIELD_AS(T, m, nm, fl, ...) FIELD_(T, m, nm, FT_OF(((struct T *)0)->m), fl, ##__VA_ARGS__)
/* With a `bool has_m` beside it: tells "absent" from zero. */
#define FIELD_OPT(T, m, fl, ...) \
    FIELD_(T, m, #m, FT_OF(((struct T *)0)->m), fl, .has = offsetof(struct T, has_##m) + 1, ##__VA_ARGS__)
#define FIELD_ENUM(T, m, fl, names_, ...) \
    FIELD_(T, m, #m, (_Generic(((struct T *)0)->m, int: FT_ENUM)), fl, .names = (names_), ##__VA_ARGS__)
#define FIELD_ENUM_OPT(T, m, fl, names_, ...)                                                    \
    FIELD_(T, m, #m, (_Generic(((struct T *)0)->m, int: FT_ENUM)), fl, .names = (names_),        \
           .has = offsetof(struct T, has_##m) + 1, ##__VA_ARGS__)
#define FIELD_ID(T, m, prefix_, fl, ...) \
    FIELD_(T, m, #m, (_Generic(((struct T *)0)->m, struct uuid: FT_UUID)), fl, .prefix = (prefix_), ##__VA_ARGS__)
/* A struct by value: its type must be `struct NAME` of the sub schema (sizes are compared at boot). */
#define FIELD_SUB(T, m, sub_, fl, ...) FIELD_(T, m, #m, FT_SUB, fl, .sub = (sub_), ##__VA_ARGS__)
/* Lists: the member is a struct slice. */
#define FIELD_LIST(T, m, sub_, fl, ...) \
    FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_SUB, .sub = (sub_), ##__VA_ARGS__)
#define FIELD_STRS(T, m, fl, ...) FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_STR, ##__VA_ARGS__)
#define FIELD_F64S(T, m, fl, ...) FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_F64, ##__VA_ARGS__)
#define FIELD_I64S(T, m, fl, ...) FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_I64, ##__VA_ARGS__)
#define FIELD_IDS(T, m, prefix_, fl, ...) \
    FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_UUID, .prefix = (prefix_), ##__VA_ARGS__)
#define FIELD_ENUMS(T, m, fl, names_, ...) \
    FIELD_(T, m, #m, FIELD_SLICE_(T, m), fl, .item = FT_ENUM, .names = (names_), ##__VA_ARGS__)

#define SCHEMA_DEF_(storage, T, doc_, ...)                                                     \
    static const struct field T##_schema_fields[] = { __VA_ARGS__ };                          \
    storage const struct schema T##_schema = { #T, sizeof(struct T), T##_schema_fields,        \
                                               sizeof(T##_schema_fields) / sizeof(struct field), doc_ }
#define SCHEMA_OF(T, doc_, ...) SCHEMA_DEF_(static, T, doc_, __VA_ARGS__)
/* Declared in the header by: extern const struct schema job_schema; */
#define SCHEMA_EXTERN(T, doc_, ...) SCHEMA_DEF_(, T, doc_, __VA_ARGS__)

/* The field of that name, or NULL. */
const struct field *schema_find(const struct schema *s, struct str name);
/* Boot check, sub schemas included: docs present, names unique, enums and subs complete, sizes equal, defaults readable. */
enum errc schema_check_table(const struct schema *s, struct err *e) MUST_CHECK;

/* Effective limits after the rules above. */
int64_t field_min(const struct field *f);
int64_t field_max(const struct field *f);
static inline bool field_has_real_range(const struct field *f) { return f->type == FT_F64 && f->real_max > f->real_min; }
static inline void *field_at(const struct field *f, const void *base) { return (char *)(uintptr_t)base + f->offset; }
/* Absent by the rules above. */
bool field_is_absent(const struct field *f, const void *base);
void field_set_has(const struct field *f, void *base, bool has);
size_t ftype_size(const struct field *list);                    /* bytes of one item of an FT_LIST field */

/* Checks of values that are in C form already (after decoding; the decoders call them). Errors carry no field: the caller
 * knows the pointer. */
enum errc field_check_str(const struct field *f, struct str s, struct err *e) MUST_CHECK;
enum errc field_check_i64(const struct field *f, int64_t v, struct err *e) MUST_CHECK;
enum errc field_check_f64(const struct field *f, double v, struct err *e) MUST_CHECK;

/* One value from text (path capture, query parameter, default), checked and stored. Lists of str, id, enum and numbers are
 * separated by commas. Errors: INVALID with field "/name". */
enum errc field_from_text(const struct field *f, struct str text, void *base, struct arena *a, struct err *e) MUST_CHECK;
/* The F_QUERY fields from "a=1&b=x%20y" (percent-decoded, + is a space). Unknown parameters and repeats are refused, defaults
 * are filled in. Errors: INVALID, UNKNOWN_FIELD, MISSING_FIELD with field "/name". */
enum errc schema_from_query(const struct schema *s, struct str query, void *base, struct arena *a, struct err *e) MUST_CHECK;
/* The other direction: "?a=1&b=x%20y" of the F_QUERY fields that are not absent, for callers. Texts, ids, integers, bools and enums. */
void schema_to_query(const struct schema *s, const void *base, struct buf *out);
/* obj and all its fields point to, in one allocation that outlives its arena: free() it. */
void *schema_copy_new(const struct schema *s, const void *obj);
/* Index of a name in a NULL-ended list, or -1. */
int name_index(const char *const *names, struct str s);

/* Ready checks for .check */
bool check_slug(struct str s, const char **why);                /* [a-z0-9][a-z0-9-]{0,62} */
bool check_name(struct str s, const char **why);                /* UTF-8 without control or bidirectional format characters */
