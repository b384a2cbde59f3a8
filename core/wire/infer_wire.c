/* SPDX-License-Identifier: Apache-2.0 */
/* infer_wire.c - the schemas of the Open Inference Protocol, and its datatypes. */
#include "core/wire/infer_wire.h"
#include <float.h>

#define DATATYPES(D) \
    D("FP32", true, false, 0, 0, FLT_MAX) \
    D("FP64", true, false, 0, 0, FLT_MAX) \
    D("FP16", true, false, 0, 0, 65504) \
    D("INT64", false, false, INT64_MIN, INT64_MAX, 0) \
    D("INT32", false, false, INT32_MIN, INT32_MAX, 0) \
    D("INT16", false, false, INT16_MIN, INT16_MAX, 0) \
    D("INT8", false, false, INT8_MIN, INT8_MAX, 0) \
    D("UINT64", false, false, 0, INT64_MAX, 0) \
    D("UINT32", false, false, 0, UINT32_MAX, 0) \
    D("UINT16", false, false, 0, UINT16_MAX, 0) \
    D("UINT8", false, false, 0, UINT8_MAX, 0) \
    D("BOOL", false, true, 0, 1, 0)

const char *const infer_datatype_names[] = {
#define D(name, ...) name,
    DATATYPES(D)
#undef D
    NULL
};
/* The model computes in FP32: an FP64 must fit that. A UINT64 past 2^63 - 1 is more than JSON readers hold. */
static const struct infer_datatype datatypes[] = {
#define D(name, ...) { __VA_ARGS__ },
    DATATYPES(D)
#undef D
};

const struct infer_datatype *infer_datatype_find(struct str name)
{
    for (size_t i = 0; infer_datatype_names[i]; i++)
        if (str_eq_c(name, infer_datatype_names[i]))
            return &datatypes[i];
    return NULL;
}

SCHEMA_EXTERN(infer_input, "Numbers that are asked about",
    FIELD(infer_input, name, F_REQ, .min = 1, .max = 255, .doc = "Name of the input, as the model's metadata has it"),
    FIELD_ENUM(infer_input, datatype, F_REQ, infer_datatype_names, .doc = "What the numbers are; they are computed with as FP32"),
    FIELD_I64S(infer_input, shape, F_REQ, .min = 2, .max = 2, .item_min = 1, .item_max = 1 << 20, .doc = "Rows and features"),
    FIELD(infer_input, parameters, 0, .max = 65536, .doc = "An object; passed over"),
    FIELD(infer_input, data, F_REQ, .max = 1 << 30, .doc = "The numbers, flat or nested, row by row; of BOOL: true and false"));
SCHEMA_EXTERN(infer_wanted, "An output that is wanted", FIELD(infer_wanted, name, F_REQ, .min = 1, .max = 255, .doc = "Its name"),
    FIELD(infer_wanted, parameters, 0, .max = 65536, .doc = "An object; passed over"));
SCHEMA_EXTERN(infer_ask, "A question to a model",
    FIELD(infer_ask, id, 0, .min = 0, .max = 255, .doc = "The caller's own mark; the answer has it"),
    FIELD(infer_ask, parameters, 0, .max = 65536, .doc = "An object; passed over"),
    FIELD_LIST(infer_ask, inputs, &infer_input_schema, F_REQ, .min = 1, .max = 1, .doc = "The model's one input"),
    FIELD_LIST(infer_ask, outputs, &infer_wanted_schema, 0, .max = 16, .doc = "Absent: all"));

SCHEMA_EXTERN(infer_error, "Why there is no answer", FIELD(infer_error, error, F_ALWAYS, .doc = "In words"));
SCHEMA_EXTERN(infer_ready, "Whether the model is in memory", FIELD(infer_ready, ready, F_ALWAYS, .doc = "It is"));
SCHEMA_EXTERN(infer_tensor, "Numbers and their shape", FIELD(infer_tensor, name, F_ALWAYS, .doc = "Name"),
    FIELD(infer_tensor, datatype, F_ALWAYS, .doc = "FP32 or INT64"), FIELD_I64S(infer_tensor, shape, F_ALWAYS,
        .doc = "Lengths, outermost first"),
    FIELD(infer_tensor, data, 0, .doc = "The numbers, flat"));
SCHEMA_EXTERN(infer_metadata, "A model as clients see it", FIELD(infer_metadata, name, F_ALWAYS, .doc = "Name that clients call"),
    FIELD_STRS(infer_metadata, versions, F_ALWAYS, .doc = "The one version that is served"), FIELD(infer_metadata, platform,
        F_ALWAYS, .doc = "Kind of model"),
    FIELD_LIST(infer_metadata, inputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it takes"),
    FIELD_LIST(infer_metadata, outputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it gives"));
SCHEMA_EXTERN(infer_reply, "An answer", FIELD(infer_reply, model_name, F_ALWAYS, .doc = "Name that was called"),
    FIELD(infer_reply, model_version, F_ALWAYS, .doc = "Version that answered"), FIELD(infer_reply, id, 0,
        .doc = "The caller's own mark"),
    FIELD_LIST(infer_reply, outputs, &infer_tensor_schema, F_ALWAYS, .doc = "What was asked for"));
