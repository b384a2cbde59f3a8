/* SPDX-License-Identifier: Apache-2.0 */
/* jsonschema.h - a schema as JSON Schema 2020-12, in the dialect of OpenAPI 3.1.
 *
 * Sub schemas are printed as {"$ref": "#/components/schemas/NAME"}; jsonschema_collect lists the schemas a document needs.
 * Direction matters: SCHEMA_IN lists what a body may have (F_REQ is required, additional members are refused), SCHEMA_OUT what
 * is printed (never-absent members are required). F_PATH and F_QUERY fields are parameters: jsonschema_field prints theirs.
 * A sub schema used in both directions is one component, printed with SCHEMA_IN where jsonschema_collect was told so. */
#pragma once
#include "core/table/schema.h"

enum schema_direction { SCHEMA_IN, SCHEMA_OUT };

/* {"type":"object", …} */
void jsonschema_object(const struct schema *s, enum schema_direction dir, struct buf *out);
/* {"type":"string","minLength":1, … ,"description":…} of one field */
void jsonschema_field(const struct field *f, struct buf *out);
/* {"$ref":"#/components/schemas/NAME"} */
void jsonschema_ref(const struct schema *s, struct buf *out);
/* Adds s and all it refers to, each once, to list[*n] (at most cap; more is a bug). */
void jsonschema_collect(const struct schema *s, const struct schema **list, size_t *n, size_t cap);
