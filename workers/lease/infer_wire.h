/* SPDX-License-Identifier: Apache-2.0 */
/* infer_wire.h - answers of a serving child, as the Open Inference Protocol, version 2, has them in JSON (KServe, "required" REST API). */
#pragma once
#include "core/table/schema.h"

struct infer_error { struct str error; };
struct infer_ready { bool ready; };
struct infer_tensor {
    struct str name, datatype;
    struct slice shape;                 /* int64_t; -1: any */
    struct json data;                   /* flat numbers; absent in metadata */
};
struct infer_metadata {
    struct str name;
    struct slice versions;              /* struct str */
    struct str platform;
    struct slice inputs, outputs;       /* struct infer_tensor */
};
struct infer_reply {
    struct str model_name, model_version, id;
    struct slice outputs;
};
extern const struct schema infer_error_schema, infer_ready_schema, infer_tensor_schema, infer_metadata_schema, infer_reply_schema;
