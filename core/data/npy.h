/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - arrays of numbers in NumPy's .npy format, versions 1 to 3, row by row (C order), little endian.
 *
 * Read as hostile input: the header's length, its dictionary and shape × width against the bytes are checked before anything
 * is believed; nothing is copied. Types: f4 f8 f2 i1 i2 i4 i8 u1 u2 u4 u8 b1.
 * Errors: BAD_DATA, UNPROCESSABLE (Fortran order, other types), LIMIT (more than NPY_DIMS_MAX dimensions).
 * Source: numpy.lib.format. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"

enum { NPY_DIMS_MAX = 8, NPY_HEAD_MIN = 12 };

struct npy {
    char kind;                  /* 'f', 'i', 'u', 'b' */
    unsigned width;             /* bytes per number */
    uint32_t rank;
    uint64_t dim[NPY_DIMS_MAX];
    size_t count;
    const unsigned char *data;  /* borrowed, not aligned */
};

/* The same of a file that is not held: how many bytes its header has, by its first NPY_HEAD_MIN, and what that says; data NULL.
 * */
size_t npy_head_bytes(struct str start);
enum errc npy_head(struct str start, uint64_t file_size, struct npy *ret, struct err *e);
enum errc npy_parse(struct str bytes, struct npy *ret, struct err *e);
/* One number; whole ones as they are, floating-point ones by value. */
double npy_real(const struct npy *a, size_t i);
int64_t npy_whole(const struct npy *a, size_t i);       /* of kinds i, u, b */
/* Appends a file: kind and width as above, count numbers at p. */
bool npy_write(struct buf *out, char kind, unsigned width, uint32_t rank, const uint64_t *dim, const void *p, size_t bytes);
