/* SPDX-License-Identifier: Apache-2.0 */
/* scim_value.h - a SCIM resource as a tree that can be changed. Pure; all of it lives in the arena.
 *
 * A tree holds attributes of scim_schema.h only, under their canonical names, each of its type: reading drops what the table does not
 * have, takes "True" for true (some providers send booleans as text), and refuses every other mismatch. An attribute without value is
 * not in the tree: null, [] and {} read as absent.
 * Errors: INVALID with the attribute as field. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/json/jsonvalue.h"
#include "tenants/identity/scim.h"
#include "tenants/identity/scim_schema.h"

enum sval_type { SV_STRING, SV_BOOL, SV_LIST, SV_OBJECT };

struct sval {
    enum sval_type type;
    const char *name;               /* of a member; NULL: an item or the root */
    struct str text;                /* SV_STRING */
    bool flag;                      /* SV_BOOL */
    struct sval *first, *last, *next;
    size_t n;
};

struct sval *sval_new(struct arena *a, enum sval_type type);
struct sval *sval_string(struct arena *a, struct str text);
struct sval *sval_bool(struct arena *a, bool flag);
void sval_append(struct sval *list, struct sval *item);
struct sval *sval_get(const struct sval *obj, const char *name);        /* NULL: absent, or obj is no object */
void sval_set(struct sval *obj, const char *name, struct sval *v);      /* replaces; v NULL or empty: removes */
void sval_remove(struct sval *parent, const struct sval *child);
bool sval_is_empty(const struct sval *v);                               /* NULL, a list or object of nothing */
struct sval *sval_copy(struct arena *a, const struct sval *v);
bool sval_eq(const struct sval *a, const struct sval *b);
struct str sval_text(const struct sval *obj, const char *name);         /* STR_NULL unless a string */

enum sval_read {
    SVAL_INPUT,                     /* what the caller may not write is dropped */
    SVAL_STORED,                    /* the database's: all attributes */
};
/* The rule of every text that becomes a value of the attribute, wherever it comes from. */
enum errc sval_check_text(const struct scim_attr *attr, struct str text, struct err *e) MUST_CHECK;
/* A resource or the value of one attribute; *ret NULL: no value. A list attribute takes one object for a list of one. */
enum errc sval_resource(struct arena *a, const struct scim_resource *r, const struct jval *v, enum sval_read how, struct sval **ret,
                        struct err *e) MUST_CHECK;
enum errc sval_attr(struct arena *a, const struct scim_attr *attr, const struct jval *v, enum sval_read how, struct sval **ret,
                    struct err *e) MUST_CHECK;
/* INVALID unless every required attribute, and in every item every required sub-attribute, has a value, lists are as long as they may be,
 * and at most one item is primary. */
enum errc sval_check(const struct scim_resource *r, const struct sval *resource, struct err *e) MUST_CHECK;

/* The resource as JSON with its `schemas`, as much of it as is asked for (RFC 7644, 3.9). */
void sval_print(const struct scim_resource *r, const struct sval *resource, const struct scim_select *select, struct buf *out);
bool sval_shows(const struct scim_resource *r, const struct scim_select *select, const char *attr);
void sval_print_value(const struct sval *v, struct buf *out);
