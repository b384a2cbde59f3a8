/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.h - model files: named arrays of numbers, read as hostile input and written byte for byte reproducibly.
 *
 * Layout (huggingface/safetensors, README "Format"): u64 little endian n; n bytes of JSON, first byte '{', padded at the end with
 * spaces so that 8 + n is a multiple of 8; then the data. The JSON maps name -> {"dtype", "shape", "data_offsets":[begin, end]},
 * offsets from the start of the data, and "__metadata__" -> string to string.
 * st_parse proves before it returns: every range lies in the file, is as long as shape × width (overflow checked), the ranges tile
 * the data without hole or overlap, names are unique UTF-8. Numbers are aligned to their width if the writer sorted as st_write
 * does; st_f32 refuses what is not.
 *
 * Why this room parses JSON by hand (core/json is the one door to jansson): the header is a closed grammar of four shapes, it is read
 * in the sandboxed child that runs a job, and that child links core/base and nothing else.
 *
 * Memory: tables and names live in the arena, tensor data is borrowed from the bytes given.
 * Errors: BAD_DATA with the byte of the header where it went wrong, LIMIT. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"

enum {
    ST_RANK_MAX = 8,
    ST_TENSORS_MAX = 65536,
    ST_META_MAX = 1024,
    ST_NAME_MAX = 512,
    ST_HEADER_MAX = 16 << 20    /* bytes; the reference allows 100,000,000 */
};

enum st_dtype { ST_BOOL, ST_U8, ST_I8, ST_F8_E5M2, ST_F8_E4M3, ST_I16, ST_U16, ST_F16, ST_BF16, ST_I32, ST_U32, ST_F32, ST_F64, ST_I64,
                ST_U64, ST_DTYPES };

struct st_tensor {
    struct str name;
    enum st_dtype dtype;
    uint32_t rank;
    uint64_t shape[ST_RANK_MAX];
    const unsigned char *data;      /* NULL after st_parse_header */
    size_t size_bytes;
    uint64_t at;                    /* where its data begins in the file */
};

struct st_pair {
    struct str key, value;
};

struct st_file {
    struct st_tensor *tensors;      /* sorted by name */
    size_t tensor_count;
    struct st_pair *meta;           /* sorted by key */
    size_t meta_count;
};

size_t st_width(enum st_dtype d);                  /* bytes per number */
const char *st_dtype_name(enum st_dtype d);        /* "F32" */

enum { ST_PREFIX = 8 };                            /* bytes before the header */

enum errc st_parse(struct arena *a, const void *bytes, size_t n, struct st_file *ret, struct err *e);
/* The same in two steps for a file that is not held at once: how long the header behind the prefix is, and what it says of a file
 * of file_size bytes. All is proven that st_parse proves; the tensors have no data. */
enum errc st_header_size(const unsigned char prefix[ST_PREFIX], uint64_t file_size, size_t *ret, struct err *e);
enum errc st_parse_header(struct arena *a, struct str header, uint64_t file_size, struct st_file *ret, struct err *e);
const struct st_tensor *st_find(const struct st_file *f, struct str name);          /* NULL: absent */
struct str st_meta(const struct st_file *f, const char *key);                       /* STR_NULL: absent */
/* The tensor, if it is F32 with exactly this shape (rank 1: cols 0) and aligned in the file; else BAD_DATA: what was found. */
enum errc st_f32_shape(const struct st_file *f, const char *name, uint64_t rows, uint64_t cols, const struct st_tensor **ret,
                       struct err *e);
/* Its numbers, if it is F32 with exactly this shape (rank 1: cols 0); else BAD_DATA naming what was found. */
enum errc st_f32(const struct st_file *f, const char *name, uint64_t rows, uint64_t cols, const float **ret, struct err *e);

/* Appends a whole file to out: tensors by width descending, then name; metadata by key. Both lists are sorted in place.
 * LIMIT when out's maximum is too small; names and values must be UTF-8. */
enum errc st_write(struct buf *out, struct st_tensor *tensors, size_t tensor_count, struct st_pair *meta, size_t meta_count,
                   struct err *e);

/* A flat JSON object of strings alone ({"step":"12"}): the form of __metadata__ and of a checkpoint's state. Sorted by key. */
enum errc st_parse_pairs(struct arena *a, struct str json, struct st_pair **ret, size_t *ret_count, struct err *e);
bool st_write_pairs(struct buf *out, struct st_pair *pairs, size_t count);
/* A JSON list of strings, in their order: a value of __metadata__ that is more than one text. */
bool st_write_strings(struct buf *out, const struct str *items, size_t count);
struct str st_pair_get(const struct st_pair *pairs, size_t count, const char *key);
