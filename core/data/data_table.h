/* SPDX-License-Identifier: Apache-2.0 */
/* data_table.h - a table of numbers to learn from, whatever file it was read from (csv.h, npy_table.h), and the roles of its
 * columns: label, feature, ignored.
 *
 * The data set says what its label is: a class (whole, 0 … classes-1), a number, or flags: several columns, each 0 or 1, whose
 * names begin alike ("topic_*"). Or it has none, and all that is not ignored is a feature. Columns that are ignored may hold
 * anything, columns of categories hold words (words.h); every other cell is a finite number that a float can hold. Where
 * values may be missing, a cell of a feature may be empty.
 * Memory: the arena that a reader is given (4 bytes per cell). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "core/base/str.h"
#include "core/data/words.h"

enum {
    TABLE_COLUMNS_MAX = 16384,
    TABLE_NAME_MAX = 128,           /* bytes of a column name */
    TABLE_CLASSES_MAX = 65536,
    TABLE_IGNORED_MAX = 256,
    TABLE_CATEGORIES_MAX = 256,     /* columns of categories */
    TABLE_WORDS_MAX = 16384         /* different words of all of them together */
};
#define TABLE_ROWS_MAX ((size_t)50 * 1000 * 1000)

enum data_target { TARGET_CLASS, TARGET_NUMBER, TARGET_FLAGS, TARGET_NONE, TARGETS };
extern const char *const data_target_names[];       /* "class", "number", "flags", "none" */

struct data_schema {
    struct str label;               /* name of the label column; of flags: how their names begin, and '*'; unused of none */
    int64_t classes;                /* labels are 0 … classes-1; 0: take the largest label + 1 */
    const struct str *features;     /* names of the feature columns in the order wanted; NULL: all others, as in the file */
    size_t feature_count;
    int target;                     /* enum data_target */
    struct slice ignored;           /* struct str: names of columns that nobody reads */
    struct slice categories;        /* struct str: names of columns of words; none where features are asked for */
    bool has_missing;               /* a cell of a feature may be empty (NaN in an array) */
};

struct data_table {
    size_t rows, cols;              /* cols: features only */
    int64_t classes;                /* of a class; 0 of a number; of flags: how many */
    float *x;                       /* rows × cols, NaN: missing; NULL where it was only checked, as the next two */
    int32_t *labels;                /* rows: classes; all 0 where they are none */
    float *targets;                 /* rows × target_count: numbers, or flags; NULL of a class */
    size_t target_count;            /* 0 of a class */
    const struct str *names;        /* cols, copied into the arena */
    size_t category_count;          /* the last so many of cols are of categories: x has the number of the word */
    struct words *words;            /* category_count of them */
    size_t word_count;              /* in all of them */
};
