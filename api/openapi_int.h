/* SPDX-License-Identifier: Apache-2.0 */
/* openapi_int.h - between openapi.c (the document) and openapi_response.c (what operations answer). */
#pragma once
#include "api/route.h"

/* ,"responses":{…} of a row, without the comma. */
void openapi_responses(struct buf *b, const struct route *r);
/* The members of components.headers, and of components.responses: those that one of the rows refers to. */
void openapi_header_components(struct buf *b);
void openapi_response_components(struct buf *b, const struct route **rows, size_t n);
/* The schema of bytes, or of text. */
const char *openapi_schema_of_type(const char *type);
/* ,"other/type":{…} where the row has a second type of its content. */
void openapi_also_type(struct buf *b, const struct route *r);
/* openapi.c: the row's input has members that are neither of the path nor of the query; it is a message of SCIM. */
bool openapi_has_body(const struct route *r);
bool openapi_takes_scim(const struct route *r);
