/* SPDX-License-Identifier: Apache-2.0 */
/* type_batch.c - the spec of a batch, and which of its members go together. */
#include "core/wire/type_batch.h"
#include "core/base/err.h"

const char *const batch_result_names[] = { "csv", "npy", NULL };

bool batch_from(struct str text, struct uuid *ret_job, struct str *ret_output)
{
    struct str id;
    const char *why;
    return str_cut(text, '/', &id, ret_output) && id_parse("job", id, ret_job) && check_slug(*ret_output, &why);
}

static bool check_from(struct str s, const char **why)
{
    struct uuid job;
    struct str output;
    *why = "be job_ID/OUTPUT: an output of a completed job";
    return !s.len || batch_from(s, &job, &output);
}

SCHEMA_EXTERN(batch_job, "A job that puts a data set, or a request, through a model: docs/howto/batches.md",
    FIELD_ID(batch_job, model_id, "mdl", F_REQ, .doc = "The model"),
    FIELD(batch_job, model_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_ID(batch_job, dataset_id, "dst", 0, .doc = "A table whose rows go through the model; its label is not read by it"),
    FIELD(batch_job, dataset_version, 0, .min = 0, .max = 1000000, .dflt = "0", .doc = "Its version; 0: the latest at submit"),
    FIELD_STRS(batch_job, keep, F_MORE | F_NOEMPTY, .max = 64, .dflt = "", .example = "label",
               .doc = "Names of the model's outputs that the result has; none: all of them"),
    FIELD_ENUM(batch_job, result, 0, batch_result_names, .dflt = "csv",
               .doc = "The result of a data set: a CSV with a header, or an array of NumPy, a row for each row"),
    FIELD(batch_job, request, F_MORE, .max = BATCH_REQUEST_MAX,
          .doc = "In place of a data set: a call as POST /v2/models/{name}/infer takes it, in JSON; its answer is the result"),
    FIELD(batch_job, request_from, F_MORE, .max = BATCH_FROM_MAX, .check = check_from,
          .doc = "In place of a data set: an output of another job, job_ID/OUTPUT, that holds such a call"),
    FIELD(batch_job, request_json_bytes, F_MORE, .min = 0, .max = INT32_MAX, .dflt = "0",
          .doc = "Of that output: how many bytes are JSON, where binary tensors follow; 0: all of it"),
    FIELD(batch_job, max_call_seconds, F_MORE | F_LATE, .min = 1, .max = 86400, .dflt = "25",
          .doc = "Of a model that ONNX Runtime computes: one call of it may take so long, be it of some rows, of one of "
                 "them, or of the request; a row that takes longer alone fails the job"),
    FIELD(batch_job, model_name, F_DERIVED, .max = 63, .doc = "Name of the model, filled in"),
    SPEC_DATASET_FIELDS(batch_job), SPEC_DATASET_WORD_FIELDS(batch_job));

enum errc batch_job_settle(const struct batch_job *b, struct err *e)
{
    bool has_rows = !uuid_is_nil(b->dataset_id), has_text = b->request.len > 0, has_from = b->request_from.len > 0;
    if (has_rows + has_text + has_from == 0)
        return FAIL_AT(e, INVALID, "/dataset_id", "a data set, or a request in its place (request, request_from), is needed");
    if (has_rows + has_text + has_from > 1)
        return FAIL_AT(e, INVALID, has_rows ? has_text ? "/request" : "/request_from" : "/request_from",
                       "one of dataset_id, request and request_from is expected");
    if (b->request_json_bytes && !has_from)
        return FAIL_AT(e, INVALID, "/request_json_bytes", "belongs to request_from, which alone may have binary tensors");
    if (!has_rows && b->dataset_version)
        return FAIL_AT(e, INVALID, "/dataset_version", "belongs to dataset_id, which is not given");
    if (!has_rows && b->keep.n)
        return FAIL_AT(e, INVALID, "/keep", "belongs to dataset_id; a request names its outputs itself");
    return ERR_OK;
}
