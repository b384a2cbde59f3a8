/* SPDX-License-Identifier: Apache-2.0 */
/* npy_table.h - tables of numbers (data_table.h) in NumPy's .npy format: an array of two dimensions, a row after the other, whose
 * columns are named by their numbers from 0: the label column of an array with 65 columns may be "64".
 *
 * Refused, with the byte, row and column of the cell (rows and columns from 0, as NumPy counts): what csv.h refuses of numbers.
 * Memory and errors: as csv.h. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/data/data_table.h"

enum { NPY_TABLE_HEAD_MAX = 65536 };

enum errc npy_table_read(struct arena *a, struct str bytes, const struct data_schema *schema, struct data_table *ret,
                         struct err *e);
/* The same of a file of size_bytes that comes piece by piece: new -> add* -> end. Same verdict, same words. */
struct npy_checker;
enum errc npy_checker_new(struct arena *a, const struct data_schema *schema, uint64_t size_bytes, struct npy_checker **ret,
                          struct err *e);
enum errc npy_checker_add(struct npy_checker *c, const char *p, size_t n, struct err *e);
enum errc npy_checker_end(struct npy_checker *c, struct data_table *ret, struct err *e);
