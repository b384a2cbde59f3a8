/* SPDX-License-Identifier: Apache-2.0 */
/* data_format.h - the formats of data sets: one row each. What the API accepts and what a worker reads come from the row's
 * functions, so what was accepted trains.
 *
 * csv (csv.h) and npy (npy_table.h) hold tables, tokens (tokens.h) sequences. onnx is a model file of other programs, taken
 * as it is: falaj-api never parses a model, the sandboxed child of a job that converts it does. oci is an image that programs run
 * in (workers/image/oci.h), taken as it is, too. Not offered: images in files of
 * their own, safetensors tables, Parquet. Calling order: data_checker_new -> add* -> end; after an error it is over.
 * Memory: the arena. Errors: BAD_DATA with the place (row and column, or byte), INVALID (the schema), LIMIT. */
#pragma once
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/data/data_table.h"

enum data_format { DATA_CSV, DATA_NPY, DATA_TOKENS, DATA_ONNX, DATA_OCI, DATA_FORMATS };
extern const char *const data_format_names[];

struct data_found {                 /* what a version of a data set is: */
    uint64_t rows;                  /* rows, or tokens; 0 of a model */
    uint64_t columns;               /* features; 0 of tokens and models */
    uint64_t classes;               /* of a class; flags; words of a vocabulary; 0: the label is a number */
};

struct data_format_row {
    const char *media_type, *extension;
    bool is_table, is_model, is_image;      /* none: tokens */
    enum errc (*start)(struct arena *a, const struct data_schema *s, uint64_t size_bytes, void **ret, struct err *e);
    enum errc (*add)(void *checker, const char *p, size_t n, struct err *e);
    enum errc (*end)(void *checker, struct data_found *ret, struct err *e);
    /* All of it into memory; NULL of what is no table. */
    enum errc (*read)(struct arena *a, struct str bytes, const struct data_schema *s, struct data_table *ret, struct err *e);
};
extern const struct data_format_row data_formats[DATA_FORMATS];

/* By how a file begins; what begins like none of the others is csv. */
int data_format_guess(struct str start);
/* By its name; text that is no format's (of a newer program) is csv, the first one. */
int data_format_of(struct str name);

struct data_checker {
    const struct data_format_row *row;
    void *state;
};
/* The schema must live as long; sequences have no use for it. */
enum errc data_checker_new(struct arena *a, int format, const struct data_schema *s, uint64_t size_bytes,
                           struct data_checker *ret,
                           struct err *e) MUST_CHECK;
enum errc data_checker_add(struct data_checker *c, const char *p, size_t n, struct err *e) MUST_CHECK;
enum errc data_checker_end(struct data_checker *c, struct data_found *ret, struct err *e) MUST_CHECK;
/* The three at once. */
enum errc data_check(struct arena *a, int format, const struct data_schema *s, struct str bytes, struct data_found *ret,
                     struct err *e) MUST_CHECK;
