/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - an API answer in the form that was asked for: table, wide, json, yaml, csv, name, jsonpath.
 *
 * Data goes to c->out and nothing else does. JSON is the API's body, byte for byte, for a single object and a single page.
 * Tables are padded by display cells; the last column is cut to the width of a terminal, never when the output is a file.
 * A list that jsonpath walks is one document of all its pages, {"data": […]}, of at most 256 MiB; more is told and ends with
 * FAILED.
 * Calling order for lists: output_begin -> output_page* -> output_end (always: it frees). columns: the language of command.h. */
#pragma once
#include "cli/command.h"
#include "core/json/jsonvalue.h"

struct output {
    struct cli *c;
    const char *columns;
    size_t items;
    struct buf pending;             /* jsonpath: the items, as text, until all have come */
    size_t widths[16];
    bool has_heading;
};

void output_begin(struct output *o, struct cli *c, const char *columns);
/* items: an array. */
void output_page(struct output *o, const struct jval *items);
void output_end(struct output *o);

/* One object. raw: the body as it came. columns NULL: all members that are no objects or lists. */
void output_object(struct cli *c, const struct jval *v, struct str raw, const char *columns);
/* The same, for people as a table of one row. columns: not NULL. */
void output_row(struct cli *c, const struct jval *v, struct str raw, const char *columns);
/* A reply whose member "data" is a whole list: as it came with --json, otherwise as a list. */
void output_list(struct cli *c, const struct jval *reply, struct str raw, const char *columns);
void output_yaml(FILE *out, const struct jval *v, int indent);
/* A template of kubectl's language (jsonpath.c) that output_jsonpath_is_good has taken. */
void output_jsonpath(struct arena *a, FILE *out, const struct jval *v, const char *template);
bool output_jsonpath_is_good(const char *template);
/* A scalar as text for people: no quotes; lists comma-separated; objects as JSON. */
struct str output_text(struct arena *a, const struct jval *v);
/* Compact JSON; numbers as short as they can be without becoming other numbers. */
void output_json(const struct jval *v, struct buf *b);
/* Terminal cells of UTF-8 text: combining marks 0, wide East Asian 2, all else 1. */
size_t output_cells(struct str s);
