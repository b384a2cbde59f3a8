/* SPDX-License-Identifier: Apache-2.0 */
/* content_int.h - the routes that data sets and models share: one thing, a list of them, its versions, and the content of a
 * version, which is verified to its end and audited. The route files name the inputs (CONTENT_INPUTS) and hand over their kind.
 *
 * An input of a kind and its general form below begin alike: the id of the thing is dataset_id outside and id here. */
#pragma once
#include "api/route.h"
#include "core/db/list_find.h"
#include "registry/catalog/content_delete.h"
#include "registry/catalog/versioned.h"

struct content_ref { struct uuid id; };
struct content_versions { struct uuid id; PAGE_IN; };
struct content_edit { struct uuid id; SHOWN_NAME; struct str description; };
struct content_version_ref { struct uuid id; int64_t version; };
/* Members of a list's input and their fields; words: "data set". */
#define CONTENT_PAGE_IN PAGE_IN; struct uuid project_id, created_by; struct str q, zone; int sort
#define CONTENT_PAGE_FIELDS(T, words) \
    PAGE_IN_FIELDS(T), FIELD_ID(T, project_id, "prj", F_QUERY, .doc = "Only " words "s of this project"), \
    FIELD_ID(T, created_by, "usr", F_QUERY, .doc = "Only " words "s that this user made"), \
    FIELD(T, q, F_QUERY, .min = LIST_Q_MIN, .max = LIST_Q_MAX, .check = check_name, \
          .doc = "Only " words "s one of whose names contains this, in any case"), \
    FIELD(T, zone, F_QUERY, .max = 31, .check = check_slug, .doc = "Only " words "s of which a version lies in this zone"), \
    FIELD_ENUM(T, sort, F_QUERY, list_sort_names, .dflt = "-created", .doc = "Order; - is descending")
struct content_page { CONTENT_PAGE_IN; };

/* struct dataset_ref, dataset_edit, dataset_versions and dataset_version_ref with their schemas. */
#define CONTENT_INPUTS(noun, prefix, words) \
    struct noun##_ref { struct uuid noun##_id; }; \
    SCHEMA_OF(noun##_ref, "Which " words, FIELD_ID(noun##_ref, noun##_id, prefix, F_PATH, .doc = "The " words)); \
    struct noun##_edit { struct uuid noun##_id; SHOWN_NAME; struct str description; }; \
    SCHEMA_OF(noun##_edit, "What to change of a " words, FIELD_ID(noun##_edit, noun##_id, prefix, F_PATH, .doc = "The " words), \
        SHOWN_NAME_IN(noun##_edit), FIELD(noun##_edit, description, 0, .max = 1024, .doc = "What it is")); \
    struct noun##_versions { struct uuid noun##_id; PAGE_IN; }; \
    SCHEMA_OF(noun##_versions, "Which versions", FIELD_ID(noun##_versions, noun##_id, prefix, F_PATH, .doc = "The " words), \
        PAGE_IN_FIELDS(noun##_versions)); \
    struct noun##_content_ref { struct uuid noun##_id; int64_t version; }; \
    SCHEMA_OF(noun##_content_ref, "Which version", FIELD_ID(noun##_content_ref, noun##_id, prefix, F_PATH, .doc = "The " words), \
        FIELD(noun##_content_ref, version, F_PATH, .min = 1, .max = INT64_MAX, .doc = "Its number"))

struct content {
    const struct versioned *kind;
    enum audit_code audit;              /* of reading a version */
    /* Of the row of a version: "text/csv", "csv". */
    void (*form)(const void *version, const char **ret_type, const char **ret_extension);
};

/* Handlers. in: struct content_ref, content_page, content_versions of the kind. */
enum errc content_read_one(struct work *w, const struct content *t, const void *in, void *out, struct err *e) MUST_CHECK;
/* data_class STR_NULL: of any. */
enum errc content_list(struct work *w, const struct content *t, const void *in, struct str data_class, void *out,
                       struct err *e) MUST_CHECK;
enum errc content_list_versions(struct work *w, const struct content *t, const void *in, void *out, struct err *e) MUST_CHECK;
/* in: struct content_edit; out: the kind's row. */
enum errc content_change(struct work *w, const struct content *t, const void *in, void *out, struct err *e) MUST_CHECK;
/* Deletes the thing with all versions (registry/catalog/content_delete.h); out: struct content_deleted. */
enum errc content_remove(struct work *w, const struct content *t, const void *in, void *out, struct err *e) MUST_CHECK;
/* A raw handler; c->in: struct content_version_ref. Opens and verifies the object (whole up to OBJECT_WHOLE_MAX, else as it
 * goes), commits the audit event, answers. After OK the call is gone. */
struct object_reader;
/* Answers with an opened object: from whole up to OBJECT_WHOLE_MAX, else as it is read; the call is gone after it. */
void content_reply(struct call *c, struct object_reader **r, struct buf *whole, struct str type, struct str file);
enum errc content_send(struct call *c, const struct content *t, struct err *e) MUST_CHECK;
