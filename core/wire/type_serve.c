/* SPDX-License-Identifier: Apache-2.0 */
/* type_serve.c - the spec of a serving job. */
#include "core/wire/type_serve.h"

SCHEMA_EXTERN(serve_job, "A serving job, made by a deployment",
    FIELD(serve_job, name, F_REQ, .min = 1, .max = 63, .doc = "Name that clients call"),
    FIELD_ID(serve_job, model_id, "mdl", F_REQ, .doc = "Model"),
    FIELD(serve_job, model_version, F_REQ, .min = 1, .max = INT64_MAX, .doc = "Version of the model"),
    FIELD_ID(serve_job, model_object_id, "obj", F_REQ, .doc = "Object that holds the weights"),
    SERVE_KNOBS(serve_job, 0, SERVE_KNOB_SET));
