/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - rows of structs as checked bytes: the format of a recorded cycle, written and read back strictly.
 *
 * A file is FILE_MAGIC, the format as u32, and blocks to its end. All numbers of a block's frame are little-endian.
 *     block   u32 n, n bytes, u32 CRC-32 (zlib's) of the four and the n bytes before it
 *     n bytes name, u8 columns, for each: u8 kind, name; u32 rows; the rows one after the other, each column by its kind
 *     name    u8 length from 1, that many bytes
 *     kind    i whole number, zigzag in LEB128, shortest form; b one byte 0 or 1; u the 16 bytes of an id;
 *             s length in LEB128 and bytes; t LEB128: 0 absent, else the text of that number from 1
 * Blocks come in parts. A part begins with the block "texts" (one column "text" of kind s), which holds every text of the
 * part once; then come its tables in the order that the reader asks for.
 * Columns are found by name: one that the file lacks is 0, one that is not known here is refused, as is everything else that
 * is not exactly so. The checksums are against damage, not against somebody who makes files.
 *
 * Calling order, writing: tables_out_new -> (tables_part, tables_add*, tables_part_end)* -> tables_take -> tables_seal.
 * Reading: tables_open -> (tables_part_read, tables_read*)* -> tables_end. What is read points into the file's bytes.
 * Errors: INVALID, with path, offset and reason; LIMIT where the arena is too small. */
#pragma once
#include "core/base/arena.h"
#include "core/base/id.h"
#include "core/base/str.h"

#define FILE_MAGIC "FALAJCYC"
enum { FILE_FORMAT = 1, FILE_HEAD = 12, COLUMNS_MAX = 64 };

struct column {
    const char *name;
    char kind;
    size_t offset, size;                /* of the member; whole numbers have 4 or 8 bytes */
    int64_t min, max;                   /* of a whole number; both 0: what its size holds */
};
struct table {
    const char *name;
    size_t size;                        /* of a row in memory */
    const struct column *columns;
    size_t ncolumns;
};

#define COLUMN_KIND(m)                                                                                                       \
    _Generic((m), bool: 'b', int32_t: 'i', uint32_t: 'i', int64_t: 'i', uint64_t: 'i', struct uuid: 'u', struct str: 't')
/* A member of struct T, or of a struct in it, under that name; …: .min and .max. */
#define COLUMN_AS(T, m, nm, ...)                                                                                             \
    { .name = (nm), .kind = COLUMN_KIND(((struct T *)0)->m), .offset = offsetof(struct T, m),                                \
      .size = sizeof(((struct T *)0)->m), ##__VA_ARGS__ }
#define COLUMN(T, m, ...) COLUMN_AS(T, m, #m, ##__VA_ARGS__)
#define TABLE(nm, T, list) { .name = (nm), .size = sizeof(struct T), .columns = (list), \
    .ncolumns = sizeof(list) / sizeof *(list) }

struct tables_out;

/* max_bytes: what grows beyond it is given up as a whole. */
struct tables_out *tables_out_new(size_t max_bytes);
void tables_out_free(struct tables_out *o);             /* NULL is fine */
void tables_begin(struct tables_out *o);                /* an empty file with its head */
void tables_part(struct tables_out *o);
/* Texts are borrowed until tables_part_end. */
void tables_add(struct tables_out *o, const struct table *t, const void *rows, size_t n);
void tables_part_end(struct tables_out *o);
size_t tables_size(const struct tables_out *o);         /* bytes so far */
/* The file, but for its checksums; empty where it was given up. */
struct buf tables_take(struct tables_out *o);
/* Puts the checksums in: apart, since whoever plans need not wait for them. The bytes are what tables_take gave, or a part of it
 * from a block on; whatever else is left as it is. */
void tables_seal(char *bytes, size_t n, size_t from);

struct tables_in {
    struct str path, bytes;
    size_t at;
    struct arena *arena;
    struct { struct str *items; size_t n; } texts;      /* of the part */
};
MUST_CHECK enum errc tables_open(struct tables_in *in, struct str path, struct str bytes, struct arena *a, struct err *e);
MUST_CHECK enum errc tables_part_read(struct tables_in *in, struct err *e);
/* The next block, which has this table; *ret: rows of its struct, zero where no column says otherwise. */
MUST_CHECK enum errc tables_read(struct tables_in *in, const struct table *t, size_t rows_max, struct slice *ret, struct err *e);
MUST_CHECK enum errc tables_end(const struct tables_in *in, struct err *e);
bool tables_has_more(const struct tables_in *in);

/* The first difference of two lists of rows, as "TABLE row 3: COLUMN was 5, is 7"; absent: they are the same. */
struct str tables_differ(const struct table *t, struct slice was, struct slice is, struct arena *a);
