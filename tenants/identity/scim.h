/* SPDX-License-Identifier: Apache-2.0 */
/* scim.h - limits and the shape of answers that SCIM's users and groups share (RFC 7643, RFC 7644).
 *
 *     scim_schema   what is kept          scim_value    a resource as a tree that can be changed
 *     scim_filter   which resources       scim_patch    changes of a tree
 *     scim_user     users, in the database              scim_group    groups, in the database
 *
 * The first four are pure. A provider sees the people of its tenant, however they came to be there; service accounts are not shown to it. */
#pragma once
#include "core/base/work.h"
#include "core/table/schema.h"

enum {
    SCIM_PAGE_MAX = 200,
    SCIM_FILTER_MAX = 1024,         /* bytes */
    SCIM_FILTER_DEPTH = 16,
    SCIM_OPS_MAX = 1000,            /* of one PATCH */
    SCIM_EMAILS_MAX = 16,
    SCIM_MEMBERS_MAX = 5000,        /* of one group */
    SCIM_SHOWN_MEMBERS_MAX = 20000, /* in one answer, or looked at for one */
    SCIM_SHOWN_GROUPS_MAX = 200,    /* of one user, the newest */
    SCIM_SCAN_MAX = 10000,          /* resources that one filter looks at, after what an index leaves */
    SCIM_SCAN_BYTES = 32 << 20,
};

/* What to show; text as the caller gave it, STR_NULL: not given. */
struct scim_select { struct str attributes, excluded; };
struct scim_query { struct str filter; int64_t start, count; struct scim_select select; };
/* id: of what is changed. if_match STR_NULL: whatever it is now. */
struct scim_write { struct uuid id; struct str body, if_match; struct scim_select select; };

/* Who may provision and nothing else changes the people that provisioning made, and nobody else; who manages users changes all.
 * FORBIDDEN when one of them (struct uuid) is not such. */
enum errc scim_check_made(struct work *w, struct slice users, struct err *e) MUST_CHECK;

/* An answer: one resource or a list. */
struct scim_answer {
    struct uuid id;                 /* nil: a list */
    struct str etag;                /* STR_NULL: a list */
    struct json body;
    struct str changed;             /* attributes that a write changed, by name, never by value: for the audit log */
    bool was_ended;                 /* the user is no longer let in: forget what is cached of it */
};

struct sval;
struct jval;
struct scim_resource;

/* The body as JSON. MALFORMED. */
enum errc scim_body(struct work *w, struct str text, const struct jval **ret, struct err *e) MUST_CHECK;
/* Gives the resource its id and meta. The ETag is a weak one, of the version; with -1 of all that is shown of it. */
void scim_meta(struct work *w, const struct scim_resource *r, struct sval *resource, struct uuid id, int64_t version, struct timestamp created,
               struct timestamp modified);
/* PRECONDITION when the caller's If-Match names other versions only. */
enum errc scim_check_match(struct str if_match, struct str etag, struct err *e) MUST_CHECK;
/* Names of the attributes that differ, separated by commas; STR_NULL: none. */
struct str scim_changed(struct work *w, const struct scim_resource *r, const struct sval *was, const struct sval *now);
enum errc scim_one(struct work *w, const struct scim_resource *r, const struct sval *resource, const struct scim_select *select,
                   struct scim_answer *ret, struct err *e) MUST_CHECK;
/* page: the n resources of it. */
enum errc scim_list(struct work *w, const struct scim_resource *r, struct sval *const *page, size_t n, int64_t total,
                    const struct scim_query *q, struct scim_answer *ret, struct err *e) MUST_CHECK;
/* As the RFC wants them: from 1, and no more than a page. */
static inline int64_t scim_start(const struct scim_query *q) { return q->start < 1 ? 1 : q->start; }
static inline int64_t scim_count(const struct scim_query *q) { return q->count < 0 ? 0 : q->count > SCIM_PAGE_MAX ? SCIM_PAGE_MAX : q->count; }
