/* SPDX-License-Identifier: Apache-2.0 */
/* spec_dataset.h - what the spec of a job knows of its data set. It is filled in at submit from the version that was found
 * (scheduler/jobs/job_dataset.h), so that the job says for ever how it reads it; nobody sends it. */
#pragma once
#include "core/data/data_format.h"
#include "core/table/schema.h"

#define SPEC_DATASET_MEMBERS                                                                                            \
    struct str label_column;                                                                                            \
    int64_t classes;                /* 0: the largest label + 1, or, of a number, one answer */                          \
    int format, target;             /* enum data_format, data_target */                                                 \
    struct slice ignored_columns, category_columns;     /* struct str */                                                \
    bool missing_values             /* cells of features may be empty */
struct spec_dataset { SPEC_DATASET_MEMBERS; };
/* In a struct: its members, and all of them as `set`. */
#define SPEC_DATASET union { struct { SPEC_DATASET_MEMBERS; }; struct spec_dataset set; }

/* Their fields, in the schema of such a struct; the second: of a kind that reads columns of words and empty cells, too. */
#define SPEC_DATASET_FIELDS(T)                                                                                          \
    FIELD(T, label_column, F_DERIVED, .min = 1, .max = 128, .dflt = "label",                                            \
          .doc = "Column that holds the label; filled in from the data set"),                                           \
    FIELD(T, classes, F_DERIVED, .min = 0, .max = 65536, .dflt = "0",                                                   \
          .doc = "Classes of the data set; 0: the largest label + 1"),                                                  \
    FIELD_ENUM(T, format, F_DERIVED, data_format_names, .dflt = "csv", .doc = "Format of the data set's version"),      \
    FIELD_ENUM(T, target, F_DERIVED, data_target_names, .dflt = "class", .doc = "What the data set's label is"),        \
    FIELD_STRS(T, ignored_columns, F_DERIVED, .max = TABLE_IGNORED_MAX, .dflt = "",                                     \
               .doc = "Columns of the data set that nobody reads")
#define SPEC_DATASET_WORD_FIELDS(T)                                                                                     \
    FIELD_STRS(T, category_columns, F_DERIVED, .max = TABLE_CATEGORIES_MAX, .dflt = "",                                 \
               .doc = "Columns of the data set that hold words"),                                                       \
    FIELD(T, missing_values, F_DERIVED, .dflt = "false", .doc = "Cells of the data set's features may be empty")

/* How a table of it is read; the texts are borrowed. */
static inline struct data_schema spec_dataset_schema(const struct spec_dataset *d)
{
    return (struct data_schema){ .label = d->label_column, .classes = d->classes, .target = d->target,
                                 .ignored = d->ignored_columns, .categories = d->category_columns,
                                 .has_missing = d->missing_values };
}
