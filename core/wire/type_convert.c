/* SPDX-License-Identifier: Apache-2.0 */
/* type_convert.c - the spec of a conversion. */
#include "core/wire/type_convert.h"

bool convert_dim(struct str text, struct str *ret_name, int64_t *ret_n)
{
    struct str number;
    return str_cut(text, '=', ret_name, &number) && ret_name->len && str_to_i64(number, 1, INT32_MAX, ret_n);
}

static bool check_dim(struct str s, const char **why)
{
    struct str name;
    int64_t n;
    *why = "must be NAME=NUMBER, with a number from 1 to 2147483647";
    return convert_dim(s, &name, &n);
}

const char *const convert_engine_names[] = { "any", "onnxruntime", NULL };

SCHEMA_EXTERN(convert_job, "A job that makes a model of a model file from elsewhere",
    FIELD_ID(convert_job, dataset_id, "dst", F_REQ, .doc = "The data set whose versions are model files (format onnx)"),
    FIELD(convert_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ENUM(convert_job, engine, F_MORE | F_LATE, convert_engine_names, .dflt = "any",
               .doc = "onnxruntime: on a machine that has it, for a file with operators that Falaj lacks; any: where "
                      "there is room"),
    FIELD_STRS(convert_job, dims, F_MORE, .min = 0, .max = CONVERT_DIMS_MAX, .check = check_dim, .dflt = "",
               .example = "sequence=128",
               .doc = "Numbers for dimensions that the file leaves open, as sequence=128; "
                      "the first of an input is the rows of a batch"));
