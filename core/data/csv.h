/* SPDX-License-Identifier: Apache-2.0 */
/* csv.h - tables of numbers (data_table.h), read strictly from CSV (RFC 4180) with a header row.
 *
 * The API checks an upload with csv_check; the worker reads the same bytes with csv_read: one parser, so what was accepted trains.
 * Accepted: LF or CRLF, quoted fields with doubled quotes, a byte-order mark, a missing last line end.
 * Refused, with row and column ("row 17, column 5 (pixel_0_4): …"; row 1 is the header, so rows match what an editor shows):
 * ragged rows, empty fields, anything but a finite decimal number (nan, inf, hex, blanks, thousands separators), values that a
 * float cannot hold, labels that are no integer of 0 … classes-1, duplicate or missing columns, no data row. Columns of
 * categories hold words; an empty field of a feature is a missing value where the data set takes them, and refused elsewhere:
 * the sender decides.
 *
 * Memory: csv_read puts the table in the arena it is given (4 bytes per cell, 4 per label); past the arena's limit it fails as LIMIT.
 * Errors: BAD_DATA (the file), INVALID (the schema), LIMIT (rows, columns, bytes). */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/data/data_table.h"

enum {
    CSV_FIELD_MAX = 4096,       /* bytes of a quoted field */
    CSV_RECORD_MAX = 4 << 20    /* bytes of a row, where the text comes piece by piece */
};
#define CSV_BYTES_MAX ((size_t)4 << 30)

/* Checks every cell; memory for the header only. */
enum errc csv_check(struct arena *a, struct str text, const struct data_schema *schema, struct data_table *ret, struct err *e);
/* The same of a text that comes piece by piece: new -> add* -> end. Verdict and words are those of csv_check, but for rows longer than
 * CSV_RECORD_MAX. Memory: a row or two, in the arena with the checker. The schema must live as long. After an error it is over. */
struct csv_checker;
enum errc csv_checker_new(struct arena *a, const struct data_schema *schema, struct csv_checker **ret, struct err *e);
enum errc csv_checker_add(struct csv_checker *c, const char *p, size_t n, struct err *e);
enum errc csv_checker_end(struct csv_checker *c, struct data_table *ret, struct err *e);
/* Checks and reads. */
enum errc csv_read(struct arena *a, struct str text, const struct data_schema *schema, struct data_table *ret, struct err *e);
/* A finite decimal number ("-1.5e3"), correctly rounded; false on anything else. Fast for short numbers. */
bool csv_number(struct str s, double *ret);
