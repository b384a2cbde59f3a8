/* SPDX-License-Identifier: Apache-2.0 */
/* type_convert.h - the spec of a job that makes a model file of a file which came from elsewhere. */
#pragma once
#include "core/wire/job_type.h"

enum { CONVERT_DIMS_MAX = 16 };

/* What shall be there for operators that ours lacks: whatever the machine has, or one that has it. */
enum convert_engine { CONVERT_ANY, CONVERT_ONNXRUNTIME };
extern const char *const convert_engine_names[];

struct convert_job {
    struct uuid dataset_id;
    int64_t dataset_version;        /* 0: the latest at submit */
    int engine;                     /* enum convert_engine */
    struct slice dims;              /* struct str "name=number": dimensions that the file leaves open */
};
/* One of dims. false: it is not of that form, or the number is none from 1 to 2^31-1. */
bool convert_dim(struct str text, struct str *ret_name, int64_t *ret_n);
