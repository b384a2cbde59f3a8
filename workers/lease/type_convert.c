/* SPDX-License-Identifier: Apache-2.0 */
/* type_convert.c - a convert job in the child: an ONNX file in, our model file out.
 *
 * The file is a stranger's: it is read here, in the sandbox, and nowhere else (workers/compute/onnx). What is refused names the
 * node and its operator; what comes out has been built again from its own text, or is the file as it came, where the machine has
 * an engine that takes it (workers/compute/ort). */
#include "workers/lease/child.h"

#include "core/base/cleanup.h"
#include "core/data/safetensors.h"
#include "core/json/decode.h"
#include "core/json/encode.h"
#include "core/wire/job_result.h"
#include "core/wire/type_convert.h"
#include "core/data/model_onnx.h"
#include "workers/compute/ort/ort_convert.h"
#include "workers/lease/child_engine.h"
#include "workers/lease/work_type.h"

enum { PRODUCER_MAX = 200, RESULT_MAX = 4096 };

static void read_dims(const struct convert_job *job, struct onnx_dims *ret)
{
    const struct str *all = job->dims.items;
    for (size_t i = 0; i < job->dims.n && i < ONNX_OPEN_DIMS_MAX; i++)
        if (convert_dim(all[i], &ret->dim[ret->count].name, &ret->dim[ret->count].n))
            ret->count++;
}

static size_t count_numbers(const struct st_file *f)
{
    size_t n = 0;
    int64_t said;
    if (model_onnx_is(f))
        return str_to_i64(st_meta(f, MODEL_ONNX_PARAMETERS), 0, INT64_MAX, &said) ? (size_t)said : 0;
    for (size_t i = 0; i < f->tensor_count; i++)
        n += f->tensors[i].size_bytes / sizeof(float);
    return n;
}

static enum errc convert(struct child *c, const struct convert_job *job, struct buf *file, struct convert_figures *ret,
                         struct err *e)
{
    struct onnx_about about = { 0 };
    struct onnx_dims dims = { 0 };
    struct st_file made;
    CLEANUP(buf_releasep) struct buf bytes = BUF(0);
    read_dims(job, &dims);
    TRY(child_open_input(c, 0, &bytes, e));
    child_log(c, "info: file opened: %zu bytes", bytes.len);
    enum errc rc = ort_convert(c->arena, buf_str(&bytes), &dims, child_engine_door(c), file, &about, e);
    *ret = (struct convert_figures){ .ir = about.ir, .opset = about.opset, .nodes = (int64_t)about.nodes,
                                     .operations = (int64_t)about.made_nodes, .model_bytes = (int64_t)file->len };
    if (rc == ERR_OK && str_is_utf8(about.producer) && about.producer.len <= PRODUCER_MAX)
        ret->producer = str_dup(c->arena, about.producer);
    secret_wipe(bytes.ptr, bytes.len);
    TRY(rc);
    TRY(st_parse(c->arena, file->ptr, file->len, &made, e));
    ret->parameters = (int64_t)count_numbers(&made);
    if (!about.made_nodes)
        child_log(c, "info: kept as it came, for ONNX Runtime: %s", str_z(c->arena, st_meta(&made, MODEL_ONNX_UNSUPPORTED)));
    child_log(c, "info: converted: operator set %ld, %ld nodes as %ld operations, %ld numbers", (long)ret->opset,
              (long)ret->nodes,
              (long)ret->operations, (long)ret->parameters);
    return ERR_OK;
}

static enum errc run(struct child *c, struct err *e)
{
    struct convert_job job = { 0 };
    struct convert_figures figures;
    int64_t began = clock_mono_us(&clock_system);
    if (c->n_inputs < 1)
        return FAIL(e, INVALID, "a convert job needs its file as input");
    TRY(json_decode(&convert_job_schema, c->grant.lease.spec.text, c->arena, &job, e));
    CLEANUP(buf_releasep) struct buf file = BUF(LEASE_OUTPUT_MAX);
    CLEANUP(buf_releasep) struct buf json = BUF(RESULT_MAX);
    TRY(convert(c, &job, &file, &figures, e));
    figures.seconds = (double)(clock_mono_us(&clock_system) - began) / 1e6;
    json_encode(&convert_figures_schema, &figures, &json);
    return child_deliver(c, buf_str(&file), buf_str(&json), e);
}

const struct work_type work_type_convert = { .run = run, .takes_engine = true };
