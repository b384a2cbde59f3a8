/* SPDX-License-Identifier: Apache-2.0 */
/* scim_filter.h - SCIM filters (RFC 7644, 3.4.2.2, figure 1): eq ne co sw ew gt ge lt le pr, and, or, not, ( ), attribute[filter].
 *
 * Pure. Text is compared by its attribute: without regard to the case of ASCII letters unless caseExact. `ne` holds where there is no
 * value. A list matches when one of its items does; without a sub-attribute it is judged by `value`.
 * Bounded: SCIM_FILTER_MAX bytes, SCIM_FILTER_DEPTH levels. Errors: SCIM_FILTER. */
#pragma once
#include "tenants/identity/scim_value.h"

enum sfilter_kind { SF_AND, SF_OR, SF_NOT, SF_COMPARE, SF_ITEM /* attr[a] */ };
enum sfilter_op { SOP_EQ, SOP_NE, SOP_CO, SOP_SW, SOP_EW, SOP_GT, SOP_GE, SOP_LT, SOP_LE, SOP_PR };

struct sfilter {
    enum sfilter_kind kind;
    const struct sfilter *a, *b;
    enum sfilter_op op;
    const struct scim_attr *attr, *sub;
    struct str text;                /* what is compared with; STR_NULL: null */
    bool flag;                      /* of a boolean attribute */
};

/* attrs: the resource's, or, of the filter in brackets, the list's sub-attributes (urn STR_NULL). */
enum errc sfilter_parse(struct arena *a, const struct scim_attr *attrs, struct str urn, struct str text, const struct sfilter **ret,
                        struct err *e) MUST_CHECK;
bool sfilter_match(const struct sfilter *f, const struct sval *obj);
/* A value that every match has at attr (and sub, which may be NULL), for an index; STR_NULL: none is known. */
struct str sfilter_key(const struct sfilter *f, const char *attr, const char *sub);
bool sfilter_mentions(const struct sfilter *f, const char *attr);
/* Gives obj the sub-attributes that the filter asks for. *ret_fills false: the filter is not made of eq and and only, and obj is half filled.
 * INVALID: a text of the filter cannot be a value of its attribute. */
enum errc sfilter_fill(struct arena *a, const struct sfilter *f, struct sval *obj, bool *ret_fills, struct err *e) MUST_CHECK;

/* A PATCH path (RFC 7644, 3.5.2): attribute, attribute.sub, attribute[filter], attribute[filter].sub. Errors: SCIM_PATH, SCIM_FILTER. */
struct scim_path { const struct scim_attr *attr, *sub; const struct sfilter *items; };
enum errc scim_path_parse(struct arena *a, const struct scim_resource *r, struct str text, struct scim_path *ret, struct err *e) MUST_CHECK;
