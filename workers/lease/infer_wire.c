/* SPDX-License-Identifier: Apache-2.0 */
/* infer_wire.c - the schemas of a serving child's answers. */
#include "workers/lease/infer_wire.h"

SCHEMA_EXTERN(infer_error, "Why there is no answer", FIELD(infer_error, error, 0, .doc = "In words"));
SCHEMA_EXTERN(infer_ready, "Whether the model is in memory", FIELD(infer_ready, ready, 0, .doc = "It is"));
SCHEMA_EXTERN(infer_tensor, "Numbers and their shape", FIELD(infer_tensor, name, 0, .doc = "Name"),
    FIELD(infer_tensor, datatype, 0, .doc = "FP32 or INT64"), FIELD_I64S(infer_tensor, shape, 0, .doc = "Lengths, outermost first"),
    FIELD(infer_tensor, data, 0, .doc = "The numbers, flat"));
SCHEMA_EXTERN(infer_metadata, "A model as clients see it", FIELD(infer_metadata, name, 0, .doc = "Name that clients call"),
    FIELD_STRS(infer_metadata, versions, 0, .doc = "The one version that is served"), FIELD(infer_metadata, platform, 0, .doc = "Kind of model"),
    FIELD_LIST(infer_metadata, inputs, &infer_tensor_schema, 0, .doc = "What it takes"),
    FIELD_LIST(infer_metadata, outputs, &infer_tensor_schema, 0, .doc = "What it gives"));
SCHEMA_EXTERN(infer_reply, "An answer", FIELD(infer_reply, model_name, 0, .doc = "Name that was called"),
    FIELD(infer_reply, model_version, 0, .doc = "Version that answered"), FIELD(infer_reply, id, 0, .doc = "The caller's own mark"),
    FIELD_LIST(infer_reply, outputs, &infer_tensor_schema, 0, .doc = "What was asked for"));
