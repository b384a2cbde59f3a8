/* SPDX-License-Identifier: Apache-2.0 */
/* infer_wire.h - the Open Inference Protocol, version 2, in JSON (KServe, "required" REST API): what a serving child answers,
 * and the form of
 * a call for documents. A call is read by hand where it is served (workers/lease/job_infer.c), as members of OIP that are not
 * named here are
 * passed over and numbers may be nested. */
#pragma once
#include "core/table/schema.h"

/* The header of a call and of an answer in which tensors stand behind the JSON, as bytes: how long the JSON is. */
#define INFER_JSON_LENGTH "Inference-Header-Content-Length"

/* From a child to falaj-api, when the call had a traceparent: "queue;dur=0.120, compute;dur=1.750, rows;dur=8" (W3C Server
 * Timing), in milliseconds; rows is the number of rows of its batch. */
#define INFER_TIMING "Server-Timing"

/* From falaj-api to a serving child: who asks, as any text that is the same for what one caller sends. */
#define INFER_CALLER "Falaj-Caller"
/* What a child says (503) to a request whose turn came too late; falaj-api says it on. */
#define INFER_TOO_LATE "the request waited longer for its turn than it may"

struct infer_error { struct str error; };
struct infer_ready { bool ready; };
struct infer_tensor {
    struct str name, datatype;
    struct slice shape;                 /* int64_t; -1: any */
    struct json data;                   /* flat numbers; absent in metadata */
    struct json parameters;             /* {"binary_data_size":n}: behind the JSON, instead of data */
};
struct infer_columns { struct slice columns; };        /* struct str; parameters of an input in a model's metadata */
struct infer_behind { int64_t binary_data_size; };     /* parameters of a tensor behind the JSON */
struct infer_metadata {
    struct str name;
    struct slice versions;              /* struct str */
    struct str platform;
    struct slice inputs, outputs;       /* struct infer_tensor */
};
/* The signature of a version as the registry keeps it (core/data/model_sig.h has the form in model files). */
struct infer_signature { struct slice inputs, outputs; };  /* struct infer_tensor, without data */
struct infer_reply {
    struct str model_name, model_version, id;
    struct slice outputs;
};
/* A call. */
struct infer_input {
    struct str name;
    int datatype;                       /* infer_datatype_names */
    struct slice shape;
    struct json parameters, data;
};
struct infer_wanted { struct str name; struct json parameters; };
struct infer_ask {
    struct str id;
    struct json parameters;
    struct slice inputs, outputs;       /* struct infer_input, struct infer_wanted */
};
/* Of the protocol's datatypes those that a model here may have. NULL-ended. */
extern const char *const infer_datatype_names[];

extern const struct schema infer_input_schema, infer_wanted_schema, infer_ask_schema;
extern const struct schema infer_behind_schema, infer_columns_schema, infer_error_schema, infer_ready_schema, infer_tensor_schema,
    infer_metadata_schema, infer_signature_schema, infer_reply_schema;

/* A caller of the one can call the other and read its answer: the same names, datatypes and shapes, in any order. */
bool infer_signature_same(const struct infer_signature *a, const struct infer_signature *b);
/* For people: x FP32[-1,784] -> y INT64[-1] */
void infer_signature_print(struct buf *out, const struct infer_signature *s);

/* Text from a model: Triton's generate extension. POST generate: text_ask in, text_reply out. generate_stream: each event's data
 * is a text_reply with the next piece; the last one has finish_reason and the counts; one with `error` ends what cannot go on.
 * A call is read by hand where it is served (workers/lease/text_read.c); this is its form for documents.
 * Source: Triton Inference Server, protocol/extension_generate. */
enum { TEXT_TOKENS_USUAL = 128, TEXT_STOP_TOKENS_MAX = 64 };

struct text_ask {
    struct str id;
    bool has_text_input, has_input_ids; /* one of the two */
    struct str text_input;
    struct slice input_ids;             /* int64_t */
    struct json parameters;
};
struct text_reply {
    struct str model_name, model_version, id;
    bool has_text_output;
    struct str text_output;
    bool has_output_ids;
    struct slice output_ids;            /* int64_t */
    struct str finish_reason;           /* "stop", "length"; absent before the end */
    bool has_prompt_tokens, has_generated_tokens, has_seed;
    int64_t prompt_tokens, generated_tokens, seed;
};

extern const struct schema text_ask_schema, text_reply_schema;

/* From a serving child to falaj-api, with an answer that is no stream: tokens made, and microseconds until the first one. */
#define TEXT_COUNTS "Falaj-Text"
