/* SPDX-License-Identifier: Apache-2.0 */
/* infer_wire.c - the schemas of the Open Inference Protocol, and its datatypes. */
#include "core/wire/infer_wire.h"

const char *const infer_datatype_names[] = { "FP32", "INT64", "INT32", "BOOL", "BYTES", NULL };

SCHEMA_EXTERN(infer_input, "Numbers that are asked about",
    FIELD(infer_input, name, F_REQ, .min = 1, .max = 255, .doc = "Name of the input, as the model's metadata has it"),
    FIELD_ENUM(infer_input, datatype, F_REQ, infer_datatype_names, .doc = "That of the input in the model's metadata"),
    FIELD_I64S(infer_input, shape, F_REQ, .min = 1, .max = 6, .item_min = 1, .item_max = INT64_C(1) << 40,
        .doc = "As in the metadata; -1 there is any number of rows here"),
    FIELD(infer_input, parameters, 0, .max = 65536,
        .doc = "An object; binary_data_size: the numbers come behind the JSON (Inference-Header-Content-Length)"),
    FIELD(infer_input, data, 0, .max = 1 << 30,
        .doc = "The numbers, flat or nested, row by row; of BOOL: true and false; of BYTES: words. null is a missing one"));
SCHEMA_EXTERN(infer_wanted, "An output that is wanted", FIELD(infer_wanted, name, F_REQ, .min = 1, .max = 255, .doc = "Its name"),
    FIELD(infer_wanted, parameters, 0, .max = 65536, .doc = "An object; binary_data: its numbers come behind the JSON"));
SCHEMA_EXTERN(infer_ask, "A question to a model",
    FIELD(infer_ask, id, 0, .min = 0, .max = 255, .doc = "The caller's own mark; the answer has it"),
    FIELD(infer_ask, parameters, 0, .max = 65536, 
        .doc = "An object; binary_data_output: all outputs come in binary; timeout: microseconds that it may wait for its turn; "
               "priority: 1 (first) to 100 among the caller's own calls that wait, 50 where it is not given"),
    FIELD_LIST(infer_ask, inputs, &infer_input_schema, F_REQ, .min = 1, .max = 64, .doc = "All inputs of the model"),
    FIELD_LIST(infer_ask, outputs, &infer_wanted_schema, 0, .max = 64, .doc = "Absent: all"));

SCHEMA_EXTERN(infer_error, "Why there is no answer", FIELD(infer_error, error, F_ALWAYS, .doc = "In words"));
SCHEMA_EXTERN(infer_ready, "Whether the model is in memory", FIELD(infer_ready, ready, F_ALWAYS, .doc = "It is"));
SCHEMA_EXTERN(infer_behind, "Where the numbers of a tensor are",
    FIELD(infer_behind, binary_data_size, F_ALWAYS, .doc = "Bytes behind the JSON"));
SCHEMA_EXTERN(infer_columns, "Which columns a tensor has",
    FIELD_STRS(infer_columns, columns, F_ALWAYS, .doc = "Their names, in order"));
SCHEMA_EXTERN(infer_tensor, "Numbers and their shape", FIELD(infer_tensor, name, F_ALWAYS, .doc = "Name"),
    FIELD(infer_tensor, datatype, F_ALWAYS, .doc = "FP32, INT64, INT32, BOOL or BYTES"), FIELD_I64S(infer_tensor, shape, F_ALWAYS,
        .doc = "Lengths, outermost first"),
    FIELD(infer_tensor, parameters, 0,
        .doc = "binary_data_size: how many bytes it has behind the JSON; columns: the names of an input's columns"),
    FIELD(infer_tensor, data, 0, .doc = "The numbers, flat"));
SCHEMA_EXTERN(infer_metadata, "A model as clients see it", FIELD(infer_metadata, name, F_ALWAYS, .doc = "Name that clients call"),
    FIELD_STRS(infer_metadata, versions, F_ALWAYS, .doc = "The one version that is served"), FIELD(infer_metadata, platform,
        F_ALWAYS, .doc = "Kind of model"),
    FIELD_LIST(infer_metadata, inputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it takes"),
    FIELD_LIST(infer_metadata, outputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it gives"));
SCHEMA_EXTERN(infer_signature, "What a version takes and gives",
    FIELD_LIST(infer_signature, inputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it takes"),
    FIELD_LIST(infer_signature, outputs, &infer_tensor_schema, F_ALWAYS, .doc = "What it gives"));
SCHEMA_EXTERN(infer_reply, "An answer", FIELD(infer_reply, model_name, F_ALWAYS, .doc = "Name that was called"),
    FIELD(infer_reply, model_version, F_ALWAYS, .doc = "Version that answered"), FIELD(infer_reply, id, 0,
        .doc = "The caller's own mark"),
    FIELD_LIST(infer_reply, outputs, &infer_tensor_schema, F_ALWAYS, .doc = "What was asked for"));

SCHEMA_EXTERN(
    text_ask, "A call for text", FIELD(text_ask, id, 0, .min = 0, .max = 255, .doc = "The caller's own mark; the answer has it"),
    FIELD_OPT(text_ask, text_input, 0, .min = 0, .max = 1 << 20,
              .doc = "What the text goes on from. For models that came with their vocabulary; others take input_ids"),
    FIELD_I64S(text_ask, input_ids, 0, .has = offsetof(struct text_ask, has_input_ids) + 1, .min = 1, .max = 16384, .item_min = 0,
               .item_max = 1 << 20, .doc = "Tokens instead of text_input"),
    FIELD(
        text_ask, parameters, 0, .max = 65536,
        .doc =
            "An object. max_tokens: made at most (128, or what there is room for). temperature: 0 takes the likeliest token "
            "(0). top_k: drawn from the likeliest so many; 0: all (0). top_p: drawn from the fewest that have this share of the "
            "probability (1). seed: the same seed gives the same text; absent: a random one, which the answer names. stop: a "
            "text or up to 8 at which it ends, not shown. stop_tokens: up to 64 tokens likewise. timeout: microseconds that "
            "it may wait for its turn. priority: 1 (first) to 100 among the caller's own calls that wait. stream: passed over"));
SCHEMA_EXTERN(text_reply, "Text, or its next piece",
    FIELD(text_reply, model_name, F_ALWAYS, .doc = "Name that was called"),
    FIELD(text_reply, model_version, F_ALWAYS, .doc = "Version that answered"),
    FIELD(text_reply, id, 0, .doc = "The caller's own mark"),
    FIELD_OPT(text_reply, text_output, 0, .doc = "What was made; of models with a vocabulary"),
    FIELD_I64S(text_reply, output_ids, 0, .has = offsetof(struct text_reply, has_output_ids) + 1,
        .doc = "The tokens that were made; of models without a vocabulary"),
    FIELD(text_reply, finish_reason, 0, .doc = "stop or length; in a stream the last event alone has it"),
    FIELD_OPT(text_reply, prompt_tokens, 0, .doc = "Tokens of the prompt"),
    FIELD_OPT(text_reply, generated_tokens, 0, .doc = "Tokens that were made"),
    FIELD_OPT(text_reply, seed, 0, .doc = "What draws were made with"));

static const struct infer_tensor *find(const struct slice *list, struct str name)
{
    const struct infer_tensor *t = list->items;
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(t[i].name, name))
            return &t[i];
    return NULL;
}

static bool is_same_list(const struct slice *a, const struct slice *b)
{
    const struct infer_tensor *t = a->items;
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        const struct infer_tensor *o = find(b, t[i].name);
        same = o && str_eq(o->datatype, t[i].datatype) && o->shape.n == t[i].shape.n
               && !memcmp(o->shape.items, t[i].shape.items, o->shape.n * sizeof(int64_t));
    }
    return same;
}

bool infer_signature_same(const struct infer_signature *a, const struct infer_signature *b)
{
    return is_same_list(&a->inputs, &b->inputs) && is_same_list(&a->outputs, &b->outputs);
}

static void print_list(struct buf *out, const struct slice *list)
{
    const struct infer_tensor *t = list->items;
    for (size_t i = 0; i < list->n; i++) {
        const int64_t *dim = t[i].shape.items;
        buf_printf(out, "%s%.*s %.*s[", i ? ", " : "", STR_ARG(t[i].name), STR_ARG(t[i].datatype));
        for (size_t d = 0; d < t[i].shape.n; d++)
            buf_printf(out, d ? ",%ld" : "%ld", (long)dim[d]);
        buf_add_char(out, ']');
    }
}

void infer_signature_print(struct buf *out, const struct infer_signature *s)
{
    print_list(out, &s->inputs);
    buf_add_c(out, " -> ");
    print_list(out, &s->outputs);
}
